package store

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/audit"
)

// briefColumns are the columns that Brief reads, as they stand in
// evaluationColumns; id comes first.
var briefColumns = []string{"test_file", "model_name", "expected_result", "actual_result", "app", "query", "family", "prompt", "twin",
	"outcome", "status", "violates", "case_hash", "reason", "tokens_in", "tokens_out", "usd", "priced", "latency_ms"}

// Brief streams the rows that q chooses, oldest first, with what figures are made
// of alone: ID, TestFile, Model, Expected, Actual, App, Query, Family, Prompt,
// Twin, Outcome, Status, Violates, Reason, CaseHash, Usage, Latency. Equal strings
// and lists are shared among rows and must not be written to: a million rows are
// read at a fraction of the time and memory that Evaluations takes.
func (s *sqlStore) Brief(ctx context.Context, q Query) iter.Seq2[Evaluation, error] {
	where, args, ok := s.chosen(q)
	if !ok {
		return func(func(Evaluation, error) bool) {}
	}
	return func(yield func(Evaluation, error) bool) {
		rows, err := s.db.QueryContext(ctx, "SELECT "+s.only(briefColumns)+" FROM evaluations e"+where+" ORDER BY e.id", args...)
		if err != nil {
			yield(Evaluation{}, s.wrap("reading evaluations", err))
			return
		}
		defer rows.Close()
		b := newBrief()
		for rows.Next() {
			e, err := b.scan(rows)
			if err != nil {
				yield(Evaluation{}, s.wrap("reading evaluations", err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(Evaluation{}, s.wrap("reading evaluations", err))
		}
	}
}

// ByID streams the evaluations with these IDs, without attempts, in any order.
func (s *sqlStore) ByID(ctx context.Context, ids []int64) iter.Seq2[Evaluation, error] {
	return func(yield func(Evaluation, error) bool) {
		for chunk := range slices.Chunk(ids, 500) {
			args := make([]any, len(chunk))
			for i, id := range chunk {
				args[i] = id
			}
			for e, err := range s.rows(ctx, "SELECT "+s.columns+" FROM evaluations e WHERE e.id IN ("+places(1, len(chunk))+")", args...) {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// only gives the expressions of id and the named columns.
func (s *sqlStore) only(names []string) string {
	all := strings.Split(s.columns, ", ")
	list := []string{all[0]}
	for _, n := range names {
		list = append(list, all[1+slices.Index(evaluationColumns, n)])
	}
	return strings.Join(list, ", ")
}

// chosen gives the WHERE clause of a query; not ok where nothing can match.
func (s *sqlStore) chosen(q Query) (where string, args []any, ok bool) {
	var terms []string
	if q.Run != "" {
		if !s.wide {
			return "", nil, false
		}
		args = append(args, q.Run)
		terms = append(terms, "(e.run_id = $1 OR e.id IN (SELECT r.evaluation_id FROM reused r WHERE r.run_id = $1))")
	}
	if q.Model != "" {
		args = append(args, q.Model)
		terms = append(terms, fmt.Sprintf("e.model_name = $%d", len(args)))
	}
	if len(terms) > 0 {
		where = " WHERE " + strings.Join(terms, " AND ")
	}
	return where, args, true
}

// A brief scans rows and keeps each string and list once.
type brief struct {
	raw     []sql.RawBytes
	to      []any
	strings map[string]string
	lists   map[string][]int
}

func newBrief() *brief {
	b := &brief{raw: make([]sql.RawBytes, 1+len(briefColumns)), strings: map[string]string{}, lists: map[string][]int{}}
	for i := range b.raw {
		b.to = append(b.to, &b.raw[i])
	}
	return b
}

func (b *brief) text(i int) string {
	if v, ok := b.strings[string(b.raw[i])]; ok {
		return v
	}
	v := string(b.raw[i])
	b.strings[v] = v
	return v
}

func (b *brief) list(i int) []int {
	if v, ok := b.lists[string(b.raw[i])]; ok {
		return v
	}
	v := readInts(string(b.raw[i]))
	b.lists[string(b.raw[i])] = v
	return v
}

func (b *brief) number(i int) int64 {
	n, _ := strconv.ParseInt(string(b.raw[i]), 10, 64)
	return n
}

// scan reads one row of id and briefColumns.
func (b *brief) scan(rows *sql.Rows) (Evaluation, error) {
	if err := rows.Scan(b.to...); err != nil {
		return Evaluation{}, err
	}
	usd, _ := strconv.ParseFloat(string(b.raw[17]), 64)
	e := Evaluation{ID: b.number(0), TestFile: b.text(1), Model: b.text(2), Expected: audit.Label(fold(b.text(3))), Actual: fold(b.text(4)),
		App: b.text(5), Query: b.text(6), Family: b.text(7), Prompt: b.text(8), Twin: b.text(9),
		Outcome: audit.Outcome(b.text(10)), Status: audit.Status(b.text(11)), Violates: b.list(12), CaseHash: b.text(13), Reason: Reason(b.number(14)),
		Usage:   audit.Usage{TokensIn: b.number(15), TokensOut: b.number(16), USD: usd, Priced: string(b.raw[18]) != "" && string(b.raw[18]) != "0"},
		Latency: time.Duration(b.number(19)) * time.Millisecond}
	e.complete()
	return e, nil
}
