package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"assay/audit/score"
	"assay/internal/record"
)

// An AuditorDiff sets auditor A against auditor B over the projects that both audited.
type AuditorDiff struct {
	A, B     string
	Total    score.Comparison // how A stands to B, over all of these projects
	Projects []AuditedDiff    // by name
	OnlyA    []string         // projects that B did not audit
	OnlyB    []string
}

// An AuditedDiff is the part of one project.
type AuditedDiff struct {
	Project    string
	Comparison score.Comparison
	FromA      string              // the record of A
	FromB      string              // and of B
	Figures    []FigureDiff        // Was is A, Now is B
	AlsoA      []score.KnownResult // found in full by some trial of A, missed by all of B
	AlsoB      []score.KnownResult
}

// DiffAuditors compares the audits of two auditors, by project. Projects that one of
// them alone audited are named and left out; none in common is an error. Audits that
// were scored by different rules or keys give a [*score.MismatchError], which
// [Rescore] mends.
func DiffAuditors(a, b string, as, bs map[string]*record.Record) (*AuditorDiff, error) {
	d := &AuditorDiff{A: a, B: b}
	var all []score.AuditedByTwo
	for _, name := range slices.Sorted(maps.Keys(as)) {
		ra, rb := as[name], bs[name]
		if rb == nil {
			d.OnlyA = append(d.OnlyA, name)
			continue
		}
		both := score.AuditedByTwo{A: ra.Counting(), B: rb.Counting()}
		c, err := score.CompareAuditors(both)
		if err != nil {
			return nil, fmt.Errorf("%s: %s and %s: %w", name, ra.Name(), rb.Name(), err)
		}
		all = append(all, both)
		d.Projects = append(d.Projects, AuditedDiff{Project: name, Comparison: c, FromA: ra.Name(), FromB: rb.Name(), Figures: figures(both.A, both.B),
			AlsoA: score.FoundBy(both.A, both.B), AlsoB: score.FoundBy(both.B, both.A)})
	}
	for _, name := range slices.Sorted(maps.Keys(bs)) {
		if as[name] == nil {
			d.OnlyB = append(d.OnlyB, name)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s and %s have no project in common: %s audited %s, and %s %s", a, b, a, list(d.OnlyA), b, list(d.OnlyB))
	}
	var err error
	d.Total, err = score.CompareAuditors(all...)
	return d, err
}

// Sentence says how B stands to A in recall, and what would settle it.
func (d *AuditorDiff) Sentence() string {
	return recallStanding(d.B, d.Total) + ", over " + amount(len(d.Projects), "project")
}

func amount(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// recallStanding is [standing] for auditors: of recall, over entries and files.
func recallStanding(b string, c score.Comparison) string {
	need := ""
	switch n := c.Need; {
	case n.Families > 0:
		need = fmt.Sprintf("trials alone do not settle a difference of %.1f points, known vulnerabilities in %s more do", n.Size, amount(n.Families, "file"))
	case n.Trials > 0:
		need = fmt.Sprintf("%s more of each would settle a difference of %.1f points", amount(n.Trials, "trial"), n.Size)
	}
	return fmt.Sprintf("%s; %d known vulnerabilities in %s (p %.2g)", standing(b, "recall", c, need), c.Cases, amount(c.Families, "file"), c.P)
}

// main gives the figures of the overview: those without a literal reading.
func (a *AuditedDiff) main() (fs []FigureDiff) {
	for i, m := range score.AuditMetrics() {
		if m.Main {
			fs = append(fs, a.Figures[i])
		}
	}
	return fs
}

func (d *AuditorDiff) notes() (ns []string) {
	ns = append(ns, d.Total.Warnings...)
	for _, x := range []struct{ who, names string }{{d.A, list(d.OnlyA)}, {d.B, list(d.OnlyB)}} {
		if x.names != "none" {
			ns = append(ns, fmt.Sprintf("audited by %s alone, and left out: %s", x.who, x.names))
		}
	}
	return ns
}

// Text writes the comparison for a terminal.
func (d *AuditorDiff) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nA  %s\nB  %s\n", d.Sentence(), oneLine(d.A), oneLine(d.B))
	for i := range d.Projects {
		p := &d.Projects[i]
		fmt.Fprintf(&b, "\n%s: %s\n", oneLine(p.Project), recallStanding(d.B, p.Comparison))
		tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintf(tw, "\tA\tB\n")
		for _, f := range p.main() {
			fmt.Fprintf(tw, "%s\t%s\t%s\n", f.Name, list(f.Was), list(f.Now))
		}
		tw.Flush()
		writeFound(&b, "lost", p.AlsoA)
		writeFound(&b, "found", p.AlsoB)
	}
	b.WriteByte('\n')
	for _, n := range d.notes() {
		fmt.Fprintf(&b, "note: %s\n", oneLine(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// found names entries.
func found(ks []score.KnownResult) string {
	var ids []string
	for _, k := range ks {
		ids = append(ids, k.ID)
	}
	return list(ids)
}

func writeFound(b *strings.Builder, what string, ks []score.KnownResult) {
	if len(ks) > 0 {
		fmt.Fprintf(b, "%s (%d): %s\n", what, len(ks), oneLine(found(ks)))
	}
}
