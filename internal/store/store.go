// Package store keeps what a run of many trials produced: results.db (SQLite)
// or a PostgreSQL, behind one interface and one conformance test.
//
// The table evaluations begins with the columns id, timestamp, test_file,
// model_name, expected_result, actual_result and explanation, whose meanings do
// not change, so that whatever reads such a file keeps working. A file that has
// only these seven is read as well, and is widened when it is opened for
// writing. Trials of auditors on whole projects are the rows of the table audits.
//
// A row holds its outcome and its attempts. One run holds one row for a trial at
// most: a second one is dropped by the database, whoever writes it.
package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"regexp"
	"strings"
	"time"

	"assay/audit"
)

// ErrReadOnly is the error of methods that write to a store opened for reading.
var ErrReadOnly = errors.New("store: opened for reading only")

// An Evaluation is what became of one trial.
type Evaluation struct {
	ID          int64       // the database's own; 0 before it is written
	Time        time.Time   // when the answer came, UTC, to the millisecond
	TestFile    string      // the case's file, slash path below the root
	Model       string      // the reviewer's name
	Expected    audit.Label // what the key says
	Actual      string      // "good", "bad", or the status of a trial without an answer
	Explanation string

	Run        string // Run.ID
	Trial      string // the trial's key
	Index      int    // from 0
	App        string
	Query      string
	Family     string
	Prompt     string // name of the evaluation prompt
	Twin       string // kind of the machine-made variant; empty for the case itself
	Outcome    audit.Outcome
	Status     audit.Status
	Violates   []int // as the reviewer says
	CWEs       []audit.CWE
	Reason     ReasonGrade
	Confidence float64 // the reviewer's confidence, 0 to 1; 0 when it states none
	Detail     string  // why there is no answer
	Served     string  // model as served
	Finish     string  // the last attempt's finish reason
	Tries      int
	Usage      audit.Usage   // sum over the attempts
	Latency    time.Duration // of the last attempt, to the millisecond
	Reply      string        // the reply as it came, capped by the writer

	CaseHash, SpecHash, PromptHash, SettingsHash string
	Settings                                     string // the reviewer's, without secrets

	Attempts []audit.Attempt // of the row too, but read by Store.Attempts alone
}

// CaseID returns the case that the evaluation is about: "<app>/<query>-<NN>-<label>".
func (ev *Evaluation) CaseID() string {
	return ev.App + "/" + strings.TrimSuffix(path.Base(ev.TestFile), ".md")
}

// ReasonGrade says whether a right "bad" named a requirement that the case violates.
type ReasonGrade int

// The reasons.
const (
	ReasonUnknown ReasonGrade = iota // not asked, or the case names no requirement
	ReasonRight
	ReasonWrong
)

// A Run is one run of many trials.
type Run struct {
	ID             string
	Suite          string    // "Bench", "Regression" or "Smoke"; empty is Bench
	Started, Ended time.Time // Ended is zero while it runs, and for ever after a kill
	Command        string    // resumes the run
	ScoreVersion   string
	State          string // "running", "finished", or why it stopped
	Planned        int
	Reused         int // answered by an earlier run; counted in Outcomes too
	Outcomes       map[audit.Outcome]int
	Usage          audit.Usage
	Plan           string            // hash of the keys of all planned trials
	Parts          map[string]string // what the plan was made of, by name: hashes or values
	Continues      string            // ID of the run whose trials this one continues; may be empty
}

// SetPlanned notes how many trials of how many cases a run plans of a variant.
func (r *Run) SetPlanned(model, prompt string, trials, cases int) {
	r.Parts[plannedPart(model, prompt)] = fmt.Sprintf(plannedText, trials, cases)
}

// PlannedOf returns what SetPlanned noted; zeros where nothing was.
func (r *Run) PlannedOf(model, prompt string) (trials, cases int) {
	// older runs have none
	_, _ = fmt.Sscanf(r.Parts[plannedPart(model, prompt)], plannedText, &trials, &cases)
	return trials, cases
}

// IsPlanned reports whether SetPlanned noted the part of this name.
func IsPlanned(part string) bool { return strings.HasPrefix(part, plannedPrefix) }

// plannedPart returns the name of the part of a run that holds the number of planned trials of
// a variant.
func plannedPart(model, prompt string) string { return plannedPrefix + model + "@" + prompt }

const (
	plannedPrefix = "plan of "
	plannedText   = "%d trials of %d cases"
)

// A Query chooses evaluations. Empty fields choose everything.
type Query struct {
	Run       string // with the rows that this run reused from earlier ones
	Continued bool   // with Run: also the rows of the runs that it continues
	NoRun     bool   // only rows of no run
	Model     string
	After     int64 // evaluations with larger IDs
}

// Consumed is what attempts took.
type Consumed struct {
	Usage audit.Usage
	Wall  time.Duration
}

// A RunVariant is a reviewer with a prompt, and the newest run with trials of it.
type RunVariant struct {
	Run           string // "" for rows of no run
	Model, Prompt string
}

// ReplyMost is the number of characters of a reply that ByID returns, since thousands may be
// read at once.
const ReplyMost = 4000

// A Store keeps runs and evaluations. All methods may be called at once from
// many goroutines, and several processes may share one database.
type Store interface {
	// Begin records a run that is about to start. Its ID must be new.
	Begin(ctx context.Context, r Run) error
	// Finish records how the run ended: state, counts, usage.
	Finish(ctx context.Context, r Run) error
	// Put writes evaluations with their attempts. When it returns nil they
	// survive a kill of this process. An evaluation whose run already holds one
	// for the trial is dropped.
	Put(ctx context.Context, evs ...Evaluation) error
	// Reuse records that the run counts these stored evaluations as its own.
	Reuse(ctx context.Context, run string, evs []Evaluation) error
	// Prior returns the newest final evaluation of each of the trials that has one,
	// without reply and attempts. Final are answered, refused and malformed ones of
	// these runs, with the rows that they reused; where runs is empty, answered ones
	// of any run.
	Prior(ctx context.Context, runs, trials []string) (map[string]Evaluation, error)
	// Spent returns the USD that the rows of these runs were charged, without reused ones.
	Spent(ctx context.Context, runs []string) (float64, error)
	// Errored returns what the errored rows of these runs consumed, by trial.
	Errored(ctx context.Context, runs []string) (map[string]Consumed, error)
	// Evaluations streams the rows that q chooses, oldest first, without
	// attempts. The first error ends the sequence.
	Evaluations(ctx context.Context, q Query) iter.Seq2[Evaluation, error]
	// Summaries streams the same rows with what figures are made of alone, several
	// times as fast; equal strings and lists are shared among rows.
	Summaries(ctx context.Context, q Query) iter.Seq2[Evaluation, error]
	// ByID streams the evaluations with these IDs, in any order, without attempts, and
	// with the first ReplyMost characters of the reply.
	ByID(ctx context.Context, ids []int64) iter.Seq2[Evaluation, error]
	// PutAudit writes an audit with its attempts, as Put writes an evaluation.
	PutAudit(ctx context.Context, a Audit) error
	// PriorAudits returns the newest final audit of each of the trials that has one,
	// without attempts: any but errored ones of these runs; where runs is empty, those
	// of any run whose report counts.
	PriorAudits(ctx context.Context, runs, trials []string) (map[string]Audit, error)
	// Attempts gives a trial's attempts in the order in which they were made.
	Attempts(ctx context.Context, run, trial string) ([]audit.Attempt, error)
	// Latest returns each reviewer with each of its prompts, and the newest run of it; nil
	// where the rows belong to no runs.
	Latest(ctx context.Context) ([]RunVariant, error)
	// Runs returns all runs, newest first.
	Runs(ctx context.Context) ([]Run, error)
	// Close writes what is pending and releases the database.
	Close() error
}

// Open opens the store at where for reading and writing, and brings its tables
// up to date: a postgres:// URL, else the path of an SQLite file, which is
// created with mode 0600 when it is not there.
func Open(ctx context.Context, where string) (Store, error) {
	return open(ctx, where, false)
}

// OpenReadOnly opens the store at where without creating, migrating or writing anything.
// Methods that write return ErrReadOnly.
func OpenReadOnly(ctx context.Context, where string) (Store, error) {
	return open(ctx, where, true)
}

// open opens the store at where: the URL of a PostgreSQL database, or the path of an SQLite
// file.
func open(ctx context.Context, where string, readOnly bool) (Store, error) {
	scheme, _, isURL := strings.Cut(where, "://")
	switch {
	case OfPostgres(where):
		return openPostgres(ctx, where, readOnly)
	case isURL:
		return nil, fmt.Errorf(
			"store: results are no %s:// URL: expected one of a PostgreSQL (postgres://...), or the path of a file", scheme)
	}
	if strings.HasPrefix(where, "file:") {
		return nil, errors.New(
			"store: results are no file: URL: expected the path of a file alone, like results.db")
	}
	if keywords.MatchString(where) { // not shown: there may be a password in it
		return nil, errors.New(
			"store: results are named by keywords (host=...): expected the URL of a PostgreSQL (postgres://...), or the path of a file")
	}
	return openSQLite(ctx, where, readOnly)
}

// keywords are how libpq's programs name a PostgreSQL without a URL.
var keywords = regexp.MustCompile(`(^|\s)(host|hostaddr|dbname|user|password|service)\s*=`)

// OfPostgres reports whether a store is in a PostgreSQL, and no file.
func OfPostgres(where string) bool {
	return strings.HasPrefix(where, "postgres://") || strings.HasPrefix(where, "postgresql://")
}

// Shown names a store in what people and pages read: a PostgreSQL by its URL without the
// password.
func Shown(where string) string {
	if !OfPostgres(where) {
		return where
	}
	return withoutPassword(where)
}
