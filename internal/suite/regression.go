package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/planted"
	"assay/internal/record"
	"assay/internal/run/river"
	"assay/internal/seal"
)

// Regression turns every project into a subtest and holds its auditors against
// its key: those that -auditor names, live on the sealed export; otherwise every
// recording, replayed.
func (s *Suite) Regression(t T) {
	e := s.begin(t)
	if s.short() {
		t.Skip("-short: no project is audited")
	}
	if e.root.other != nil && !exists(e.root.holdings(), "fixtures/projects") && len(e.plantedNames()) == 0 {
		t.Skipf("%s has no fixtures/projects and no fixtures/planted: nothing to audit here", e.root.Dir)
	}
	targets, err := e.targets()
	if err != nil {
		t.Fatal(err)
	}
	r := &regression{suite: s, env: e, dims: e.dimensions(t), goals: e.goals(t), entries: e.auditors(t), audited: map[string][]*evaluation{}}
	if err := r.readRecordings(); err != nil {
		t.Fatal(err)
	}
	r.spreadAudits(t)
	t.Cleanup(func() { r.judge(t) })
	for _, x := range targets {
		t.Run(x.project.Name, func(t T) { r.project(t, x) })
	}
	if len(targets) == 0 {
		t.Errorf("%s: -filter left no project, and a run of nothing proves nothing", audit.Invalid)
	}
}

// targets gives the chosen projects: planted ones drawn, pinned ones by their keys.
func (e *env) targets() ([]target, error) {
	targets, err := e.planted()
	fsys := e.root.holdings()
	if err != nil || !exists(fsys, "fixtures/projects") && len(e.plantedNames()) > 0 {
		return targets, err
	}
	names, err := fixture.Projects(fsys, "fixtures/projects")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !e.cfg.chooses(name) {
			continue
		}
		p, err := fixture.ReadProject(fsys, path.Join("fixtures/projects", name+".md"))
		if err != nil {
			return nil, err
		}
		targets = append(targets, target{project: p})
	}
	return targets, nil
}

// A regression is one run of the suite.
type regression struct {
	suite      *Suite
	env        *env
	dims       map[audit.CWE]audit.Dimension
	goals      audit.Goals
	entries    map[string]audit.AuditorEntry
	recordings map[string][]*auditor.Recording // by project
	workers    *river.DB                       // nil: live audits run here
	id         string                          // of the run, for the workers

	mu      sync.Mutex
	audited map[string][]*evaluation // live, by auditor: judged together when all have ended
}

func (r *regression) readRecordings() error {
	recs, err := auditor.Recordings(r.env.root.holdings(), "fixtures/recordings")
	r.recordings = map[string][]*auditor.Recording{}
	for _, rec := range recs {
		r.recordings[rec.Project] = append(r.recordings[rec.Project], rec)
	}
	return err
}

func (r *regression) project(t T, x target) {
	p := x.project
	if err := fixture.MissingDimensions(p, r.dims); err != nil {
		t.Fatal(err)
	}
	asked := r.asked(t, x)
	if len(asked) == 0 {
		t.Errorf("%s: %s: no recording of an auditor on this project: make one with assay capture, or run one live with -auditor", p.Pos, audit.Invalid)
	}
	for _, a := range asked {
		if !r.env.cfg.Shard.has(path.Join(t.Name(), segment(a.name))) {
			continue
		}
		t.Run(segment(a.name), func(t T) {
			goals, err := r.goalsFor(p, a.name)
			if err != nil {
				t.Fatal(err)
			}
			h := &evaluation{regression: r, project: p, drawn: x.drawn, goals: goals, candidate: a}
			h.send(t)
			h.run(t)
		})
	}
	if r.workers != nil {
		t.Parallel() // the next project's audits are sent before this one's are waited for
	}
}

// goalsFor gives what an auditor must reach on a project: the goals that goals.md
// states for it by name, which hold in place of the project's own too, or the
// general ones with the project's.
func (r *regression) goalsFor(p *audit.Project, name string) (score.Goals, error) {
	own, named := r.goals.For[name]
	if !named {
		return score.GoalsFor(p, r.goals)
	}
	bare := *p
	bare.RecallGoal, bare.Coverage, bare.Expected, bare.Minimums = 0, 0, 0, nil
	return score.GoalsFor(&bare, own)
}

// A candidate is an auditor with the trials that it is asked for.
type candidate struct {
	name   string
	replay bool
	static bool
	trials []audit.Auditor
	recs   []*auditor.Recording
}

// asked gives the auditors that are held against a project's key.
func (r *regression) asked(t T, x target) []candidate {
	t.Helper()
	p := x.project
	if len(r.env.cfg.Auditors) == 0 {
		live := r.given(p)
		if x.drawn != nil {
			static := r.entries["static"]
			live = append(live, candidate{name: "static", static: true, trials: []audit.Auditor{auditor.FromEntry(static)}})
		}
		return append(r.replays(p), live...)
	}
	var as []candidate
	chosen, err := r.env.chosenAuditors()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range chosen {
		c := r.trialsOf(a)
		c.static = r.entries[c.name].Kind == "static"
		as = append(as, c)
	}
	return as
}

// given are the auditors that were handed over as Go values: they audit the
// projects of one's own folder, whose source is at hand.
func (r *regression) given(p *audit.Project) []candidate {
	if r.env.root.other == nil || !exists(r.env.root.other, p.Pos.File) {
		return nil
	}
	var as []candidate
	for _, a := range r.env.given.auditors {
		as = append(as, r.trialsOf(a))
	}
	return as
}

// trialsOf asks one auditor as often as -trials says.
func (r *regression) trialsOf(a audit.Auditor) candidate {
	x := candidate{name: a.Name()}
	for range r.env.cfg.Trials {
		x.trials = append(x.trials, a)
	}
	return x
}

func (r *regression) replays(p *audit.Project) []candidate {
	var as []candidate
	fsys := r.env.root.holdings()
	for _, rec := range r.recordings[p.Name] {
		if len(as) == 0 || as[len(as)-1].name != rec.Auditor {
			as = append(as, candidate{name: rec.Auditor, replay: true, static: r.entries[rec.Auditor].Kind == "static"})
		}
		a := &as[len(as)-1]
		a.trials = append(a.trials, auditor.Replay(rec, fsys, r.entries[rec.Auditor].Rules))
		a.recs = append(a.recs, rec)
	}
	return as
}

// An evaluation is one auditor held against one project's key.
type evaluation struct {
	*regression
	candidate
	project  *audit.Project
	drawn    *planted.Target // nil: a pinned project
	goals    score.Goals
	baseline *record.Record // nil: there is none
	away     *awaited       // nil: not with workers
	trials   []record.Trial
	version  string
	command  string
	model    string
	prompt   string // hash of what the auditor was told
	notes    []string
}

func (h *evaluation) run(t T) {
	h.checkRecordings(t)
	if t.Failed() {
		return
	}
	if err := h.told(); err != nil {
		t.Fatal(err)
	}
	if err := h.readBaseline(); err != nil {
		t.Fatal(err)
	}
	if err := h.audit(t); err != nil {
		t.Fatalf("%s: %s: %v", h.project.Pos, h.candidate.name, err)
	}
	h.attributes(t)
	if h.replay {
		h.judgeReplay(t)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.audited[h.candidate.name] = append(h.audited[h.candidate.name], h)
}

// baselines is where baselines stand.
const baselines = "fixtures/baselines"

// readBaseline reads what the audit will be compared with, before it is paid for.
func (h *evaluation) readBaseline() (err error) {
	h.baseline, err = record.Baseline(h.env.root.holdings(), baselines, h.candidate.name, h.project.Name)
	if err != nil || h.baseline == nil || h.replay {
		return err
	}
	return h.baseline.Comparable(baselines, h.project)
}

// judgeReplay holds a replay against its baseline.
func (h *evaluation) judgeReplay(t T) {
	if h.baseline == nil {
		t.Logf("%s: %s has no baseline on %s: write it with assay baseline", h.project.Pos, h.candidate.name, h.project.Name)
		h.tell(t, score.Judgement{Verdict: score.AsRecorded})
		return
	}
	j, err := score.JudgeReplay(record.ScoreTrials(h.trials), record.ScoreTrials(h.baseline.Trials))
	if err != nil {
		t.Fatalf("%s: %s: %v", h.project.Pos, h.candidate.name, err)
	}
	h.tell(t, j)
}

// judge judges every live auditor over all of its projects: the drop in recall is
// one of the whole suite.
func (r *regression) judge(t T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(r.audited)) {
		hs := r.audited[name]
		var subjects []score.Subject
		for _, h := range hs {
			s := score.Subject{Goals: h.goals, Now: record.ScoreTrials(h.trials)}
			if h.baseline != nil {
				s.Baseline = record.ScoreTrials(h.baseline.Trials)
			}
			subjects = append(subjects, s)
		}
		suite, err := score.JudgeSuite(subjects, score.Rules{Deterministic: hs[0].deterministic(), Strict: r.env.cfg.Strict})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, h := range hs {
			h.tell(t, suite.Projects[i])
		}
		for _, g := range suite.Pool {
			r.suite.summary.note("%s: %s: %s", name, g.Verdict, g.Text)
			if g.Verdict == audit.Fail {
				t.Errorf("%s: %s: %s", name, g.Verdict, audit.OneLine(g.Text, 0))
			}
		}
	}
}

// deterministic reports whether the auditor's output never varies.
func (h *evaluation) deterministic() bool {
	if x, ok := h.env.given.auditor(h.candidate.name).(interface{ Deterministic() bool }); ok {
		return x.Deterministic()
	}
	return h.static || h.entries[h.candidate.name].Kind == "tool"
}

// checkRecordings refuses recordings that no longer belong to what they are
// replayed for.
func (h *evaluation) checkRecordings(t T) {
	for _, rec := range h.recs {
		switch want := auditor.RulesHash(h.entries[rec.Auditor]); {
		case rec.Commit != h.project.Commit:
			t.Errorf("%s: recorded at commit %.12s, and %s is pinned to %.12s: record it again with assay capture", rec.Path(), rec.Commit, h.project.Name, h.project.Commit)
		case rec.Export != seal.Hash(h.project):
			t.Errorf("%s: the sealed export of %s has changed since it was recorded: record it again with assay capture", rec.Path(), h.project.Name)
		case rec.Rules != want:
			t.Errorf("%s: stale: recorded with the rules %.12s, and they are %.12s now: record it again with assay capture %s %s", rec.Path(), rec.Rules, want, rec.Auditor, rec.Project)
		}
	}
}

// told finds the hash of what the auditor is, or was, told.
func (h *evaluation) told() (err error) {
	for _, rec := range h.recs {
		h.prompt = rec.Prompt
	}
	if !h.replay {
		h.prompt, err = h.env.promptHash(h.candidate.trials[0], h.entries[h.candidate.name])
	}
	return err
}

// lastMinute is what a live run leaves of go test's time, for an auditor to end in
// order and for the record to be written.
const lastMinute = 20 * time.Second

// audit runs every trial and scores it.
func (h *evaluation) audit(t T) error {
	ctx, cancel := context.WithCancel(context.Background())
	if at, ok := t.Deadline(); ok {
		ctx, cancel = context.WithDeadline(ctx, at.Add(-lastMinute))
	}
	defer cancel()
	for i, a := range h.candidate.trials {
		if err := h.trial(ctx, t, i, a); err != nil {
			return err
		}
	}
	return nil
}

// trial runs one trial in an export of its own and scores it.
func (h *evaluation) trial(ctx context.Context, t T, i int, a audit.Auditor) error {
	var run audit.AuditRun
	var err error
	dir := ""
	if !h.replay && h.away == nil {
		sealed, remove, err := h.export(ctx, t, i)
		if err != nil {
			return err
		}
		defer remove()
		dir = sealed.Dir
	}
	if h.away != nil {
		run, dir, err = h.fetch(i)
	} else {
		run, err = h.wholeAudit(ctx, a, dir)
	}
	if err != nil {
		return err
	}
	var result *score.Result
	if run.Invalid == "" {
		names := seal.NewNames(h.project.Renames)
		result, err = score.Score(score.Input{Project: h.project, Findings: names.Reveal(run.Report.Findings), Dimensions: h.dims,
			Roots: []string{dir, run.Report.Root}})
		if err != nil {
			return err
		}
	}
	h.version, h.command, h.model = run.Version, strings.Join(run.Command, " "), run.Model
	h.trials = append(h.trials, trialOf(&run, result))
	if !h.replay && len(run.Raw) > 0 {
		artifact(t, fmt.Sprintf("report-%02d.%s", i+1, cmp.Or(run.Report.Format, "txt")), run.Raw)
	}
	for _, p := range run.Report.Problems {
		t.Logf("%s: %s", p.Pos, audit.OneLine(p.What, 300))
	}
	if n := len(run.Report.Problems); n > 0 {
		h.notes = append(h.notes, fmt.Sprintf("%d things in the report could not be used, the first: %s: %s", n, run.Report.Problems[0].Pos, run.Report.Problems[0].What))
	}
	return nil
}

// wholeAudit asks an auditor. A report that shows an early end (no SENTINEL, STATS
// unequal to its rows) is asked for once more, and proves nothing when that one
// ends early too.
func (h *evaluation) wholeAudit(ctx context.Context, a audit.Auditor, dir string) (audit.AuditRun, error) {
	run, err := a.Audit(ctx, audit.AuditTask{Dir: dir})
	if h.replay || err != nil || run.Invalid != "" || run.Report.CutShort == "" {
		return run, err
	}
	h.notes = append(h.notes, "a trial ended early and was tried once more: "+run.Report.CutShort)
	run, err = a.Audit(ctx, audit.AuditTask{Dir: dir})
	if err == nil && run.Invalid == "" && run.Report.CutShort != "" {
		run.Invalid = "it ended early, twice: " + run.Report.CutShort
	}
	return run, err
}

// export makes the sealed export for one live trial.
func (h *evaluation) export(ctx context.Context, t T, trial int) (*seal.Sealed, func(), error) {
	if err := h.env.uncached(); err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp(t.TempDir(), fmt.Sprintf("src-%d-", trial+1))
	if err != nil {
		return nil, nil, err
	}
	if h.drawn != nil {
		if err := h.drawn.Export(dir); err != nil {
			return nil, nil, err
		}
		return &seal.Sealed{Dir: dir}, func() {}, nil
	}
	cache, err := cacheDir()
	if err != nil {
		return nil, nil, err
	}
	clone, err := seal.Fetch(ctx, h.project, cache, environment("ASSAY_MIRROR"))
	if err != nil {
		return nil, nil, err
	}
	sealed, err := clone.Export(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	return sealed, func() {
		if err := sealed.Remove(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the export cannot be removed: %v", err)
		}
	}, nil
}
