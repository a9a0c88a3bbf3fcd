package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"assay/audit/score"
)

// Text writes the comparison for a terminal.
func (d *VariantDiff) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "A  %s\nB  %s\n\n%s\n\n", oneLine(d.A), oneLine(d.B), d.Sentence())
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "\tA\tB\n")
	for _, f := range d.rows() {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", f[0], f[1], f[2])
	}
	tw.Flush()
	for _, l := range []struct {
		what string
		ids  []string
	}{{"only A is right", d.AlsoA}, {"only B is right", d.AlsoB}, {"left out, as the case differs between the two", d.Changed}} {
		if len(l.ids) > 0 {
			fmt.Fprintf(&b, "\n%s (%d)\n  %s\n", l.what, len(l.ids), oneLine(clip(strings.Join(l.ids, ", "), 2000)))
		}
	}
	for _, n := range d.notes() {
		fmt.Fprintf(&b, "note: %s\n", oneLine(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Sentence says how A stands to B, by how much, and what would settle it.
func (d *VariantDiff) Sentence() string {
	return "A is " + Standing(d.Comparison)
}

// Standing gives "better than B", "worse than B" or "not settled against B", with
// the difference and what would settle it.
func Standing(c score.Comparison) string {
	switch c.Standing {
	case score.Better:
		return "better than B: " + difference(c)
	case score.Worse:
		return "worse than B: " + difference(c)
	}
	return "not settled against B: " + difference(c)
}

// difference tells it, and what would settle it where it is not.
func difference(c score.Comparison) string {
	diff := fmt.Sprintf("%+.1f points of balanced accuracy (95 %%: %+.1f to %+.1f), p %.2g, over %d cases of %d families",
		c.Diff.Center, c.Diff.Lo, c.Diff.Hi, c.P, c.Cases, c.Families)
	if n := Need(c.Need); n != "" && c.Standing == score.NotSettled {
		diff += ", " + n
	}
	return diff
}

// Need says what would settle a comparison; empty where nothing is known to.
func Need(n score.Need) string {
	switch {
	case n.Families > 0:
		return fmt.Sprintf("needs %d more families to settle a difference of %.1f points", n.Families, n.Size)
	case n.Trials > 0:
		return fmt.Sprintf("needs %d more trials of each case to settle a difference of %.1f points", n.Trials, n.Size)
	}
	return ""
}

func (d *VariantDiff) rows() [][3]string {
	a, b := d.FiguresA, d.FiguresB
	var rows [][3]string
	for _, m := range score.BenchMetrics() {
		rows = append(rows, [3]string{m.Title(), m.Show(a), m.Show(b)})
	}
	return append(rows, [3]string{"Trials a case", fmt.Sprint(a.Trials), fmt.Sprint(b.Trials)})
}

func (d *VariantDiff) notes() []string {
	var ns []string
	ns = append(ns, d.Comparison.Warnings...)
	if d.OnlyA+d.OnlyB > 0 {
		ns = append(ns, fmt.Sprintf("%d cases were asked of A alone, %d of B alone: they are left out", d.OnlyA, d.OnlyB))
	}
	return ns
}

// Markdown writes the comparison as a comment for a pull request.
func (d *VariantDiff) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n%s\n\n| | A | B |\n|---|---|---|\n", mark(d.A+" against "+d.B), mark(d.Sentence()))
	for _, f := range d.rows() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", f[0], f[1], f[2])
	}
	for _, n := range d.notes() {
		fmt.Fprintf(&b, "\n- %s", mark(n))
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}
