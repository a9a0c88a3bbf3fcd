package suite

import (
	"cmp"

	"assay/audit/score"
	"assay/internal/record"
)

// Plan returns what the projects of a folder that filter chooses would cost an auditor,
// and which drops they would find, from the trials of its baseline.
func Plan(root, auditor, filter string, concurrency int) (score.Plan, error) {
	e, err := checkout(root, Config{Filter: filter})
	if err != nil {
		return score.Plan{}, err
	}
	targets, err := e.targets()
	if err != nil {
		return score.Plan{}, err
	}
	entries, err := e.auditors()
	if err != nil {
		return score.Plan{}, err
	}
	var all []score.PlannedProject
	for _, t := range targets {
		if t.broken != nil {
			return score.Plan{}, t.broken
		}
		p := score.PlannedProject{Name: t.project.Name, Entries: len(t.project.Known), USD: entries[auditor].Cost}
		if auditor != "" {
			base, err := record.Baseline(e.root.holdings(), baselines, auditor, t.project.Name)
			if err != nil {
				return score.Plan{}, err
			}
			if p.Trials = record.ScoreTrials(cmp.Or(base, &record.Record{}).Trials); base != nil && base.Key != t.project.KeyHash {
				p.Trials = nil
			}
		}
		all = append(all, p)
	}
	return score.NewPlan(all, concurrency), nil
}
