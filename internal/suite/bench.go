package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	if e.cfg.Tier == plainTier {
		s.need(t, e, "tests")
	}
	b := &bench{engine: newEngine(s, e, "Bench"), recorded: map[variant]int{}}
	if err := b.read(t); err != nil {
		t.Fatal(err)
	}
	prompts, promptErr := e.prompts()
	reviewers, reviewerErr := e.reviewers()
	if err := errors.Join(promptErr, reviewerErr); err != nil {
		t.Fatal(err)
	}
	b.closers = append(b.closers, func() { e.closeAll(reviewers) })
	t.Cleanup(func() { b.end(t) })
	for _, r := range reviewers {
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
	b.begin(t, func() error { return b.start(t) })
}

func (b *bench) read(t T) (err error) {
	if b.env.cfg.Tier == moduleTier {
		if b.modules, err = b.env.drawModules(); err == nil && len(b.modules) == 0 {
			err = fmt.Errorf("%s holds no project with a table \"# Modules\": the module tier has nothing to ask", plantedDir)
		}
		b.subjects = modulesOf(b.modules)
	} else {
		corpus, err := b.env.corpus(t)
		if err != nil {
			return err
		}
		b.subjects = casesOf(corpus)
	}
	if err == nil {
		b.goals, err = b.env.goals()
	}
	return err
}

// segment makes a name fit for one level of a subtest's path.
func segment(name string) string { return strings.ReplaceAll(name, "/", "~") }

type bench struct {
	engine
	subjects []subject
	modules  []*audit.Module // what the subjects are of in the module tier; else none
	goals    audit.Goals
	leaves   []*leaf
	recorded map[variant]int // how many of the subjects a recorded reviewer was shown
}

// end judges first: the run writes its last row when it is finished.
func (b *bench) end(t T) {
	b.judge(t)
	b.close()
}

// A leaf is one subtest: a subject with all its trials.
type leaf struct {
	variant
	*subject
	trials      []run.Trial
	results     []run.Result
	twins       []run.Trial // of the machine-made twins
	twinResults []run.Result
}

// of gives the leaves of a variant, about one application or project or ("") all.
func (b *bench) of(v variant, about string) []*leaf {
	return slices.DeleteFunc(slices.Clone(b.leaves), func(l *leaf) bool { return l.variant != v || about != "" && l.about != about })
}

func (b *bench) results(v variant) (rs []run.Result) {
	for _, l := range b.of(v, "") {
		rs = append(rs, l.results...)
	}
	return rs
}

func (b *bench) register(t T, r audit.Reviewer, p prompt) {
	if err := b.stale(r, p); err != nil {
		t.Errorf("%v", err)
		return
	}
	for rest := b.subjects; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].group == rest[0].group {
			n++
		}
		group := rest[:n]
		t.Run(segment(rest[0].group), func(t T) { b.group(t, r, p, group) })
		rest = rest[n:]
	}
}

func (b *bench) group(t T, r audit.Reviewer, p prompt, subjects []subject) {
	for i := range subjects {
		s := &subjects[i]
		if !b.env.cfg.asks(s, r, p) {
			continue
		}
		name := path.Base(s.id)
		t.Run(name, func(t T) {
			l := &leaf{variant: variant{r.Name(), p.name}, subject: s}
			l.trials, l.twins = b.env.cfg.trials(s, r, p)
			b.leaves = append(b.leaves, l)
			t.Parallel()
			b.report(t, l)
		})
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

func (b *bench) start(t T) error {
	if len(b.leaves) == 0 {
		return errNothing
	}
	c := run.Config{Concurrency: b.env.cfg.Concurrency}
	m := time.Duration(0)
	if at, ok := t.Deadline(); ok {
		// What is in flight when the time is up is paid for: leave it the time to end,
		// and to be given up, and the results the time to be stored.
		m = margin(time.Until(at))
		c.Grace = min(run.DefaultGrace, m/3)
	}
	b.suite.progress.say("Bench: planning %d cases", len(b.leaves))
	ctx, plan, err := b.prepare(t, m, c, func(context.Context, store.Store) (run.Items, error) { return itemsOf(b.trials()), nil })
	if err != nil {
		return err
	}
	if b.live() {
		if err := b.suite.uncached(b.env); err != nil {
			return err
		}
	}
	if spread, err := b.spread(ctx, t, plan); spread || err != nil {
		return err
	}
	return b.send(ctx, plan)
}

// margin is how long before the test binary's deadline a live run stops.
func margin(left time.Duration) time.Duration {
	return min(30*time.Second, left/10)
}

// asked gives every trial of the leaf, those of its twins last.
func (l *leaf) asked() []run.Trial { return slices.Concat(l.trials, l.twins) }

func (b *bench) trials() (all []run.Trial) {
	for _, l := range b.leaves {
		all = append(all, l.asked()...)
	}
	return all
}

func itemsOf(trials []run.Trial) run.Items {
	return run.Items{Count: len(trials), At: func(i int) run.Item { return trials[i].Item() }}
}

func (b *bench) report(t T, l *leaf) {
	b.await(t)
	var misses, silent []string
	for _, asked := range l.asked() {
		res, err := b.running.Wait(context.Background(), asked.Key())
		if err != nil {
			t.Fatalf("%s: %v", l.pos, err)
		}
		if asked.Twin != "" {
			l.twinResults = append(l.twinResults, res)
			continue
		}
		l.results = append(l.results, res)
		switch res.Outcome {
		case audit.OutcomeCorrect:
		case audit.OutcomeWrong:
			misses = append(misses, l.miss(&res.Evaluation))
		default:
			silent = append(silent, fmt.Sprintf("%s: %s: %s", l.pos, res.Outcome, audit.OneLine(res.Evaluation.Detail, 0)))
		}
	}
	t.Attr("outcome", string(l.results[0].Outcome))
	switch {
	case len(misses) > 0 && b.env.cfg.Strict:
		t.Errorf("MISS %s", strings.Join(misses, "\n"))
	case len(misses) > 0:
		t.Skipf("MISS %s", strings.Join(misses, "\n"))
	case len(silent) > 0:
		t.Skipf("NO ANSWER %s", strings.Join(silent, "\n"))
	}
}

func (l *leaf) miss(ev *store.Evaluation) string {
	if m := l.ask.Module; m != nil {
		return missed(m, ev)
	}
	return fmt.Sprintf("%s: says %s, is %s: %s", l.pos, ev.Actual, ev.Expected, audit.OneLine(ev.Explanation, 0))
}

// whole reports whether a variant was asked all that it can be: a part does not gate.
func (b *bench) whole(v variant) bool {
	return len(b.of(v, "")) == cmp.Or(b.recorded[v], len(b.subjects))
}

// live reports whether the go command's cache could be wrong: it sees neither who else is
// asked nor the cases of another folder.
func (b *bench) live() bool {
	if !b.env.root.strict() {
		return true
	}
	for _, l := range b.leaves {
		if b.recorded[l.variant] == 0 && !auditor.Deterministic(l.reviewer) {
			return true
		}
	}
	return false
}

// A subject is what one subtest of Bench asks about: a case, or a module.
type subject struct {
	id    string // audit.Case.ID, or audit.Module.ID
	group string // of subtests: an application, or a draw of a project
	about string // whose row of the summary: an application, or a project
	pos   audit.Pos
	ask   run.Trial // without who is asked, with which prompt
	twins func() []proof.Twin
}

func casesOf(corpus *fixture.Corpus) (all []subject) {
	for _, app := range corpus.Apps {
		for i := range app.Families {
			f := &app.Families[i]
			for _, cs := range f.Cases {
				all = append(all, subject{id: cs.ID(), group: app.App, about: app.App, pos: cs.Pos, ask: run.Trial{Case: cs, Spec: app.Spec},
					twins: func() []proof.Twin { return proof.Twins(app, f, cs) }})
			}
		}
	}
	return all
}

func modulesOf(modules []*audit.Module) (all []subject) {
	for _, m := range modules {
		judge := func(r *audit.Review) audit.Outcome { return score.ModuleOutcome(m, r.Violations) }
		all = append(all, subject{id: m.ID(), group: m.App(), about: m.Project, pos: m.Pos, ask: run.Trial{Module: m, Judge: judge},
			twins: func() []proof.Twin { return nil }})
	}
	return all
}

func (s *subject) trial(r audit.Reviewer, p prompt) run.Trial {
	t := s.ask
	t.Reviewer, t.PromptName, t.Prompt = r, p.name, p.text
	return t
}

func twin(t run.Trial, tw *proof.Twin) run.Trial {
	changed := *t.Case
	changed.Code = tw.Code
	t.Case, t.Twin, t.Index = &changed, tw.Kind, 0
	return t
}

// trials asks a recorded reviewer once, who says the same again and was shown no twin.
func (c *Config) trials(s *subject, r audit.Reviewer, p prompt) (trials, twins []run.Trial) {
	t := s.trial(r, p)
	if _, recorded := r.(*auditor.Reader); recorded {
		return []run.Trial{t}, nil
	}
	for t.Index = range c.Trials {
		trials = append(trials, t)
	}
	if c.Twins {
		for _, tw := range s.twins() {
			twins = append(twins, twin(t, &tw))
		}
	}
	return trials, twins
}

// asks passes over what a recorded reviewer was not shown.
func (c *Config) asks(s *subject, r audit.Reviewer, p prompt) bool {
	reader, recorded := r.(*auditor.Reader)
	return c.chooses(s.id) && (!recorded || reader.Has(p.name, s.id))
}
