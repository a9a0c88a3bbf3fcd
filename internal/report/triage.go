package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
)

// A Candidate is a finding that the key does not hold, once for all who made it.
type Candidate struct {
	score.Scored
	Fingerprint string
}

// Candidates gives the off-key findings of the records that nobody has reviewed,
// each claim once, in the order of score's sample: nobody chooses what is looked
// at first, and who made a finding is not told.
func Candidates(rs []*record.Record) []Candidate {
	seen := map[string]bool{}
	all := &score.Result{}
	for _, r := range rs {
		for _, t := range valid(r) {
			for _, s := range t.Findings {
				if fp := s.Fingerprint(); s.Disposition == score.OffKey && s.Review == "" && !seen[fp] {
					seen[fp] = true
					all.Findings = append(all.Findings, s)
				}
			}
		}
	}
	var cs []Candidate
	for _, i := range all.Sample() {
		cs = append(cs, Candidate{all.Findings[i], all.Findings[i].Fingerprint()})
	}
	return cs
}

// Show tells a candidate to a person.
func Show(c *Candidate) string {
	f := &c.Finding
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s\n", place(&c.Scored), cweText(f.CWEs), f.Severity)
	if f.Function != "" {
		fmt.Fprintf(&b, "in %s\n", clip(f.Function, 200))
	}
	fmt.Fprintf(&b, "%s\n", clip(f.Title, 300))
	if f.Description != f.Title {
		fmt.Fprintf(&b, "%s\n", clip(f.Description, 1500))
	}
	return b.String()
}

// Around gives the lines of a source with eight before and after, numbered; the
// finding's own are marked. At most 60 lines.
func Around(src string, lines audit.Range) string {
	if lines.IsZero() {
		return ""
	}
	all := strings.Split(src, "\n")
	end := min(max(lines.Start, lines.End), lines.Start+44)
	var b strings.Builder
	for n := max(1, lines.Start-8); n <= min(len(all), end+8); n++ {
		sign := " "
		if n >= lines.Start && n <= max(lines.Start, lines.End) {
			sign = ">"
		}
		fmt.Fprintf(&b, "%s %5d  %s\n", sign, n, clip(strings.ReplaceAll(all[n-1], "\t", "    "), 160))
	}
	return b.String()
}

func cweText(cs []audit.CWE) string {
	vs := make([]string, len(cs))
	for i, c := range cs {
		vs[i] = c.String()
	}
	return strings.Join(vs, ", ")
}

// cell makes text one cell of a key's table.
func cell(s string) string { return strings.ReplaceAll(clip(s, 200), "|", `\|`) }

// parts are the columns that key and decoys share.
type parts struct{ dimension, cwes, severity, file, function, lines, title string }

func partsOf(c *Candidate, dims map[audit.CWE]audit.Dimension) parts {
	f := &c.Finding
	p := parts{cwes: cweText(f.CWEs[:min(3, len(f.CWEs))]), severity: f.Severity.String(), file: cell(cmp.Or(c.Path, f.File)),
		function: cell(score.FunctionName(f.Function)), lines: f.Lines.String(), title: cell(f.Title)}
	if len(f.CWEs) > 0 {
		p.dimension = string(dims[f.CWEs[0]])
	}
	p.dimension = cmp.Or(p.dimension, string(f.Dimension))
	return p
}

// KeyRow gives a row of Known Vulnerabilities, with the fingerprint in a comment
// behind it by which the review is found again. Its ID is to be chosen, its
// evidence to be written by whoever merges it.
func KeyRow(c *Candidate, p *audit.Project, dims map[audit.CWE]audit.Dimension) string {
	x := partsOf(c, dims)
	return fmt.Sprintf("<!-- true %s -->\n| %s | %s | %s | %s | %s | %s | %s |  | %s | TODO: source -> sink |  |\n",
		c.Fingerprint, prefix(p)+"-NEW", x.dimension, x.cwes, x.severity, x.file, x.function, x.lines, x.title)
}

// DecoyRow gives a row of Decoys.
func DecoyRow(c *Candidate, p *audit.Project, dims map[audit.CWE]audit.Dimension, why string) string {
	x := partsOf(c, dims)
	return fmt.Sprintf("<!-- false %s -->\n| %s | %s | %s | %s | %s | %s | %s | %s |\n",
		c.Fingerprint, prefix(p)+"-DNEW", x.dimension, x.cwes, x.file, x.function, x.lines, x.title, cell(cmp.Or(why, "TODO: why it is safe")))
}

// prefix is what the key's IDs begin with.
func prefix(p *audit.Project) string {
	if len(p.Known) == 0 {
		return "NEW"
	}
	id, _, _ := strings.Cut(p.Known[0].ID, "-")
	return id
}

var reviewLine = regexp.MustCompile(`(?m)^<!-- (true|false) ([0-9a-f]{24}) -->`)

// ReadReviews reads what a triage file says of each fingerprint; the last word on
// one holds.
func ReadReviews(s string) map[string]bool {
	m := map[string]bool{}
	for _, g := range reviewLine.FindAllStringSubmatch(s, -1) {
		m[g[2]] = g[1] == "true"
	}
	return m
}

// Rereview scores the record's findings with reviews beside those it was scored
// with.
func Rereview(r *record.Record, p *audit.Project, dims map[audit.CWE]audit.Dimension, reviews map[string]bool) (*record.Record, error) {
	marked := *r
	marked.Trials = slices.Clone(r.Trials)
	for i, t := range marked.Trials {
		if t.Result == nil {
			continue
		}
		res := *t.Result
		res.Findings = slices.Clone(t.Result.Findings)
		for k := range res.Findings {
			if yes, ok := reviews[res.Findings[k].Fingerprint()]; ok {
				res.Findings[k].Review = fmt.Sprint(yes)
			}
		}
		marked.Trials[i].Result = &res
	}
	return Rescore(&marked, p, dims, r.Goals)
}
