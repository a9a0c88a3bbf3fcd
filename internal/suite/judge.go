package suite

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/box"
	"assay/internal/record"
	"assay/internal/run"
	"assay/internal/store"
)

// keyOfSmoke is the key of the smoke class.
type keyOfSmoke = fixture.Smoke

// A judged is what the gate says about a variant over all of its targets.
type judged struct {
	verdict  audit.Verdict
	partial  bool                  // -run or -filter left out a part: reported, not judged
	projects []score.Judgement     // of an auditor, one a measurement
	whole    *score.SuiteJudgement // of an auditor over its projects; nil for recordings
	others   []*record.Record      // with -add: other projects of the run, judged together with these
	pooled   score.Pooled          // figures of an auditor over its projects, others included
	bench    score.Judgement       // of a reviewer
	answers  []score.Answer        // that bench is about
	notes    []string
}

// collapsed returns the measurements of ms whose collapse a second trial should confirm.
func (j *judged) collapsed(ms []*measurement) (all []*measurement) {
	for _, m := range ms {
		asked := !m.inProcess() && m.beside == nil
		if j.whole != nil && asked && slices.Contains(j.whole.Confirm, m.target.project.Name) {
			all = append(all, m)
		}
	}
	return all
}

// judgeSmokeSuite returns the judgement of the five checks.
func judgeSmokeSuite(_ *env, ms []*measurement) (judged, error) {
	var j judged
	for _, m := range ms {
		if why := m.unconfined(); why != "" {
			warn(&m.smoke.Judgement, why)
		}
		j.projects = append(j.projects, m.smoke.Judgement)
	}
	return j, nil
}

// judgeRegression judges an auditor over all of its projects together: a drop is one of
// the whole suite. Replays are compared with their recorded result.
func judgeRegression(e *env, ms []*measurement) (_ judged, err error) {
	if ms[0].replayed() {
		j := judgeReplays(ms)
		j.pooled, err = pool(ms)
		return j, err
	}
	rules := score.Rules{Deterministic: deterministic(ms[0].variant), Strict: e.cfg.Strict,
		Concurrency: e.cfg.Concurrency}
	var subjects []score.Subject
	for _, m := range ms {
		s := score.Subject{Name: m.target.project.Name, Goals: m.goals,
			Now: record.ScoreTrials(m.record.Trials)}
		if m.baseline != nil {
			s.Baseline = record.ScoreTrials(m.baseline.Trials)
			s.Changed = m.record.Changed(m.baseline)
		}
		if m.beside != nil {
			s.Beside = record.ScoreTrials(m.beside.record.Trials)
			rules.Deterministic = rules.Deterministic && deterministic(m.beside.variant)
		}
		subjects = append(subjects, s)
	}
	var others []*record.Record
	if e.cfg.Add {
		if others, err = e.otherProjects(ms); err != nil {
			return judged{}, err
		}
	}
	for _, rec := range others {
		s := score.Subject{Name: rec.Project, Goals: rec.Goals, Now: record.ScoreTrials(rec.Trials)}
		base, err := record.Baseline(e.root.fixtures(), baselinesDir, rec.Auditor, rec.Project)
		if err != nil {
			return judged{}, err
		}
		if base != nil && base.Key == rec.Key && base.Score == rec.Score {
			s.Baseline, s.Changed = record.ScoreTrials(base.Trials), rec.Changed(base)
		}
		if rec.Beside != nil {
			s.Beside = record.ScoreTrials(rec.Beside.Trials)
		}
		subjects = append(subjects, s)
	}
	whole, err := score.JudgeSuite(subjects, rules)
	if err != nil {
		return judged{}, err
	}
	j := judged{verdict: whole.Verdict, projects: whole.Projects, whole: &whole, others: others,
		notes: fixNotes(ms)}
	j.pooled, err = pool(ms, others...)
	return j, err
}

// pool returns the figures of an auditor over its projects.
func pool(ms []*measurement, others ...*record.Record) (score.Pooled, error) {
	var projects [][]score.AuditTrial
	for _, m := range ms {
		projects = append(projects, record.ScoreTrials(m.record.Trials))
	}
	for _, rec := range others {
		projects = append(projects, record.ScoreTrials(rec.Trials))
	}
	return score.Pool(ms[0].goals.ByMethodologyScore, projects...)
}

// otherProjects returns the records of the projects that the run measured before
// and does not measure now: a drop is one of the whole suite.
func (e *env) otherProjects(ms []*measurement) ([]*record.Record, error) {
	run := ms[0].record.Run
	if run == "" {
		return nil, nil
	}
	all, err := record.ReadAll(filepath.Join(e.root.Dir, "records"))
	if err != nil {
		return nil, err
	}
	others := record.OfRun(all, ms[0].variant.name, run)
	return slices.DeleteFunc(others, func(rec *record.Record) bool {
		return rec.Score != score.Version || slices.ContainsFunc(ms, func(m *measurement) bool {
			return m.record.Project == rec.Project
		})
	}), nil
}

// unconfined returns what a live auditor was not kept from; "" where it was confined.
func (m *measurement) unconfined() string {
	if m.replayed() {
		return ""
	}
	for _, t := range m.record.Trials {
		if t.Exposed != "" {
			return "it ran unconfined: " + t.Exposed
		}
	}
	return ""
}

// unconfined returns what a reviewer was not kept from; "" where it was confined.
func (v *variant) unconfined() string {
	if x, ok := v.reviewer.(interface{ Exposed() string }); ok && x.Exposed() != "" {
		return "it ran unconfined: " + x.Exposed()
	}
	return ""
}

// confinementNotes names what Landlock let a variant's programs do that bubblewrap does not.
func confinementNotes(ms []*measurement) []string {
	open := ""
	if x, ok := ms[0].variant.reviewer.(interface{ Unconfined() string }); ok {
		open = x.Unconfined()
	}
	for _, m := range ms {
		for _, t := range m.record.Trials {
			if !m.replayed() {
				open = cmp.Or(open, box.UnconfinedIn(t.Confined))
			}
		}
	}
	if open == "" {
		return nil
	}
	return []string{"confined by Landlock, as bubblewrap does not work here; unconfined: " + open}
}

// warn adds a reason that lowers a PASS to WARN.
func warn(j *score.Judgement, why string) {
	g := score.Reason{Code: score.CodeUnconfined, Verdict: audit.Warn, Text: why}
	j.Reasons = append(j.Reasons, g)
	j.Verdict = audit.Worst(j.Verdict, audit.Warn)
}

// judgeReplays compares each replay with its recorded result. One that cannot be compared
// is INVALID; the others are judged all the same.
func judgeReplays(ms []*measurement) judged {
	j := judged{verdict: score.AsRecorded}
	for _, m := range ms {
		one := score.Judgement{Verdict: score.AsRecorded}
		if m.baseline != nil {
			var err error
			now, was := record.ScoreTrials(m.record.Trials), record.ScoreTrials(m.baseline.Trials)
			one, err = score.JudgeReplay(now, was)
			if err != nil {
				text := "the recording cannot be compared with its baseline: " + err.Error()
				one.Verdict = audit.Invalid
				one.Reasons = []score.Reason{{Code: score.CodeInvalid,
					Verdict: audit.Invalid, Text: text}}
			}
		}
		j.projects = append(j.projects, one)
		if urgency(one.Verdict) < urgency(j.verdict) {
			j.verdict = one.Verdict
		}
	}
	return j
}

// deterministic reports whether a variant returns the same for the same input.
func deterministic(v *variant) bool {
	if x, ok := v.auditor.(interface{ Deterministic() bool }); ok {
		return x.Deterministic()
	}
	return v.entry.Kind == patternsKind || v.entry.Kind == "tool"
}

// judgeBench judges a reviewer with a prompt over all cases. A part of the cases is
// reported and not judged.
func judgeBench(e *env, ms []*measurement) (j judged, err error) {
	v := ms[0].variant
	j.answers = answersOf(ms)
	total, err := casesOf(e, v)
	if err != nil {
		return j, err
	}
	if j.partial = len(ms) != total; j.partial {
		if why := v.unconfined(); why != "" {
			j.notes = append(j.notes, why)
		}
		j.notes = append(j.notes,
			"a part of the cases was asked: reported, and not compared with goals or baseline")
		return j, nil
	}
	goals, err := e.goals()
	if err != nil {
		return j, err
	}
	now, baseline, notes, err := e.benchSides(ms)
	if err != nil {
		return j, err
	}
	j.notes = notes
	if v.recorded != nil {
		j.bench = score.JudgeReadings(now, baseline)
	} else {
		rules := score.Rules{Deterministic: auditor.Deterministic(v.name), Strict: e.cfg.Strict}
		j.bench, err = score.JudgeBench(now, baseline, goals.BenchOf(v.name), rules)
	}
	if why := v.unconfined(); why != "" && err == nil {
		warn(&j.bench, why)
	}
	j.verdict = j.bench.Verdict
	return j, err
}

// casesOf returns the number of cases for a variant.
func casesOf(e *env, v *variant) (int, error) {
	if v.recorded != nil {
		return len(v.recorded), nil
	}
	corpus, err := e.cases()
	if err != nil {
		return 0, err
	}
	return len(corpus.Cases()), nil
}

// answersOf returns the answers of all trials.
func answersOf(ms []*measurement) (as []score.Answer) {
	for _, m := range ms {
		for i, x := range m.trials {
			a := score.Answer{Case: m.target.subject, Trial: i, Outcome: x.result.Outcome,
				Violates: x.result.Evaluation.Violates}
			if a.Outcome != audit.OutcomeSkipped {
				usage, took := x.usage()
				used := score.Used(1, usage, took.Seconds())
				a.Used = &used
			}
			as = append(as, a)
		}
	}
	return as
}

// evaluations returns the stored rows of all trials.
func evaluations(ms []*measurement) (evs []*store.Evaluation) {
	for _, m := range ms {
		for _, x := range m.trials {
			evs = append(evs, &x.result.Evaluation)
		}
	}
	return evs
}

// benchSides returns the answers now and those for comparison: of the variant that runs beside,
// else of the baseline. Cases that have changed since are left out, with a note.
func (e *env) benchSides(ms []*measurement) (now, baseline []score.Answer, notes []string,
	err error) {
	now = answersOf(ms)
	if ms[0].beside != nil {
		var others []*measurement
		for _, m := range ms {
			others = append(others, m.beside)
		}
		return now, answersOf(others), nil, nil
	}
	v := ms[0].variant
	base, err := record.ReadBench(e.root.fixtures(), baselinesDir, v.name, v.prompt.name)
	if err != nil {
		return nil, nil, nil, err
	}
	cases := map[string]*audit.Case{}
	for _, m := range ms {
		cases[m.target.subject.ID()] = m.target.subject
	}
	var asked []record.Asked
	for _, ev := range evaluations(ms) {
		asked = record.AppendAsked(asked, record.Asked{PromptHash: ev.PromptHash,
			SettingsHash: ev.SettingsHash, Model: ev.Served})
	}
	baseline, notes = base.Compare(asked, cases, run.CaseHash)
	return now, baseline, notes, nil
}

// unanswered returns the first cause of each kind of trial without an answer; "" where
// every trial has one.
func unanswered(ms []*measurement) string {
	var all []string
	without := []audit.Outcome{audit.OutcomeErrored, audit.OutcomeMalformed, audit.OutcomeRefused}
	for _, o := range without {
		n, cause := 0, ""
		for _, ev := range evaluations(ms) {
			if ev.Outcome == o {
				if n++; cause == "" {
					cause = ev.Detail
				}
			}
		}
		if n > 0 {
			all = append(all, fmt.Sprintf("%s %s, the first: %s", plural(n, "trial"), o,
				audit.OneLine(cause, 400)))
		}
	}
	return strings.Join(all, "; ")
}

// failing returns the reasons that fail a run.
func failing(j *score.Judgement) []score.Reason {
	return slices.DeleteFunc(slices.Clone(j.Reasons), func(g score.Reason) bool {
		return g.Verdict != audit.Fail && g.Verdict != audit.Invalid && g.Verdict != score.Changed
	})
}
