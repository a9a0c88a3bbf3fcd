package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/box"
	"assay/internal/record"
	"assay/internal/run"
	"assay/internal/store"
)

// A trial is one repetition of a measurement.
type trial struct {
	audit  *run.AuditTrial  // of an auditor; else nil
	review *run.ReviewTrial // of a reviewer; else nil
	result run.JobResult    // when it has ended
	before store.Consumed   // by its errored attempts in the runs that this one continues
}

// key identifies the trial in the plan.
func (x *trial) key() string {
	if x.review != nil {
		return x.review.Key()
	}
	return x.audit.Key()
}

const (
	// defaultAudits run at once of one provider without -concurrency: each may take
	// gigabytes, and a share of a provider's limit that reviews do not.
	defaultAudits = 2
	auditAttempts = 4
	// auditWait is the ceiling of the wait before the second attempt: an agent that
	// gives up has waited itself.
	auditWait = 10 * time.Second
	// auditGrace is left to audits in flight when the run is stopped.
	auditGrace = 5 * time.Second
	// lastMinute is left of go test's time for an auditor to end in order and for the
	// record to be written.
	lastMinute = 20 * time.Second
	// planSeed fixes the order of trials: runs that are compared send them in the same.
	planSeed = 20261121
)

var (
	errEstimate     = errors.New("-budget 0 asks for the estimate alone")
	errEarlierError = errors.New("an error comes before it")
)

// planTrials makes the trials of a measurement.
func planTrials(r *running, m *measurement) error {
	if r.definition.review {
		for i := range trialsOf(r.env, m) {
			m.trials = append(m.trials,
				&trial{review: &run.ReviewTrial{Case: m.target.subject, Spec: m.target.spec,
					Reviewer:   m.variant.reviewer,
					PromptName: m.variant.prompt.name, Prompt: m.variant.prompt.text, Index: i}})
		}
		return nil
	}
	if m.replayed() {
		if err := m.checkRecordings(); err != nil {
			return err
		}
	}
	if err := prepareRecord(r, m); err != nil {
		return err
	}
	like, err := r.describe(m)
	if err != nil {
		return err
	}
	for i := range trialsOf(r.env, m) {
		one := like
		one.Index = i
		a := m.variant.auditor
		if m.replayed() {
			a = auditor.Replay(m.variant.replay[i], r.env.root.fixtures(), m.variant.entry.Rules)
		}
		one.Once = func(ctx context.Context, usd float64) (audit.AuditRun, string, error) {
			return r.audit(ctx, m, i, a, usd)
		}
		m.trials = append(m.trials, &trial{audit: &one})
	}
	return nil
}

// trialsOf returns how many trials a measurement has: those of -trials, one of a recorded
// reviewer, and one a recording.
func trialsOf(e *env, m *measurement) int {
	switch {
	case m.replayed():
		return len(m.variant.replay)
	case m.variant.recorded != nil:
		return 1
	}
	return e.cfg.Trials
}

// checkRecordings reports recordings of another pin, export or set of rules.
func (m *measurement) checkRecordings() error {
	var errs []error
	for _, rec := range m.variant.replay {
		p := m.target.project
		switch want := auditor.RulesHash(m.variant.entry); {
		case rec.Commit != p.Commit:
			errs = append(errs,
				fmt.Errorf("%s: recorded at commit %.12s, and %s is pinned to %.12s: record it again with assay capture", rec.Path(), rec.Commit, p.Name, p.Commit))
		case rec.Source == "" && rec.Export != m.target.hash:
			errs = append(errs,
				fmt.Errorf("%s: the sealed export of %s has changed since it was recorded: record it again with assay capture", rec.Path(), p.Name))
		case rec.Rules != want:
			errs = append(errs,
				fmt.Errorf("%s: recorded with the rules %.12s, and they are %.12s now: record it again with assay capture %s %s", rec.Path(), rec.Rules, want, rec.Auditor, rec.Project))
		}
	}
	return errors.Join(errs...)
}

// describe returns what all trials of a measurement of an auditor have in common.
func (r *running) describe(m *measurement) (x run.AuditTrial, err error) {
	x = run.AuditTrial{Project: m.target.project.Name, Auditor: m.variant.name, Export: m.target.hash}
	if m.inProcess() {
		return x, nil
	}
	v := m.variant
	x.Longest = v.entry.Timeout
	x.Settings = settingsOf(m.record.Parts)
	d, described := v.auditor.(run.DescribedAuditor)
	if !described && v.entry.Kind != "agent" { // a tool or a Go value is free
		x.Cost.Known = true
		return x, nil
	}
	earlier, err := r.earlierCosts(v.name, x.Project)
	if err != nil {
		return x, err
	}
	if described {
		x.Provider, x.Keeps = d.Provider(), true
		x.Cost.Expected, x.Cost.Most, x.Cost.Known = d.Cost()
		if len(earlier) > 0 {
			x.Cost.Expected = min(mean(earlier), x.Cost.Most)
		}
		return x, nil
	}
	x.Provider, x.Keeps = providerOf(v.entry), v.entry.Priced &&
		strings.Contains(v.entry.Command, "ASSAY_MAX_USD")
	x.Cost = run.Cost{Expected: v.entry.Cost, Most: v.entry.Cost, Known: v.entry.Priced}
	if len(earlier) > 0 {
		x.Cost.Expected = mean(earlier)
		if !x.Keeps {
			x.Cost.Most, x.Cost.Known = max(x.Cost.Most, 1.5*slices.Max(earlier)), true
		}
		x.Cost.Most = max(x.Cost.Most, x.Cost.Expected)
	}
	if budget := r.env.cfg.Budget; !x.Cost.Known && budget > 0 && !math.IsInf(budget, 1) {
		return x, fmt.Errorf(
			"%s: %s: its cost is not known, so no budget can hold: add the row | Cost | 5 USD | to its section (what one run may cost at most; 0 where it is free), or run with -budget none", v.entry.Pos, v.name)
	}
	return x, nil
}

// settingsOf returns the parts of an auditor as one text: everything except the source that can
// change its report. It has no credentials and no places of folders.
func settingsOf(parts map[string]string) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		lines = append(lines, name+" "+parts[name])
	}
	return strings.Join(lines, "\n")
}

// providerOf returns whose limits an agent shares: those of its first key, else its own.
func providerOf(entry audit.AuditorEntry) string {
	for _, name := range entry.Variables() {
		if box.Secret(name) {
			return name
		}
	}
	return entry.Name
}

// earlierCosts returns what trials of an auditor on a project cost in USD, by the test
// records or, where there are none, by its baseline.
func (r *running) earlierCosts(auditor, project string) (costs []float64, err error) {
	for _, rec := range r.records() {
		// else its trials are another record's
		if rec.Auditor == auditor && rec.Project == project && rec.Again == "" {
			costs = append(costs, costsOf(rec)...)
		}
	}
	if len(costs) > 0 {
		return costs, nil
	}
	baseline, err := record.Baseline(r.env.root.fixtures(), baselinesDir, auditor, project)
	if err != nil || baseline == nil {
		return nil, err
	}
	return costsOf(baseline), nil
}

// costsOf returns the known costs of a record's trials.
func costsOf(r *record.Record) (costs []float64) {
	for i := range r.Trials {
		if u := &r.Trials[i].Usage; u.Priced && u.USD > 0 {
			costs = append(costs, u.USD)
		}
	}
	return costs
}

// mean returns the mean.
func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// jobs returns the trials that the engine carries out.
func (r *running) jobs() (all []*trial) {
	for _, m := range r.selected {
		for side := range m.sides() {
			if !side.inProcess() {
				all = append(all, side.trials...)
			}
		}
	}
	return all
}

// limits returns the engine's configuration without budget and store, and how long before the end
// of go test's own time the run ends.
func (r *running) limits(t T) (c run.Config, margin time.Duration) {
	cfg := &r.env.cfg
	c = run.Config{Concurrency: cfg.Concurrency,
		Seed: planSeed, Reuse: cfg.Reuse, Progress: r.suite.event,
		Run: store.Run{Suite: r.definition.name, ScoreVersion: score.Version, Parts: r.parts()}}
	margin = lastMinute
	if r.definition.review {
		margin = 0
		if at, ok := t.Deadline(); ok {
			// What is in flight when the time is up is paid for: it gets time to end, and
			// the results to be stored.
			margin = min(30*time.Second, time.Until(at)/10)
			c.Grace = min(run.DefaultGrace, margin/3)
		}
	} else {
		c.Concurrency = cmp.Or(c.Concurrency, max(defaultAudits, r.slots))
		c.Attempts, c.FirstWait, c.Grace = auditAttempts, r.suite.auditWait, r.suite.auditGrace
	}
	return c, margin
}

// plan prepares the run: it opens the store, finds what an interrupted run completed and
// estimates the cost. For a second part of this run, first is the ID of the first one and
// spent what it cost.
func (r *running) plan(t T, jobs []*trial, first string, spent float64) (context.Context,
	*run.Plan, error) {
	cfg := &r.env.cfg
	c, margin := r.limits(t)
	c.Budget, c.Continue = max(0, cfg.Budget-spent), first
	ctx, stop := untilStopped(t, margin)
	r.onClose(func() error { stop(); return nil })
	st := r.store
	if st == nil {
		var err error
		if st, err = store.Open(ctx, r.env.db()); err != nil {
			return nil, nil, err
		}
		r.store = st
		r.onClose(st.Close)
	}
	var err error
	if r.prefix, c.Run.Command, err = r.suite.resumeCommand(r.env, r.definition.name); err != nil {
		return nil, nil, err
	}
	c.Store = st
	if cfg.Add && first == "" {
		if c.Continue, err = r.addTo(ctx, st, jobs); err != nil {
			return nil, nil, err
		}
		jobs = r.jobs()
	}
	if r.definition.review {
		r.notePlanned(&c.Run)
	}
	plan, err := run.Prepare(ctx, c, itemsOf(st, jobs))
	if err != nil {
		return nil, nil, err
	}
	if first == "" {
		r.notePlan(ctx, st, plan)
		if len(plan.Continued) > 0 {
			if err := addErrored(ctx, st, plan, jobs); err != nil {
				return nil, nil, err
			}
		}
	}
	r.suite.progress.plan(plan.Estimate)
	if plan.Estimate.Most > 0 {
		t.Logf("%s", plan.Estimate)
	}
	if cfg.Budget == 0 {
		r.suite.summary.note("estimate: %s", plan.Estimate)
		for _, line := range plan.Estimate.Lines() {
			r.suite.summary.note("  %s", line)
		}
		return nil, nil, errEstimate
	}
	return ctx, plan, nil
}

// itemsOf returns the jobs for the engine.
func itemsOf(st store.Store, jobs []*trial) run.Jobs {
	if jobs[0].audit == nil {
		return run.Jobs{Count: len(jobs),
			At: func(i int) run.Job { return jobs[i].review.Item() }}
	}
	audits := make([]*run.AuditTrial, len(jobs))
	for i, j := range jobs {
		audits[i] = j.audit
	}
	return run.AuditJobs(st, audits)
}

// parts returns what the plan is made of, by name: each variant's parts, the targets and
// the number of trials.
func (r *running) parts() map[string]string {
	all := map[string]string{"trials": fmt.Sprint(r.env.cfg.Trials)}
	var names []string
	for _, m := range r.selected {
		for side := range m.sides() {
			for part, value := range side.record.Parts {
				all[side.variant.name+": "+part] = value
			}
		}
		names = append(names, strings.Join(m.path, "/")+" "+m.target.hash)
	}
	slices.Sort(names)
	all["selection"] = hashOf(strings.Join(slices.Compact(names), "\n"))
	return all
}

// addErrored adds to the trials what their errored attempts consumed in the runs that this
// one continues.
func addErrored(ctx context.Context, st store.Store, plan *run.Plan, jobs []*trial) error {
	var ids []string
	for _, one := range plan.Continued {
		ids = append(ids, one.ID)
	}
	errored, err := st.Errored(ctx, ids)
	if err != nil {
		return err
	}
	for _, x := range jobs {
		x.before = errored[x.key()]
	}
	return nil
}

// usage returns what all attempts of the trial consumed, and how long they took.
func (x *trial) usage() (audit.Usage, time.Duration) {
	ev := &x.result.Evaluation
	if x.before == (store.Consumed{}) {
		return ev.Usage, ev.Latency
	}
	return ev.Usage.Add(x.before.Usage), ev.Latency + x.before.Wall
}

// notePlanned notes in a run how many trials it plans of each reviewer.
func (r *running) notePlanned(run *store.Run) {
	type counts struct{ trials, cases int }
	of := map[[2]string]counts{}
	for _, m := range r.selected {
		for side := range m.sides() {
			key := [2]string{side.variant.name, side.variant.prompt.name}
			of[key] = counts{of[key].trials + len(side.trials), of[key].cases + 1}
		}
	}
	for key, n := range of {
		run.SetPlanned(key[0], key[1], n.trials, n.cases)
	}
}

// notePlan says what the plan takes from earlier runs, or why it takes nothing from one
// that was interrupted.
func (r *running) notePlan(ctx context.Context, st store.Store, plan *run.Plan) {
	name, e := r.definition.name, plan.Estimate
	chain := plan.Continued
	switch {
	case len(chain) > 0 && r.env.cfg.Add:
		r.suite.summary.first("%s: adds %d trials to the %d of the run of %s", name, e.Ask,
			e.Reused, day(chain[0].Started))
	case len(chain) > 0:
		r.suite.summary.first(
			"%s: continues the interrupted run of %s: %d of %d trials were complete", name,
			day(chain[0].Started), e.Reused, e.Planned)
	case e.Reused > 0:
		r.suite.summary.first("%s: -reuse: %d of %d trials are answers of earlier runs", name,
			e.Reused, e.Planned)
	case !r.env.cfg.Reuse:
		runs, err := st.Runs(ctx)
		if err != nil || len(runs) == 0 {
			return
		}
		for _, last := range runs {
			if last.Suite != name {
				continue
			}
			if differs := changedParts(last.Parts, plan.Config.Run.Parts); interrupted(&last) &&
				len(last.Parts) > 0 && len(differs) > 0 {
				r.suite.summary.first(
					"%s: a new run: the interrupted one of %s differs in %s (-reuse takes its answers)", name, day(last.Started), strings.Join(differs, ", "))
			}
			return
		}
	}
}

// interrupted reports whether a run ended before all of its trials had an outcome.
func interrupted(r *store.Run) bool {
	return r.Ended.IsZero() || r.Outcomes[audit.OutcomeSkipped]+r.Outcomes[audit.OutcomeErrored] > 0
}

// changedParts returns the names of parts that differ.
func changedParts(was, is map[string]string) (names []string) {
	for name, value := range is {
		if was[name] != value {
			names = append(names, name)
		}
	}
	for name := range was {
		if _, ok := is[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(names, store.IsPlanned) // it follows from the others
}

// day returns a time as text.
func day(t time.Time) string { return t.UTC().Format(time.DateTime) + " UTC" }

// addTo makes the trials additions to those of the newest run that has results of the
// same variants and targets, and returns that run's ID.
func (r *running) addTo(ctx context.Context, st store.Store, jobs []*trial) (string, error) {
	runs, err := st.Runs(ctx)
	if err != nil {
		return "", err
	}
	for i := range runs {
		if runs[i].Suite != r.definition.name {
			continue
		}
		var ids []string
		for _, one := range store.Chain(runs[i:]) {
			ids = append(ids, one.ID)
		}
		if r.isBaseline(ids[len(ids)-1]) {
			continue
		}
		have := func(xs []*trial) (map[string]bool, error) { return finalTrials(ctx, st, ids, xs) }
		found, err := have(jobs)
		if err != nil {
			return "", err
		}
		if len(found) == 0 {
			continue
		}
		for _, m := range r.selected {
			for side := range m.sides() {
				if err := side.extend(have); err != nil {
					return "", err
				}
			}
		}
		return runs[i].ID, nil
	}
	return "", errors.New(
		"-add: no earlier run has trials of the same auditor or reviewer, files, settings and target (those of the baseline do not count): run without -add first")
}

// isBaseline reports whether a baseline holds the trials of a run: a trial is never on both
// sides of a comparison.
func (r *running) isBaseline(id string) bool {
	return slices.ContainsFunc(r.selected, func(m *measurement) bool {
		return m.baseline != nil &&
			slices.ContainsFunc(m.baseline.Accepted,
				func(a record.Accepted) bool { return a.Run == id })
	})
}

// finalTrials returns the keys of those trials that have a final outcome in these runs.
func finalTrials(ctx context.Context, st store.Store, runs []string, xs []*trial) (map[string]bool,
	error) {
	keys := make([]string, len(xs))
	for i, x := range xs {
		keys[i] = x.key()
	}
	evaluations, err := st.Prior(ctx, runs, keys)
	if err != nil {
		return nil, err
	}
	audits, err := st.PriorAudits(ctx, runs, keys)
	found := map[string]bool{}
	for key := range evaluations {
		found[key] = true
	}
	for key := range audits {
		found[key] = true
	}
	return found, err
}

// extend puts in front of the measurement's trials those that an earlier run made.
func (m *measurement) extend(have func([]*trial) (map[string]bool, error)) error {
	if m.inProcess() || m.variant.recorded != nil {
		return nil
	}
	n := len(m.trials)
	for made := 0; ; made++ {
		found, err := have(m.trials[made : made+1])
		if err != nil {
			return err
		}
		if !found[m.trials[made].key()] {
			return nil
		}
		m.trials = append(m.trials, m.trials[made].at(made+n))
	}
}

// at returns the same trial with another index.
func (x *trial) at(index int) *trial {
	if x.review != nil {
		review := *x.review
		review.Index = index
		return &trial{review: &review}
	}
	one := *x.audit
	one.Index = index
	return &trial{audit: &one}
}

// untilStopped returns a context that ends with the first interrupt, after which a second
// one ends the process, and margin before go test's own time is up.
func untilStopped(t T, margin time.Duration) (context.Context, func()) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	at, ok := t.Deadline()
	if !ok {
		return ctx, stop
	}
	limited, cancel := context.WithDeadlineCause(ctx, at.Add(-margin),
		errors.New("the tests' own time is nearly up (-timeout)"))
	return limited, func() { cancel(); stop() }
}

// records returns the test records of the root, read once.
func (r *running) records() []*record.Record {
	r.readRecords.Do(func() {
		// what is no record states no cost
		r.earlier, _ = record.ReadAll(filepath.Join(r.env.root.Dir, "records"))
	})
	return r.earlier
}
