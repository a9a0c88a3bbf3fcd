package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/run"
	"assay/internal/run/river"
	"assay/internal/store"
)

// A Spread is what the commands share with the suite: the same folders, flags,
// plan and keys.
type Spread struct{ env *env }

// NewSpread opens the repository at own for commands, with .env and what cfg
// says; cfg.DB must be a postgres:// URL. Zero numbers take the flags' defaults.
func NewSpread(own string, cfg Config) (*Spread, error) {
	if _, err := LoadEnv(own, cfg.Root); err != nil {
		return nil, err
	}
	if cfg.DB = cmp.Or(cfg.DB, os.Getenv("ASSAY_DB")); cfg.DB == "" {
		return nil, errors.New("ASSAY_DB is not set: workers share a PostgreSQL: expected a URL like postgres://assay@db.example/assay")
	}
	cfg.Trials, cfg.Concurrency = max(1, cfg.Trials), max(1, cfg.Concurrency)
	if cfg.Root != "" && !filepath.IsAbs(cfg.Root) {
		return nil, fmt.Errorf("ASSAY_ROOT is %q: expected an absolute path", cfg.Root)
	}
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
	trials, closing, err := s.plan(casesOf(corpus))
	if err != nil {
		return "", err
	}
	defer closing()
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
			words = append(words, quoted("--"+name+"="+value))
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

func (s *Spread) plan(cases []subject) (all []run.Trial, closing func(), err error) {
	prompts, err := s.env.prompts()
	if err != nil {
		return nil, nil, err
	}
	reviewers, err := s.env.reviewers()
	if err != nil {
		return nil, nil, err
	}
	for _, r := range reviewers {
		for _, p := range prompts {
			for i := range cases {
				if !s.env.cfg.asks(&cases[i], r, p) {
					continue
				}
				trials, twins := s.env.cfg.trials(&cases[i], r, p)
				all = append(append(all, trials...), twins...)
			}
		}
	}
	return all, func() { s.env.closeAll(reviewers) }, nil
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
