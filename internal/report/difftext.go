package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"assay/audit"
	"assay/audit/score"
)

// oneLine keeps what others wrote on one line and free of control characters.
func oneLine(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < ' ', r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029:
			b.WriteByte(' ')
		case audit.Invisible(r):
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// clip is oneLine, cut after n characters.
func clip(s string, n int) string {
	r := []rune(oneLine(s))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n-1]) + "…"
}

// Text writes the comparison for a terminal.
func (d *RecordDiff) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s\nbefore  %s\nnow     %s\n\n%s\n", oneLine(d.B.Auditor), oneLine(d.B.Project), oneLine(d.From), oneLine(d.To), oneLine(string(d.Judgement.Verdict)))
	for _, g := range d.Judgement.Reasons {
		fmt.Fprintf(&b, "  %-4s  %s\n", oneLine(string(g.Verdict)), oneLine(g.Text))
	}
	b.WriteByte('\n')
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "\tbefore\tnow\n")
	for _, f := range d.Figures {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", f.label(), list(f.Was), list(f.Now))
	}
	for _, f := range d.Dispositions {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", oneLine(string(f.Disposition)), counts(f.Was), counts(f.Now))
	}
	tw.Flush()
	writeEntries(&b, "lost", d.Lost)
	writeEntries(&b, "found", d.Found)
	writeEntries(&b, "missed on both sides", d.Missed)
	writeFindings(&b, "findings that are new", d.New)
	writeFindings(&b, "findings that are gone", d.Gone)
	for _, n := range d.Notes {
		fmt.Fprintf(&b, "note: %s\n", oneLine(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (f FigureDiff) label() string {
	if f.Literal {
		return f.Name + " by the literal"
	}
	return f.Name
}

func list(vs []string) string {
	if len(vs) == 0 {
		return "none"
	}
	return strings.Join(vs, ", ")
}

func counts(ns []int) string {
	vs := make([]string, len(ns))
	for i, n := range ns {
		vs[i] = fmt.Sprint(n)
	}
	return list(vs)
}

func writeEntries(b *strings.Builder, what string, es []EntryDiff) {
	if len(es) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s (%d)\n", what, len(es))
	for _, e := range es {
		if e.Was == e.Now {
			fmt.Fprintf(b, "  %-10s %s\n", oneLine(e.ID), oneLine(string(e.Dimension)))
			continue
		}
		fmt.Fprintf(b, "  %-10s %s: %s, now %s\n", oneLine(e.ID), oneLine(string(e.Dimension)), credit(e.Was), credit(e.Now))
	}
}

// credit shows what an entry earned.
func credit(v score.Value) string {
	if !v.Defined {
		return v.String()
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v.V), "0"), ".")
}

// writeFindings lists at most 20; more are for the page.
func writeFindings(b *strings.Builder, what string, fs []score.Scored) {
	if len(fs) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s (%d)\n", what, len(fs))
	for i, f := range fs {
		if i == 20 {
			fmt.Fprintf(b, "  and %d more\n", len(fs)-i)
			break
		}
		fmt.Fprintf(b, "  %-13s %s  %s\n", oneLine(string(f.Disposition)), place(&f), clip(f.Finding.Title, 70))
	}
}

// place gives a finding's file with its lines.
func place(s *score.Scored) string {
	file := s.Path
	if file == "" {
		file = s.Finding.File
	}
	if file == "" {
		file = "no file"
	}
	if l := s.Finding.Lines; !l.IsZero() {
		file += ":" + l.String()
	}
	return oneLine(file)
}
