package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"assay/audit"
)

// batchRows is how many evaluations one transaction holds at most.
const batchRows = 1000

// How many rows one INSERT holds. A statement is a round trip to PostgreSQL, so
// there it holds many (65,535 parameters are allowed). SQLite has no round trips,
// and parsing 1,750 parameters costs more than it saves.
const (
	rowsPerStatementPostgres = 50
	rowsPerStatementSQLite   = 1
)

const (
	insertAttempts = `INSERT INTO attempts (run_id, trial_key, attempt, started, latency_ms, served, finish_reason,
		tokens_in, tokens_out, usd, priced, http_status, error) VALUES %s ON CONFLICT DO NOTHING`
	attemptWidth = 13
)

var insertEvaluations = "INSERT INTO evaluations (" + strings.Join(evaluationColumns, ", ") +
	") VALUES %s ON CONFLICT (run_id, trial_key) DO NOTHING"

// A writer gathers what arrives while the last transaction commits into the
// next one: one row at a time when there is little to do, many when there is
// much, and no timer.
type writer struct {
	db      *sql.DB
	rows    int // in one INSERT
	lease   *lease
	in      chan *batch
	closing chan struct{}
	stopped chan struct{}
	kept    []*sql.Stmt // of one row each, evaluations and attempts: parsing a statement costs more than running it
}

// A batch is one call of Put.
type batch struct {
	ctx  context.Context
	evs  []Evaluation
	done chan error
}

var errClosed = errors.New("the store is closed")

func startWriter(db *sql.DB, rows int, l *lease) *writer {
	w := &writer{db: db, rows: rows, lease: l, in: make(chan *batch), closing: make(chan struct{}), stopped: make(chan struct{})}
	go w.loop()
	return w
}

func (w *writer) put(ctx context.Context, evs []Evaluation) error {
	if len(evs) == 0 {
		return nil
	}
	b := &batch{ctx: ctx, evs: evs, done: make(chan error, 1)}
	select {
	case w.in <- b:
		return <-b.done
	case <-w.closing:
		return errClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// stop ends the loop after the transaction under way. It may be called once.
func (w *writer) stop() {
	close(w.closing)
	<-w.stopped
}

func (w *writer) loop() {
	defer close(w.stopped)
	defer func() {
		for _, st := range w.kept {
			_ = st.Close()
		}
	}()
	for {
		select {
		case b := <-w.in:
			w.commit(w.gather(b))
		case <-w.closing:
			return
		}
	}
}

// gather takes what waits already.
func (w *writer) gather(first *batch) []*batch {
	gathered, rows := []*batch{first}, len(first.evs)
	for rows < batchRows {
		select {
		case b := <-w.in:
			gathered, rows = append(gathered, b), rows+len(b.evs)
		default:
			return gathered
		}
	}
	return gathered
}

// commit writes the batches in one transaction. When that fails, each is tried
// alone, so that one bad row does not take its neighbours with it.
func (w *writer) commit(gathered []*batch) {
	err := w.transact(gathered...)
	for _, b := range gathered {
		if err != nil && len(gathered) > 1 {
			b.done <- w.transact(b)
			continue
		}
		b.done <- err
	}
}

func (w *writer) transact(gathered ...*batch) (err error) {
	// The write is not given up when one caller goes away: what is written was
	// paid for.
	ctx := context.WithoutCancel(gathered[0].ctx)
	if err := w.prepare(ctx); err != nil {
		return err
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
	evs := rowWriter{ctx: ctx, tx: tx, format: insertEvaluations, width: len(evaluationColumns), rows: w.rows}
	attempts := rowWriter{ctx: ctx, tx: tx, format: insertAttempts, width: attemptWidth, rows: w.rows}
	if w.kept != nil {
		evs.full, attempts.full = tx.StmtContext(ctx, w.kept[0]), tx.StmtContext(ctx, w.kept[1])
	}
	for _, b := range gathered {
		for i := range b.evs {
			e := &b.evs[i]
			if err := evs.add(values(e)); err != nil {
				return err
			}
			for n, a := range e.Attempts {
				if err := attempts.add(attemptValues(e, n, a)); err != nil {
					return err
				}
			}
		}
	}
	if err := errors.Join(evs.flush(), attempts.flush()); err != nil {
		return err
	}
	return tx.Commit()
}

// prepare keeps the statements where they are always the same. PostgreSQL's driver
// keeps its own.
func (w *writer) prepare(ctx context.Context) error {
	if w.rows > 1 || w.kept != nil {
		return nil
	}
	evs, err := w.db.PrepareContext(ctx, fmt.Sprintf(insertEvaluations, tuples(1, len(evaluationColumns))))
	if err != nil {
		return err
	}
	attempts, err := w.db.PrepareContext(ctx, fmt.Sprintf(insertAttempts, tuples(1, attemptWidth)))
	if err != nil {
		return errors.Join(err, evs.Close())
	}
	w.kept = []*sql.Stmt{evs, attempts}
	return nil
}

func attemptValues(e *Evaluation, n int, a audit.Attempt) []any {
	return []any{e.Run, e.Trial, n, formatTime(a.Started), a.Latency.Milliseconds(), clean(a.Model), clean(a.FinishReason),
		a.Usage.TokensIn, a.Usage.TokensOut, a.Usage.USD, number(a.Usage.Priced), a.HTTPStatus, clean(a.Error)}
}

// A rowWriter inserts rows of one table, several to a statement.
type rowWriter struct {
	ctx    context.Context
	tx     *sql.Tx
	format string
	width  int // columns
	rows   int // in a full statement
	args   []any
	full   *sql.Stmt
}

func (r *rowWriter) text(rows int) string { return fmt.Sprintf(r.format, tuples(rows, r.width)) }

func (r *rowWriter) add(row []any) (err error) {
	r.args = append(r.args, row...)
	if len(r.args) < r.rows*r.width {
		return nil
	}
	if r.full == nil {
		if r.full, err = r.tx.PrepareContext(r.ctx, r.text(r.rows)); err != nil {
			return err
		}
	}
	_, err = r.full.ExecContext(r.ctx, r.args...)
	r.args = r.args[:0]
	return err
}

func (r *rowWriter) flush() error {
	if r.full != nil {
		defer r.full.Close()
	}
	if len(r.args) == 0 {
		return nil
	}
	_, err := r.tx.ExecContext(r.ctx, r.text(len(r.args)/r.width), r.args...)
	return err
}
