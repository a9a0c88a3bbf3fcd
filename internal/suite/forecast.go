package suite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"assay/audit/score"
	"assay/fixtures"
	"assay/internal/record"
	"assay/internal/store"
	"assay/internal/workflow"
)

// Plan returns what the projects of a root that filter and view choose would cost an auditor,
// and which drops they would find, from the trials of its baseline or of its records.
func Plan(root, auditor, filter, view string, concurrency int) (score.SuitePlan, error) {
	e, err := checkout(root, Settings{Filter: filter, View: view})
	if err != nil {
		return score.SuitePlan{}, err
	}
	entry, err := e.entry(auditor)
	if err != nil {
		return score.SuitePlan{}, err
	}
	return e.plan(auditor, entry.Cost, concurrency)
}

// plan plans the chosen projects for an auditor; cost is that of a trial of which no trial
// says it.
func (e *env) plan(auditor string, cost float64, concurrency int) (score.SuitePlan, error) {
	targets, broken, err := e.targets(func(string, ...any) {})
	if err != nil {
		return score.SuitePlan{}, err
	}
	// What is no record states no cost.
	earlier, _ := record.ReadAll(filepath.Join(e.root.Dir, "records"))
	var all []score.PlannedProject
	for i := range targets {
		p := targets[i].project
		if err := broken[p.Name]; err != nil {
			return score.SuitePlan{}, err
		}
		planned := score.PlannedProject{Name: p.Name, Entries: len(p.Vulnerabilities), USD: cost}
		if auditor != "" {
			base, err := record.Baseline(e.root.fixtures(), baselinesDir, auditor, p.Name)
			if err != nil {
				return score.SuitePlan{}, err
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
		if rec.Auditor == auditor && rec.Project == project && rec.Key == key && rec.Again == "" &&
			len(rec.Counting()) > 0 {
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
			known := m.target.project.Vulnerabilities
			p := score.PlannedProject{Name: m.target.project.Name, Entries: len(known)}
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

// An Offer is the largest suite that the runs of a pull request can pay for.
type Offer struct {
	Filter string // of go test; empty for the root's own projects
	score.SuitePlan
	Short bool // whether the budget does not pay for one project on both sides
}

// Flags returns the flags of go test that choose it, with a blank in front.
func (o Offer) Flags() string {
	if o.Filter == "" {
		return ""
	}
	return " -filter " + Quoted(o.Filter)
}

// Says returns what the suite finds with three trials of the baseline and one new one.
func (o Offer) Says() string {
	text := o.Line(3, 1, 0)
	if o.Short {
		text += "; the budget does not pay for one project on both sides: raise --budget or lower --cost"
	}
	return text
}

// CanFail reports whether one new trial of the suite can FAIL by a drop.
func (o Offer) CanFail() bool { return len(o.Designs) > 1 && o.Designs[1].Drop.Defined }

// Affordable returns the suite that budget pays for on both sides, the pull request's and that
// of its base, where a trial costs so much: the root's own projects, or where it has none areas
// of the shipped planted projects, as many as there are or the budget pays for.
func Affordable(root, auditor string, cost, budget float64) (o Offer, err error) {
	own := false
	for _, dir := range regressionSuite.needs {
		_, err := os.Stat(filepath.Join(root, dir))
		own = own || err == nil
	}
	e, err := checkout(root, Settings{Filter: allAreas})
	if err != nil {
		return o, err
	}
	if own {
		e.cfg.Filter, e.root.planted = "", false
		o.SuitePlan, err = e.plan(auditor, cost, 1)
		return o, err
	}
	areas, err := areaNames()
	if err != nil {
		return o, err
	}
	n := len(areas)
	if cost > 0 {
		n = int(min(float64(n), math.Floor(budget/cost/2+1e-9)))
	}
	if o.Short = n < 1; o.Short {
		n = 1
	}
	if o.Filter = allAreas; n < len(areas) {
		o.Filter = "{" + strings.Join(areas[:n], ",") + "}"
	}
	e.cfg.Filter = o.Filter
	o.SuitePlan, err = e.plan(auditor, cost, 1)
	return o, err
}

// areaNames returns the areas of the shipped planted projects, of each project one in turn.
func areaNames() (names []string, err error) {
	fsys := defaults{fixtures.Planted}
	projects, err := PlantedNames(fsys)
	if err != nil {
		return nil, err
	}
	read := readPlanted(fsys)
	for i, more := 0, true; more; i++ {
		more = false
		for _, name := range projects {
			p, err := read(name)
			if err != nil {
				return nil, err
			}
			if i < len(p.Modules) {
				names, more = append(names, name+"."+p.Modules[i].Name), true
			}
		}
	}
	return names, nil
}

// Left returns what is left of a limit in USD after everything that results, at where, cost.
func Left(ctx context.Context, where string, limit float64) (float64, error) {
	if _, err := os.Stat(where); !store.OfPostgres(where) && errors.Is(err, fs.ErrNotExist) {
		return limit, nil
	}
	st, err := store.OpenReadOnly(ctx, where)
	if err != nil {
		return 0, err
	}
	defer st.Close()
	runs, err := st.Runs(ctx)
	if err != nil {
		return 0, err
	}
	var ids []string
	for _, r := range runs {
		ids = append(ids, r.ID)
	}
	spent, err := st.Spent(ctx, ids)
	if err != nil {
		return 0, fmt.Errorf("what was spent: %w", err)
	}
	return max(0, limit-spent), nil
}
