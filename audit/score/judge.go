package score

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/audit"
)

// Rules are how trials are judged.
type Rules struct {
	Deterministic bool // the auditor's output for the same input is always the same
	// a possible drop fails, and what keeps trials from counting; in Bench every wrong answer
	Strict      bool
	Concurrency int // audits that run at a time, for the minutes of an [Advice]; 0 is 1
}

// A Subject is one project with the trials of both sides.
type Subject struct {
	Name     string // of the project; that of its first result by default
	Goals    ProjectGoals
	Now      []AuditTrial
	Baseline []AuditTrial // empty: there is none
	Beside   []AuditTrial // of another side that ran beside Now, with -beside; it decides where it can
	Changed  []string     // what of the auditor changed since the baseline
}

// Judge judges an auditor on one project. It returns an error, a *[MismatchError]
// among them, where the trials cannot be compared. No valid trial at all is INVALID.
func Judge(s Subject, rules Rules) (Judgement, error) {
	suite, err := JudgeSuite([]Subject{s}, rules)
	if err != nil {
		return Judgement{}, err
	}
	return suite.Projects[0], nil
}

// A SuiteJudgement is the judgement over several projects.
type SuiteJudgement struct {
	Verdict audit.Verdict `json:"verdict"` // the gravest
	// of all projects together, the gravest first; those of a single one are its own
	Reasons  []Reason    `json:"reasons,omitempty"`
	Projects []Judgement `json:"projects"`
	// over the entries of all projects, as the mean of the trials
	Recall Value `json:"recall"`
	// the same there; undefined where a project has none
	Baseline Value `json:"baseline"`
	// collapsed projects of which a second trial should follow at once
	Confirm []string `json:"confirm,omitempty"`
}

// JudgeSuite judges an auditor on several projects. Whether recall, false findings, cost
// and time got worse is decided over all of them (package stat), and so is the goal for
// recall; other goals are each project's own. Trials that are invalid stay out, and so
// does a project without a valid trial on a side.
func JudgeSuite(subjects []Subject, rules Rules) (SuiteJudgement, error) {
	all := make([]sides, len(subjects))
	valid, compared := 0, false
	for i := range subjects {
		var err error
		if all[i], err = newSides(&subjects[i], rules); err != nil {
			return SuiteJudgement{}, err
		}
		all[i].alone = len(subjects) == 1
		valid += len(all[i].now)
		compared = compared || len(all[i].baseline) > 0
	}
	var suite SuiteJudgement
	g := gate{sides: inGate(all), all: all, rules: rules}
	p := metP(g.sides)
	for i := range all {
		suite.Projects = append(suite.Projects, all[i].judge(valid > 0, compared, p, rules))
	}
	if valid > 0 {
		reasons, err := g.reasons()
		if err != nil {
			return SuiteJudgement{}, err
		}
		suite.Confirm = g.recall.Confirm
		if suite.Reasons = reasons; len(all) == 1 {
			j := &suite.Projects[0]
			j.set(append(reasons, j.Reasons...))
			suite.Reasons = nil
		} else {
			for i := range all {
				g.share(&all[i], &suite.Projects[i])
			}
		}
	}
	var verdicts []audit.Verdict
	for i := range suite.Projects {
		j := &suite.Projects[i]
		if d := &all[i]; d.goals.Methodology && len(d.now) > 0 {
			j.byMethodology(len(d.baseline) > 0)
		}
		verdicts = append(verdicts, j.Verdict)
	}
	suite.Reasons = gravest(suite.Reasons)
	for i := range suite.Reasons {
		g := &suite.Reasons[i]
		if all[0].goals.Methodology {
			g.Verdict = audit.Pass // shown, and decides nothing
		}
		verdicts = append(verdicts, g.Verdict)
	}
	suite.Verdict = audit.Worst(verdicts...)
	suite.Recall, suite.Baseline = pooled(all)
	return suite, nil
}

// pooled returns the recall over the entries of all projects, now and at the baseline.
func pooled(all []sides) (now, baseline Value) {
	var is, was, entries float64
	both := true
	for i := range all {
		d := &all[i]
		if !d.fNow.recall.Defined {
			continue
		}
		n := float64(len(d.now[0].Known))
		entries += n
		is += n * d.fNow.recall.V
		was += n * d.fBase.recall.V
		both = both && d.fBase.recall.Defined
	}
	if both {
		baseline = Ratio(was, entries)
	}
	return Ratio(is, entries), baseline
}

// sides are the valid trials of one project.
type sides struct {
	name          string
	alone         bool // there is no other project
	goals         ProjectGoals
	now, baseline []*Result
	trials        [2][]AuditTrial // the same, with what they cost: now, baseline
	beside        *sides          // with the trials that ran beside as its baseline; nil without
	invalid       []string
	planned       int
	skipped       int
	other         string // why no trial of the other side counts
	unconfined    string
	changed       []string
	deterministic bool
	claimed       bool // called deterministic
	fNow, fBase   *figures
}

// newSides returns both sides of a subject.
func newSides(s *Subject, rules Rules) (sides, error) {
	d := sides{name: s.Name, goals: s.Goals, claimed: rules.Deterministic, planned: len(s.Now),
		changed: s.Changed}
	for _, t := range s.Now {
		if t.Skipped {
			d.skipped++
		}
		if t.Invalid != "" {
			d.invalid = append(d.invalid, t.Invalid)
			continue
		}
		d.unconfined = cmp.Or(d.unconfined, t.Unconfined)
		d.now, d.trials[0] = append(d.now, t.Result), append(d.trials[0], t)
	}
	stored, ran := valid(s.Baseline), valid(s.Beside)
	if len(ran) > 0 {
		with := *s
		with.Baseline, with.Beside = ran, nil
		beside, err := newSides(&with, rules)
		if err != nil {
			return d, err
		}
		d.beside = &beside
		if len(stored) == 0 {
			stored = ran
		}
	}
	if other := slices.Concat(s.Beside, s.Baseline); len(stored) == 0 && len(other) > 0 {
		d.other = other[0].Invalid
	}
	d.trials[1] = stored
	for _, t := range stored {
		d.baseline = append(d.baseline, t.Result)
	}
	if err := checkComparable(slices.Concat(d.now, d.baseline)); err != nil {
		return d, err
	}
	if len(d.now) > 0 {
		d.name = cmp.Or(d.name, d.now[0].Project)
	}
	d.name = cmp.Or(d.name, "project")
	d.fNow, d.fBase = figuresOf(d.now, s.Goals.asserted()), figuresOf(d.baseline,
		s.Goals.asserted())
	d.deterministic = rules.Deterministic && len(d.now) > 0 && allAgree(d.now) &&
		(len(d.baseline) == 0 || allAgree(d.baseline))
	return d, nil
}

// valid returns the trials that are not invalid.
func valid(ts []AuditTrial) []AuditTrial {
	return slices.DeleteFunc(slices.Clone(ts), func(t AuditTrial) bool { return t.Invalid != "" })
}

// inGate returns the projects that take part in the gate: stochastic, with a trial on
// both sides.
func inGate(all []sides) (out []*sides) {
	for i := range all {
		if d := &all[i]; !d.deterministic && len(d.now) > 0 && len(d.baseline) > 0 {
			out = append(out, d)
		}
	}
	return out
}

// judge judges what is a project's own. some and compared report whether any project has
// a valid trial, and one on the other side; metP is the p of goals met.
func (d *sides) judge(some, compared bool, metP float64, rules Rules) Judgement {
	if d.skipped > 0 {
		return judgement([]Reason{{Code: CodeInvalid, Verdict: audit.Invalid,
			Text: fmt.Sprintf("the run is not complete, %d of %d trials did not begin: %s",
				d.skipped, d.planned, d.invalid[0])}})
	}
	if len(d.now) == 0 {
		g := Reason{Code: CodeInvalid, Verdict: audit.Invalid, Text: "no trial was run"}
		if len(d.invalid) > 0 {
			g.Text = "no trial counts: " + d.invalid[0]
		}
		if some { // the others are judged without it
			g.Verdict, g.Text = rules.possible(), g.Text+"; the project is left out"
		}
		return judgement([]Reason{g})
	}
	var reasons []Reason
	if n := len(d.invalid); n > 0 {
		reasons = append(reasons, Reason{Code: CodeInvalid, Verdict: rules.possible(),
			Text: fmt.Sprintf("%d of %d trials do not count: %s", n, d.planned, d.invalid[0])})
	}
	if d.other != "" {
		g := Reason{Code: CodeInvalid, Verdict: rules.possible(),
			Text: "it is compared with nothing, since no trial of the other side counts: " +
				d.other}
		if !compared {
			g.Verdict = audit.Invalid
		}
		reasons = append(reasons, g)
	}
	if d.unconfined != "" {
		reasons = append(reasons, Reason{Code: CodeUnconfined, Verdict: rules.possible(),
			Text: "the auditor ran unconfined: " + d.unconfined})
	}
	if d.claimed && !d.deterministic {
		reasons = append(reasons, Reason{Code: CodeStochastic, Verdict: audit.Warn,
			Text: "the auditor is called deterministic, but trials on the same input differ; it is judged as stochastic. No further trial decides this: correct its kind in fixtures/auditors.md"})
	}
	if reasons = append(reasons, d.goalReasons(metP, rules)...); len(d.baseline) == 0 &&
		!d.goals.stated() {
		reasons = append(reasons, d.unheld())
	}
	if d.deterministic && len(d.baseline) > 0 {
		reasons = append(reasons, d.deterministicReasons()...)
	}
	j := judgement(reasons)
	literal := d.goals.asserted()
	j.Methodology, j.letter = Overall(Letter(d.goals, assertedMeans(d.now, literal),
		assertedMeans(d.baseline, literal)))
	j.Changed = d.changed
	if len(d.baseline) > 0 {
		base, now := Credits(d.baseline, literal), Credits(d.now, literal)
		var all []EntryChange
		for _, k := range d.now[0].Known {
			all = append(all, EntryChange{k.ID, mean(base[k.ID], Of).V, mean(now[k.ID], Of).V})
		}
		j.Lost, j.Gained = changes(all)
	}
	return j
}

// unheld returns the reason where neither a goal nor a baseline says what is due: a WARN, unless
// the auditor always says the same.
func (d *sides) unheld() Reason {
	r := d.fNow.recall
	if d.claimed {
		return Reason{Code: CodeGoal, Verdict: audit.Pass, Metric: MetricRecall, Now: r,
			Text: fmt.Sprintf("recall %v; no goal is stated, and there is no baseline", r)}
	}
	text := fmt.Sprintf("recall %v: no baseline yet: assay baseline accepts these trials", r)
	if d.alone && r.Defined && r.V >= 0.05 && !d.goals.Goalless {
		text += fmt.Sprintf("; no goal is stated: fixtures/goals.md takes | Recall | >= %.0f %% |",
			math.Floor(20*r.V)*5)
	}
	return Reason{Code: CodeGoal, Verdict: audit.Warn, Metric: MetricRecall, Now: r, Text: text}
}

// possible is the verdict on what may be the auditor's fault.
func (r Rules) possible() audit.Verdict {
	if r.Strict {
		return audit.Fail
	}
	return audit.Warn
}

// byMethodology lets the methodology's own verdict decide, with its worst clause first.
func (j *Judgement) byMethodology(hasBase bool) {
	for i := range j.Reasons {
		j.Reasons[i].Verdict = audit.Pass
	}
	text := "by the methodology's own words: " + strings.Join(j.letter, "; ")
	if len(j.letter) == 0 {
		text = "by the methodology's own words all goals are met"
		if hasBase {
			text += " and nothing dropped by 1 point"
		}
	}
	j.set(append([]Reason{{Code: CodeMethodology, Verdict: j.Methodology, Text: text}},
		j.Reasons...))
}
