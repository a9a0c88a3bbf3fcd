package report

import (
	"fmt"
	"slices"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/store"
)

// A Key finds what evaluations are about. The zero Key knows nothing: cases are then
// taken as their file names say, and modules are left out.
type Key struct {
	Cases map[string]*audit.Case // by ID
	// Module gives the module of an ID, with the hash of what is asked of it.
	Module func(id string) (m *audit.Module, hash string, err error)
}

// addModule adds an answer about a module, its violations to be read later.
func (l *loader) addModule(e *store.Evaluation) error {
	if l.key.Module == nil {
		return fmt.Errorf("evaluation %d is of a module, and no planted projects are at hand", e.ID)
	}
	m, hash, err := l.key.Module(e.CaseID())
	switch {
	case err != nil:
		return fmt.Errorf("evaluation %d: %w", e.ID, err)
	case hash != e.CaseHash:
		l.r.Old++
		return nil
	}
	s := l.variant(e)
	n, trial := len(s.Modules), 0
	for j := range s.Modules {
		if s.Modules[j].Module == m {
			trial++
		}
	}
	s.Modules = append(s.Modules, score.ModuleAnswer{Module: m, Trial: trial, Outcome: e.Outcome})
	l.again[e.ID] = func(e *store.Evaluation) {
		s.Modules[n].Read(e.Explanation)
	}
	return nil
}

// of gives the results of a variant that answered so: sites of a draw, or what a
// baseline holds, each a case.
func (v Variant) of(as []score.Answer) *VariantResults {
	out := &VariantResults{Variant: v, Cases: map[string]*CaseResults{}}
	for _, a := range as {
		id := a.Case.ID()
		c := out.Cases[id]
		if c == nil {
			c = &CaseResults{Case: a.Case, Group: a.Group, Cluster: a.Cluster}
			out.Cases[id] = c
		}
		c.Trials = append(c.Trials, &Trial{Outcome: a.Outcome, Violate: a.Violates})
	}
	return out
}

func diffModules(a, b *VariantResults) (*VariantDiff, error) {
	if len(a.Modules) == 0 || len(b.Modules) == 0 {
		return nil, fmt.Errorf("%s and %s: one judged cases, the other modules: expected two of a tier", a, b)
	}
	both := func(of, other *VariantResults) (common []score.ModuleAnswer) {
		for _, x := range of.Modules {
			if slices.ContainsFunc(other.Modules, func(y score.ModuleAnswer) bool { return x.Module == y.Module }) {
				common = append(common, x)
			}
		}
		return common
	}
	sides := score.SiteAnswers(both(a, b), both(b, a))
	d, err := DiffVariants(a.Variant.of(sides[0]), b.Variant.of(sides[1]))
	if d != nil {
		d.Sites = true
		d.OnlyA, d.OnlyB = len(a.Modules)-len(both(a, b)), len(b.Modules)-len(both(b, a))
	}
	return d, err
}

type moduleLine struct {
	*VariantResults
	Figures *score.Modules
}

func moduleLines(r *Results) (ls []moduleLine, err error) {
	for _, s := range r.Modules {
		f, err := score.ModulesOf(s.Modules)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s, err)
		}
		ls = append(ls, moduleLine{s, f})
	}
	return ls, nil
}

// Cells gives the figures over sites, then those that only modules have.
func (l moduleLine) Cells() []string {
	cs := []string{fmt.Sprint(l.Figures.Reviews)}
	return append(append(cs, score.ShowAll(score.BenchMetrics(), l.Figures.Bench)...), score.ShowAll(score.ModuleMetrics(), l.Figures)...)
}

func moduleHeads() []string {
	return append(append([]string{"modules"}, score.Names(score.BenchMetrics())...), score.Names(score.ModuleMetrics())...)
}
