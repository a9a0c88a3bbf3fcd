package suite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	"assay/audit"
	"assay/internal/auditor"
	"assay/internal/box"
	"assay/internal/record"
	"assay/internal/run"
	"assay/internal/run/river"
	"assay/internal/store"
)

// A running is one run of a suite: what was selected, and the engine that carries it out.
type running struct {
	suite      *Suite
	env        *env
	definition *definition
	selected   []*measurement // in the order in which their subtests began
	full       bool           // neither -run nor -filter nor -view left anything out
	started    chan struct{}  // closed when engine or err is set
	store      store.Store    // of the results; nil before it is needed
	engine     engine         // nil if no trial is a job
	err        error          // why the jobs were not started
	summary    *run.Summary   // of the engine, when it has finished
	prefix     string         // settings and server, in front of commands that are shown
	closers    []func() error // called last first, after the judgement

	workers *river.DB // of audits; nil if this process runs them
	slots   int       // audits that workers run at once
	id      string    // of the run, or of the first one that it continues

	mu          sync.Mutex
	versions    map[string]string // of auditors, by name
	readRecords sync.Once
	earlier     []*record.Record
}

// An engine carries out a plan: in this process or by workers.
type engine interface {
	Wait(ctx context.Context, key string) (run.JobResult, error)
	Finish() (run.Summary, error)
}

// newRunning returns a run of a suite.
func newRunning(s *Suite, e *env, d *definition) *running {
	r := &running{suite: s, env: e, definition: d, started: make(chan struct{}),
		versions: map[string]string{}}
	e.onClose = r.onClose
	return r
}

// asksOthers reports whether a selected trial is a job.
func (r *running) asksOthers() bool {
	return slices.ContainsFunc(r.selected, (*measurement).asksOthers)
}

// start plans the jobs, if there are any, and starts them in this process or with workers. The
// error is errEstimate if only the estimate was asked for.
func (r *running) start(t T) error {
	jobs := r.jobs()
	if len(jobs) == 0 {
		return nil
	}
	if !r.definition.review && r.env.cfg.Budget != 0 && store.OfPostgres(r.env.db()) {
		if err := r.findWorkers(); err != nil {
			return err
		}
	}
	ctx, plan, err := r.plan(t, jobs, "", 0)
	if err != nil {
		return err
	}
	r.id = plan.Config.Run.ID
	// workers may have the results of what was in flight
	if chain := plan.Continued; len(chain) > 0 {
		r.id = chain[len(chain)-1].ID
	}
	for _, m := range r.selected {
		for side := range m.sides() {
			side.record.Run = r.id
		}
	}
	if r.live() {
		if err := r.suite.uncached(r.env); err != nil {
			return err
		}
	}
	if r.definition.review {
		if spread, err := r.spread(ctx, plan); spread || err != nil {
			return err
		}
	} else {
		ctx = box.WithoutInterrupts(ctx)
	}
	if len(plan.Continued) == 0 || r.env.cfg.Add {
		r.printPlan()
	}
	here, err := plan.Start(ctx)
	if err == nil {
		r.engine = here
	}
	return err
}

// live reports whether go test's cache could be wrong about a result: it sees neither
// other processes and servers nor the files of the user's root.
func (r *running) live() bool {
	if !r.definition.review || !r.env.root.strict() {
		return true
	}
	return slices.ContainsFunc(r.selected, func(m *measurement) bool {
		return m.variant.recorded == nil && !auditor.Deterministic(m.variant.name)
	})
}

// audit makes one attempt of an audit, for so many USD at most (0: what its section
// states), here or by a worker. A replay needs no export.
func (r *running) audit(ctx context.Context, m *measurement, i int,
	a audit.Auditor, usd float64) (audit.AuditRun, string, error) {
	if m.replayed() {
		run, err := a.Audit(ctx, audit.AuditTask{})
		return run, "", err
	}
	usd = cmp.Or(usd, m.variant.entry.Cost)
	if r.workers != nil && !m.inProcess() && r.env.auditor(m.variant.name) == nil {
		run, dir, err := r.auditByWorker(ctx, m, i, usd)
		if err == nil || !isDeserted(err) {
			return run, dir, err
		}
		r.suite.summary.note(
			"%s on %s: no worker for audits was left, and this process did their work",
			m.variant.name, m.target.project.Name)
	}
	return m.target.audit(ctx, a, usd, r.env.fetch)
}

// wait waits for the trials of a measurement. Those without cost are made here.
func (r *running) wait(t T, m *measurement) error {
	for _, x := range m.trials {
		if m.inProcess() {
			if err := r.make(t, x); err != nil {
				return err
			}
			continue
		}
		if r.engine == nil {
			return fmt.Errorf("not run: %w", r.err)
		}
		res, err := r.engine.Wait(context.Background(), x.key())
		if err != nil {
			return err
		}
		x.result = res
	}
	return nil
}

// make makes a trial of an auditor in this goroutine.
func (r *running) make(t T, x *trial) error {
	ctx := context.Background()
	if at, ok := t.Deadline(); ok {
		var cancel func()
		ctx, cancel = context.WithDeadline(ctx, at.Add(-lastMinute))
		defer cancel()
	}
	a, dir, err := x.audit.Once(ctx, 0)
	if err != nil {
		return err
	}
	x.result = run.JobResult{Outcome: audit.OutcomeCorrect, Value: &run.Audited{Run: a, Dir: dir,
		Usage: a.Usage}}
	return nil
}

// audited returns what a trial of an auditor left behind, with the reason in
// AuditRun.Invalid where it left nothing.
func (x *trial) audited() *run.Audited {
	if v, ok := x.result.Value.(*run.Audited); ok {
		return v
	}
	why := x.result.Evaluation.Detail
	if x.result.Outcome == audit.OutcomeSkipped {
		why = "not begun: " + x.result.Why
	}
	return &run.Audited{Run: audit.AuditRun{Invalid: why}, Usage: x.result.Evaluation.Usage}
}

// finish waits for the end of the run and returns whether there is something to judge.
func (r *running) finish(t T) bool {
	if r.engine == nil {
		return r.err == nil
	}
	sum, err := r.engine.Finish()
	if err != nil {
		t.Errorf("%s: %v", audit.Invalid, err)
	}
	r.summary = &sum
	return true
}

// confirm makes one more trial of each collapsed measurement, within what is left of the
// budget, and reports whether there are new ones to judge.
func (r *running) confirm(t T, collapsed []*measurement) bool {
	spent := r.summary.State.Spent + r.summary.State.Earlier
	if spent >= r.env.cfg.Budget {
		r.suite.summary.note(
			"%s: the collapse is not confirmed: the budget holds no second trial (-add makes one)",
			r.definition.name)
		return false
	}
	for _, m := range collapsed {
		m.trials = append(m.trials, m.trials[0].at(len(m.trials)))
	}
	ctx, plan, err := r.plan(t, r.jobs(), r.summary.Run.ID, spent)
	if err == nil {
		r.engine, err = plan.Start(box.WithoutInterrupts(ctx))
	}
	if err != nil {
		t.Errorf("%s: the confirming trial could not be started: %v", audit.Invalid, err)
		return false
	}
	made := false
	for _, m := range collapsed {
		if err := r.wait(t, m); err != nil {
			t.Errorf("%s: %v", audit.Invalid, err)
			return false
		}
		name, last := m.target.project.Name, len(m.trials)-1
		if res := &m.trials[last].result; res.Outcome == audit.OutcomeSkipped {
			r.suite.summary.note("%s: %s: the collapse of %s is not confirmed: %s",
				r.definition.name, m.variant.name, name, res.Why)
			m.trials = m.trials[:last]
			continue
		}
		r.suite.summary.note("%s: %s: a second trial of %s was started to confirm the collapse",
			r.definition.name, m.variant.name, name)
		made = true
		if err := r.definition.score(r.env, m); err != nil {
			t.Errorf("%s: %v", audit.Invalid, err)
			return false
		}
		saveArtifacts(t, m)
	}
	return r.finish(t) && made
}

// byVariant groups the measurements by variant, in order.
func byVariant(ms []*measurement) (all [][]*measurement) {
	at := map[[2]string]int{}
	for _, m := range ms {
		key := [2]string{m.variant.name, m.variant.prompt.name}
		if m.replayed() {
			key[1] = "replay"
		}
		if _, ok := at[key]; !ok {
			at[key] = len(all)
			all = append(all, nil)
		}
		all[at[key]] = append(all[at[key]], m)
	}
	slices.SortStableFunc(all,
		func(a, b []*measurement) int { return cmp.Compare(a[0].variant.name, b[0].variant.name) })
	return all
}

// onClose registers f to be called when the run is closed, in reverse order.
func (r *running) onClose(f func() error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closers = append(r.closers, f)
}

// close calls the closers and closes the reviewers.
func (r *running) close(t T) {
	for _, f := range slices.Backward(r.closers) {
		if err := f(); err != nil {
			t.Errorf("%v", err)
		}
	}
	if r.definition.review {
		closed := map[*variant]bool{}
		for _, m := range r.selected {
			for side := range m.sides() {
				if !closed[side.variant] {
					r.env.close(side.variant.reviewer)
				}
				closed[side.variant] = true
			}
		}
	}
}

// hashOf returns the SHA-256 hash of a text in hex.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
