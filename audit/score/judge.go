package score

import (
	"cmp"
	"fmt"
	"slices"

	"assay/audit"
	"assay/internal/stat"
)

// Rules are how trials are judged.
type Rules struct {
	Deterministic bool // the auditor's output for the same input is always the same
	Strict        bool // what is not settled fails, and in Bench every wrong answer
	Beside        bool // both sides ran beside each other: no day lies between them
}

// open is the verdict on what is not settled.
func (r Rules) open() audit.Verdict {
	if r.Strict {
		return audit.Fail
	}
	return audit.Warn
}

// plan is the gate's, declared beforehand (docs/gate.md).
func (r Rules) plan() stat.Plan {
	p := stat.DefaultPlan()
	p.Beside = r.Beside
	return p
}

// A Subject is one project with the trials of both sides.
type Subject struct {
	Goals    Goals
	Now      []Trial
	Baseline []Trial // empty: there is none
}

// Judge judges an auditor on one project. It returns an error, a *[MismatchError]
// among them, where the trials cannot be compared. No trial at all is INVALID.
func Judge(s Subject, rules Rules) (Judgement, error) {
	suite, err := JudgeSuite([]Subject{s}, rules)
	if err != nil {
		return Judgement{}, err
	}
	return suite.Projects[0], nil
}

// A Suite is the judgement over several projects.
type Suite struct {
	Verdict  audit.Verdict `json:"verdict"` // the gravest
	Pool     []Reason      `json:"pool"`    // what holds for all projects together
	Projects []Judgement   `json:"projects"`
	Recall   Value         `json:"recall"`   // over the entries of all projects, as the mean of the trials
	Baseline Value         `json:"baseline"` // the same there; undefined where a project has none
}

// JudgeSuite judges an auditor on several projects. For a stochastic auditor the
// drop in recall is settled over all projects pooled, and alone in each project
// with entries enough; for the pool, projects that have both sides count. A rise of
// early ends is settled over all projects.
func JudgeSuite(subjects []Subject, rules Rules) (Suite, error) {
	sides := make([]sides, len(subjects))
	for i := range subjects {
		var err error
		if sides[i], err = newSides(&subjects[i], rules); err != nil {
			return Suite{}, err
		}
	}
	parts, err := gateOf(sides, rules.plan())
	if err != nil {
		return Suite{}, err
	}
	var suite Suite
	for i := range sides {
		suite.Projects = append(suite.Projects, sides[i].judge(partOf(parts, &sides[i]), rules))
	}
	if len(parts) > 1 {
		g := poolReason(&parts[0], rules)
		g.Text += doubts(&parts[0])
		suite.Pool = append(suite.Pool, g)
	}
	if !rules.Deterministic {
		g, some, err := earlyReason(subjects, rules)
		if err != nil {
			return Suite{}, err
		}
		if some {
			suite.Pool = append(suite.Pool, g)
		}
	}
	var verdicts []audit.Verdict
	for _, j := range suite.Projects {
		verdicts = append(verdicts, j.Verdict)
	}
	for _, g := range suite.Pool {
		verdicts = append(verdicts, g.Verdict)
	}
	suite.Verdict = audit.Worst(verdicts...)
	suite.pool(sides)
	return suite, nil
}

func (s *Suite) pool(all []sides) {
	var now, base, entries float64
	both := true
	for i := range all {
		d := &all[i]
		if !d.fNow.recall.Defined {
			continue
		}
		n := float64(len(d.now[0].Known))
		entries += n
		now += n * d.fNow.recall.V
		base += n * d.fBase.recall.V
		both = both && d.fBase.recall.Defined
	}
	s.Recall = Ratio(now, entries)
	if both {
		s.Baseline = Ratio(base, entries)
	}
}

type sides struct {
	goals         Goals
	now, baseline []*Result
	invalid       []string
	deterministic bool
	claimed       bool // called deterministic
	fNow, fBase   *figures
}

func newSides(s *Subject, rules Rules) (sides, error) {
	d := sides{goals: s.Goals, claimed: rules.Deterministic}
	for _, t := range s.Now {
		if t.Invalid != "" {
			d.invalid = append(d.invalid, t.Invalid)
			continue
		}
		d.now = append(d.now, t.Result)
	}
	for _, t := range s.Baseline {
		if t.Invalid == "" {
			d.baseline = append(d.baseline, t.Result)
		}
	}
	if err := checkComparable(slices.Concat(d.now, d.baseline)); err != nil {
		return d, err
	}
	d.fNow = figuresOf(d.now, s.Goals.Literal)
	d.fBase = figuresOf(d.baseline, s.Goals.Literal)
	d.deterministic = rules.Deterministic && len(d.now) > 0 && allAgree(d.now) &&
		(len(d.baseline) == 0 || allAgree(d.baseline))
	return d, nil
}

// doubts gives what a part leaves out or waits for, to follow its reason's text.
func doubts(part *stat.Part) string {
	text := ""
	for _, w := range part.Warnings {
		text += " (" + w + ")"
	}
	return text
}

// gateOf runs the stochastic gate over the projects that take part; no parts where
// none does.
func gateOf(all []sides, plan stat.Plan) ([]stat.Part, error) {
	var entries []stat.Item
	for i := range all {
		d := &all[i]
		if d.deterministic || len(d.invalid) > 0 || len(d.now) == 0 || len(d.baseline) == 0 {
			continue
		}
		entries = append(entries, items(d.name(), d.now, d.baseline, d.goals.Literal)...)
	}
	if len(entries) == 0 {
		return nil, nil
	}
	parts, err := stat.GateRecall(entries, plan)
	if err != nil {
		return nil, fmt.Errorf("the gate: %w", err)
	}
	return parts, nil
}

func (d *sides) name() string { return cmp.Or(d.now[0].Project, "project") }

func partOf(parts []stat.Part, d *sides) *stat.Part {
	for i := range parts {
		if len(d.now) > 0 && parts[i].Name == d.name() {
			return &parts[i]
		}
	}
	return nil
}

func (d *sides) judge(part *stat.Part, rules Rules) Judgement {
	var reasons []Reason
	for _, why := range d.invalid {
		reasons = append(reasons, Reason{Code: CodeInvalid, Verdict: audit.Invalid, Text: "the run proves nothing: " + why})
	}
	if len(d.now) == 0 && len(d.invalid) == 0 {
		reasons = append(reasons, Reason{Code: CodeInvalid, Verdict: audit.Invalid, Text: "no trial was run"})
	}
	if len(reasons) > 0 {
		return judgement(reasons)
	}
	if d.claimed && !d.deterministic {
		reasons = append(reasons, Reason{Code: CodeStochastic, Verdict: audit.Warn,
			Text: "the auditor is called deterministic, and runs on the same input differ: judged as stochastic"})
	}
	if g, ok := d.chance(); ok {
		reasons = append(reasons, g)
	}
	reasons = append(reasons, d.goalReasons()...)
	reasons = append(reasons, d.floors()...)
	if len(d.baseline) > 0 {
		reasons = append(reasons, d.dropReasons(part, rules)...)
	}
	j := judgement(reasons)
	j.Methodology = d.methodology()
	if len(d.baseline) > 0 {
		base, now := Credits(d.baseline, d.goals.Literal), Credits(d.now, d.goals.Literal)
		var all []EntryChange
		for _, k := range d.now[0].Known {
			all = append(all, EntryChange{k.ID, mean(base[k.ID], Of).V, mean(now[k.ID], Of).V})
		}
		j.Lost, j.Gained = changes(all)
	}
	return j
}

// chance holds recall against what the same findings reach at drawn places. A
// recall of nothing is no better than chance, whatever chance is.
func (d *sides) chance() (Reason, bool) {
	f := d.fNow
	nothing := f.recall.Defined && f.recall.V == 0
	if !f.p99.Defined && !nothing {
		return Reason{}, false
	}
	g := Reason{Code: CodeChance, Verdict: audit.Pass, Metric: MetricRecall, Now: f.recall, Want: f.p99,
		Text: fmt.Sprintf("recall %v; by chance 99 %% of rounds reach at most %v", f.recall, f.p99)}
	if !nothing && f.recall.V >= f.p99.V-tiny {
		return g, true
	}
	g.Verdict = audit.Fail
	if d.goals.AtChance {
		g.Verdict = audit.Warn
	}
	g.Text = fmt.Sprintf("recall %v is below the 99th percentile of chance, %v: the same findings at drawn places do as well", f.recall, f.p99)
	if nothing {
		g.Text = "nothing of the key was found: chance does no worse" + unusable(d.now)
	}
	return g, true
}

// unusable tells what keeps most of the findings from being anything, so that paths of
// another root do not look like a tool that finds nothing.
func unusable(rs []*Result) string {
	for _, what := range []Disposition{MissingPath, PastEnd, NoCWE} {
		count, all := 0, 0
		for _, r := range rs {
			count += r.Dispositions[what]
			all += len(r.Findings)
		}
		if 2*count > all {
			return fmt.Sprintf("; %d of %d findings are %q%s", count, all, what, firstDetail(rs, what))
		}
	}
	return ""
}

func firstDetail(rs []*Result, what Disposition) string {
	for _, r := range rs {
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Disposition == what && f.Match.Detail != "" {
				return ", the first: " + f.Match.Detail
			}
		}
	}
	return ""
}
