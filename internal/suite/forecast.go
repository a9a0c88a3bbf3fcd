package suite

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"assay/audit/score"
	"assay/internal/record"
	"assay/internal/workflow"
)

// Plan returns what the projects of a root that filter and view choose would cost an auditor,
// and which drops they would find, from the trials of its baseline or of its records.
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
	earlier, _ := record.ReadAll(filepath.Join(e.root.Dir, "records")) // what is no record states no cost
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
			if base == nil || base.Key != p.KeyHash {
				base = newestOf(earlier, auditor, p.Name, p.KeyHash)
			}
			if base != nil {
				planned.Trials = record.ScoreTrials(base.Trials)
			}
		}
		all = append(all, planned)
	}
	return score.NewPlan(all, concurrency), nil
}

// newestOf returns the newest record of an auditor on a project with this key; nil for none.
func newestOf(earlier []*record.Record, auditor, project, key string) (newest *record.Record) {
	for _, rec := range earlier { // the oldest first
		if rec.Auditor == auditor && rec.Project == project && rec.Key == key && rec.Again == "" && len(rec.Counting()) > 0 {
			newest = rec
		}
	}
	return newest
}

// printPlan prints for each live auditor of Regression what its trials cost, and which drop
// they find. It is printed at once: what is too dear, or cannot find anything, is stopped.
func (r *running) printPlan() {
	if r.suite.live == nil || r.definition.name != regressionSuite.name {
		return
	}
	for _, ms := range byVariant(r.selected) {
		if ms[0].inProcess() || deterministic(ms[0].variant) {
			continue
		}
		var all []score.PlannedProject
		baseline, now, made := math.MaxInt, math.MaxInt, math.MaxInt
		beside, besideUSD := 0, 0.0
		for _, m := range ms {
			p := score.PlannedProject{Name: m.target.project.Name, Entries: len(m.target.project.Known)}
			base := m.baseline
			if base == nil {
				base = newestOf(r.records(), m.variant.name, p.Name, m.record.Key)
				baseline = 0
			}
			if base != nil {
				p.Trials = record.ScoreTrials(base.Trials)
				baseline = min(baseline, len(base.Counting()))
			}
			p.USD = m.trials[0].audit.Cost.Expected
			if m.beside != nil {
				beside = len(m.beside.trials)
				besideUSD += m.beside.trials[0].audit.Cost.Expected
			}
			now, made = min(now, len(m.trials)), min(made, len(m.trials)-r.env.cfg.Trials)
			all = append(all, p)
		}
		plan := score.NewPlan(all, max(1, r.env.cfg.Concurrency))
		if beside > 0 {
			plan.USD, plan.Minutes = plan.USD+besideUSD, 2*plan.Minutes
		}
		if line := plan.Line(max(baseline, beside), now, made); line != "" {
			r.suite.progress.clear()
			lines := wrap("", ms[0].variant.name+": "+line, screenOf(os.Stdout).width)
			fmt.Fprintln(&workflow.Writer{To: r.suite.live}, strings.Join(lines, "\n"))
		}
	}
}
