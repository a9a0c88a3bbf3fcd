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
	fmt.Fprintf(&b, "%s\n\nA  %s\nB  %s\n\n", d.Sentence(), oneLine(d.A), oneLine(d.B))
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "\tA\tB\n")
	for _, f := range d.rows() {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", f[0], f[1], f[2])
	}
	tw.Flush()
	for _, l := range []struct {
		what string
		ids  []string
	}{{"turned wrong", d.AlsoA}, {"turned right", d.AlsoB}, {"left out, as the case differs between the two", d.Changed}} {
		if len(l.ids) > 0 {
			fmt.Fprintf(&b, "\n%s (%d)\n  %s\n", l.what, len(l.ids), strings.Join(oneLines(l.ids), "\n  "))
		}
	}
	for _, n := range d.notes() {
		fmt.Fprintf(&b, "note: %s\n", oneLine(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Sentence says how B stands to A, by how much, and what would settle it.
func (d *VariantDiff) Sentence() string {
	s := standing(d.B, "balanced accuracy", d.Comparison, Need(d.Comparison.Need))
	of := "%s, over %d cases of %d families (p %.2g)"
	if d.Sites {
		of = "%s, over %d sites of %d modules (p %.2g)"
	}
	return fmt.Sprintf(of, s, d.Comparison.Cases, d.Comparison.Families, d.Comparison.P)
}

// standing tells a comparison from the point of view of the newcomer B, with the
// 95 % interval: "new is worse by 4.1 points of recall (1.9 to 6.3), settled"; where
// it is not, with what would settle it.
func standing(b, metric string, c score.Comparison, need string) string {
	how, by, lo, hi := "worse by", c.Diff.Center, c.Diff.Lo, c.Diff.Hi
	switch {
	case by < -0.05:
		how, by, lo, hi = "better by", -by, -hi, -lo
	case by < 0.05:
		how, by = "level:", 0
	}
	s := fmt.Sprintf("%s is %s %.1f points of %s (%.1f to %.1f)", oneLine(b), how, by, metric, lo, hi)
	switch {
	case c.Standing == score.Better, c.Standing == score.Worse:
		return s + ", settled"
	case need != "":
		return s + ", not settled: " + need
	}
	return s + ", not settled"
}

// difference tells a pair of a page, A against B, and what would settle it.
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

// oneLines is [oneLine] of each.
func oneLines(ids []string) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = oneLine(id)
	}
	return out
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
		what := "cases"
		if d.Sites {
			what = "modules"
		}
		ns = append(ns, fmt.Sprintf("%d %s were asked of A alone, %d of B alone: they are left out", d.OnlyA, what, d.OnlyB))
	}
	return ns
}
