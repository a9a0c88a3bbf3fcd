package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/patterns"
	"assay/internal/record"
	"assay/internal/run"
	"assay/internal/run/river"
	"assay/internal/seal"
)

// Regression turns every project into a subtest and holds its auditors against
// its key: those that -auditor names, live on the sealed export; otherwise every
// recording, replayed. The embedded auditor (patterns) runs live on the planted
// projects, and on those of one's own that have no recording.
func (s *Suite) Regression(t T) {
	e := s.begin(t)
	if s.short() {
		t.Skip("-short: no project is audited")
	}
	s.need(t, e, "fixtures/projects", "fixtures/planted")
	targets, err := e.targets()
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.judging()
	if err == nil {
		err = r.readRecordings()
	}
	if err != nil {
		t.Fatal(err)
	}
	r.suite = s
	r.live = newAudits(s, e, "Regression", r.entries)
	r.spreadAudits(t)
	t.Cleanup(func() {
		r.judge(t)
		r.live.end(t)
	})
	for _, x := range targets {
		t.Run(x.project.Name, func(t T) { r.register(t, x) })
	}
	if t.Failed() && len(r.live.planned) > 0 { // what is wrong with one project is mended before another is paid
		r.live.planned, r.live.failed = nil, errors.New("an error comes before it")
		s.summary.note("Regression: nothing was asked and nothing paid: mend the errors above first")
	}
	r.live.start(t)
	some(t, r.selected)
}

func (e *env) targets() ([]target, error) {
	targets, err := e.planted()
	if err != nil {
		return nil, err
	}
	fsys := e.root.holdings()
	planted, err := PlantedNames(fsys)
	if err != nil || !exists(fsys, "fixtures/projects") && len(planted) > 0 {
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
			p = &audit.Project{Name: name}
		}
		targets = append(targets, target{project: p, broken: err})
	}
	return targets, nil
}

type regression struct {
	suite      *Suite
	env        *env
	dims       map[audit.CWE]audit.Dimension
	goals      audit.Goals
	entries    map[string]audit.AuditorEntry
	recordings map[string][]*auditor.Recording // by project
	live       *audits
	id         string // of the run, for the workers
	selected   bool   // whether any leaf was

	mu      sync.Mutex
	audited map[string][]*evaluation // live, by auditor: judged together when all have ended
}

func (e *env) judging() (*regression, error) {
	dims, dimsErr := e.dimensions()
	goals, goalsErr := e.goals()
	entries, entriesErr := e.auditors()
	return &regression{suite: &Suite{}, env: e, dims: dims, goals: goals, entries: entries, audited: map[string][]*evaluation{}}, errors.Join(dimsErr, goalsErr, entriesErr)
}

func (r *regression) readRecordings() error {
	recs, err := auditor.Recordings(r.env.root.holdings(), "fixtures/recordings")
	r.recordings = map[string][]*auditor.Recording{}
	for _, rec := range recs {
		r.recordings[rec.Project] = append(r.recordings[rec.Project], rec)
	}
	return err
}

func (r *regression) register(t T, x target) {
	if x.broken != nil { // the others are audited all the same
		t.Fatal(x.broken)
	}
	p := x.project
	if err := fixture.MissingDimensions(p, r.dims); err != nil {
		t.Fatal(err)
	}
	asked := r.asked(t, x)
	if len(asked) == 0 {
		t.Errorf("%s: %s: no recording of an auditor on this project: make one with assay capture, or run one live with -auditor", p.Pos, audit.Invalid)
	}
	waits := false
	for _, a := range asked {
		waits = waits || a.sent() || r.env.cfg.Beside != ""
		t.Run(segment(a.name), func(t T) {
			r.selected = true
			goals, err := r.goalsFor(p, a.name)
			if err != nil {
				t.Fatal(err)
			}
			h := r.evaluation(x, a)
			h.goals = goals
			h.run(t)
		})
	}
	if waits {
		t.Parallel() // the next project's audits are planned before this one's are waited for
	}
}

// goalsFor takes what goals.md states for an auditor by name in place of the project's own, too.
func (r *regression) goalsFor(p *audit.Project, name string) (score.Goals, error) {
	own, named := r.goals.For[name]
	if !named {
		goals, err := score.GoalsFor(p, r.goals)
		goals.Shipped = p.RecallGoal == 0 && r.env.root.other != nil && !exists(r.env.root.other, "fixtures/goals.md")
		return goals, err
	}
	bare := *p
	bare.RecallGoal, bare.Coverage, bare.Expected, bare.Minimums = 0, 0, 0, nil
	return score.GoalsFor(&bare, own)
}

func (r *regression) asked(t T, x target) []candidate {
	t.Helper()
	p := x.project
	if len(r.env.cfg.Auditors) == 0 {
		live := r.given(p)
		if x.drawn != nil || len(live)+len(r.recordings[p.Name]) == 0 && !r.env.root.strict() {
			live = append(live, candidate{name: patterns.Name, embedded: true, trials: []audit.Auditor{patterns.Auditor{}}})
		}
		return append(r.replays(p), live...)
	}
	chosen, err := r.env.chosenAuditors()
	if err != nil {
		t.Fatal(err)
	}
	return r.candidates(chosen)
}

func (r *regression) candidates(auditors []audit.Auditor) (cs []candidate) {
	for _, a := range auditors {
		cs = append(cs, r.trialsOf(a))
	}
	return cs
}

// given gives Go values, which audit the projects of one's own folder: their source is at hand.
func (r *regression) given(p *audit.Project) []candidate {
	if r.env.root.other == nil || !exists(r.env.root.other, p.Pos.File) {
		return nil
	}
	return r.candidates(r.env.given.auditors)
}

func (r *regression) trialsOf(a audit.Auditor) candidate {
	x := candidate{name: a.Name(), embedded: r.entries[a.Name()].Kind == patterns.Name}
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
			as = append(as, candidate{name: rec.Auditor, replay: true, embedded: r.entries[rec.Auditor].Kind == patterns.Name})
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
	asking
	target
	goals    score.Goals
	baseline *record.Record // nil: there is none
	beside   *evaluation    // the old auditor, with -beside; nil without
}

func (r *regression) evaluation(x target, c candidate) *evaluation {
	h := &evaluation{regression: r, target: x}
	p := x.project
	h.asking = asking{audits: r.live, candidate: c, once: h.once, now: record.Record{Suite: "Regression", Project: p.Name, Auditor: c.name, Replay: c.replay,
		Commit: p.Commit, Key: p.KeyHash}}
	return h
}

func (h *evaluation) run(t T) {
	h.suite.progress.say("Regression: %s, %s", h.project.Name, h.candidate.name)
	h.checkRecordings(t)
	if t.Failed() {
		return
	}
	if err := h.told(); err != nil {
		t.Fatal(err)
	}
	if name := h.env.cfg.Beside; name != "" {
		old, err := h.env.auditor(name)
		if err != nil {
			t.Fatal(err)
		}
		h.beside = h.regression.evaluation(h.target, h.trialsOf(old))
		h.beside.prefix = "beside-"
		if err := h.beside.told(); err != nil {
			t.Fatal(err)
		}
	} else if err := h.readBaseline(); err != nil {
		t.Fatal(err)
	}
	if err := h.plan(); err != nil {
		t.Fatal(err)
	}
	if h.sent() || h.beside != nil && h.beside.sent() {
		t.Parallel()
		h.live.await(t)
	}
	if err := h.audit(t); err != nil {
		t.Fatalf("%s: %s: %v", h.project.Pos, h.candidate.name, err)
	}
	if err := h.compareWith(t); err != nil {
		t.Fatal(err)
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

const baselines = "fixtures/baselines"

// readBaseline reads what the audit will be compared with, before it is paid for.
func (h *evaluation) readBaseline() (err error) {
	h.baseline, err = record.Baseline(h.env.root.holdings(), baselines, h.candidate.name, h.project.Name)
	if h.replay && h.baseline != nil && !h.baseline.Replay {
		h.baseline = nil // a recording's findings are sorted, and a live run may have several trials
		h.suite.summary.note("the recording of %s on %s is held against nothing: its baseline is of a live run (assay baseline with a record of the recording takes that one's place)", h.candidate.name, h.project.Name)
	}
	if err != nil || h.baseline == nil || h.replay {
		return err
	}
	return h.baseline.Comparable(baselines, h.project)
}

func (h *evaluation) plan() error {
	err := h.asking.plan(h.project.Name, seal.Hash(h.project))
	if err != nil || h.beside == nil {
		return err
	}
	if err := h.beside.plan(); err != nil || !h.sent() {
		return err
	}
	for i, x := range h.beside.planned { // in one queue, so that they alternate however long each takes
		x.Provider = h.planned[i].Provider
	}
	return nil
}

// compareWith takes the trials of the old auditor, which ran between these, for the baseline.
func (h *evaluation) compareWith(t T) error {
	if h.beside == nil {
		return nil
	}
	b := h.beside
	if err := b.audit(t); err != nil {
		return fmt.Errorf("%s: %s: %w", h.project.Pos, b.candidate.name, err)
	}
	h.baseline = &b.now
	h.baseline.Date, h.baseline.Score = time.Now().UTC(), score.Version
	return nil
}

func (h *evaluation) judgeReplay(t T) {
	if h.baseline == nil {
		if !h.published() {
			t.Logf("%s: %s has no baseline of a recording on %s: write it with assay baseline", h.project.Pos, h.candidate.name, h.project.Name)
		}
		h.tell(t, score.Judgement{Verdict: score.AsRecorded})
		return
	}
	j, err := score.JudgeReplay(record.ScoreTrials(h.now.Trials), record.ScoreTrials(h.baseline.Trials))
	if err != nil {
		t.Fatalf("%s: %s: %v", h.project.Pos, h.candidate.name, err)
	}
	h.tell(t, j)
}

// judge judges an auditor over all of its projects: the drop in recall is one of the suite.
func (r *regression) judge(t T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(r.audited)) {
		hs := r.audited[name]
		suite, err := judgeTogether(hs)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, h := range hs {
			h.tell(t, suite.Projects[i])
		}
		r.tellWhole(name, &suite, hs)
		for _, g := range suite.Reasons {
			if g.Verdict == audit.Fail {
				t.Errorf("%s: %s: %s", name, g.Verdict, audit.OneLine(g.Text, 0))
			}
		}
	}
}

func judgeTogether(hs []*evaluation) (score.Suite, error) {
	var subjects []score.Subject
	for _, h := range hs {
		subjects = append(subjects, h.subject())
	}
	h := hs[0]
	rules := score.Rules{Deterministic: h.deterministic(h.candidate.name), Strict: h.env.cfg.Strict, Concurrency: h.env.cfg.Concurrency}
	if h.beside != nil {
		rules.Deterministic = rules.Deterministic && h.deterministic(h.beside.candidate.name)
	}
	return score.JudgeSuite(subjects, rules)
}

func (h *evaluation) subject() score.Subject {
	s := score.Subject{Name: h.project.Name, Goals: h.goals, Now: record.ScoreTrials(h.now.Trials)}
	if h.baseline != nil {
		s.Changed = h.now.Changed(h.baseline)
		s.Baseline = record.ScoreTrials(h.baseline.Trials)
	}
	if h.beside != nil {
		s.Baseline, s.Beside = nil, s.Baseline
	}
	return s
}

func (r *regression) deterministic(name string) bool {
	if x, ok := r.env.given.auditor(name).(interface{ Deterministic() bool }); ok {
		return x.Deterministic()
	}
	kind := r.entries[name].Kind
	return kind == patterns.Name || kind == "tool"
}

// published reports whether others have published the recording: it has no baseline, and no
// record is written of its replay.
func (h *evaluation) published() bool { return len(h.recs) > 0 && h.recs[0].Source != "" }

func (h *evaluation) checkRecordings(t T) {
	for _, rec := range h.recs {
		switch want := auditor.RulesHash(h.entries[rec.Auditor]); {
		case rec.Commit != h.project.Commit:
			t.Errorf("%s: recorded at commit %.12s, and %s is pinned to %.12s: record it again with assay capture", rec.Path(), rec.Commit, h.project.Name, h.project.Commit)
		case rec.Source == "" && rec.Export != seal.Hash(h.project):
			t.Errorf("%s: the sealed export of %s has changed since it was recorded: record it again with assay capture", rec.Path(), h.project.Name)
		case rec.Rules != want:
			t.Errorf("%s: stale: recorded with the rules %.12s, and they are %.12s now: record it again with assay capture %s %s", rec.Path(), rec.Rules, want, rec.Auditor, rec.Project)
		}
	}
}

// told finds the hash of what the auditor is, or was, told.
func (h *evaluation) told() (err error) {
	for _, rec := range h.recs {
		h.now.Prompt = rec.Prompt
	}
	if !h.replay {
		h.now.Prompt, err = h.env.promptHash(h.candidate.trials[0], h.entries[h.candidate.name])
	}
	return err
}

func (h *evaluation) audit(t T) error {
	for i := range h.candidate.trials {
		v, res, err := h.result(t, i)
		if err != nil {
			return err
		}
		if res.Reused {
			h.now.Notes = append(h.now.Notes, fmt.Sprintf("trial %d was made by the run %s on %s", i+1, res.Evaluation.Run, res.Evaluation.Time.Format(time.DateTime)))
		}
		if err := h.score(t, i, v); err != nil {
			return err
		}
	}
	return nil
}

func (h *evaluation) score(t T, i int, v *run.Audited) error {
	r, trial := &v.Run, h.took(i, v)
	if r.Invalid == "" {
		var err error
		if trial.Result, err = h.scored(&r.Report, v.Dir); err != nil {
			return err
		}
	}
	if !h.replay && len(r.Raw) > 0 {
		artifact(t, fmt.Sprintf("%sreport-%02d.%s", h.prefix, i+1, cmp.Or(r.Report.Format, "txt")), r.Raw)
	}
	for _, p := range r.Report.Problems {
		t.Logf("%s: %s", p.Pos, audit.OneLine(p.What, 0))
	}
	if n := len(r.Report.Problems); n > 0 {
		h.now.Notes = append(h.now.Notes, fmt.Sprintf("%d things in the report could not be used, the first: %s: %s", n, r.Report.Problems[0].Pos, r.Report.Problems[0].What))
	}
	return nil
}

// scored holds a report of an export below dir against the key.
func (h *evaluation) scored(r *audit.Report, dir string) (*score.Result, error) {
	names := seal.Names(h.project.Renames)
	return score.Score(score.Input{Project: h.project, Findings: names.Reveal(r.Findings), Dimensions: h.dims, Roots: []string{dir, r.Root}})
}

// once may cost so many USD; 0: what its section says. A replay needs no export.
func (h *evaluation) once(ctx context.Context, a audit.Auditor, trial int, usd float64) (audit.AuditRun, string, error) {
	if h.replay {
		r, err := a.Audit(ctx, audit.AuditTask{})
		return r, "", err
	}
	usd = cmp.Or(usd, h.entries[h.candidate.name].Cost)
	if h.live.workers != nil && h.sent() && h.env.given.auditor(h.candidate.name) == nil {
		r, dir, err := h.away(ctx, trial, usd)
		if !errors.Is(err, river.ErrDeserted) {
			return r, dir, err
		}
		h.suite.summary.note("%s on %s: no worker was left that takes audits, and this process did their work", h.candidate.name, h.project.Name)
	}
	return h.target.audit(ctx, a, usd, h.live.fetch)
}

func (a *audits) fetch(ctx context.Context, p *audit.Project) (*seal.Clone, error) {
	a.suite.progress.say("fetching %s at its pin", p.Name)
	return a.env.fetch(ctx, p)
}

func (e *env) fetch(ctx context.Context, p *audit.Project) (*seal.Clone, error) {
	return Fetch(ctx, p, e.root.Dir, "", os.Getenv("ASSAY_MIRROR"))
}

// Fetch clones a project at its pin, from mirror where it says so, into the folder
// cache; "" for the user's own. A repository that is a path lies below the folder root.
func Fetch(ctx context.Context, p *audit.Project, root, cache, mirror string) (*seal.Clone, error) {
	if fixture.IsPath(p.Repository) {
		dir, err := os.OpenRoot(root)
		if err != nil {
			return nil, err
		}
		defer dir.Close()
		if _, err := dir.Stat(p.Repository); err != nil {
			return nil, fmt.Errorf("%s: the repository %s is not below the root: %w", p.Pos, p.Repository, err)
		}
		here := *p
		here.Repository = filepath.Join(root, p.Repository)
		p, mirror = &here, ""
	}
	if cache == "" {
		var err error
		if cache, err = cacheDir(); err != nil {
			return nil, err
		}
	}
	return seal.Fetch(ctx, p, cache, mirror)
}
