package suite

import (
	"cmp"
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
	"assay/internal/patterns"
	"assay/internal/record"
	"assay/internal/report"
)

// A Rescore reads the reports that were kept beside records again, by today's parser,
// sections, keys and judge. It asks nobody. Records of one auditor are judged together,
// as one run's. Its fields are the flags of assay rescore.
type Rescore struct {
	Root    string   `help:"Folder with tests/ and fixtures/." default:"." env:"ASSAY_ROOT" type:"existingdir"`
	Strict  bool     `help:"What is not settled fails."`
	Records []string `arg:"" help:"Records of live runs, with what their auditors wrote beside them." type:"existingfile"`
}

// A Judge scores stored findings again, by what a folder says.
type Judge struct{ by *regression }

// NewJudge reads what audits are judged by from the fixtures of a folder; what it lacks
// of settings is what is shipped.
func NewJudge(root string) (Judge, error) {
	e, err := checkout(root, Config{})
	if err != nil {
		return Judge{}, err
	}
	by, err := e.judging()
	return Judge{by}, err
}

// Rescore gives a record of Regression with its findings scored again, offline, by
// today's rules, key, reviews and goals.
func (j Judge) Rescore(r *record.Record) (*record.Record, error) {
	if r.Suite != "Regression" {
		return nil, fmt.Errorf("%s: a record of %s: expected one of Regression, whose key is in fixtures/projects", r.Name(), r.Suite)
	}
	_, p, err := Project(j.by.env.root.holdings(), r.Project)
	if err != nil {
		return nil, err
	}
	goals, err := j.by.goalsFor(p, r.Auditor)
	if err != nil {
		return nil, err
	}
	return report.Rescore(r, p, j.by.dims, goals)
}

// Deterministic reports whether the auditor of this name gives the same for the same
// input, by its kind. Who has no section is taken as stochastic.
func (j Judge) Deterministic(auditor string) bool { return j.by.deterministic(auditor) }

// A reread is one record that is read again.
type reread struct {
	name string // its file, without the ending
	old  *record.Record
	now  *record.Record
	kept []record.Transcript
	held *evaluation // nil: a record of Smoke
}

// Run writes a new record beside each whose trials or verdict come out otherwise, and
// tells the difference to w; no record is changed. The error is that of a record that
// cannot be read again, or of a verdict that is FAIL or INVALID.
func (r Rescore) Run(w io.Writer) error {
	e, err := checkout(r.Root, Config{Strict: r.Strict})
	if err != nil {
		return err
	}
	shared, err := e.judging()
	if err != nil {
		return err
	}
	var all []*reread
	together := map[string][]*evaluation{}
	for _, name := range r.Records {
		x, err := shared.reread(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, x)
		if x.held != nil {
			together[x.old.Auditor] = append(together[x.old.Auditor], x.held)
		}
	}
	judged := map[*evaluation]score.Judgement{}
	for _, hs := range together {
		suite, err := judgeTogether(hs)
		if err != nil {
			return err
		}
		for i, h := range hs {
			judged[h] = suite.Projects[i]
		}
	}
	var errs []error
	for _, x := range all {
		if x.held != nil {
			x.now.Judgement = judged[x.held]
		}
		errs = append(errs, x.tell(w))
	}
	return errors.Join(errs...)
}

func (r *regression) reread(name string) (*reread, error) {
	name = strings.TrimSuffix(name, filepath.Ext(name))
	x := &reread{name: name}
	var err error
	if x.old, err = record.Read(audit.PlainFiles(os.DirFS(filepath.Dir(name))), filepath.Base(name)+".json"); err != nil {
		return nil, err
	}
	switch {
	case x.old.Replay:
		return nil, errors.New("a replay: go test -run Regression reads its recording again")
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
	now := *x.old
	x.now = &now
	x.now.Date = x.old.Date.Add(time.Millisecond) // newer than the old one, and no newer than any later run
	x.now.Score, x.now.Again = score.Version, filepath.Base(from)
	x.now.Notes = append(slices.Clone(x.old.Notes), fmt.Sprintf("read again on %s from what stands beside %s; nobody was asked", time.Now().UTC().Format(time.DateOnly), filepath.Base(from)))
	if x.old.Suite == "Smoke" {
		return x, r.smokeAgain(x)
	}
	return x, r.regressionAgain(x)
}

func (r *regression) smokeAgain(x *reread) error {
	_, _, key, err := r.env.smoke()
	if err != nil {
		return err
	}
	x.now.Key = key.Project.KeyHash
	entry := r.entries[x.old.Auditor]
	if x.old.Auditor == patterns.Name { // which writes text for Smoke
		entry = audit.AuditorEntry{Name: patterns.Name, Format: "text"}
	}
	x.now.Trials, err = again(entry, "", x.old.Trials, x.kept, func(last *record.Transcript, rep *audit.Report, invalid string) (*score.Result, error) {
		result, j, err := judgeSmoke(key, r.dims, last.Dir, rep, invalid, last)
		x.now.Judgement = j.Judgement
		return result, err
	})
	return err
}

func (r *regression) regressionAgain(x *reread) error {
	drawn, key, err := Project(r.env.root.holdings(), x.old.Project)
	if err != nil {
		return err
	}
	t := target{project: key, drawn: drawn}
	if x.old.Commit != t.project.Commit {
		return fmt.Errorf("made at commit %.12s, and %s is pinned to %.12s now: its report is of another source", x.old.Commit, t.project.Name, t.project.Commit)
	}
	goals, err := r.goalsFor(t.project, x.old.Auditor)
	if err != nil {
		return err
	}
	side := func(of *record.Record, prefix string) (*evaluation, error) {
		h := r.evaluation(t, candidate{name: of.Auditor})
		h.goals, h.now = goals, *of
		h.now.Key, h.now.Score = t.project.KeyHash, score.Version
		h.now.Trials, err = again(r.entries[of.Auditor], prefix, of.Trials, x.kept, func(last *record.Transcript, rep *audit.Report, invalid string) (*score.Result, error) {
			if invalid != "" {
				return nil, nil
			}
			return h.scored(rep, last.Dir)
		})
		return h, err
	}
	if x.held, err = side(x.now, ""); err != nil {
		return err
	}
	x.now = &x.held.now
	x.now.Goals = goals
	if x.old.Beside == nil {
		return x.held.baselineAgain(x)
	}
	if x.held.beside, err = side(x.old.Beside, "beside-"); err != nil {
		return err
	}
	x.held.baseline = &x.held.beside.now
	x.now.Beside = x.held.baseline
	return nil
}

// baselineAgain scores a baseline again first that another key or judge made.
func (h *evaluation) baselineAgain(x *reread) (err error) {
	fsys := h.env.root.holdings()
	h.baseline, err = record.Baseline(fsys, baselines, h.candidate.name, h.project.Name)
	if err != nil || h.baseline == nil || h.baseline.Comparable(baselines, h.project) == nil {
		return err
	}
	x.now.Notes = append(x.now.Notes, fmt.Sprintf("the findings of the baseline of %s were scored again too: it was made by another key or judge", h.baseline.Date.Format(time.DateOnly)))
	h.baseline, err = report.Rescore(h.baseline, h.project, h.dims, h.goals)
	return err
}

// again has a trial's last run judged, of which invalid says why it proves nothing.
func again(entry audit.AuditorEntry, prefix string, old []record.Trial, kept []record.Transcript,
	judge func(last *record.Transcript, rep *audit.Report, invalid string) (*score.Result, error)) ([]record.Trial, error) {
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
				if t.Invalid == "" || invalid == "" || !strings.Contains(t.Invalid, strings.TrimPrefix(invalid, "it ended early: ")) {
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

// belongs gives the last run, where all of them consumed together what their trial says.
func belongs(t *record.Trial, runs []record.Transcript) (last *record.Transcript, err error) {
	var used audit.Usage
	seconds := 0.0
	for i := range runs {
		seconds += runs[i].Seconds
		used.TokensIn, used.TokensOut = used.TokensIn+runs[i].Usage.TokensIn, used.TokensOut+runs[i].Usage.TokensOut
		if runs[i].Last {
			if last != nil {
				return nil, fmt.Errorf("%s and %s are both its last run: expected the transcripts as its run wrote them", last.Name, runs[i].Name)
			}
			last = &runs[i]
		}
	}
	switch {
	case last == nil:
		return nil, errors.New("nothing that its last run wrote was kept")
	case math.Abs(seconds-t.Seconds) > 1e-6 || used.TokensIn != t.Usage.TokensIn || used.TokensOut != t.Usage.TokensOut:
		return nil, fmt.Errorf("what is kept took %.3f s and %d tokens, and its trial %.3f s and %d: these are the transcripts of another record", seconds, used.TokensIn+used.TokensOut, t.Seconds, t.Usage.TokensIn+t.Usage.TokensOut)
	}
	return last, nil
}

// rereadRun takes what was stopped, or is not whole, to prove as little as before.
func rereadRun(entry audit.AuditorEntry, k *record.Transcript) (rep audit.Report, invalid, early string) {
	if !k.Whole && (k.Invalid != "" || k.EndedEarly != "") {
		return rep, k.Invalid, k.EndedEarly
	}
	entry.Name, entry.Format = cmp.Or(entry.Name, "the report"), cmp.Or(entry.Format, k.Format)
	return auditor.Reread(entry, k.Uncut("events"), k.Text("report"))
}

func (x *reread) tell(w io.Writer) error {
	was, now := x.old.Judgement.Verdict, x.now.Judgement.Verdict
	same := was == now && jsonOf(x.old.Trials) == jsonOf(x.now.Trials)
	if x.now.Beside != nil {
		same = same && jsonOf(x.old.Beside.Trials) == jsonOf(x.now.Beside.Trials)
	}
	if same {
		fmt.Fprintf(w, "%s: as it was: %s; no record is written\n", x.name, now)
	} else {
		name, err := x.now.Write(filepath.Dir(x.name))
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s: %s, and was %s: %s\n", x.name, now, was, name)
		for i := range x.now.Trials {
			if was, now := &x.old.Trials[i], &x.now.Trials[i]; jsonOf(was) != jsonOf(now) {
				fmt.Fprintf(w, "  trial %d: %s, and was: %s\n", i+1, trialLine(now), trialLine(was))
			}
		}
	}
	if now == audit.Fail || now == audit.Invalid {
		return fmt.Errorf("%s: %s: %s", x.name, now, audit.OneLine(x.now.Judgement.Reasons[0].Text, 0))
	}
	return nil
}

func trialLine(t *record.Trial) string {
	if t.Invalid != "" || t.Result == nil {
		return "INVALID: " + audit.OneLine(t.Invalid, 200)
	}
	parts := []string{fmt.Sprintf("%d findings", len(t.Result.Findings))}
	for _, m := range score.Main(score.AuditMetrics()) {
		parts = append(parts, m.Name+" "+m.Show(&t.Result.Metrics))
	}
	return strings.Join(parts, ", ")
}

func jsonOf(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
