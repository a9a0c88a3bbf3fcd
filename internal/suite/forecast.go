package suite

import (
	"assay/audit/score"
	"assay/internal/record"
)

// Plan returns what the projects of a root that filter and view choose would cost an auditor,
// and which drops they would find, from the trials of its baseline.
func Plan(root, auditor, filter, view string, concurrency int) (score.Plan, error) {
	e, err := checkout(root, Config{Filter: filter, View: view})
	if err != nil {
		return score.Plan{}, err
	}
	targets, broken, err := e.targets(func(string, ...any) {})
	if err != nil {
		return score.Plan{}, err
	}
	entry, err := e.entry(auditor)
	if err != nil {
		return score.Plan{}, err
	}
	var all []score.PlannedProject
	for i := range targets {
		p := targets[i].project
		if err := broken[p.Name]; err != nil {
			return score.Plan{}, err
		}
		planned := score.PlannedProject{Name: p.Name, Entries: len(p.Known), USD: entry.Cost}
		if auditor != "" {
			base, err := record.Baseline(e.root.fixtures(), baselinesDir, auditor, p.Name)
			if err != nil {
				return score.Plan{}, err
			}
			if base != nil && base.Key == p.KeyHash {
				planned.Trials = record.ScoreTrials(base.Trials)
			}
		}
		all = append(all, planned)
	}
	return score.NewPlan(all, concurrency), nil
}
