package findings

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
)

// ScrubOptions are the options of [Scrub].
type ScrubOptions struct {
	// Format is the format of the report, as in [ProofOptions].
	Format string
	// RuleMap is as in [ProofOptions]: a recording keeps the CWEs that it yields.
	RuleMap map[string][]audit.CWE
	// Root is the absolute path of the audited tree. Every path under it becomes
	// relative, in messages too. Empty leaves paths unchanged.
	Root string
	// Source holds the files of the audited tree, in which quotations are found.
	Source fs.FS
}

// Minimum lengths, in bytes, of a quotation of the source: of a whole line, and of a part of one
// that looks like code.
const (
	quotedLine = 20
	quotedPart = 32
)

// cutMark replaces a quotation.
const cutMark = "[source]"

// Scrub copies a report without source text of the target, names of the machine or the user,
// and values that differ from run to run, so that it can be committed as a recording. The copy
// is written from the findings: a text report as text, any other as SARIF. Everything that
// [Read] ignores is lost (snippets, fixes, times, an agent's text around the report). From the
// texts of findings it cuts what Source contains too: a whole line, or a part of one that looks
// like code. Paths become relative to the root.
//
// Findings of tools are sorted by place and rule and numbered in this order. Notes on the steps
// of a trace are removed, since most of them quote the source; so are the passwords that
// bandit's B105 to B107 quote. A message that quotes fewer words than the limits above keeps
// them.
//
// Scrub holds the whole report in memory. It returns [ErrTruncated] for a truncated report.
func Scrub(in io.ReadSeeker, out io.Writer, opt ScrubOptions) error {
	if opt.Source == nil {
		return errors.New("the report cannot be scrubbed without the source that it may quote: " +
			"expected ScrubOptions.Source")
	}
	rep, err := Read("the report", in,
		ReadOptions{Format: opt.Format, RuleMap: opt.RuleMap, MaxFindings: -1})
	if err != nil {
		return err
	}
	if rep.CutShort != "" {
		return fmt.Errorf("%w: %s", ErrTruncated, rep.CutShort)
	}
	texts := textsOf(&rep, newRootPattern(opt.Root))
	if err := cutQuotations(texts, opt.Source); err != nil {
		return err
	}
	if rep.Format == Text {
		return WriteText(out, TextReport{Root: ".", Tool: rep.Tool, Version: rep.Version,
			Coverage: rep.Coverage, Findings: rep.Findings})
	}
	slices.SortStableFunc(rep.Findings, func(a, b audit.Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Lines.Start-b.Lines.Start,
			strings.Compare(a.RuleID, b.RuleID), strings.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	for i := range rep.Findings {
		rep.Findings[i].ID = numbered(i + 1)
	}
	return writeSARIF(out, rep.Tool, rep.Version, rep.Findings)
}

// textsOf makes the paths of a report relative, removes what Scrub removes from findings of
// tools, and returns pointers to the texts, with white space folded.
func textsOf(rep *audit.Report, root *rootPattern) (texts []*string) {
	for i := range rep.Findings {
		f := &rep.Findings[i]
		if rep.Format != Text {
			f.ID, f.Pos = "", audit.Pos{}
			for k := range f.Trace {
				f.Trace[k].Note = ""
			}
		}
		if f.RuleID >= "B105" && f.RuleID <= "B107" {
			f.Description, _, _ = strings.Cut(f.Description, ":")
		}
		f.File = root.remove(f.File)
		texts = append(texts, &f.Title, &f.Description, &f.Suppressed)
		for _, steps := range [][]audit.Step{f.Trace, f.Others} {
			for k := range steps {
				steps[k].File = root.remove(steps[k].File)
				texts = append(texts, &steps[k].Note)
			}
		}
	}
	for _, t := range texts {
		*t = strings.Join(strings.Fields(root.remove(*t)), " ")
	}
	return texts
}

// A rootPattern matches a root as a path or file URI, unless it is the end of a longer path:
// above matches it with a slash or the end of the text after it, alone matches it within a
// text.
type rootPattern struct{ above, alone *regexp.Regexp }

// newRootPattern returns the pattern of a root, nil for "".
func newRootPattern(root string) *rootPattern {
	if root == "" {
		return nil
	}
	root = strings.TrimRight(root, `/\`)
	slash := strings.ReplaceAll(root, `\`, "/")
	forms := map[string]bool{root: true, slash: true, strings.ReplaceAll(slash, "/", `\`): true,
		(&url.URL{Path: slash}).EscapedPath(): true}
	var alts []string
	for f := range forms {
		alts = append(alts, regexp.QuoteMeta(f))
	}
	slices.SortFunc(alts, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	it := `(^|[^\w./\\-])(?:file:(?://(?:localhost)?)?/?)?(?:` + strings.Join(alts, "|") + `)`
	return &rootPattern{regexp.MustCompile(it + `(?:[/\\]|$)`),
		regexp.MustCompile(it + `([^\w./\\-]|\.(?:\s|$))`)}
}

// remove returns t with the paths below the root made relative.
func (r *rootPattern) remove(t string) string {
	if r == nil {
		return t
	}
	t = r.above.ReplaceAllString(t, "$1")
	for range 2 { // a character between two roots belongs to one match only
		t = r.alone.ReplaceAllString(t, "$1.$2")
	}
	return t
}

// cutQuotations cuts quotations of the source's files out of the texts, whose white space must
// be folded.
func cutQuotations(texts []*string, source fs.FS) error {
	q := quotations{at: map[string][]textPlace{}, quoted: map[string][]bool{}}
	for _, t := range texts {
		q.add(*t)
	}
	err := fs.WalkDir(source, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := fs.ReadFile(source, name)
		for line := range strings.Lines(string(b)) {
			q.line(strings.Join(strings.Fields(line), " "))
		}
		return err
	})
	for _, t := range texts {
		*t = cut(*t, q.quoted[*t])
	}
	return err
}

// quotations collects the parts of texts that a source contains too.
type quotations struct {
	at     map[string][]textPlace // places in texts, by the quotedLine bytes that begin there
	quoted map[string][]bool      // whether a byte is quoted, by text
}

// A textPlace is a place in a text.
type textPlace struct {
	text   string
	offset int
}

// add indexes a text.
func (q *quotations) add(text string) {
	if q.quoted[text] != nil {
		return
	}
	q.quoted[text] = make([]bool, len(text))
	for k := 0; k+quotedLine <= len(text); k++ {
		w := text[k : k+quotedLine]
		q.at[w] = append(q.at[w], textPlace{text, k})
	}
}

// address matches a line that is nothing but a web address, which is no source text.
var address = regexp.MustCompile(`^https?://\S+$`)

// line marks the parts of texts that quote a line of source.
func (q *quotations) line(line string) {
	if len(line) < quotedLine || address.MatchString(line) {
		return
	}
	for i := 0; i+quotedLine <= len(line); i++ {
		if line[i] == ' ' {
			continue
		}
		for _, at := range q.at[line[i:i+quotedLine]] {
			rest := at.text[at.offset:]
			n := quotedLine
			for n < len(rest) && i+n < len(line) && rest[n] == line[i+n] {
				n++
			}
			if n == len(line) || n >= quotedPart && strings.ContainsAny(rest[:n], `(){}[]=;<>"`) {
				for k := range n {
					q.quoted[at.text][at.offset+k] = true
				}
			}
		}
	}
}

// cut returns the text with one mark in place of each run of quoted bytes.
func cut(text string, quoted []bool) string {
	if !slices.Contains(quoted, true) {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		if !quoted[i] {
			b.WriteByte(text[i])
		} else if i == 0 || !quoted[i-1] {
			b.WriteString(cutMark)
		}
	}
	return strings.ToValidUTF8(b.String(), "") // a quotation may begin within a character
}
