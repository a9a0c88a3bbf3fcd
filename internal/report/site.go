package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
)

//go:embed pages
var pageFiles embed.FS

// MaxPage is the size in bytes that no page exceeds; longer lists are paged.
const MaxPage = 2 << 20

// Input is what a report is made of. Records and Results may each be missing, not
// both.
type Input struct {
	Records  []*record.Record          // oldest first
	Projects map[string]*audit.Project // keys by name; a record whose key is missing is shown without titles and places
	Results  *Results
	Apps     []*audit.App
	Made     time.Time
	Notes    []string // what could not be read
}

// A site is a report that is being written.
type site struct {
	in    Input
	root  *os.Root
	pages *template.Template
	css   string
	js    string
	csp   string
	wrote map[string]bool
	names map[*record.Record]string // pages of records
}

// A page is what every template gets.
type page struct {
	Title string
	Up    string // from the page to the report's root: "" or "../"
	Here  string // the section
	Body  any
	Site  *site
}

// WriteSite writes the report's pages into dir, which is created, and gives the
// path of its index. An Input with nothing to show is an error.
func WriteSite(dir string, in Input) (index string, err error) {
	if len(in.Records) == 0 && in.Results == nil {
		return "", errors.New("nothing to report: expected records or results of a run")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	s := &site{in: in, root: root, wrote: map[string]bool{}}
	if err := s.load(); err != nil {
		return "", err
	}
	if err := s.write(); err != nil {
		return "", err
	}
	return filepath.Join(dir, "index.html"), nil
}

// load reads templates, style and script. The policy names both by hash, so that a
// page runs what it came with and nothing that anybody wrote into it.
func (s *site) load() error {
	css, err := pageFiles.ReadFile("pages/style.css")
	if err != nil {
		return err
	}
	js, err := pageFiles.ReadFile("pages/script.js")
	if err != nil {
		return err
	}
	s.css, s.js = string(css), string(js)
	s.csp = fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", hashOf(css), hashOf(js))
	s.pages, err = template.New("").Funcs(functions).ParseFS(pageFiles, "pages/*.html")
	return err
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func (s *site) CSS() template.CSS { return template.CSS(s.css) }
func (s *site) JS() template.JS   { return template.JS(s.js) }
func (s *site) CSP() string       { return s.csp }
func (s *site) Made() string      { return s.in.Made.UTC().Format("2006-01-02 15:04 UTC") }
func (s *site) HasRecords() bool  { return len(s.in.Records) > 0 }
func (s *site) HasBench() bool    { return s.in.Results != nil }

// render writes one page.
func (s *site) render(name, tmpl, here, title string, body any) error {
	up := strings.Repeat("../", strings.Count(name, "/"))
	var b bytes.Buffer
	if err := s.pages.ExecuteTemplate(&b, tmpl, page{Title: title, Up: up, Here: here, Body: body, Site: s}); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	text := visible(b.Bytes(), true)
	if len(text) > MaxPage {
		text = visible(b.Bytes(), false)
	}
	if len(text) > MaxPage {
		return fmt.Errorf("%s: %d bytes, more than the %d that a page may have", name, len(text), MaxPage)
	}
	if d := path.Dir(name); d != "." {
		if err := s.root.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	if s.wrote[name] {
		return fmt.Errorf("%s: two pages of one name", name)
	}
	s.wrote[name] = true
	return s.root.WriteFile(name, text, 0o644)
}

// visible shows in a page what is not seen, as messages do: no template of ours
// holds such a character, so each is somebody else's. In a script it stands in a
// string of JSON, where the escape itself is escaped. Without escapes each is a
// question mark: for a page that they would make too long.
func visible(page []byte, escapes bool) []byte {
	out := make([]byte, 0, len(page))
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

// pageName makes a file name of what others named: letters, digits, dots and
// hyphens, and a hash where anything else was there, so that two names never
// share a file.
func pageName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, name)
	if clean != name || len(clean) > 100 {
		sum := sha256.Sum256([]byte(name))
		clean = fmt.Sprintf("%s-%x", clean[:min(80, len(clean))], sum[:4])
	}
	return clean + ".html"
}

var functions = template.FuncMap{
	"badge": badge,
	"heat":  heat,
	"place": place,
	"credit": func(v float64) string {
		return credit(score.Of(v))
	},
	"clip":         clip,
	"short":        short,
	"auditMetrics": score.AuditMetrics,
	"benchMetrics": score.BenchMetrics,
	"rateMetrics":  score.RateMetrics,
	"balanced":     balanced,
	"cell":         cellOf,
	"corroborated": func(m *score.Metrics) *score.Metrics { return &score.Metrics{Part: m.Corroborated} },
	"list":         list,
	"date":         func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") },
	"join":         func(vs []string) string { return strings.Join(vs, ", ") },
	"cwes": func(cs []audit.CWE) string {
		vs := make([]string, len(cs))
		for i, c := range cs {
			vs[i] = c.String()
		}
		return strings.Join(vs, ", ")
	},
	"ints": func(ns []int) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(ns), " ", ", "), "[]") },
	"dict": func(kv ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i+1 < len(kv); i += 2 {
			m[fmt.Sprint(kv[i])] = kv[i+1]
		}
		return m
	},
}

// badge gives the class of a verdict, an outcome or a disposition.
func badge(v any) string {
	switch s := fmt.Sprint(v); s {
	case "PASS", "correct", "matched", "found", "better", "good", "first":
		return "b good"
	case "FAIL", "wrong", "decoy hit", "missing path", "line past end of file", "missed", "worse", "bad", "CRITICAL", "lost":
		return "b bad"
	case "WARN", "INVALID", "half", "misplaced", "malformed", "refused", "errored", "HIGH", "not settled":
		return "b warn"
	}
	return "b"
}

// heat gives the class of a share: h0 for nothing, h4 for all.
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
