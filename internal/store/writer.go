package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"assay/audit"
)

// Maximum numbers of rows of one INSERT. A statement is a round trip to PostgreSQL, which
// allows 65,535 parameters; SQLite's statements are kept prepared, one for each number of rows.
const (
	rowsPerStatementPostgres = 50
	rowsPerStatementSQLite   = 16
)

var writtenColumns = len(evaluationColumns) + 1

var insertEvaluations = "INSERT INTO evaluations (" + strings.Join(evaluationColumns, ", ") +
	", attempts) %s ON CONFLICT (run_id, trial_key) DO NOTHING"

// A writer writes evaluations, one transaction at a time.
type writer struct {
	db    *sql.DB
	rows  int // in one INSERT
	lease *lease

	mu     sync.Mutex
	closed bool
	// SQLite's INSERTs by their rows: to parse one costs more than to run it
	prepared map[int]*sql.Stmt
}

var errClosed = errors.New("the store is closed")

// put writes all or none. It is not given up when its caller goes away: what is
// written was paid for.
func (w *writer) put(ctx context.Context, evs []Evaluation) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errClosed
	}
	if err := w.lease.there(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	// a statement is a transaction, and one around it costs half as much again
	if len(evs) <= w.rows {
		return w.insert(ctx, w.db, evs)
	}
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for chunk := range slices.Chunk(evs, w.rows) {
		if err := w.insert(ctx, tx, chunk); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

type connection interface {
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
}

// insert writes the evaluations in one statement.
func (w *writer) insert(ctx context.Context, c connection, evs []Evaluation) error {
	args, err := written(make([]any, 0, len(evs)*writtenColumns), evs)
	if err != nil {
		return err
	}
	if w.lease == nil { // PostgreSQL, whose driver keeps its statements
		_, err = c.ExecContext(ctx, insertion(len(evs)), args...)
		return err
	}
	one := w.prepared[len(evs)]
	if one == nil {
		if one, err = w.db.PrepareContext(ctx, preparedInsertion(len(evs))); err != nil {
			return err
		}
		w.prepared[len(evs)] = one
	}
	if tx, ok := c.(*sql.Tx); ok {
		one = tx.StmtContext(ctx, one)
	}
	_, err = one.ExecContext(ctx, args...)
	return err
}

// close waits for the transaction under way; none begins after it.
func (w *writer) close() (err error) {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, one := range w.prepared {
		err = errors.Join(err, one.Close())
	}
	return err
}

// insertion returns the statement that inserts so many rows.
func insertion(rows int) string {
	return fmt.Sprintf(insertEvaluations, "VALUES "+tuples(rows, writtenColumns))
}

// preparedInsertion is insertion for SQLite. Its parameters have no numbers: each one that
// has is sought among all.
func preparedInsertion(rows int) string {
	row := "(?" + strings.Repeat(", ?", writtenColumns-1) + ")"
	return fmt.Sprintf(insertEvaluations, "VALUES "+row+strings.Repeat(", "+row, rows-1))
}

// written appends the values of evaluations with their attempts.
func written(args []any, evs []Evaluation) ([]any, error) {
	for i := range evs {
		attempts, err := writeAttempts(evs[i].Attempts)
		if err != nil {
			return nil, err
		}
		args = append(values(args, &evs[i]), attempts)
	}
	return args, nil
}

// writeAttempts returns attempts as JSON, "" if there are none.
func writeAttempts(attempts []audit.Attempt) (string, error) {
	if len(attempts) == 0 {
		return "", nil
	}
	b, err := json.Marshal(attempts)
	return string(b), err
}

// Attempts returns the attempts of a trial. See [Store].
func (s *sqlStore) Attempts(ctx context.Context, run, trial string) (attempts []audit.Attempt,
	err error) {
	if !s.attempted {
		return nil, fmt.Errorf(
			"store: %s: an older Assay kept the attempts in another form: a run that writes to it brings it up to date", s.where)
	}
	var text string
	err = s.db.QueryRowContext(ctx,
		"SELECT coalesce(attempts, '') FROM evaluations WHERE run_id = $1 AND trial_key = $2"+
			" UNION ALL SELECT attempts FROM audits WHERE run_id = $1 AND trial_key = $2", run,
		trial).Scan(&text)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &attempts)
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return attempts, s.wrap("reading attempts", err)
}
