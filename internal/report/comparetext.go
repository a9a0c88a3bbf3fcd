package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"assay/audit"
	"assay/audit/score"
)

type comparison struct {
	strings.Builder
	a, b string // the sides, as columns are named
}

// listMost is how many of a list are named: more are for the page, or -o json.
const listMost = 20

// table writes rows of two columns.
func (c *comparison) table(rows [][3]string) {
	tw := tabwriter.NewWriter(c, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "\t%s\t%s\n", clip(c.a, 40), clip(c.b, 40))
	for _, r := range rows {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", r[0], r[1], r[2])
	}
	tw.Flush()
}

// list writes a list of names with its length.
func (c *comparison) list(what string, names []string) {
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(c, "\n%s (%d)\n", what, len(names))
	for _, n := range names[:min(listMost, len(names))] {
		fmt.Fprintf(c, "  %s\n", audit.OneLine(n, 0))
	}
	if n := len(names) - listMost; n > 0 {
		fmt.Fprintf(c, "  and %d more\n", n)
	}
}

// write writes the notes and then everything to w.
func (c *comparison) write(w io.Writer, notes []string) error {
	if len(notes) > 0 {
		c.WriteByte('\n')
	}
	for _, n := range notes {
		fmt.Fprintf(c, "note: %s\n", audit.OneLine(n, 0))
	}
	_, err := io.WriteString(w, c.String())
	return err
}

// Text writes the comparison for a terminal.
func (d *RecordDiff) Text(w io.Writer) error {
	c := &comparison{a: "before", b: "now"}
	fmt.Fprintf(c, "%s on %s\nbefore  %s\nnow     %s\n\n%s\n", audit.OneLine(d.B.Auditor, 0),
		audit.OneLine(d.B.Project, 0), audit.OneLine(d.From, 0), audit.OneLine(d.To, 0),
		audit.OneLine(string(d.Judgement.Verdict), 0))
	for _, g := range d.Judgement.Reasons {
		fmt.Fprintf(c, "  %-4s  %s\n", audit.OneLine(string(g.Verdict), 0),
			audit.OneLine(g.Text, 0))
	}
	c.WriteByte('\n')
	var rows [][3]string
	for _, f := range d.Figures {
		name := f.Name
		if f.Literal {
			name += " by the literal"
		}
		rows = append(rows, [3]string{name, list(f.Was), list(f.Now)})
	}
	for _, f := range d.Dispositions {
		rows = append(rows, [3]string{audit.OneLine(string(f.Disposition), 0), counts(f.Was),
			counts(f.Now)})
	}
	c.table(rows)
	entries := func(es []EntryDiff) (names []string) {
		for _, e := range es {
			n := fmt.Sprintf("%-10s %s", e.ID, e.Dimension)
			if e.Was != e.Now {
				n += fmt.Sprintf(": %s, now %s", credit(e.Was), credit(e.Now))
			}
			names = append(names, n)
		}
		return names
	}
	found := func(fs []score.Scored) (names []string) {
		for i := range fs {
			names = append(names, fmt.Sprintf("%-13s %s  %s", fs[i].Disposition, place(&fs[i]),
				clip(fs[i].Finding.Title, 70)))
		}
		return names
	}
	c.list("lost", entries(d.Lost))
	c.list("found", entries(d.Found))
	c.list("missed on both sides", entries(d.Missed))
	c.list("findings that are new", found(d.New))
	c.list("findings that are gone", found(d.Gone))
	return c.write(w, d.Notes)
}

// Text writes the comparison for a terminal.
func (d *VariantDiff) Text(w io.Writer) error {
	c := &comparison{a: d.A, b: d.B}
	fmt.Fprintf(c, "%s\n%s\n\n", standing(d.B, "balanced accuracy", d.Comparison,
		need(d.Comparison.Need)), d.over())
	var rows [][3]string
	for _, m := range score.BenchMetrics() {
		rows = append(rows, [3]string{m.Title(), m.Show(d.FiguresA), m.Show(d.FiguresB)})
	}
	c.table(append(rows, [3]string{"Trials a case", fmt.Sprint(d.FiguresA.Trials),
		fmt.Sprint(d.FiguresB.Trials)}))
	c.list("turned wrong", d.AlsoA)
	c.list("turned right", d.AlsoB)
	c.list("left out, as the case differs between the two", d.Changed)
	return c.write(w, d.notes())
}

// over returns what the comparison is based on.
func (d *VariantDiff) over() string {
	return fmt.Sprintf("over %d cases of %d families that both were asked (p %.2g)",
		d.Comparison.Cases, d.Comparison.Families, d.Comparison.P)
}

// notes returns the warnings of the comparison.
func (d *VariantDiff) notes() []string {
	ns := slices.Clone(d.Comparison.Warnings)
	if d.OnlyA+d.OnlyB > 0 {
		ns = append(ns,
			fmt.Sprintf("%d cases were asked of A alone, %d of B alone: they are left out",
				d.OnlyA, d.OnlyB))
	}
	return ns
}

// Text writes the comparison for a terminal.
func (d *AuditorDiff) Text(w io.Writer) error {
	c := &comparison{a: d.A, b: d.B}
	fmt.Fprintf(c, "%s\nover %s, %s\n", recallStanding(d.B, d.Total),
		amount(len(d.Projects), "project"), rests(d.Total))
	if d.Gate != "" {
		fmt.Fprintf(c, "by runs, as the gate compares %s with a baseline: %s\n", d.B, d.Gate)
	}
	for i := range d.Projects {
		p := &d.Projects[i]
		fmt.Fprintf(c, "\n%s", audit.OneLine(p.Project, 0))
		if len(d.Projects) > 1 {
			fmt.Fprintf(c, ": %s\nover %s", recallStanding(d.B, p.Comparison), rests(p.Comparison))
		}
		c.WriteString("\n")
		var rows [][3]string
		for k, m := range score.AuditMetrics() {
			if m.Main {
				rows = append(rows, [3]string{p.Figures[k].Name, list(p.Figures[k].Was),
					list(p.Figures[k].Now)})
			}
		}
		c.table(rows)
		c.list("lost", entriesOf(p.AlsoA))
		c.list("found", entriesOf(p.AlsoB))
	}
	notes := slices.Clone(d.Total.Warnings)
	for _, x := range []struct {
		who   string
		alone []string
	}{{d.A, d.OnlyA}, {d.B, d.OnlyB}} {
		if len(x.alone) > 0 {
			notes = append(notes, fmt.Sprintf("audited by %s alone, and left out: %s", x.who,
				list(x.alone)))
		}
	}
	return c.write(w, notes)
}

// recallStanding is [standing] for auditors: of recall, over entries and files.
func recallStanding(b string, c score.Comparison) string {
	decides := ""
	switch n := c.Need; {
	case n.Families > 0:
		decides = fmt.Sprintf("vulnerabilities in %d more files decide a difference of %.1f points",
			n.Families, n.Size)
	case n.Trials > 0:
		decides = fmt.Sprintf("%d more trials of each decide a difference of %.1f points",
			n.Trials, n.Size)
	}
	return standing(b, "recall", c, decides)
}

// rests returns what a comparison of auditors is based on.
func rests(c score.Comparison) string {
	return fmt.Sprintf("%d known vulnerabilities in %s (p %.2g)", c.Cases,
		amount(c.Families, "file"), c.P)
}

// entriesOf returns the IDs and files of vulnerabilities.
func entriesOf(ks []score.EntryResult) (names []string) {
	for _, k := range ks {
		names = append(names, fmt.Sprintf("%-10s %s", k.ID, k.File))
	}
	return names
}

// amount returns "1 note" or "3 notes".
func amount(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// standing returns how the newcomer B stands to A, with the 95 % interval: "new: 4.1 points of
// recall less (1.9 to 6.3 less), significant"; where it is inconclusive, what would decide it.
func standing(b, metric string, c score.Comparison, decides string) string {
	s := audit.OneLine(b, 0) + ": " + lead(c.Diff, metric)
	if x := c.Answered; x != nil && fmt.Sprintf("%.1f", x.Center) != fmt.Sprintf("%.1f",
		c.Diff.Center) {
		s += "; of answered trials alone " + lead(*x, "")
	}
	switch {
	case c.Standing != score.Inconclusive:
		return s + ", significant"
	case decides != "":
		return s + ", inconclusive: " + decides
	}
	return s + ", inconclusive"
}

// lead returns "4.1 points of recall more (1.9 to 6.3)"; less where the difference is below 0.
func lead(d score.Difference, metric string) string {
	how, of := "more", ""
	switch {
	case d.Center < -0.05:
		how, d = "less", score.Difference{Center: -d.Center, Lo: -d.Hi, Hi: -d.Lo}
	case d.Center < 0.05:
		how, d.Center = "more or less", 0
	}
	if metric != "" {
		of = " of " + metric
	}
	return fmt.Sprintf("%.1f points%s %s (%.1f to %.1f)", d.Center, of, how, d.Lo, d.Hi)
}

// need returns what would decide a comparison; "" where nothing is known to.
func need(n score.Need) string {
	switch {
	case n.Families == 1:
		return fmt.Sprintf("1 more family decides a difference of %.1f points", n.Size)
	case n.Families > 1:
		return fmt.Sprintf("%d more families decide a difference of %.1f points",
			n.Families, n.Size)
	case n.Trials > 0:
		return fmt.Sprintf("%d more trials of each case decide a difference of %.1f points",
			n.Trials, n.Size)
	}
	return ""
}

// list returns the texts separated by commas, "none" if there are none.
func list(vs []string) string {
	if len(vs) == 0 {
		return "none"
	}
	return strings.Join(vs, ", ")
}

// counts returns the numbers separated by commas.
func counts(ns []int) string {
	vs := make([]string, len(ns))
	for i, n := range ns {
		vs[i] = fmt.Sprint(n)
	}
	return list(vs)
}

// credit returns a credit without trailing zeros.
func credit(v score.Value) string {
	if !v.Defined {
		return v.String()
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v.V), "0"), ".")
}

// clip is audit.OneLine, cut after n characters.
func clip(s string, n int) string {
	r := []rune(audit.OneLine(s, 0))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n-1]) + "…"
}

// place returns the place of a finding as text.
func place(s *score.Scored) string {
	return audit.OneLine(placeAt(cmp.Or(s.Path, s.Finding.File, "no file"), s.Finding.Lines), 0)
}

// placeAt returns "file:lines".
func placeAt(file string, lines audit.Range) string {
	if l := lines.String(); l != "" {
		return file + ":" + l
	}
	return file
}
