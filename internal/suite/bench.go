package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/proof"
	"assay/internal/run"
	"assay/internal/store"
)

// benchSeed fixes the order in which cases are sent. It is no setting: two runs
// that are compared send in the same order.
const benchSeed = 20261121

// Bench turns every case into a subtest
// TestBench/<reviewer>/<prompt>/<app>/<query>-<NN>-<good|bad>, or every module into
// one TestBench/<reviewer>/<prompt>/<project>@<seed>/<module>. Leaves register
// themselves and wait; what was selected runs on an engine of its own; the gate
// judges when all of it has ended.
func (s *Suite) Bench(t T) {
	e := s.begin(t)
	if s.short() {
		t.Skip("-short: cases are not asked")
	}
	b := &bench{suite: s, env: e, started: make(chan struct{}), recorded: map[variant]int{}}
	if e.cfg.Tier == moduleTier {
		b.modules = e.modules(t)
	} else {
		s.need(t, e, "tests")
		b.corpus = e.corpus(t)
	}
	b.goals = e.goals(t)
	t.Cleanup(func() { b.end(t) })
	prompts := e.prompts(t)
	for _, r := range e.reviewers(t) {
		if c, ok := r.(io.Closer); ok {
			b.closers = append(b.closers, func() { _ = c.Close() }) // idle connections
		}
		if x, ok := r.(interface{ Exposed() string }); ok && x.Exposed() != "" {
			s.summary.note("%s: %s", r.Name(), audit.OneLine(x.Exposed(), 0))
		}
		t.Run(segment(r.Name()), func(t T) {
			for _, p := range prompts {
				t.Run(segment(p.name), func(t T) {
					b.register(t, r, p)
					t.Parallel()
				})
			}
			t.Parallel()
		})
	}
	b.run(t)
}

// segment makes a name fit for one level of a subtest's path.
func segment(name string) string { return strings.ReplaceAll(name, "/", "~") }

// A bench is one run of the suite.
type bench struct {
	suite     *Suite
	env       *env
	corpus    *fixture.Corpus // of the plain tier
	modules   []*audit.Module // of the module tier
	goals     audit.Goals
	leaves    []*leaf
	recorded  map[variant]int // how many of the cases or modules a recorded reviewer was shown
	elsewhere int             // cases that fall into other shards
	started   chan struct{}   // closed when run is set, or failed
	store     store.Store
	running   running // here, or with workers elsewhere
	failed    error
	closers   []func()      // in the order in which they run, after the judgement
	grace     time.Duration // for requests in flight when the run is stopped; 0: the engine's own
}

// end judges and releases what the run held: in this order, since the run writes
// its last row when it is finished.
func (b *bench) end(t T) {
	b.judge(t)
	for _, c := range b.closers {
		c()
	}
}

// A leaf is one subtest: a case, or a module, with all its trials.
type leaf struct {
	reviewer, prompt string
	cs               *audit.Case
	module           *audit.Module // in place of a case
	replay           bool          // the reviewer is a recording
	trials           []run.Trial
	results          []run.Result
	twins            []run.Trial // of the machine-made twins
	twinResults      []run.Result
}

// newLeaf plans the trials of a case and, with -twins, one of each of its twins.
func (b *bench) newLeaf(r audit.Reviewer, p prompt, app *audit.App, f *audit.Family, cs *audit.Case) *leaf {
	l := &leaf{reviewer: r.Name(), prompt: p.name, cs: cs}
	l.trials, l.twins = b.env.cfg.trialsOf(r, p, app, f, cs)
	return l
}

func (c *Config) trialsOf(r audit.Reviewer, p prompt, app *audit.App, f *audit.Family, cs *audit.Case) (trials, twins []run.Trial) {
	t := run.Trial{Case: cs, Spec: app.Spec, PromptName: p.name, Prompt: p.text, Reviewer: r}
	for t.Index = range c.Trials {
		trials = append(trials, t)
	}
	if _, recorded := r.(*auditor.Reader); recorded {
		return trials[:1], nil // it says the same again, and was shown no twin
	}
	if !c.Twins {
		return trials, nil
	}
	t.Index = 0
	for _, tw := range proof.Twins(app, f, cs) {
		changed := *cs
		changed.Code = tw.Code
		t.Case, t.Twin = &changed, tw.Kind
		twins = append(twins, t)
	}
	return trials, twins
}

// register registers the leaves of a variant.
func (b *bench) register(t T, r audit.Reviewer, p prompt) {
	if err := b.stale(r, p); err != nil {
		t.Errorf("%v", err)
		return
	}
	if b.corpus != nil {
		for _, app := range b.corpus.Apps {
			t.Run(segment(app.App), func(t T) { b.app(t, r, p, app) })
		}
	}
	for rest := b.modules; len(rest) > 0; {
		app := rest[0].App()
		n := slices.IndexFunc(rest, func(m *audit.Module) bool { return m.App() != app })
		if n < 0 {
			n = len(rest)
		}
		draw := rest[:n]
		t.Run(app, func(t T) { b.drawn(t, r, p, draw) })
		rest = rest[n:]
	}
}

// app registers the leaves of one application.
func (b *bench) app(t T, r audit.Reviewer, p prompt, app *audit.App) {
	for i := range app.Families {
		f := &app.Families[i]
		for _, cs := range f.Cases {
			if !b.env.cfg.chooses(cs.ID()) || !asks(r, p, cs.ID()) {
				continue
			}
			if !b.env.cfg.Shard.has(path.Join(t.Name(), path.Base(cs.ID()))) {
				b.elsewhere++
				continue
			}
			t.Run(path.Base(cs.ID()), func(t T) {
				l := b.newLeaf(r, p, app, f, cs)
				_, l.replay = r.(*auditor.Reader)
				b.leaves = append(b.leaves, l)
				t.Parallel()
				b.report(t, l)
			})
		}
	}
	t.Parallel()
}

// chooses reports whether -filter lets an ID like "shop/list-03-bad" through.
func (c *Config) chooses(id string) bool {
	if c.Filter == "" || strings.Contains(id, c.Filter) {
		return true
	}
	whole, _ := doublestar.Match(c.Filter, id)
	last, _ := doublestar.Match(c.Filter, path.Base(id))
	return whole || last
}

// run plans what was registered, says what it costs, and starts it.
func (b *bench) run(t T) {
	defer close(b.started)
	if len(b.leaves) == 0 && b.elsewhere > 0 {
		b.failed = fmt.Errorf("%s holds none of the cases", b.env.cfg.Shard)
		t.Logf("%v", b.failed)
		if err := b.emptyShard(); err != nil {
			t.Errorf("%v", err)
		}
		return
	}
	if len(b.leaves) == 0 {
		t.Errorf("%s: nothing was selected: -run, -skip and -filter left nothing to ask, and a run of nothing proves nothing", audit.Invalid)
		b.failed = fmt.Errorf("nothing was selected")
		return
	}
	err := b.start(t)
	b.failed = err
	if err != nil && !errors.Is(err, errEstimate) {
		t.Errorf("%s: %v", audit.Invalid, err)
	}
}

// errEstimate ends a run with -budget 0: it was asked what it would cost.
var errEstimate = errors.New("-budget 0 asks for the estimate alone")

func (b *bench) start(t T) error {
	m := time.Duration(0)
	if at, ok := t.Deadline(); ok {
		// What is in flight when the time is up is paid for: leave it the time to end,
		// and to be given up, and the results the time to be stored.
		m = margin(time.Until(at))
		b.grace = min(run.DefaultGrace, m/3)
	}
	ctx, stop := untilStopped(t, m)
	b.closers = append(b.closers, stop)
	st, err := store.Open(ctx, b.suite.db(b.env))
	if err != nil {
		return err
	}
	b.store = st
	b.closers = append(b.closers, func() {
		if err := st.Close(); err != nil {
			t.Errorf("%v", err)
		}
	})
	command, err := b.suite.resume(b.env, "Bench")
	if err != nil {
		return err
	}
	b.suite.progress.say("Bench: planning %d cases", len(b.leaves))
	plan, err := run.Prepare(ctx, b.config(command), b.items())
	if err != nil {
		return err
	}
	if plan.Estimate.Most > 0 {
		t.Logf("%s", plan.Estimate)
	}
	if b.env.cfg.Budget == 0 {
		b.suite.summary.note("estimate: %s", plan.Estimate)
		return errEstimate
	}
	if b.live() {
		if err := b.env.uncached(); err != nil {
			return err
		}
	}
	if spread, err := b.spread(ctx, t, plan); spread || err != nil {
		return err
	}
	r, err := plan.Start(ctx)
	if err == nil {
		b.running = r
	}
	return err
}

// margin is how long before the test binary's deadline a live run stops.
func margin(left time.Duration) time.Duration {
	return min(30*time.Second, left/10)
}

func (b *bench) config(command string) run.Config {
	return run.Config{Store: b.store, Budget: b.env.cfg.Budget, Concurrency: b.env.cfg.Concurrency, Seed: benchSeed,
		Force: b.env.cfg.Force, Grace: b.grace, Progress: b.suite.progress.event,
		Run: store.Run{Command: command, ScoreVersion: score.Version}}
}

func (b *bench) items() []run.Item {
	var items []run.Item
	for _, l := range b.leaves {
		for i := range l.trials {
			items = append(items, l.trials[i].Item())
		}
		for i := range l.twins {
			items = append(items, l.twins[i].Item())
		}
	}
	return items
}

// report waits for a leaf's trials and tells them: a right answer passes, a
// wrong one is a recorded miss.
func (b *bench) report(t T, l *leaf) {
	<-b.started
	if b.failed != nil || b.running == nil {
		t.Skipf("not asked: %v", b.failed)
	}
	var misses, silent []string
	for i := range l.trials {
		res, err := b.running.Wait(context.Background(), l.trials[i].Key())
		if err != nil {
			t.Fatalf("%s: %v", l.pos(), err)
		}
		l.results = append(l.results, res)
		ev := res.Evaluation
		switch ev.Outcome {
		case audit.OutcomeCorrect:
		case audit.OutcomeWrong:
			misses = append(misses, l.miss(&ev))
		default:
			silent = append(silent, fmt.Sprintf("%s: %s: %s", l.pos(), ev.Outcome, audit.OneLine(ev.Detail, 0)))
		}
	}
	for i := range l.twins {
		res, err := b.running.Wait(context.Background(), l.twins[i].Key())
		if err != nil {
			t.Fatalf("%s: twin %s: %v", l.cs.Pos, l.twins[i].Twin, err)
		}
		l.twinResults = append(l.twinResults, res)
	}
	t.Attr("outcome", string(l.results[0].Evaluation.Outcome))
	switch {
	case len(misses) > 0 && b.env.cfg.Strict:
		t.Errorf("MISS %s", strings.Join(misses, "\n"))
	case len(misses) > 0:
		t.Skipf("MISS %s", strings.Join(misses, "\n"))
	case len(silent) > 0:
		t.Skipf("NO ANSWER %s", strings.Join(silent, "\n"))
	}
}

// pos is where what is asked stands.
func (l *leaf) pos() audit.Pos {
	if l.module != nil {
		return l.module.Pos
	}
	return l.cs.Pos
}

// miss tells a wrong answer.
func (l *leaf) miss(ev *store.Evaluation) string {
	if l.module != nil {
		return missed(l.module, ev)
	}
	return fmt.Sprintf("%s: says %s, is %s: %s", l.cs.Pos, ev.Actual, ev.Expected, audit.OneLine(ev.Explanation, 0))
}

// whole reports whether the leaves are all cases of the corpus for a reviewer and
// prompt, or all that a recorded one was shown: a partial selection reports and does not gate.
func (b *bench) whole(reviewer, prompt string) bool {
	n := 0
	for _, l := range b.leaves {
		if l.reviewer == reviewer && l.prompt == prompt {
			n++
		}
	}
	switch {
	case b.recorded[variant{reviewer, prompt}] > 0:
		return n == b.recorded[variant{reviewer, prompt}]
	case b.corpus == nil:
		return n == len(b.modules)
	}
	return n == len(b.corpus.Cases())
}

// live reports whether anybody but our own reviewers is asked, or cases of
// another folder: the go command's cache sees neither.
func (b *bench) live() bool {
	if !b.env.root.strict() {
		return true
	}
	for _, l := range b.leaves {
		if !l.replay && !auditor.Deterministic(l.reviewer) {
			return true
		}
	}
	return false
}
