package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
)

// Candidates returns the unreviewed findings of the records outside of the key, each claim
// once, in the order of score's sample. The order cannot be chosen, and the auditor is not
// shown.
func Candidates(rs []*record.Record) []score.Scored {
	seen := map[string]bool{}
	all := &score.Result{}
	for _, r := range rs {
		for _, t := range r.Counting() {
			for _, s := range t.Findings {
				if fp := s.Fingerprint(); score.Reviewable(s.Disposition) && s.Review == "" &&
					!seen[fp] {
					seen[fp] = true
					all.Findings = append(all.Findings, s)
				}
			}
		}
	}
	var cs []score.Scored
	for _, i := range all.Sample() {
		cs = append(cs, all.Findings[i])
	}
	return cs
}

// Show returns a candidate as text for review.
func Show(c *score.Scored) string {
	f := &c.Finding
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  %s\n", place(c), audit.JoinCWEs(f.CWEs), f.Severity)
	if f.Function != "" {
		fmt.Fprintf(&b, "in %s\n", clip(f.Function, 200))
	}
	fmt.Fprintf(&b, "%s\n", clip(f.Title, 300))
	if f.Description != f.Title {
		fmt.Fprintf(&b, "%s\n", clip(f.Description, 1500))
	}
	return b.String()
}

// Around returns the lines of a source with eight before and after, numbered, at most 61. The
// finding's own are marked.
func Around(src string, lines audit.Range) string {
	if lines.IsZero() {
		return ""
	}
	return marked(strings.Split(src, "\n"), lines, audit.Range{})
}

// ReviewOf returns the row of reviews that rules a candidate. Why is the finding's title; the
// reviewer may add to it.
func ReviewOf(c *score.Scored, p *audit.Project, ruling audit.Ruling, entry,
	by, date string) audit.FindingReview {
	f := &c.Finding
	v := audit.FindingReview{File: cmp.Or(c.Path, f.File), Lines: f.Lines, Ruling: ruling,
		Entry: entry, By: by, Date: date, Why: clip(audit.OneLine(f.Title, 200), 200)}
	for _, w := range f.CWEs {
		if len(v.CWEs) < 3 && !slices.Contains(v.CWEs, w) {
			v.CWEs = append(v.CWEs, w)
		}
	}
	if !v.Lines.IsZero() {
		v.Lines.End = max(v.Lines.Start, v.Lines.End)
		if file, ok := p.Tree[v.File]; ok {
			v.Lines.End = max(v.Lines.Start, min(v.Lines.End, file.Lines))
		}
	}
	if name := score.FunctionName(f.Function); name != "" {
		v.Functions = []string{clip(name, 200)}
	}
	return v
}

// Nearest returns at most nine entries that a candidate may repeat: those with its file,
// nearest first, then those with one of its CWEs.
func Nearest(c *score.Scored, p *audit.Project) []audit.Vulnerability {
	rank := func(k *audit.Vulnerability) int {
		gap := 0
		if !k.Lines.IsZero() && !c.Finding.Lines.IsZero() {
			gap = max(0, k.Lines.Start-max(c.Finding.Lines.Start, c.Finding.Lines.End),
				c.Finding.Lines.Start-max(k.Lines.Start, k.Lines.End))
		}
		same := slices.ContainsFunc(c.Finding.CWEs,
			func(w audit.CWE) bool { return slices.Contains(k.CWEs, w) })
		const far = 1 << 20
		switch {
		case k.File == c.Path && same:
			return gap
		case slices.Contains(k.OtherFiles, c.Path):
			return far
		case k.File == c.Path:
			return far + 1 + gap
		case same:
			return 2 * far
		}
		return -1
	}
	var near []audit.Vulnerability
	for _, k := range p.Vulnerabilities {
		if rank(&k) >= 0 {
			near = append(near, k)
		}
	}
	slices.SortStableFunc(near,
		func(a, b audit.Vulnerability) int { return cmp.Compare(rank(&a), rank(&b)) })
	return near[:min(9, len(near))]
}
