package run

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"strconv"
	"time"

	"assay/audit"
	"assay/internal/store"
)

// auditVersion changes when the same audit gets another key, or another form.
const auditVersion = "assay audit 1"

// An AuditTrial is one trial of an auditor on a project.
type AuditTrial struct {
	Project string
	Auditor string
	Index   int    // from 0
	Export  string // hash of the source that the auditor is shown
	// Settings name everything besides that can change a report: command line, prompt
	// files, model, version. It holds no secret. Empty: it is not known, and the audit
	// is made anew in every run.
	Settings string
	Provider string // whose limits, key and quota it shares; "" is this machine
	Cost     Cost
	Longest  time.Duration // that one run of it may take
	// Keeps says that the auditor keeps to what it is told that a run may cost.
	Keeps bool
	// Once makes one run, in an export of its own, and gives the folder that the
	// auditor saw. usd is what it may cost at most, 0 where nobody says. An error means
	// that it could not be started at all, and cost nothing.
	Once func(ctx context.Context, usd float64) (r audit.AuditRun, dir string, err error)

	// What its runs came to, one after the other.
	granted  float64 // USD that the next one may cost
	early    int     // that ended early
	before   []audit.AuditRun
	attempts []audit.Attempt
}

// An Audited is what an audit left behind: the Value of its Result.
type Audited struct {
	Run       audit.AuditRun   // the last one
	Dir       string           // that it saw: its report may name it
	Earlier   []audit.AuditRun // runs of this trial before it: ended early, or turned away
	EarlyEnds int              // of all of them
	Usage     audit.Usage      // sum over all of them
	Ended     time.Time
}

// A DescribedAuditor states what planning needs to know about it. Any other auditor, unless it
// has a section in auditors.md, is taken to cost nothing and is run again in every run.
type DescribedAuditor interface {
	audit.Auditor
	// Settings names everything besides the source that can change its report, as
	// [AuditTrial] wants it.
	Settings() string
	// Provider is whose limits, key and quota it shares.
	Provider() string
	// Cost returns what one run is expected to cost, and costs at most, in USD. known is
	// false for a model without a price.
	Cost() (expected, most float64, known bool)
}

// Key is the hash of project, export, auditor with its settings, and index.
func (a *AuditTrial) Key() string {
	return hash(auditVersion, a.Project, a.Export, a.Auditor, a.Settings, strconv.Itoa(a.Index))
}

// AuditJobs returns the work of audits, whose results are kept in s.
func AuditJobs(s store.Store, audits []*AuditTrial) Jobs {
	items := make([]Job, len(audits))
	for i, a := range audits {
		// A family is a project with one auditor: of each family one trial in turn, so
		// that two auditors that run beside each other alternate.
		items[i] = Job{Key: a.Key(), Provider: a.Provider, Reviewer: a.Auditor,
			Line: a.Auditor + " on " + a.Project, Family: a.Project + " " + a.Auditor, Cost: a.Cost,
			Longest: a.Longest, Do: a.try,
			Keep: func(ctx context.Context, r JobResult) error { return a.keep(ctx, s, r) }}
		if a.Keeps {
			items[i].Grant = func(usd float64) { a.granted = usd }
		}
	}
	all := Listed(items)
	all.Prior = func(ctx context.Context, runs []string) (map[int]JobResult, error) {
		return priorAudits(ctx, s, runs, items)
	}
	return all
}

// priorAudits returns the stored audits of these jobs, by their index.
func priorAudits(ctx context.Context, s store.Store, runs []string, items []Job) (map[int]JobResult,
	error) {
	keys := make([]string, len(items))
	for i := range items {
		keys[i] = items[i].Key
	}
	stored, err := s.PriorAudits(ctx, runs, keys)
	if err != nil {
		return nil, err
	}
	found := map[int]JobResult{}
	for i, key := range keys {
		row, ok := stored[key]
		if !ok {
			continue
		}
		v, err := unpack(row.Kept)
		if err != nil {
			return nil, fmt.Errorf(
				"run: the audit of %s by %s of %s cannot be read from the store: %w: remove the row, or use another database (ASSAY_DB)", row.Project, row.Auditor, row.Time.Format(time.DateTime), err)
		}
		status := audit.Answered
		if row.Outcome == audit.OutcomeMalformed {
			status = audit.Malformed
		}
		found[i] = JobResult{Key: row.Trial, Outcome: row.Outcome, Reused: true, Value: v,
			Evaluation: store.Evaluation{Run: row.Run, Trial: row.Trial, Time: row.Time,
				Model: row.Auditor, Outcome: row.Outcome, Status: status,
				Detail: row.Detail, Tries: row.Tries, Usage: row.Usage}}
	}
	return found, nil
}

// try makes one run. One that ends early is tried once more, whatever Config.Tries says.
func (a *AuditTrial) try(ctx context.Context) AttemptResult {
	began := time.Now()
	r, dir, err := a.Once(ctx, a.granted)
	v := &Audited{Run: r, Dir: dir}
	if err != nil {
		v.Run.Invalid, v.Run.Usage.Priced = err.Error(), true
	}
	if v.Run.EndedEarly != "" {
		a.early++
		v.Run.Invalid = "it ended early: " + v.Run.EndedEarly
		if v.Run.Transient = a.early == 1; !v.Run.Transient {
			v.Run.Invalid = "it ended early, twice: " + v.Run.EndedEarly
		}
	}
	v.EarlyEnds = a.early
	v.Ended = time.Now().UTC().Truncate(time.Millisecond)
	at := audit.Attempt{Started: began.UTC().Truncate(time.Millisecond), Latency: r.Duration,
		Model: r.Model, Usage: v.Run.Usage,
		Error: v.Run.Invalid, HTTPStatus: r.HTTPStatus, Transient: v.Run.Transient,
		RetryAfter: r.RetryAfter}
	if v.Run.EndedEarly != "" {
		at.FinishReason = "early"
	}
	a.attempts = append(a.attempts, at)
	v.Earlier, v.Usage = a.before, total(a.attempts)
	a.before = append(a.before[:len(a.before):len(a.before)], v.Run)
	t := AttemptResult{Attempts: []audit.Attempt{at}, Value: v}
	e := &t.Evaluation
	e.Time, e.Model, e.TestFile, e.Index, e.Detail = v.Ended, a.Auditor, a.Project, a.Index, v.Run.Invalid
	switch {
	case v.Run.Invalid == "":
		e.Status, e.Outcome = audit.Answered, audit.OutcomeCorrect
	case v.Run.EndedEarly != "" && !v.Run.Transient:
		e.Status, e.Outcome = audit.Malformed, audit.OutcomeMalformed
	default:
		e.Status, e.Outcome = audit.Errored, audit.OutcomeErrored
	}
	switch r.HTTPStatus {
	case 401, 402, 403: // a refused key, no credit
		t.Fatal = errors.New(v.Run.Invalid)
	}
	return t
}

// keep stores the result of an audit.
func (a *AuditTrial) keep(ctx context.Context, s store.Store, r JobResult) error {
	ev := r.Evaluation
	row := store.Audit{Run: ev.Run, Trial: ev.Trial, Time: ev.Time, Project: a.Project,
		Auditor: a.Auditor, Index: a.Index, Outcome: ev.Outcome, Detail: ev.Detail,
		Tries: ev.Tries, Usage: ev.Usage, Attempts: ev.Attempts}
	for _, at := range ev.Attempts {
		row.Wall += at.Latency
	}
	if v, ok := r.Value.(*Audited); ok {
		v.Usage = ev.Usage
		row.Version, row.Model, row.EarlyEnds = v.Run.Version, v.Run.Model, v.EarlyEnds
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if err := errors.Join(gob.NewEncoder(z).Encode(v), z.Close()); err != nil {
			return fmt.Errorf("run: an audit cannot be kept: %w", err)
		}
		row.Kept = b.Bytes()
	}
	return s.PutAudit(ctx, row)
}

// unpack decodes a stored audit.
func unpack(b []byte) (*Audited, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	v := &Audited{}
	return v, gob.NewDecoder(z).Decode(v)
}
