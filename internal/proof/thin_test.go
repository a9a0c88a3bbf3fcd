package proof

import (
	"fmt"
	"slices"

	"assay/audit"
)

// Thin gives the requirements of an application that fewer than four bads break.
func Thin(app *audit.App) []audit.Problem {
	count := map[int]int{}
	for _, fam := range app.Families {
		for _, c := range fam.Cases {
			for _, n := range c.Violates {
				count[n]++
			}
		}
	}
	var problems []audit.Problem
	for _, r := range app.Spec.Requirements {
		if count[r.Number] < 4 {
			problems = append(problems, audit.Problem{Pos: r.Pos,
				What: fmt.Sprintf("requirement %d is broken by %d bad cases: expected at least 4",
					r.Number, count[r.Number])})
		}
	}
	return problems
}

// Coverage counts, over all applications, the families that cover each pattern: a
// family does when one of its bads is an instance of it.
func Coverage(apps []*audit.App) map[audit.Pattern]int {
	families := map[audit.Pattern]int{}
	for _, app := range apps {
		for _, fam := range app.Families {
			var of []audit.Pattern
			for _, c := range fam.Cases {
				of = append(of, patternsOf(app.Spec, c)...)
			}
			slices.Sort(of)
			for _, p := range slices.Compact(of) {
				families[p]++
			}
		}
	}
	return families
}

// patternsOf gives the patterns that a bad case is an instance of, by the requirements
// that it violates and its CWEs; none for goods.
func patternsOf(s *audit.Spec, c *audit.Case) []audit.Pattern {
	var ps []audit.Pattern
	for _, r := range s.Patterns {
		named := len(r.CWEs) == 0 ||
			slices.ContainsFunc(c.CWEs,
				func(w audit.CWE) bool { return slices.Contains(r.CWEs, w) })
		if named && slices.Contains(c.Violates, r.Requirement) {
			ps = append(ps, r.Pattern)
		}
	}
	return ps
}
