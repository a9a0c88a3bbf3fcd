package suite

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/run"
	"assay/internal/run/river"
	"assay/internal/seal"
	"assay/internal/store"
)

// spread leaves a plan to workers. Where they all go away, this process does the work itself.
func (b *bench) spread(ctx context.Context, t T, plan *run.Plan) (bool, error) {
	if b.modules != nil { // workers know cases alone
		return false, nil
	}
	db, err := b.spreading(ctx, t, plan)
	if err != nil || db == nil {
		return false, err
	}
	trials := b.trials()
	r, err := db.Enqueue(ctx, plan, func(i int) river.Task { return river.TaskOf(&trials[i]) })
	if err != nil {
		return false, err
	}
	b.running = r
	if r.Joined {
		b.suite.summary.note("workers were about the same plan already: waited for their run %s", r.ID)
	}
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	var help sync.WaitGroup
	help.Go(func() {
		select {
		case <-r.Done():
			stop()
		case <-working.Done():
		}
	})
	help.Go(func() {
		select {
		case <-working.Done():
		case <-r.Deserted():
			if err := b.help(working, db); err != nil {
				b.suite.summary.note("no worker was left, and this process could not do their work: %v", err)
			}
		}
	})
	b.closers = append(b.closers, func() {
		stop()
		help.Wait()
	})
	return true, nil
}

// spreading gives nil where no workers are there for a plan or (nil) for audits.
func (g *engine) spreading(ctx context.Context, t T, plan *run.Plan) (*river.DB, error) {
	dsn := g.suite.db(g.env)
	there, err := river.Present(ctx, dsn, plan)
	if err != nil || !there {
		return nil, err
	}
	db, err := river.Open(ctx, dsn)
	if err != nil {
		return nil, err
	}
	g.closing(t, func() error { return errors.Join(db.Taken(context.Background()), db.Close()) })
	return db, nil
}

func (b *bench) help(ctx context.Context, db *river.DB) error {
	re, err := b.env.rebuilder()
	if err != nil {
		return err
	}
	defer re.close()
	return db.Work(ctx, river.Worker{Slots: b.env.cfg.Concurrency, Rebuild: re.item})
}

// A remote is an audit as a worker hands it back.
type remote struct {
	Dir string // of the export there: the report may name it
	Run audit.AuditRun
	Err string // the auditor could not be started
}

// remoteAudit carries out an audit for another process.
func (e *env) remoteAudit(ctx context.Context, t river.AuditTask) (b []byte, err error) {
	drawn, project, projectErr := Project(e.root.holdings(), t.Project)
	entries, entriesErr := e.auditors()
	dir, err := e.directory()
	dir.Budget = math.Inf(1) // the plan's is kept where it was made: t.MaxUSD
	var asked audit.Auditor
	if err = errors.Join(projectErr, entriesErr, err); err == nil {
		asked, err = dir.Auditor(t.Auditor)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", river.ErrOther, err)
	}
	if seal.Hash(project) != t.Export || entryHash(entries[t.Auditor], asked) != t.Entry {
		return nil, fmt.Errorf("%w: %s on %s is another audit here: give every worker the commit, fixtures and settings of the plan", river.ErrOther, t.Auditor, t.Project)
	}
	x := target{project: project, drawn: drawn}
	var r remote
	if r.Run, r.Dir, err = x.audit(ctx, asked, t.MaxUSD, e.fetch); r.Dir == "" {
		return nil, err // there is no export
	}
	if err != nil {
		r.Err = err.Error()
	}
	var out bytes.Buffer
	err = gob.NewEncoder(&out).Encode(r)
	return out.Bytes(), err
}

// entryHash tells auditors of one name apart: a worker with another section would run another.
func entryHash(a audit.AuditorEntry, who audit.Auditor) string {
	a.Pos = audit.Pos{}
	sum := sha256.New()
	fmt.Fprintf(sum, "%+v", a)
	if d, ok := who.(run.DescribedAuditor); ok {
		fmt.Fprint(sum, d.Settings())
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func (r *regression) spreadAudits(t T) {
	if len(r.env.cfg.Auditors) == 0 || r.env.cfg.Budget == 0 {
		return
	}
	db, err := r.live.spreading(context.Background(), t, nil)
	if err == nil && db != nil {
		_, r.live.slots, err = db.Workers(context.Background(), 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	if r.live.slots > 0 {
		r.live.workers = db
		r.id = time.Now().UTC().Format("20060102T150405Z") + "-" + rand.Text()[:8]
	}
}

// away leaves plan, budget, pace and tries to this process: a worker does what it is told.
func (h *evaluation) away(ctx context.Context, trial int, usd float64) (audit.AuditRun, string, error) {
	task := river.AuditTask{Run: h.id, Project: h.project.Name, Auditor: h.candidate.name, Trial: trial,
		Export: seal.Hash(h.project), MaxUSD: usd, Entry: entryHash(h.entries[h.candidate.name], h.candidate.trials[trial])}
	if x := h.planned[trial]; x.Settings != "" && !h.env.cfg.Force { // what was made for a process that was killed is taken
		task.Run = "audit " + x.Key()
	}
	b, err := h.live.workers.Audit(ctx, task)
	if ctx.Err() != nil {
		return audit.AuditRun{Invalid: "stopped: " + context.Cause(ctx).Error()}, "", nil // what it has cost so far is not known
	}
	if err != nil {
		return audit.AuditRun{}, "", err
	}
	var r remote
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&r); err != nil {
		return audit.AuditRun{}, "", fmt.Errorf("what a worker handed back cannot be read: %w", err)
	}
	if r.Err != "" {
		return r.Run, r.Dir, errors.New(r.Err)
	}
	return r.Run, r.Dir, nil
}

// A Spread is what the commands share with the suite: the same folders, flags,
// plan and keys.
type Spread struct{ env *env }

// NewSpread opens the repository at own for commands, with what cfg says; cfg.DB must
// be a postgres:// URL. Zero numbers take the flags' defaults.
func NewSpread(own string, cfg Config) (*Spread, error) {
	if cfg.DB = cmp.Or(cfg.DB, os.Getenv("ASSAY_DB")); cfg.DB == "" {
		return nil, errors.New("ASSAY_DB is not set: workers share a PostgreSQL: expected a URL like postgres://assay@db.example/assay")
	}
	if !store.OfPostgres(cfg.DB) { // not shown: there may be a password in it
		return nil, errors.New("ASSAY_DB, or --db, names no PostgreSQL, which workers share: expected a URL like postgres://assay@db.example/assay")
	}
	if cfg.Trials > mostRepeats {
		return nil, fmt.Errorf("trials are %d: expected %d at most", cfg.Trials, mostRepeats)
	}
	if err := checkFilter(cfg.Filter); err != nil {
		return nil, err
	}
	cfg.Trials, cfg.Concurrency = max(1, cfg.Trials), max(1, cfg.Concurrency)
	e, err := checkout(own, cfg)
	return &Spread{e}, err
}

// Enqueue plans the run that go test -run Bench with the same flags would plan,
// and leaves it to workers. It gives the run's ID, "" where the budget of 0 asks
// for the estimate alone.
func (s *Spread) Enqueue(ctx context.Context, out io.Writer) (id string, err error) {
	corpus, err := fixture.ReadCorpus(s.env.root.holdings(), "tests", s.env.root.strict())
	if err != nil {
		return "", err
	}
	trials, err := s.plan(casesOf(corpus))
	if err != nil {
		return "", err
	}
	st, err := store.Open(ctx, s.env.cfg.DB)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	cfg := s.env.cfg
	plan, err := run.Prepare(ctx, run.Config{Store: st, Budget: cfg.Budget, Concurrency: cfg.Concurrency, Seed: benchSeed, Force: cfg.Force,
		Run: store.Run{Command: cfg.command(), ScoreVersion: score.Version}}, itemsOf(trials))
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
	id, joined, err := db.EnqueueOnly(ctx, plan, func(i int) river.Task { return river.TaskOf(&trials[i]) })
	switch {
	case err != nil:
	case joined:
		fmt.Fprintf(out, "run %s is about the very same plan: nothing more is enqueued\n", id)
	default:
		fmt.Fprintf(out, "run %s: %d trials enqueued\n", id, plan.Estimate.Ask)
	}
	return id, err
}

// command is what carries a run on: what is answered is not asked again.
func (c *Config) command() string {
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
	if c.Twins {
		words = append(words, "--twins")
	}
	return strings.Join(words, " ")
}

// Stop lets nothing more of a run be begun: workers skip what waits. A run that
// is not under way is an error.
func (s *Spread) Stop(ctx context.Context, id string) (err error) {
	db, err := river.Open(ctx, s.env.cfg.DB)
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

// plan asks nobody, so that its reviewers hold nothing that were to be closed.
func (s *Spread) plan(cases []subject) (all []run.Trial, err error) {
	prompts, promptErr := s.env.prompts()
	reviewers, reviewerErr := s.env.reviewers()
	for _, r := range reviewers {
		for _, p := range prompts {
			for i := range cases {
				if s.env.cfg.asks(&cases[i], r, p) {
					trials, twins := s.env.cfg.trials(&cases[i], r, p)
					all = append(append(all, trials...), twins...)
				}
			}
		}
	}
	return all, errors.Join(promptErr, reviewerErr)
}

// Work is a worker, until ctx ends or, with drain, until every run has ended.
// Slots is how many trials it works on at once of one provider, audits how many
// auditors run at once (0: none).
func (s *Spread) Work(ctx context.Context, name string, slots, audits int, drain bool, grace time.Duration, ready func(id string)) (err error) {
	re, err := s.env.rebuilder()
	if err != nil {
		return err
	}
	defer re.close()
	db, err := river.OpenWorker(ctx, s.env.cfg.DB)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	w := river.Worker{Name: name, Slots: slots, Rebuild: re.item, Drain: drain, Grace: grace, Ready: ready}
	if audits > 0 {
		w.Audits, w.Audit = audits, s.env.remoteAudit
	}
	return db.Work(ctx, w)
}

// A rebuilder makes trials of tasks, from this copy of the repository.
type rebuilder struct {
	env   *env
	cases map[string]subject

	mu        sync.Mutex
	reviewers map[string]audit.Reviewer
}

func (e *env) rebuilder() (*rebuilder, error) {
	corpus, err := fixture.ReadCorpus(e.root.holdings(), "tests", e.root.strict())
	if err != nil {
		return nil, err
	}
	r := &rebuilder{env: e, cases: map[string]subject{}, reviewers: map[string]audit.Reviewer{}}
	for _, s := range casesOf(corpus) {
		r.cases[s.id] = s
	}
	return r, nil
}

func (r *rebuilder) close() {
	r.env.closeAll(slices.Collect(maps.Values(r.reviewers)))
}

// item gives river.ErrOther for what is missing here: another worker may have it.
func (r *rebuilder) item(_ context.Context, t river.Task) (run.Item, error) {
	s, ok := r.cases[t.Case]
	if !ok {
		return run.Item{}, fmt.Errorf("%w: there is no case %s", river.ErrOther, t.Case)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p, err := r.env.prompt(t.Prompt)
	if err != nil {
		return run.Item{}, fmt.Errorf("%w: %w", river.ErrOther, err)
	}
	reviewer, ok := r.reviewers[t.Reviewer]
	if !ok {
		dir, _, err := r.env.reviewerDirectory()
		if err == nil {
			reviewer, err = dir.Reviewer(t.Reviewer)
		}
		if err != nil {
			return run.Item{}, fmt.Errorf("%w: %w", river.ErrOther, err)
		}
		r.reviewers[t.Reviewer] = reviewer
	}
	trial := s.trial(reviewer, p)
	trial.Index = t.Trial
	if t.Twin != "" {
		for _, tw := range s.twins() {
			if tw.Kind == t.Twin {
				trial = twin(trial, &tw)
			}
		}
	}
	return trial.Item(), nil
}
