package suite

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/record"
	"assay/internal/run"
	"assay/internal/seal"
	"assay/internal/store"
)

const baselinesDir = "fixtures/baselines"

// prepareRecord fills in what is known of a measurement before its trials run: identity,
// goals and baseline.
func prepareRecord(r *running, m *measurement) (err error) {
	p, v := m.target.project, m.variant
	m.record = record.Record{Suite: r.definition.name, Project: p.Name, Auditor: v.name,
		Replay: m.replayed(), Commit: p.Commit, Key: p.KeyHash}
	if m.target.class != nil {
		m.record.Project, m.record.Commit = "smoke", ""
	}
	if m.replayed() {
		for _, rec := range v.replay {
			m.record.Prompt, m.record.Control = rec.Prompt, rec.Control
		}
	} else if m.record.Parts, err = r.partsOf(v); err != nil {
		return err
	} else if m.record.Prompt, err = v.env.promptHash(v.auditor); err != nil {
		return err
	}
	if m.target.class != nil {
		return nil
	}
	if m.goals, err = r.env.goalsFor(p, v.name); err != nil {
		return err
	}
	m.baseline, err = r.baselineOf(m)
	return err
}

// goalsFor returns the goals of an auditor on a project. What goals.md states for the
// auditor by name takes the place of the project's own goals. Entries of fixes have no goal:
// random findings hit some where few functions are shown.
func (e *env) goalsFor(p *audit.Project, name string) (score.ProjectGoals, error) {
	if p.OfFixes() {
		return score.ProjectGoals{AtChance: true, Goalless: true}, nil
	}
	goals, err := e.goals()
	if err != nil {
		return score.ProjectGoals{}, err
	}
	own, named := goals.For[name]
	if !named {
		g, err := score.GoalsFor(p, goals)
		g.Shipped = p.RecallGoal == 0 && e.root.user != nil &&
			!exists(e.root.user, "fixtures/goals.md")
		return g, err
	}
	plain := *p
	plain.RecallGoal, plain.Coverage, plain.Expected, plain.Minimums = 0, 0, 0, nil
	return score.GoalsFor(&plain, own)
}

// baselineOf reads the baseline of a measurement; nil where there is none.
func (r *running) baselineOf(m *measurement) (*record.Record, error) {
	b, err := record.Baseline(r.env.root.fixtures(), baselinesDir, m.variant.name,
		m.target.project.Name)
	if err != nil || b == nil {
		return nil, err
	}
	if m.replayed() {
		if !b.Replay { // a recording's findings are sorted, and a live run may have several trials
			r.suite.summary.note(
				"the recording of %s on %s is compared with nothing: its baseline is of a live run",
				m.variant.name, m.target.project.Name)
			return nil, nil
		}
		return b, nil
	}
	return b, b.Comparable(baselinesDir, m.target.project)
}

// partsOf returns what an auditor consists of, by name: hashes of files, and values.
func (r *running) partsOf(v *variant) (map[string]string, error) {
	if d, ok := v.auditor.(run.DescribedAuditor); ok {
		return map[string]string{"model": d.Settings()}, nil
	}
	if v.entry.Command == "" {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	version, ok := r.versions[v.name]
	if !ok { // each program is asked once a run
		version = auditor.Version(context.Background(), v.entry)
		r.versions[v.name] = version
	}
	return auditor.Parts(v.entry, version)
}

// scoreRegression compares the findings of each trial with the key.
func scoreRegression(e *env, m *measurement) error {
	dims, err := e.dimensions()
	if err != nil {
		return err
	}
	rounds, fix := 0, m.target.fix
	if fix != nil {
		if err := m.target.list(context.Background(), e.fetch); err != nil {
			return err
		}
		if fix.Fix != nil { // chance places findings in the pool, and not in a few functions
			rounds = -1
		}
	}
	names := seal.Names(m.target.project.Renames)
	m.record.Trials, m.record.Notes, m.transcripts = nil, nil, nil
	for i, x := range m.trials {
		v := x.audited()
		rep := &v.Run.Report
		addTrial(m, i, x, v)
		if v.Run.Invalid == "" {
			in := score.Input{Project: m.target.project, Rounds: rounds,
				Findings: names.Reveal(rep.Findings), Dimensions: dims,
				Roots: []string{v.Dir, rep.Root}}
			if m.record.Trials[i].Result, err = score.Score(in); err != nil {
				return err
			}
		}
		if n := len(rep.Problems); n > 0 {
			m.record.Notes = append(m.record.Notes,
				fmt.Sprintf("parts of the report that could not be used: %d, the first: %s: %s", n,
					rep.Problems[0].Pos, rep.Problems[0].What))
		}
	}
	if fix != nil {
		return scoreUnread(m, dims)
	}
	return nil
}

// scoreSmoke compares the findings with the five flaws and makes the five checks.
func scoreSmoke(e *env, m *measurement) error {
	_, _, key, err := e.smoke()
	if err != nil {
		return err
	}
	dims, err := e.dimensions()
	if err != nil {
		return err
	}
	for i, x := range m.trials {
		v := x.audited()
		addTrial(m, i, x, v)
		rep := &v.Run.Report
		in := score.SmokeInput{Report: rep, RatedHigh: key.RatedHigh, Invalid: v.Run.Invalid,
			Seconds: m.record.Trials[i].Seconds}
		if err := e.smokeGoals(m.variant.name, &in); err != nil {
			return err
		}
		result, j, err := judgeSmoke(key, dims, v.Dir, in, &m.transcripts[len(m.transcripts)-1])
		if err != nil {
			return err
		}
		m.record.Trials[i].Result = result
		if m.smoke == nil || worse(j.Verdict, m.smoke.Verdict) { // the worst trial decides
			m.smoke = &j
		}
	}
	return nil
}

// worse reports whether verdict a is graver than b.
func worse(a, b audit.Verdict) bool { return a != b && audit.Worst(a, b) == a }

// smokeGoals adds what an auditor must reach by goals.md, and its accepted trials.
func (e *env) smokeGoals(name string, in *score.SmokeInput) error {
	goals, err := e.goals()
	if err != nil {
		return err
	}
	in.Name, in.Flaws = name, goals.SmokeFor[name]
	in.Shipped = in.Flaws == 0 && e.root.user != nil
	b, err := record.Baseline(e.root.fixtures(), baselinesDir, name, "smoke")
	if err != nil || b == nil || b.Score != score.Version {
		return err
	}
	in.Baseline = b.Counting()
	return nil
}

// judgeSmoke judges the report of in on the smoke class.
func judgeSmoke(key *keyOfSmoke, dims map[audit.CWE]audit.Dimension, dir string,
	in score.SmokeInput,
	kept *record.Transcript) (result *score.Result, j score.SmokeJudgement, err error) {
	rep := in.Report
	if in.Invalid == "" {
		roots := []string{path.Join(dir, smokeDir), dir, path.Join(rep.Root, smokeDir),
			rep.Root, smokeDir}
		result, err = score.Score(score.Input{Project: key.Project, Findings: rep.Findings,
			Dimensions: dims, Roots: roots})
	}
	in.Result, in.ToolErrors = result, kept.ToolErrors()
	j = score.JudgeSmoke(in)
	if j.Verdict == audit.Pass && j.Grade == score.Acceptable {
		j.Verdict = audit.Warn // a miss is named, never hidden
	}
	return result, j, err
}

// scoreBench has nothing to do: the outcome of a review is stored as it comes.
func scoreBench(*env, *measurement) error { return nil }

// addTrial adds a trial, counted from 0 and yet to be scored, to the record.
func addTrial(m *measurement, i int, x *trial, v *run.Audited) {
	rec, a := &m.record, &v.Run
	rec.Version, rec.Model = cmp.Or(a.Version, rec.Version), cmp.Or(a.Model, rec.Model)
	rec.Command = cmp.Or(strings.Join(a.Command, " "), rec.Command)
	one := trialOf(v)
	if x.before != (store.Consumed{}) {
		one.Usage, one.Seconds = one.Usage.Add(x.before.Usage), one.Seconds+x.before.Wall.Seconds()
	}
	rec.Trials = append(rec.Trials, one)
	if !m.replayed() {
		m.transcripts = append(m.transcripts, transcripts(i, v)...)
	}
	if x.result.Reused {
		ev := &x.result.Evaluation
		rec.Notes = append(rec.Notes, fmt.Sprintf("trial %d was made by the run %s on %s", i+1,
			ev.Run, ev.Time.Format(time.DateTime)))
	}
}

// trialOf returns the outcome of a trial's last attempt and the usage summed over all
// attempts.
func trialOf(v *run.Audited) record.RecordedTrial {
	a := &v.Run
	t := record.RecordedTrial{Invalid: a.Invalid, Seconds: a.Duration.Seconds(), Usage: v.Usage,
		Claimed: a.Report.Coverage,
		Memory:  a.PeakMemory, Exposed: a.Exposed, Confined: a.Confined, Unconfirmed: a.Unconfirmed,
		EarlyEnds: v.EarlyEnds, Network: a.Network}
	if a.Invalid == "" || a.EndedEarly != "" {
		t.Runs = 1
	}
	for i := range v.Earlier {
		t.Seconds += v.Earlier[i].Duration.Seconds()
		t.Earlier = append(t.Earlier, v.Earlier[i].Invalid)
		t.Network = audit.AddTraffic(t.Network, v.Earlier[i].Network)
		if v.Earlier[i].EndedEarly != "" {
			t.Runs++
		}
	}
	return t
}

// transcripts returns what the attempts of a trial wrote, without secrets.
func transcripts(trial int, v *run.Audited) (ts []record.Transcript) {
	for i := range v.Earlier {
		ts = append(ts, record.NewTranscript(trial, i+1, v.Dir, &v.Earlier[i], MaskSecrets))
	}
	return append(ts, record.NewTranscript(trial, 0, v.Dir, &v.Run, MaskSecrets))
}
