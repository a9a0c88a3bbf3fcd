package suite

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/run"
	"assay/internal/run/river"
	"assay/internal/store"
)

// spread leaves a plan of reviews to workers if there are any, and reports whether it
// did. If all of them go away, this process does their work.
func (r *running) spread(ctx context.Context, plan *run.Plan) (bool, error) {
	db, err := r.workersFor(ctx, plan)
	if err != nil || db == nil {
		return false, err
	}
	jobs := r.jobs()
	enqueued, err := db.Enqueue(ctx, plan,
		func(i int) river.ReviewArgs { return river.ReviewArgsOf(jobs[i].review) })
	if err != nil {
		return false, err
	}
	r.engine = enqueued
	if enqueued.Joined {
		r.suite.summary.note("workers already had the same plan: waited for their run %s",
			enqueued.ID)
	}
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	var help sync.WaitGroup
	help.Go(func() {
		select {
		case <-enqueued.Done():
			stop()
		case <-working.Done():
		}
	})
	help.Go(func() {
		select {
		case <-working.Done():
		case <-enqueued.Deserted():
			if err := r.help(working, db); err != nil {
				r.suite.summary.note(
					"no worker was left, and this process could not do their work: %v", err)
			}
		}
	})
	r.onClose(func() error {
		stop()
		help.Wait()
		return nil
	})
	return true, nil
}

// workersFor returns the database of workers for a plan, or for audits if plan is nil;
// nil where there are none.
func (r *running) workersFor(ctx context.Context, plan *run.Plan) (*river.DB, error) {
	dsn := r.env.db()
	if !store.OfPostgres(dsn) {
		return nil, nil
	}
	there, err := river.Present(ctx, dsn, plan)
	if err != nil || !there {
		return nil, err
	}
	db, err := river.Open(ctx, dsn)
	if err != nil {
		return nil, err
	}
	r.onClose(func() error { return errors.Join(db.Taken(context.Background()), db.Close()) })
	return db, nil
}

func (r *running) help(ctx context.Context, db *river.DB) error {
	re, err := r.env.rebuilder()
	if err != nil {
		return err
	}
	defer re.close()
	return db.Work(ctx, river.Worker{Slots: r.env.cfg.Concurrency, Rebuild: re.item})
}

// findWorkers looks for workers that take audits.
func (r *running) findWorkers() error {
	db, err := r.workersFor(context.Background(), nil)
	if err == nil && db != nil {
		_, r.slots, err = db.Workers(context.Background(), 1)
	}
	if r.slots > 0 {
		r.workers = db
	}
	return err
}

func isDeserted(err error) bool { return errors.Is(err, river.ErrDeserted) }

// auditByWorker has a worker make one attempt. Plan, budget, rate limiter and retries
// stay in this process.
func (r *running) auditByWorker(ctx context.Context, m *measurement,
	i int, usd float64) (audit.AuditRun, string, error) {
	task := river.AuditArgs{Run: r.id, Project: m.target.project.Name, Auditor: m.variant.name,
		Trial: i, Export: m.target.hash,
		MaxUSD: usd, Entry: entryHash(m.variant.entry, m.variant.auditor)}
	b, err := r.workers.Audit(ctx, task)
	if ctx.Err() != nil {
		// its cost so far is not known
		return audit.AuditRun{Invalid: "stopped: " + context.Cause(ctx).Error()}, "", nil
	}
	if err != nil {
		return audit.AuditRun{}, "", err
	}
	var v remoteRun
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&v); err != nil {
		return audit.AuditRun{}, "", fmt.Errorf("the result of a worker cannot be read: %w", err)
	}
	if v.Err != "" {
		return v.Run, v.Dir, errors.New(v.Err)
	}
	return v.Run, v.Dir, nil
}

// A remoteRun is an attempt of an audit as a worker returns it.
type remoteRun struct {
	Dir string // of the export there: the report may name it
	Run audit.AuditRun
	Err string // why the auditor could not be started
}

// remoteAudit makes an attempt of an audit for another process.
func (e *env) remoteAudit(ctx context.Context, t river.AuditArgs) (b []byte, err error) {
	x, targetErr := e.target(t.Project)
	registry, err := e.registry()
	registry.Budget = math.Inf(1) // the plan's is kept where it was made: t.MaxUSD
	entry, entryErr := e.entry(t.Auditor)
	var a audit.Auditor
	if err = errors.Join(targetErr, entryErr, err); err == nil {
		a, err = registry.Auditor(t.Auditor)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", river.ErrOther, err)
	}
	if x.hash != t.Export || entryHash(entry, a) != t.Entry {
		return nil, fmt.Errorf(
			"%w: %s on %s is another audit here: give every worker the commit, fixtures and settings of the plan", river.ErrOther, t.Auditor, t.Project)
	}
	var v remoteRun
	if v.Run, v.Dir, err = x.audit(ctx, a, t.MaxUSD, e.fetch); v.Dir == "" {
		return nil, err // there is no export
	}
	if err != nil {
		v.Err = err.Error()
	}
	var out bytes.Buffer
	err = gob.NewEncoder(&out).Encode(v)
	return out.Bytes(), err
}

// entryHash tells auditors of one name apart: a worker with another section would run
// another auditor.
func entryHash(entry audit.AuditorEntry, a audit.Auditor) string {
	entry.Pos, entry.Root = audit.Pos{}, ""
	text := fmt.Sprintf("%+v", entry)
	if d, ok := a.(run.DescribedAuditor); ok {
		text += d.Settings()
	}
	return hashOf(text)
}

// Workers is what the commands enqueue and work share with the suites: the same root,
// flags, plan and keys.
type Workers struct{ env *env }

// NewWorkers opens the repository at dir with the flags of cfg. cfg.DB must be a
// postgres:// URL; numbers of 0 take the flags' defaults.
func NewWorkers(dir string, cfg Settings) (*Workers, error) {
	if cfg.DB = cmp.Or(cfg.DB, os.Getenv("ASSAY_DB")); cfg.DB == "" {
		return nil, errors.New(
			"ASSAY_DB is not set: workers share a PostgreSQL: expected a URL like postgres://assay@db.example/assay")
	}
	if !store.OfPostgres(cfg.DB) { // not shown: there may be a password in it
		return nil, errors.New(
			"ASSAY_DB, or --db, is no PostgreSQL, which workers share: expected a URL like postgres://assay@db.example/assay")
	}
	if cfg.Trials > mostRepeats {
		return nil, fmt.Errorf("trials are %d: expected %d at most", cfg.Trials, mostRepeats)
	}
	if err := checkFilter(cfg.Filter); err != nil {
		return nil, err
	}
	cfg.Trials, cfg.Concurrency = max(1, cfg.Trials), max(1, cfg.Concurrency)
	e, err := checkout(dir, cfg)
	return &Workers{e}, err
}

// Enqueue plans the run that go test -run Bench with the same flags would plan and leaves
// it to workers. It returns the run's ID, "" with a budget of 0, which prints the
// estimate alone.
func (w *Workers) Enqueue(ctx context.Context, out io.Writer) (id string, err error) {
	ms, err := collectBench(w.env, func(string, ...any) {})
	if err != nil {
		return "", err
	}
	r := &running{env: w.env, definition: &benchSuite, selected: ms}
	for _, m := range ms {
		if err := planTrials(r, m); err != nil {
			return "", err
		}
	}
	st, err := store.Open(ctx, w.env.cfg.DB)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	cfg, jobs := w.env.cfg, r.jobs()
	if len(jobs) == 0 {
		return "", errors.New("nothing was selected: expected cases that --filter matches")
	}
	plan, err := run.Prepare(ctx, run.Config{Store: st, Budget: cfg.Budget,
		Concurrency: cfg.Concurrency, Seed: planSeed, Reuse: cfg.Reuse,
		Run: store.Run{Suite: benchSuite.name, Command: cfg.enqueueCommand(),
			ScoreVersion: score.Version, Parts: r.parts()}}, itemsOf(st, jobs))
	if err != nil {
		return "", err
	}
	fmt.Fprintln(out, plan.Estimate)
	if cfg.Budget == 0 {
		return "", nil
	}
	db, err := river.Open(ctx, cfg.DB)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	id, joined, err := db.EnqueueOnly(ctx, plan,
		func(i int) river.ReviewArgs { return river.ReviewArgsOf(jobs[i].review) })
	switch {
	case err != nil:
	case joined:
		fmt.Fprintf(out, "run %s has the same plan: nothing more is enqueued\n", id)
	default:
		fmt.Fprintf(out, "run %s: %d trials enqueued\n", id, plan.Estimate.Ask)
	}
	return id, err
}

// enqueueCommand returns the command that continues the run.
func (c *Settings) enqueueCommand() string {
	words := []string{"assay enqueue"}
	add := func(name, value string) {
		if value != "" {
			words = append(words, Quoted("--"+name+"="+value))
		}
	}
	add("root", c.Root)
	add("model", strings.Join(c.Models, ","))
	add("prompt", strings.Join(c.Prompts, ","))
	add("filter", c.Filter)
	add("trials", fmt.Sprint(c.Trials))
	budget := fmt.Sprint(c.Budget)
	if math.IsInf(c.Budget, 1) {
		budget = "none"
	}
	add("budget", budget)
	add("concurrency", fmt.Sprint(c.Concurrency))
	return strings.Join(words, " ")
}

// Stop lets workers begin nothing more of a run: they skip what waits. A run that is not
// under way is an error.
func (w *Workers) Stop(ctx context.Context, id string) (err error) {
	db, err := river.Open(ctx, w.env.cfg.DB)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	n, err := db.Stop(ctx, id, "stopped: assay enqueue --stop")
	if err == nil && n == 0 {
		err = fmt.Errorf("no run %s is under way", id)
	}
	return err
}

// Work is a worker until ctx ends or, with drain, until every run has ended. It makes
// slots trials at once of one provider and so many audits at once (0: none).
func (w *Workers) Work(ctx context.Context, name string, slots, audits int, drain bool,
	grace time.Duration, ready func(id string)) (err error) {
	re, err := w.env.rebuilder()
	if err != nil {
		return err
	}
	defer re.close()
	db, err := river.OpenWorker(ctx, w.env.cfg.DB)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	worker := river.Worker{Name: name, Slots: slots, Rebuild: re.item, Drain: drain,
		Grace: grace, Ready: ready}
	if audits > 0 {
		worker.Audits, worker.Audit = audits, w.env.remoteAudit
	}
	return db.Work(ctx, worker)
}

// A rebuilder makes trials of tasks, from this copy of the repository.
type rebuilder struct {
	env   *env
	cases map[string]run.ReviewTrial

	mu        sync.Mutex
	reviewers map[string]audit.Reviewer
}

func (e *env) rebuilder() (*rebuilder, error) {
	corpus, err := e.cases()
	if err != nil {
		return nil, err
	}
	r := &rebuilder{env: e, cases: map[string]run.ReviewTrial{}, reviewers: map[string]audit.Reviewer{}}
	for _, app := range corpus.Apps {
		for _, family := range app.Families {
			for _, c := range family.Cases {
				r.cases[c.ID()] = run.ReviewTrial{Case: c, Spec: app.Spec}
			}
		}
	}
	return r, nil
}

func (r *rebuilder) close() {
	for _, one := range r.reviewers {
		r.env.close(one)
	}
}

// item returns river.ErrOther for what is missing here: another worker may have it.
func (r *rebuilder) item(_ context.Context, t river.ReviewArgs) (run.Job, error) {
	trial, ok := r.cases[t.Case]
	if !ok {
		return run.Job{}, fmt.Errorf("%w: there is no case %s", river.ErrOther, t.Case)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := r.env.prompt(t.Prompt)
	if err != nil {
		return run.Job{}, fmt.Errorf("%w: %w", river.ErrOther, err)
	}
	reviewer, ok := r.reviewers[t.Reviewer]
	if !ok {
		registry, err := r.env.registry()
		registry.Budget = math.Inf(1) // the plan's is kept where it was made
		if err == nil {
			reviewer, err = registry.Reviewer(t.Reviewer)
		}
		if err != nil {
			return run.Job{}, fmt.Errorf("%w: %w", river.ErrOther, err)
		}
		r.reviewers[t.Reviewer] = reviewer
	}
	trial.Reviewer, trial.PromptName, trial.Prompt, trial.Index = reviewer, p.name, p.text, t.Trial
	return trial.Item(), nil
}
