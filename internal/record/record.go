// Package record keeps what a Smoke or Regression run came to: the dated test
// record, as text and as JSON, and the baselines that later runs are compared
// with.
package record

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/score"
)

// A Record is one run of one auditor on one project.
type Record struct {
	Date time.Time `json:"date"`
	// ID of the run, or of the first one that it continues; older records have none
	Run     string `json:"run,omitempty"`
	Suite   string `json:"suite"` // "Smoke" or "Regression"
	Project string `json:"project"`
	Auditor string `json:"auditor"`
	Change  string `json:"change"`  // what was changed, in the words of who changed it
	Trigger string `json:"trigger"` // which rule asked for the run
	Replay  bool   `json:"replay"`  // a recording was replayed: this tests keys and scorer
	Control string `json:"control,omitempty"`
	// name of the record whose kept reports were read again for this one, which asked nobody
	Again string `json:"again,omitempty"`

	Commit  string `json:"commit,omitempty"` // the project's pin
	Key     string `json:"key"`              // hash of the answer key
	Score   string `json:"score"`            // version of the judge
	Version string `json:"version"`          // the auditor's own
	Command string `json:"command"`          // its command line
	Model   string `json:"model,omitempty"`  // as served, where a model was asked
	// hash of its instructions: auditor.PromptHash
	Prompt string `json:"prompt,omitempty"`
	// what the auditor consists of, by name: auditor.Parts; none in older records
	Parts map[string]string `json:"parts,omitempty"`

	Trials    []RecordedTrial `json:"trials"`
	Judgement score.Judgement `json:"judgement"`
	// over all projects of the run, where it judged several; without those of each
	Whole    *score.SuiteJudgement `json:"whole,omitempty"`
	Goals    score.ProjectGoals    `json:"goals"`
	Baseline string                `json:"baseline,omitempty"` // date of the baseline
	// the baseline's figures; none in older records
	Was *score.Metrics `json:"was,omitempty"`
	// nothing was filtered out: a full suite; false in older records
	Full bool `json:"full,omitempty"`
	// the auditor beside which this one ran: its record is for comparisons
	SideOf string `json:"side_of,omitempty"`
	// the old auditor whose trials ran between these, and are what they are held against
	Beside *Record `json:"beside,omitempty"`
	// of a baseline: the runs whose trials it holds
	Accepted []Accepted `json:"accepted,omitempty"`
	Anchor   *Anchor    `json:"anchor,omitempty"` // of a baseline: the first one
	// figures that others state for this project
	Stated []Stated `json:"stated,omitempty"`
	Notes  []string `json:"notes,omitempty"`

	stem string // of the file that it was read from, a baseline's apart
}

// A RecordedTrial is one repetition, judged.
type RecordedTrial struct {
	Invalid string        `json:"invalid,omitempty"`
	Result  *score.Result `json:"result,omitempty"`
	Seconds float64       `json:"seconds"` // wall time of all its runs
	Usage   audit.Usage   `json:"usage"`   // of all its runs
	// bytes, over all processes of the auditor; 0 when unknown
	Memory  int64  `json:"peak_memory,omitempty"`
	Exposed string `json:"exposed,omitempty"` // what it was not kept from while it ran
	// Unconfirmed is set where a model was asked by name and nothing says who answered.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
	// what confined it, and which limits held
	Confined string `json:"confined,omitempty"`
	// with whom all its runs spoke, or tried to, through the proxy of each
	Network []audit.Traffic `json:"network,omitempty"`
	// what the auditor says that it covered
	Claimed []audit.Dimension `json:"claimed,omitempty"`

	// Runs are those that came to an end by themselves, EarlyEnds those of them that
	// ended early: one that did was tried once more. 0 in records that did not count.
	Runs      int `json:"runs,omitempty"`
	EarlyEnds int `json:"early_ends,omitempty"`
	// Earlier says of each run before the last why another was made: it ended early,
	// or was turned away.
	Earlier []string `json:"earlier,omitempty"`
}

// ScoreTrials returns the trials in the form that package score judges.
func ScoreTrials(ts []RecordedTrial) []score.AuditTrial {
	out := make([]score.AuditTrial, len(ts))
	for i, t := range ts {
		out[i] = score.AuditTrial{Invalid: t.Invalid, Skipped: t.Invalid != "" && t.Seconds == 0,
			Unconfined: t.Exposed, Result: t.Result, USD: t.Usage.USD, Priced: t.Usage.Priced,
			Tokens: t.Usage.TokensIn + t.Usage.TokensOut, Seconds: t.Seconds}
	}
	return out
}

// Figures returns the figures of the record's trials, as every output shows them; nil
// without a valid trial.
func (r *Record) Figures() *score.Metrics { return score.FiguresOf(ScoreTrials(r.Trials)) }

// Unconfirmed reports whether nothing confirms, for some trial, that the model of the record
// is the one that answered.
func (r *Record) Unconfirmed() bool {
	return slices.ContainsFunc(r.Trials, func(t RecordedTrial) bool { return t.Unconfirmed })
}

// Name is the file name of a record without its ending:
// <date>-<suite>-<project>-<auditor>, with a number where a record of the same second
// had that name.
func (r *Record) Name() string { return cmp.Or(r.stem, r.name()) }

// name returns the file name of the record, without its ending.
func (r *Record) name() string {
	date := r.Date.UTC().Format("20060102T150405")
	return strings.Join([]string{date, strings.ToLower(r.Suite), fitting(r.Project, 100),
		fitting(r.Auditor, 100)}, "-")
}

var unfit = regexp.MustCompile(`[^A-Za-z0-9_.]+`)

// clean makes a file name of what others named.
func clean(s string) string { return fitting(s, 240) }

// fitting is clean for a part of a file name, with a hash for what is beyond most bytes:
// no file system takes names of more than 255.
func fitting(s string, most int) string {
	name := unfit.ReplaceAllString(s, "_")
	if strings.Trim(name, ".") == "" { // a folder, this one or the one above
		name = "_" + name
	}
	if len(name) > most {
		return name[:most-9] + "-" + hashOf([]byte(s))[:8]
	}
	return name
}

// Write adds the record to a folder, as <name>.txt and <name>.json. A record is
// never overwritten: a second one of the same second gets a number.
func (r *Record) Write(dir string) (name string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	sweep(dir)
	b, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	for n := 1; n < 1000; n++ {
		stem := r.name()
		if n > 1 {
			stem = fmt.Sprintf("%s-%d", stem, n)
		}
		name = filepath.Join(dir, stem+".txt")
		err := writeNew(name, []byte(r.Text()))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		err = writeNew(filepath.Join(dir, stem+".json"), append(b, '\n')) // by which it is found
		if err == nil {
			return name, nil
		}
		if removed := os.Remove(name); !errors.Is(err, fs.ErrExist) || removed != nil {
			return "", errors.Join(err, removed)
		}
	}
	return "", fmt.Errorf("%s: a thousand records of one second", dir)
}

// writeNew writes a file that is there whole or not at all. One that is there already is an
// error that wraps fs.ErrExist.
func writeNew(name string, b []byte) error {
	return written(name, b, func(temporary string) error {
		err := os.Link(temporary, name)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
		if _, err := os.Lstat(name); err == nil { // a file system without links
			return &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
		}
		return os.Rename(temporary, name)
	})
}

// replace is writeNew for a file that may be there.
func replace(name string, b []byte) error {
	return written(name, b, func(temporary string) error { return os.Rename(temporary, name) })
}

// temporaryName is the pattern of what is written before it is named.
const temporaryName = ".assay-*.tmp"

// sweep removes what a process that was killed while it wrote left in a folder of records. A
// younger one may be another process's, which needs it for no longer than a moment.
func sweep(dir string) {
	left, _ := fs.Glob(os.DirFS(dir), temporaryName)
	for _, name := range left {
		name = filepath.Join(dir, name)
		if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(name)
		}
	}
}

// written writes a temporary file and calls place to move it to its name.
func written(name string, b []byte, place func(temporary string) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), temporaryName)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(b)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return place(f.Name())
}

// Read reads a record by the name of its JSON file or of the text next to it.
func Read(fsys fs.FS, name string) (*Record, error) {
	// Runs print the name of the text; the figures stand beside it.
	if text, ok := strings.CutSuffix(name, ".txt"); ok {
		name = text + ".json"
	}
	r := &Record{}
	if err := readJSON(fsys, name, r, "a test record as a run writes it"); err != nil {
		return nil, err
	}
	if r.Suite == "" || r.Project == "" || r.Auditor == "" || r.Date.IsZero() {
		return nil, fmt.Errorf(
			"%s: names no suite, project, auditor or date: expected a test record as a run writes it", name)
	}
	if r.Suite != "Smoke" && r.Suite != "Regression" {
		return nil, fmt.Errorf("%s: the suite is %q: expected Smoke or Regression", name, r.Suite)
	}
	for i, t := range r.Trials {
		if n := len(audit.Dimensions()); t.Result != nil &&
			(len(t.Result.Metrics.Dimensions) != n || len(t.Result.Methodology.Dimensions) != n) {
			return nil, fmt.Errorf(
				"%s: the result of trial %d does not tell of all %d dimensions: expected one as a run writes it", name, i+1, n)
		}
	}
	if stem := strings.TrimSuffix(path.Base(name), ".json"); strings.HasPrefix(stem, r.name()) {
		r.stem = stem
	}
	return r, nil
}

// readJSON reads a JSON file into v; expected ends the error for other contents.
func readJSON(fsys fs.FS, name string, v any, expected string) error {
	b, err := fs.ReadFile(fsys, name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%s: %w: expected %s", name, err, expected)
	}
	return nil
}

// ReadAll reads every record of a folder, oldest first. A missing folder holds none. It skips
// files that are no records and names them in the error that it returns with the others.
func ReadAll(dir string) ([]*Record, error) {
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var rs []*Record
	var errs []error
	for _, f := range files {
		stem, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok {
			continue
		}
		r, err := Read(audit.PlainFiles(os.DirFS(dir)), f.Name())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		r.stem = stem
		rs = append(rs, r)
	}
	slices.SortFunc(rs, func(a, b *Record) int {
		return cmp.Or(a.Date.Compare(b.Date), cmp.Compare(a.Project, b.Project),
			cmp.Compare(a.Auditor, b.Auditor), cmp.Compare(a.stem, b.stem))
	})
	return rs, errors.Join(errs...)
}
