package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
)

//go:embed pages
var pageFiles embed.FS

// Style returns the style of the pages.
func Style() string {
	css, err := pageFiles.ReadFile("pages/style.css")
	if err != nil {
		panic(err) // it is embedded
	}
	return string(css)
}

// MaxPage is the size in bytes that no page exceeds; longer lists are paged.
const MaxPage = 2 << 20

// SiteInput is what a report is made of. Records and Results may each be missing, not
// both.
type SiteInput struct {
	Records []*record.Record // oldest first
	// keys by name; a record whose key is missing is shown without titles and places
	Projects map[string]*audit.Project
	Results  *BenchResults
	Apps     []*audit.App
	Made     time.Time
	Notes    []string // what could not be read
	Runs     []Ran    // the newest run of each suite

	// Published are scored recordings of others' runs, with which yours are compared.
	Published []*record.Record

	// Source reads a file of a project's pinned tree, Prompts are the evaluation
	// prompts by name, Transcripts what the auditor of a record wrote. Each may be missing:
	// pages then lack what is made of it.
	Source      func(project, path string) ([]byte, error)
	Prompts     map[string]string
	Held        Held // what runs are held against
	Transcripts func(*record.Record) ([]record.Transcript, error)
}

// A Ran describes a run.
type Ran struct {
	State string // store.Run.State
	Text  string
}

type site struct {
	in      SiteInput
	put     func(name string, page []byte) error
	pages   *template.Template
	wrote   map[string]bool
	single  bool              // pages become parts of one file
	served  bool              // pages look for newer ones
	colours map[string]string // classes, by the name of a variant

	// What templates show of it.
	CSS       template.CSS
	JS        template.JS
	CSP, Made string
	Served    string // when it was made, where pages look for newer ones
	Sections  []section
	Parts     []part // of the one file
}

// A section is a link of the head of every page.
type section struct{ Text, Page string }

type part struct {
	Name, Section string
	Body          template.HTML
}

type page struct {
	Title string
	Up    string // from the page to the report's root: "" or "../"
	Here  string // the first page of its section
	Body  any
	Site  *site
}

// WriteSite writes the report's pages into dir, which it creates, and returns the path of the
// index. An Input without records and results is an error.
func WriteSite(dir string, in SiteInput) (index string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	s := &site{in: in, put: func(name string, page []byte) error {
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return err
		}
		return root.WriteFile(name, page, 0o644)
	}}
	return filepath.Join(dir, "index.html"), s.make()
}

// Pages returns the report's pages by name, for serving them during a run: each page checks for
// a newer one.
func Pages(in SiteInput) (map[string][]byte, error) {
	pages := map[string][]byte{}
	s := &site{in: in, served: true, put: func(name string, page []byte) error {
		pages[name] = page
		return nil
	}}
	return pages, s.make()
}

// WriteSingle writes the whole report as one page, to send to somebody.
func WriteSingle(w io.Writer, in SiteInput) error {
	s := &site{in: in, single: true}
	if err := s.make(); err != nil {
		return err
	}
	slices.SortStableFunc(s.Parts, func(a, b part) int { return strings.Compare(a.Name, b.Name) })
	var b bytes.Buffer
	if err := s.pages.ExecuteTemplate(&b, "single.html",
		page{Title: "Report", Body: s.Parts, Site: s}); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// make makes all pages.
func (s *site) make() error {
	if len(s.in.Records)+len(s.in.Published) == 0 && s.in.Results == nil {
		return errors.New("nothing to report: expected records or results of a run")
	}
	s.wrote, s.Sections = map[string]bool{}, []section{{"Overview", "index.html"}}
	if len(s.in.Records)+len(s.in.Published) > 0 {
		s.Sections = append(s.Sections, section{"Auditors", "auditors.html"})
	}
	if s.in.Results != nil {
		s.Sections = append(s.Sections, section{"Reviewers", "reviewers.html"},
			section{"Cases", "cases.html"})
	}
	s.Sections = append(s.Sections, section{"Cost", "cost.html"},
		section{"Glossary", "glossary.html"})
	s.Made = s.in.Made.UTC().Format("2006-01-02 15:04 UTC")
	if err := s.load(); err != nil {
		return err
	}
	return s.write()
}

// load reads templates, style and script. The policy names both by hash, so that a
// page runs what it came with and nothing that anybody wrote into it.
func (s *site) load() error {
	css := Style()
	var js []byte
	for _, name := range []string{"script.js", "case.js", "start.js"} {
		b, err := pageFiles.ReadFile("pages/" + name)
		if err != nil {
			return err
		}
		js = append(js, b...)
	}
	s.CSS, s.JS = template.CSS(css), template.JS(js)
	connect := ""
	if s.served {
		connect, s.Served = "connect-src 'self'; ", s.in.Made.UTC().Format(time.RFC3339Nano)
	}
	s.CSP = fmt.Sprintf(
		"default-src 'none'; style-src '%s'; script-src '%s'; %sbase-uri 'none'; form-action 'none'", HashOf([]byte(css)), HashOf(js), connect)
	var err error
	s.pages, err = template.New("").Funcs(functions).ParseFS(pageFiles, "pages/*.html")
	return err
}

// HashOf returns the hash by which a page's policy allows a style or script.
func HashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// shorten leaves something out of the longest grid of a page; false where nothing is left
// to leave out.
func shorten(grids []*grid) bool {
	longest, length := (*grid)(nil), 0
	for _, g := range grids {
		if n := lengthOf(g); g != nil && n > length {
			longest, length = g, n
		}
	}
	return longest != nil && longest.shorter()
}

// lengthOf is how long data is in a page.
func lengthOf(v any) int {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("report: data of strings and numbers: %v", err))
	}
	return len(visible(b, true))
}

// render writes one page, as much of its grids as there is room for.
func (s *site) render(name, tmpl, here, title string, body any, grids ...*grid) error {
	if s.wrote[name] {
		return fmt.Errorf("%s: two pages of one name", name)
	}
	s.wrote[name] = true
	p := page{Title: title, Up: strings.Repeat("../", strings.Count(name, "/")), Here: here,
		Body: body, Site: s}
	text, err := s.execute(tmpl, p)
	for err == nil && len(text) > MaxPage {
		if !shorten(grids) {
			return fmt.Errorf("%s: %d bytes, more than the %d that a page may have", name,
				len(text), MaxPage)
		}
		text, err = s.execute(tmpl, p)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if s.single {
		s.Parts = append(s.Parts, part{name, here, template.HTML(text)})
		return nil
	}
	return s.put(name, text)
}

// execute returns a page, without head and foot if it is a part of one file.
func (s *site) execute(tmpl string, p page) ([]byte, error) {
	layers := []string{"head", tmpl, "foot"}
	if s.single {
		layers = layers[1:2]
	}
	var b bytes.Buffer
	for _, layer := range layers {
		if err := s.pages.ExecuteTemplate(&b, layer, p); err != nil {
			return nil, err
		}
	}
	text := visible(b.Bytes(), true)
	if len(text) > MaxPage {
		text = visible(b.Bytes(), false)
	}
	return text, nil
}

// visible makes invisible characters of a page visible, as messages do. Our templates have
// none, so each is foreign. In a script they occur in JSON strings, where the escape is escaped
// too. Without escapes each becomes a question mark, for pages that would grow too long.
func visible(page []byte, escapes bool) []byte {
	out := make([]byte, 0, len(page)+len(page)/16)
	script := false
	for i := 0; i < len(page); {
		r, n := utf8.DecodeRune(page[i:])
		switch {
		case r == '<' && bytes.HasPrefix(page[i:], []byte("<script")):
			script = true
		case r == '<' && bytes.HasPrefix(page[i:], []byte("</script")):
			script = false
		}
		switch {
		case r == '\n' || r == '\t' || r == '\r' || !audit.Invisible(r):
			out = append(out, page[i:i+n]...)
		case !escapes:
			out = append(out, '?')
		case script:
			out = fmt.Appendf(out, "\\\\u%04x", r)
		default:
			out = fmt.Appendf(out, "\\u%04x", r)
		}
		i += n
	}
	return out
}

// pageName makes a file name of what others named, with a hash where anything but
// small letters, digits, - and _ was there, so that two names never share a file, where
// names of files ignore case neither.
func pageName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' ||
			r == '_' {
			return r
		}
		return '_'
	}, name)
	if clean == "" || clean != strings.ToLower(name) || len(clean) > 100 {
		sum := sha256.Sum256([]byte(name))
		clean = fmt.Sprintf("%s-%x", clean[:min(80, len(clean))], sum[:4])
	}
	return clean + ".html"
}

var functions = template.FuncMap{
	"amount": amount,
	"badge":  badge,
	"heat":   heat,
	"credit": func(v float64) string {
		return credit(score.Of(v))
	},
	"clip":         clip,
	"short":        short,
	"auditMetrics": score.AuditMetrics,
	"benchMetrics": score.BenchMetrics,
	"term":         termOf,
	"rateMetrics":  score.RateMetrics,
	"benchCells":   func(b *score.Bench) []cell { return cells(score.BenchMetrics(), b) },
	"rateCells":    func(r score.Rate) []cell { return cells(score.RateMetrics(), &r) },
	"estimate":     func(e score.Estimate) cell { return cellFrom(e.String(), e) },
	"id": func(s string) string {
		return strings.ReplaceAll(strings.ToLower(s), " ",
			"-")
	},
	"lost":     Moved.lost,
	"outcomes": audit.Outcomes,
	"corroborated": func(m *score.Metrics) []cell {
		return cells(score.AuditMetrics(), &score.Metrics{Part: m.Corroborated})
	},
	"list": list,
	"date": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") },
	"join": func(vs []string) string { return strings.Join(vs, ", ") },
	"dict": func(kv ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i+1 < len(kv); i += 2 {
			m[fmt.Sprint(kv[i])] = kv[i+1]
		}
		return m
	},
}

// badge returns the CSS class of a verdict, outcome or disposition.
func badge(v any) string {
	switch s := fmt.Sprint(v); s {
	case "PASS", "correct", "matched", "found", "better", "conclusive", "gained":
		return "b good"
	case "FAIL", "wrong", "decoy hit", "missing path", "line past end of file", "missed", "worse",
		"CRITICAL", "lost", "changed", "failed":
		return "b bad"
	case "WARN", "INVALID", "half", "partial", "misplaced", "malformed", "refused", "errored",
		"no answer", "running", "HIGH", "not settled", "inconclusive":
		return "b warn"
	}
	return "b"
}

// heat returns the CSS class of a share: h0 for nothing, h4 for all.
func heat(v score.Value) string {
	switch {
	case !v.Defined:
		return ""
	case v.V <= 0:
		return "h0"
	case v.V < 0.4:
		return "h1"
	case v.V < 0.7:
		return "h2"
	case v.V < 1:
		return "h3"
	}
	return "h4"
}
