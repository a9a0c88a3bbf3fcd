package suite

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/record"
	"assay/internal/report"
	"assay/internal/seal"
)

// A Judge scores stored findings again by the fixtures of a root.
type Judge struct{ env *env }

// NewJudge returns the judge of a root. Settings that it lacks are the shipped ones.
func NewJudge(root string) (Judge, error) {
	e, err := checkout(root, Settings{})
	return Judge{e}, err
}

// Rescore returns a record of Regression with its findings scored again by today's rules,
// key, reviews and goals.
func (j Judge) Rescore(r *record.Record) (*record.Record, error) {
	if r.Suite != regressionSuite.name {
		return nil, fmt.Errorf(
			"%s: a record of %s: expected one of Regression, whose key is in fixtures/projects",
			r.Name(), r.Suite)
	}
	x, err := j.env.named(context.Background(), r.Project)
	if err != nil {
		return nil, err
	}
	p := x.project
	dims, err := j.env.dimensions()
	if err != nil {
		return nil, err
	}
	g, err := j.env.goalsFor(p, r.Auditor)
	if err != nil {
		return nil, err
	}
	return report.Rescore(r, p, dims, g)
}

// Deterministic reports whether the auditor of this name returns the same for the same
// input, by its kind. An auditor without a section is taken as stochastic.
func (j Judge) Deterministic(auditor string) bool {
	entry, err := j.env.entry(auditor)
	return err == nil && deterministic(&variant{name: auditor, entry: entry})
}

// A Rescore reads the reports stored with records again and judges them with today's parser,
// sections, keys and gate. It runs no auditor. Its fields are flags.
type Rescore struct {
	Root    string   `help:"Folder with tests/ and fixtures/." default:"." env:"ASSAY_ROOT" type:"existingdir"`
	Strict  bool     `help:"Fail on inconclusive results."`
	Records []string `arg:"" help:"Records of live runs, with the reports beside them." type:"existingfile"`
}

// A reread is one record that is read again.
type reread struct {
	name string // its file, without the ending
	old  *record.Record
	m    *measurement
	kept []record.Transcript

	ahead []string // fixes that it reported before they were made
}

// Run writes a new record next to each one whose trials or verdict differ, and prints the
// difference to w; no record is changed. Records of one auditor are judged together. It returns
// an error for a record that cannot be read and for a verdict of FAIL or INVALID.
func (r Rescore) Run(w io.Writer) error {
	e, err := checkout(r.Root, Settings{Strict: r.Strict})
	if err != nil {
		return err
	}
	var all []*reread
	by := map[string][]*measurement{}
	for _, name := range r.Records {
		x, err := e.reread(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, x)
		if x.m.smoke == nil {
			by[x.old.Auditor] = append(by[x.old.Auditor], x.m)
		}
	}
	for _, ms := range by {
		j, err := judgeRegression(e, ms)
		if err != nil {
			return err
		}
		for i, m := range ms {
			m.record.Judgement = j.projects[i]
		}
	}
	var errs []error
	for _, x := range all {
		errs = append(errs, x.print(w))
	}
	return errors.Join(errs...)
}

// reread reads a record and scores its reports again.
func (e *env) reread(name string) (*reread, error) {
	name = strings.TrimSuffix(name, filepath.Ext(name))
	x := &reread{name: name}
	var err error
	if x.old, err = record.Read(audit.PlainFiles(os.DirFS(filepath.Dir(name))),
		filepath.Base(name)+".json"); err != nil {
		return nil, err
	}
	switch {
	case x.old.Replay:
		return nil, errors.New("a replay: go test -run Regression scores its recording again")
	case len(x.old.Trials) == 0:
		return nil, errors.New("holds no trial: expected a record of a live run")
	}
	from := name
	if x.old.Again != "" {
		from = filepath.Join(filepath.Dir(name), x.old.Again)
	}
	if x.kept, err = record.ReadTranscripts(from + ".txt"); err != nil {
		return nil, err
	}
	entry, err := e.entry(x.old.Auditor)
	if err != nil {
		return nil, err
	}
	now := *x.old
	// newer than the old one, and no newer than any later run
	now.Date = x.old.Date.Add(time.Millisecond)
	now.Score, now.Again = score.Version, filepath.Base(from)
	now.Notes = append(slices.Clone(x.old.Notes),
		fmt.Sprintf("scored again on %s from the reports beside %s",
			time.Now().UTC().Format(time.DateOnly), filepath.Base(from)))
	x.m = &measurement{variant: &variant{name: x.old.Auditor, entry: entry, env: e}, record: now}
	if x.old.Suite == smokeSuite.name {
		return x, e.smokeAgain(x)
	}
	return x, e.regressionAgain(x)
}

// smokeAgain scores a record of Smoke again.
func (e *env) smokeAgain(x *reread) error {
	_, _, key, err := e.smoke()
	if err != nil {
		return err
	}
	dims, err := e.dimensions()
	if err != nil {
		return err
	}
	rec := &x.m.record
	rec.Key = key.Project.KeyHash
	entry := x.m.variant.entry
	if entry.Kind == patternsKind { // whose report is a text in Smoke
		entry.Format = "text"
	}
	rec.Trials, err = again(entry, "", x.old.Trials, x.kept,
		func(last *record.Transcript, rep *audit.Report, invalid string) (*score.Result, error) {
			in := score.SmokeInput{Report: rep, RatedHigh: key.RatedHigh, Invalid: invalid}
			if err := e.smokeGoals(x.m.variant.name, &in); err != nil {
				return nil, err
			}
			result, j, err := judgeSmoke(key, dims, last.Dir, in, last)
			rec.Judgement, x.m.smoke = j.Judgement, &j
			return result, err
		})
	return err
}

// regressionAgain scores a record of Regression again.
func (e *env) regressionAgain(x *reread) error {
	of, err := e.named(context.Background(), x.old.Project)
	if err != nil {
		return err
	}
	key := of.project
	if x.old.Commit != key.Commit {
		return fmt.Errorf(
			"made at commit %.12s, and %s is pinned to %.12s now: its report is of another source",
			x.old.Commit, key.Name, key.Commit)
	}
	m := x.m
	m.target = of
	dims, err := e.dimensions()
	if err != nil {
		return err
	}
	if m.goals, err = e.goalsFor(key, x.old.Auditor); err != nil {
		return err
	}
	side := func(of record.Record, prefix string) (record.Record, error) {
		entry, err := e.entry(of.Auditor)
		if err != nil {
			return of, err
		}
		of.Key, of.Score, of.Goals = key.KeyHash, score.Version, m.goals
		names := seal.Names(key.Renames)
		of.Trials, err = again(entry, prefix, of.Trials, x.kept,
			func(last *record.Transcript, rep *audit.Report, invalid string) (*score.Result,
				error) {
				if invalid != "" {
					return nil, nil
				}
				return score.Score(score.Input{Project: key, Findings: names.Reveal(rep.Findings),
					Dimensions: dims, Roots: []string{last.Dir, rep.Root}})
			})
		return of, err
	}
	if m.record, err = side(m.record, ""); err != nil {
		return err
	}
	x.ahead = aheadOf(m, x.old.Date)
	m.record.Notes = append(m.record.Notes, x.ahead...)
	if x.old.Beside != nil {
		entry, err := e.entry(x.old.Beside.Auditor)
		if err != nil {
			return err
		}
		m.beside = &measurement{variant: &variant{name: x.old.Beside.Auditor, entry: entry, env: e},
			target: m.target}
		m.beside.record, err = side(*x.old.Beside, "beside-")
		m.record.Beside = &m.beside.record
		return err
	}
	m.baseline, err = record.Baseline(e.root.fixtures(), baselinesDir, x.old.Auditor, key.Name)
	if err != nil || m.baseline == nil || m.baseline.Comparable(baselinesDir, key) == nil {
		return err
	}
	m.record.Notes = append(m.record.Notes,
		fmt.Sprintf(
			"the findings of the baseline of %s were scored again too: it was made with another key or version of the score", m.baseline.Date.Format(time.DateOnly)))
	m.baseline, err = report.Rescore(m.baseline, key, dims, m.goals)
	return err
}

// again reads the reports of trials again and has the last one of each scored.
func again(entry audit.AuditorEntry, prefix string, old []record.RecordedTrial, kept []record.Transcript,
	judge func(last *record.Transcript, rep *audit.Report, invalid string) (*score.Result,
		error)) ([]record.RecordedTrial, error) {
	trials := slices.Clone(old)
	for i := range trials {
		t := &trials[i]
		runs := slices.DeleteFunc(slices.Clone(kept), func(k record.Transcript) bool {
			return k.Trial != i+1 || strings.HasPrefix(k.Name, "beside-") != (prefix != "")
		})
		last, err := belongs(t, runs)
		if err != nil {
			return nil, fmt.Errorf("trial %d: %w", i+1, err)
		}
		var rep audit.Report
		t.EarlyEnds = 0
		for k := range runs {
			r, invalid, early := rereadRun(entry, &runs[k])
			if early != "" {
				t.EarlyEnds++
				invalid = cmp.Or(invalid, "it ended early: "+early)
			}
			if &runs[k] == last {
				rep = r
				if t.Invalid == "" || invalid == "" ||
					!strings.Contains(t.Invalid, strings.TrimPrefix(invalid, "it ended early: ")) {
					t.Invalid = invalid
				}
			}
		}
		if t.Result, err = judge(last, &rep, t.Invalid); err != nil {
			return nil, fmt.Errorf("trial %d: %w", i+1, err)
		}
	}
	return trials, nil
}

// belongs returns the transcript of the last attempt of a trial. It is an error if all of
// them together consumed something else than the trial states.
func belongs(t *record.RecordedTrial, runs []record.Transcript) (last *record.Transcript, err error) {
	var used audit.Usage
	seconds := 0.0
	for i := range runs {
		seconds += runs[i].Seconds
		used.TokensIn, used.TokensOut = used.TokensIn+runs[i].Usage.TokensIn, used.TokensOut+
			runs[i].Usage.TokensOut
		if runs[i].Last {
			if last != nil {
				return nil, fmt.Errorf(
					"%s and %s are both its last run: expected the transcripts as its run wrote them", last.Name, runs[i].Name)
			}
			last = &runs[i]
		}
	}
	switch {
	case last == nil:
		return nil, errors.New("nothing that its last run wrote was kept")
	case math.Abs(seconds-t.Seconds) > 1e-6 || used.TokensIn != t.Usage.TokensIn ||
		used.TokensOut != t.Usage.TokensOut:
		return nil, fmt.Errorf(
			"what is kept took %.3f s and %d tokens, and its trial %.3f s and %d: these are the transcripts of another record", seconds, used.TokensIn+used.TokensOut, t.Seconds, t.Usage.TokensIn+t.Usage.TokensOut)
	}
	return last, nil
}

// rereadRun reads a report again. One that was stopped, or is not whole, stays invalid.
func rereadRun(entry audit.AuditorEntry, k *record.Transcript) (rep audit.Report,
	invalid, early string) {
	if !k.Whole && (k.Invalid != "" || k.EndedEarly != "") {
		return rep, k.Invalid, k.EndedEarly
	}
	entry.Name, entry.Format = cmp.Or(entry.Name, "the report"), cmp.Or(entry.Format, k.Format)
	return auditor.Reread(entry, k.Uncut("events"), k.Text("report"))
}

// print writes a new record if trials or verdict differ, and says how they do.
func (x *reread) print(w io.Writer) error {
	now := &x.m.record
	same := x.old.Judgement.Verdict == now.Judgement.Verdict &&
		jsonOf(x.old.Trials) == jsonOf(now.Trials)
	if now.Beside != nil {
		same = same && jsonOf(x.old.Beside.Trials) == jsonOf(now.Beside.Trials)
	}
	if same {
		fmt.Fprintf(w, "%s: unchanged: %s; no record is written\n", x.name, now.Judgement.Verdict)
	} else {
		name, err := now.Write(filepath.Dir(x.name))
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %s, was %s: %s\n", x.name, now.Judgement.Verdict,
			x.old.Judgement.Verdict, name)
		for i := range now.Trials {
			if was, is := &x.old.Trials[i], &now.Trials[i]; jsonOf(was) != jsonOf(is) {
				fmt.Fprintf(w, "  trial %d: %s; was: %s\n", i+1, trialLine(is), trialLine(was))
			}
		}
		for _, note := range x.ahead {
			fmt.Fprintf(w, "  %s\n", note)
		}
	}
	if v := now.Judgement.Verdict; v == audit.Fail || v == audit.Invalid {
		return fmt.Errorf("%s: %s: %s", x.name, v, audit.OneLine(now.Judgement.Reasons[0].Text, 0))
	}
	return nil
}

// trialLine returns a trial as one line.
func trialLine(t *record.RecordedTrial) string {
	if t.Invalid != "" || t.Result == nil {
		return "INVALID: " + audit.OneLine(t.Invalid, 200)
	}
	parts := []string{fmt.Sprintf("%d findings", len(t.Result.Findings))}
	for _, m := range score.Main(score.AuditMetrics()) {
		parts = append(parts, m.Name+" "+m.Show(&t.Result.Metrics))
	}
	return strings.Join(parts, ", ")
}

// jsonOf returns a value as JSON.
func jsonOf(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
