package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"assay/audit"
)

// An Audit is what became of one trial of an auditor on a project.
type Audit struct {
	Run, Trial string // Run.ID and the trial's key
	Time       time.Time
	Project    string
	Auditor    string
	Index      int // from 0
	// correct: it gave a report that counts; what that is worth is the score's to say
	Outcome   audit.Outcome
	Detail    string // why it proves nothing; empty where it counts
	Version   string // the auditor's own
	Model     string // as served
	Tries     int
	EarlyEnds int           // tries that ended early
	Usage     audit.Usage   // sum over the tries
	Wall      time.Duration // of all tries together, to the millisecond
	Kept      []byte        // what the trial left behind, as internal/run writes it
	Attempts  []audit.Attempt
}

const auditColumns = "run_id, trial_key, timestamp, project, auditor, trial_index, outcome, detail, version, model, tries, early_ends, tokens_in, tokens_out, turns, usd, priced, wall_ms, kept"

// insertAudit drops a second row for a trial of a run, as Put does.
var insertAudit = "INSERT INTO audits (" + auditColumns + ", attempts) VALUES (" + places(1, 20) +
	") ON CONFLICT (run_id, trial_key) DO NOTHING"

// PutAudit stores an audit with its attempts. See [Store].
func (s *sqlStore) PutAudit(ctx context.Context, a Audit) error {
	if a.Run == "" || a.Trial == "" {
		return fmt.Errorf("store: the audit of %s names no run or no trial", a.Project)
	}
	attempts, err := writeAttempts(a.Attempts)
	if err != nil {
		return err
	}
	kept := a.Kept
	if kept == nil {
		kept = []byte{} // the column is NOT NULL
	}
	// What is written was paid for, whoever goes away.
	_, err = s.exec(context.WithoutCancel(ctx), "writing an audit", insertAudit,
		a.Run, a.Trial, formatTime(a.Time), clean(a.Project), clean(a.Auditor), a.Index,
		string(a.Outcome), clean(a.Detail), clean(a.Version), clean(a.Model), a.Tries, a.EarlyEnds,
		a.Usage.TokensIn, a.Usage.TokensOut, a.Usage.Turns, a.Usage.USD, number(a.Usage.Priced),
		a.Wall.Milliseconds(), kept, attempts)
	return err
}

// PriorAudits returns the audits of these trials in these runs, by trial. See [Store].
func (s *sqlStore) PriorAudits(ctx context.Context, runs, trials []string) (map[string]Audit,
	error) {
	found := make(map[string]Audit)
	if !s.audited { // a file that is older than the table
		return found, nil
	}
	for chunk := range slices.Chunk(trials, perLookup) {
		args := anys(chunk)
		final := "outcome = 'correct'"
		if len(runs) > 0 {
			final = "outcome <> 'errored' AND run_id IN (" + places(len(args)+1,
				len(args)+len(runs)) + ")"
			args = append(args, anys(runs)...)
		}
		// Oldest first, so that the newest stays.
		for a, err := range stream(ctx, s, scanAudit, "SELECT "+auditColumns+" FROM audits WHERE "+
			final+
			" AND trial_key IN ("+places(1, len(chunk))+") ORDER BY timestamp, run_id, trial_index",
			args...) {
			if err != nil {
				return nil, err
			}
			found[a.Trial] = a
		}
	}
	return found, nil
}

// scanAudit reads a row of audits.
func scanAudit(rows *sql.Rows) (a Audit, err error) {
	var stamp string
	var priced int
	var wall int64
	err = rows.Scan(&a.Run, &a.Trial, &stamp, &a.Project, &a.Auditor, &a.Index, &a.Outcome,
		&a.Detail, &a.Version, &a.Model, &a.Tries, &a.EarlyEnds,
		&a.Usage.TokensIn, &a.Usage.TokensOut, &a.Usage.Turns, &a.Usage.USD, &priced,
		&wall, &a.Kept)
	a.Time, a.Usage.Priced, a.Wall = readTime(stamp), priced != 0, time.Duration(wall)*time.Millisecond
	return a, err
}
