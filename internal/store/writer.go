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

// How many rows one INSERT holds. A statement is a round trip to PostgreSQL, so
// there it holds many (65,535 parameters are allowed). SQLite has no round trips,
// and parsing 1,800 parameters costs more than it saves.
const (
	rowsPerStatementPostgres = 50
	rowsPerStatementSQLite   = 1
)

// writtenColumns are those of a row: what scan reads, and the attempts.
var writtenColumns = len(evaluationColumns) + 1

var insertEvaluations = "INSERT INTO evaluations (" + strings.Join(evaluationColumns, ", ") +
	", attempts) VALUES %s ON CONFLICT (run_id, trial_key) DO NOTHING"

// A writer writes evaluations, one transaction at a time.
type writer struct {
	db    *sql.DB
	rows  int // in one INSERT
	lease *lease

	mu     sync.Mutex
	closed bool
	one    *sql.Stmt // inserts one row, where that is what an INSERT holds: to parse it costs more than to run it
}

var errClosed = errors.New("the store is closed")

// put writes all or none. It is not given up when its caller goes away: what is
// written was paid for.
func (w *writer) put(ctx context.Context, evs []Evaluation) (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errClosed
	}
	ctx = context.WithoutCancel(ctx)
	if w.one == nil && w.rows == 1 { // PostgreSQL's driver keeps its own
		if w.one, err = w.db.PrepareContext(ctx, insertion(1)); err != nil {
			return err
		}
	}
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback()
		}
	}()
	if err := w.lease.held(ctx, tx); err != nil {
		return err
	}
	one := w.one
	if one != nil {
		one = tx.StmtContext(ctx, one)
	}
	var args []any
	for chunk := range slices.Chunk(evs, w.rows) {
		if args, err = written(args[:0], chunk); err != nil {
			return err
		}
		if one != nil {
			_, err = one.ExecContext(ctx, args...)
		} else {
			_, err = tx.ExecContext(ctx, insertion(len(chunk)), args...)
		}
		if err != nil {
			return err
		}
	}
	return tx.Commit()
}

// close waits for the transaction under way; none begins after it.
func (w *writer) close() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.one == nil {
		return nil
	}
	return w.one.Close()
}

// insertion gives the statement for so many rows.
func insertion(rows int) string {
	return fmt.Sprintf(insertEvaluations, tuples(rows, writtenColumns))
}

// written appends the arguments of an insertion.
func written(args []any, evs []Evaluation) ([]any, error) {
	for i := range evs {
		attempts, err := writeAttempts(evs[i].Attempts)
		if err != nil {
			return nil, err
		}
		args = append(append(args, values(&evs[i])...), attempts)
	}
	return args, nil
}

// writeAttempts gives attempts as a column holds them: JSON, empty where there are none.
func writeAttempts(attempts []audit.Attempt) (string, error) {
	if len(attempts) == 0 {
		return "", nil
	}
	b, err := json.Marshal(attempts)
	return string(b), err
}

func (s *sqlStore) Attempts(ctx context.Context, run, trial string) (attempts []audit.Attempt, err error) {
	if !s.attempted {
		return nil, fmt.Errorf("store: %s: an older Assay kept the attempts in another form: a run that writes to it brings it up to date", s.where)
	}
	var text string
	err = s.db.QueryRowContext(ctx, "SELECT coalesce(attempts, '') FROM evaluations WHERE run_id = $1 AND trial_key = $2"+
		" UNION ALL SELECT attempts FROM audits WHERE run_id = $1 AND trial_key = $2", run, trial).Scan(&text)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &attempts)
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return attempts, s.wrap("reading attempts", err)
}
