package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/audit"
)

// A sqlStore is a Store over database/sql. One set of queries serves both
// engines: both take $1 and ON CONFLICT.
type sqlStore struct {
	db        *sql.DB
	where     string // for messages
	readOnly  bool
	columns   string // the select list of evaluations that scan reads
	audited   bool   // whether there is the table audits
	wide      bool   // whether evaluations has more than the first seven columns
	attempted bool   // whether it has the attempts
	planned   bool   // whether runs name their plans
	ran       bool   // whether there are the tables of runs
	writer    *writer
	lease     *lease // nil: others write too
	closing   sync.Once
}

// newStore returns a store on an open database, whose tables it migrates unless it is
// read-only.
func newStore(ctx context.Context, db *sql.DB, d dialect, where string,
	readOnly bool) (_ *sqlStore, err error) {
	s := &sqlStore{db: db, where: where, readOnly: readOnly}
	if !readOnly {
		if err := d.own().migrate(ctx, db); err != nil {
			return nil, fmt.Errorf("store: %s: bringing the tables up to date: %w", where, err)
		}
		if d.name == sqliteDialect.name {
			if s.lease, err = takeLease(ctx, db, where); err != nil {
				return nil, fmt.Errorf("store: %s: %w", where, err)
			}
		}
	} else if _, err := d.own().version(ctx, db); err != nil {
		return nil, fmt.Errorf("store: %s: %w", where, err)
	}
	if err := s.readColumns(ctx); err != nil {
		return nil, errors.Join(err, s.lease.release())
	}
	if !readOnly {
		s.writer = &writer{db: db, rows: d.rows, lease: s.lease, prepared: map[int]*sql.Stmt{}}
	}
	return s, nil
}

// readColumns learns which columns the table has, so that a file of seven
// columns is read without being changed.
func (s *sqlStore) readColumns(ctx context.Context) error {
	rows, err := s.db.QueryContext(ctx, "SELECT * FROM evaluations LIMIT 0")
	if err != nil {
		return fmt.Errorf("store: %s: no table evaluations can be read: %w", s.where, err)
	}
	defer rows.Close()
	have, err := rows.Columns()
	if err != nil {
		return fmt.Errorf("store: %s: %w", s.where, err)
	}
	list := []string{"CAST(e.id AS TEXT)"}
	for i, c := range evaluationColumns {
		switch {
		case slices.Contains(have, c) && i < 6:
			list = append(list, "CAST(e."+c+" AS TEXT)") // others may store dates as numbers
		case slices.Contains(have, c):
			list = append(list, "e."+c)
		case i < 5:
			return fmt.Errorf(
				"store: %s: the table evaluations has no column %s: expected id, timestamp, test_file, model_name, expected_result, actual_result, explanation", s.where, c)
		default:
			list = append(list, "NULL")
		}
	}
	s.columns = strings.Join(list, ", ")
	there := func(text string) bool {
		rows, err := s.db.QueryContext(ctx, text)
		return err == nil && rows.Close() == nil
	}
	s.audited = there("SELECT run_id FROM audits LIMIT 0")
	s.ran = there("SELECT id FROM runs LIMIT 0") && there("SELECT run_id FROM reused LIMIT 0")
	s.planned = there("SELECT plan FROM runs LIMIT 0")
	s.attempted = slices.Contains(have, "attempts")
	s.wide = slices.Contains(have, "trial_key") && slices.Contains(have, "outcome")
	return nil
}

// exec changes rows and returns their number. doing describes the change in errors.
func (s *sqlStore) exec(ctx context.Context, doing, text string, args ...any) (int64, error) {
	if s.readOnly {
		return 0, ErrReadOnly
	}
	if err := s.lease.there(); err != nil {
		return 0, s.wrap(doing, err)
	}
	res, err := s.db.ExecContext(ctx, text, args...)
	if err != nil {
		return 0, s.wrap(doing, err)
	}
	return res.RowsAffected()
}

// Begin stores a new run. See [Store].
func (s *sqlStore) Begin(ctx context.Context, r Run) error {
	if r.ID == "" {
		return errors.New("store: a run needs an ID")
	}
	_, err := s.exec(ctx, "recording the run", "INSERT INTO runs ("+runColumns+") VALUES ("+
		places(1, 22)+")", runValues(r)...)
	return err
}

// Finish stores the end of a run. See [Store].
func (s *sqlStore) Finish(ctx context.Context, r Run) error {
	n, err := s.exec(ctx, "recording the run's end", "UPDATE runs SET ("+
		strings.TrimPrefix(runColumns, "id, ")+") = ("+places(2, 22)+") WHERE id = $1",
		runValues(r)...)
	if err == nil && n != 1 {
		err = fmt.Errorf("store: %s: run %q was never begun", s.where, r.ID)
	}
	return err
}

// Put stores evaluations. See [Store].
func (s *sqlStore) Put(ctx context.Context, evs ...Evaluation) error {
	if s.readOnly {
		return ErrReadOnly
	}
	if err := named(evs); err != nil || len(evs) == 0 {
		return err
	}
	return s.wrap("writing evaluations", s.writer.put(ctx, evs))
}

// Reuse notes that a run uses the answers of earlier ones. See [Store].
func (s *sqlStore) Reuse(ctx context.Context, run string, evs []Evaluation) error {
	if s.readOnly {
		return ErrReadOnly
	}
	for chunk := range slices.Chunk(evs, 300) {
		args := make([]any, 0, 3*len(chunk))
		for _, e := range chunk {
			args = append(args, run, e.Trial, e.ID)
		}
		if _, err := s.exec(ctx, "recording reused evaluations",
			"INSERT INTO reused (run_id, trial_key, evaluation_id) VALUES "+
				tuples(len(chunk), 3)+" ON CONFLICT DO NOTHING", args...); err != nil {
			return err
		}
	}
	return nil
}

// perLookup is how many keys are looked up at once. SQLite seeks each numbered parameter
// among all of them.
const perLookup = 100

// Prior returns the final answers to these trials in these runs. See [Store].
func (s *sqlStore) Prior(ctx context.Context, runs, trials []string) (map[string]Evaluation,
	error) {
	found := make(map[string]Evaluation)
	if !s.wide {
		return found, nil
	}
	columns := strings.Replace(s.columns, "e.reply", "NULL", 1)
	final, args := "e.status = 'answered'", anys(runs)
	if len(runs) > 0 {
		final = ofRuns(len(runs)) + " AND e.status IN ('answered', 'refused', 'malformed')"
	}
	for chunk := range slices.Chunk(trials, perLookup) {
		args := append(args[:len(args):len(args)], anys(chunk)...)
		// Oldest first, so that the newest stays.
		for e, err := range stream(ctx, s, scan, "SELECT "+columns+" FROM evaluations e WHERE "+
			final+
			" AND e.trial_key IN ("+places(len(args)-len(chunk)+1, len(args))+
			") ORDER BY e.id", args...) {
			if err != nil {
				return nil, err
			}
			found[e.Trial] = e
		}
	}
	return found, nil
}

// Spent returns what these runs cost in USD. See [Store].
func (s *sqlStore) Spent(ctx context.Context, runs []string) (float64, error) {
	tables := []string{"evaluations", "audits"}
	if !s.audited {
		tables = tables[:1]
	}
	sum := 0.0
	for _, table := range tables {
		for _, run := range runs {
			var usd float64
			err := s.db.QueryRowContext(ctx, "SELECT COALESCE(SUM(usd), 0) FROM "+table+
				" WHERE run_id = $1", run).Scan(&usd)
			if err != nil {
				return 0, s.wrap("reading what runs cost", err)
			}
			sum, usd = sum+usd, 0
			if s.attempted {
				usd, err = s.unsure(ctx, table, run)
			}
			if err != nil {
				return 0, err
			}
			sum += usd
		}
	}
	return sum, nil
}

// unsure returns the USD that attempts of a run may have cost, as they were charged, beside what
// is known.
func (s *sqlStore) unsure(ctx context.Context, table, run string) (sum float64, err error) {
	scan := func(rows *sql.Rows) (attempts []audit.Attempt, err error) {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		return attempts, json.Unmarshal([]byte(text), &attempts)
	}
	const charged = ` WHERE run_id = $1 AND priced = 0 AND attempts LIKE '%"Unsure"%'`
	for attempts, err := range stream(ctx, s, scan, "SELECT attempts FROM "+table+charged, run) {
		if err != nil {
			return 0, err
		}
		for i := range attempts {
			sum += attempts[i].Usage.Unsure
		}
	}
	return sum, nil
}

// Errored returns what errored trials of these runs consumed. See [Store].
func (s *sqlStore) Errored(ctx context.Context, runs []string) (map[string]Consumed, error) {
	type row struct {
		trial string
		Consumed
	}
	scan := func(rows *sql.Rows) (r row, err error) {
		var priced int
		var ms int64
		err = rows.Scan(&r.trial, &r.Usage.TokensIn, &r.Usage.TokensOut, &r.Usage.USD, &priced, &ms)
		r.Usage.Priced, r.Wall = priced != 0, time.Duration(ms)*time.Millisecond
		return r, err
	}
	found := map[string]Consumed{}
	if len(runs) == 0 || !s.audited {
		return found, nil
	}
	for _, table := range [][2]string{{"evaluations", "latency_ms"}, {"audits", "wall_ms"}} {
		text := "SELECT trial_key, tokens_in, tokens_out, usd, priced, " + table[1] + " FROM " +
			table[0] +
			" WHERE outcome = 'errored' AND run_id IN (" + places(1, len(runs)) + ")"
		for r, err := range stream(ctx, s, scan, text, anys(runs)...) {
			if err != nil {
				return nil, err
			}
			if sum, ok := found[r.trial]; ok {
				r.Usage, r.Wall = r.Usage.Add(sum.Usage), r.Wall+sum.Wall
			}
			found[r.trial] = r.Consumed
		}
	}
	return found, nil
}

// Evaluations returns the evaluations that q selects, in the order of their ids. See [Store].
func (s *sqlStore) Evaluations(ctx context.Context, q Query) iter.Seq2[Evaluation, error] {
	where, args, ok := s.chosen(q)
	if !ok {
		return func(func(Evaluation, error) bool) {}
	}
	return stream(ctx, s, scan, "SELECT "+s.columns+" FROM evaluations e"+where+" ORDER BY e.id",
		args...)
}

// stream returns the rows of a query, each parsed by read. The first error ends it.
func stream[T any](ctx context.Context, s *sqlStore, read func(*sql.Rows) (T, error),
	text string, args ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		rows, err := s.db.QueryContext(ctx, text, args...)
		if err != nil {
			yield(none, s.wrap("reading", err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			v, err := read(rows)
			if !yield(v, s.wrap("reading", err)) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(none, s.wrap("reading", err))
		}
	}
}

// Close closes the store and gives up the lease.
func (s *sqlStore) Close() error {
	var err error
	s.closing.Do(func() {
		// who writes holds the lease
		err = errors.Join(s.writer.close(), s.wrap("giving it back", s.lease.release()),
			s.db.Close())
	})
	return err
}

// wrap adds the store and the action to an error.
func (s *sqlStore) wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("store: %s: %s: %w", s.where, doing, err)
}

// anys returns the values as a slice of any.
func anys[T any](vs []T) []any {
	out := make([]any, len(vs))
	for i, v := range vs {
		out[i] = v
	}
	return out
}

// places returns "$from, ..., $to".
func places(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		if i > from {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "$%d", i)
	}
	return b.String()
}

// tuples returns n parenthesised groups of width placeholders.
func tuples(n, width int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("(" + places(i*width+1, (i+1)*width) + ")")
	}
	return b.String()
}
