package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"assay/audit"
)

// keyColumns are the columns of Summaries that few values repeat in. The database joins
// them into one text, which is split once for each value: to hand over every
// column of every row takes twice as long.
var keyColumns = []string{"test_file", "model_name", "expected_result", "actual_result", "app",
	"query", "family", "prompt", "twin",
	"outcome", "status", "violates", "case_hash", "reason", "priced", "trial_index"}

var sumColumnNames = []string{"tokens_in", "tokens_out", "usd", "latency_ms", "confidence"}

// between separates the columns of a joined key. Rows with it in a text are read column by
// column.
const between = "\x1f"

// Summaries streams the rows that q chooses, oldest first, with what figures are made
// of alone: ID, TestFile, Model, Expected, Actual, Index, App, Query, Family, Prompt,
// Twin, Outcome, Status, Violates, Reason, CaseHash, Usage, Latency, Confidence. Equal
// strings and lists are shared among rows and must not be written to: a million
// rows are read at a fraction of the time and memory that Evaluations takes.
func (s *sqlStore) Summaries(ctx context.Context, q Query) iter.Seq2[Evaluation, error] {
	where, args, ok := s.chosen(q)
	if !ok {
		return func(func(Evaluation, error) bool) {}
	}
	return func(yield func(Evaluation, error) bool) {
		b := newSummaryScan()
		read := func(rows *sql.Rows) (Evaluation, error) {
			e, err := b.scan(rows)
			if errors.Is(err, errAmbiguous) {
				return s.one(ctx, e.ID)
			}
			return e, err
		}
		stream(ctx, s, read, s.summarySelect(len(args)+1)+" FROM evaluations e"+where+
			" ORDER BY e.id", append(args, between)...)(yield)
	}
}

// summarySelect returns the columns id, joined key and sums; separator is the number of the
// argument with the separator.
func (s *sqlStore) summarySelect(separator int) string {
	texts := make([]string, len(keyColumns))
	for i, c := range keyColumns {
		texts[i] = "coalesce(CAST(" + s.expression(c) + " AS TEXT), '')"
	}
	list := []string{"e.id", fmt.Sprintf("concat_ws(CAST($%d AS TEXT), %s)", separator,
		strings.Join(texts, ", "))}
	for _, c := range sumColumnNames {
		list = append(list, s.expression(c))
	}
	return "SELECT " + strings.Join(list, ", ")
}

// expression returns the SQL of a column: its name, a cast, or NULL if the table lacks it.
func (s *sqlStore) expression(column string) string {
	return strings.Split(s.columns, ", ")[1+slices.Index(evaluationColumns, column)]
}

// one returns the summary of one evaluation.
func (s *sqlStore) one(ctx context.Context, id int64) (Evaluation, error) {
	for e, err := range s.ByID(ctx, []int64{id}) {
		return Evaluation{ID: e.ID, TestFile: e.TestFile, Model: e.Model, Expected: e.Expected,
			Actual: e.Actual, Index: e.Index, App: e.App, Query: e.Query,
			Family: e.Family, Prompt: e.Prompt, Twin: e.Twin, Outcome: e.Outcome, Status: e.Status,
			Violates: e.Violates, Reason: e.Reason,
			CaseHash: e.CaseHash, Usage: e.Usage, Latency: e.Latency, Confidence: e.Confidence}, err
	}
	return Evaluation{}, fmt.Errorf("evaluation %d is gone", id)
}

// ByID streams the evaluations with these IDs, without reply and attempts, in any
// order.
func (s *sqlStore) ByID(ctx context.Context, ids []int64) iter.Seq2[Evaluation, error] {
	columns := strings.Replace(s.columns, "e.reply",
		fmt.Sprintf("substr(e.reply, 1, %d)", ReplyMost), 1)
	return func(yield func(Evaluation, error) bool) {
		for chunk := range slices.Chunk(ids, perLookup) {
			for e, err := range stream(ctx, s, scan,
				"SELECT "+columns+" FROM evaluations e WHERE e.id IN ("+places(1, len(chunk))+")",
				anys(chunk)...) {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// ofRuns returns the condition that a row belongs to one of the runs $1 to $n, or is
// reused by one of them.
func ofRuns(n int) string {
	list := places(1, n)
	return "(e.run_id IN (" + list +
		") OR e.id IN (SELECT r.evaluation_id FROM reused r WHERE r.run_id IN (" + list + ")))"
}

// ofChain is ofRuns for the run $1, if continued with the runs that it continues.
func (s *sqlStore) ofChain(continued bool) string {
	if !continued || !s.planned {
		return ofRuns(1)
	}
	const chain = "(WITH RECURSIVE chain(id) AS (SELECT CAST($1 AS TEXT) UNION SELECT runs.continues FROM runs JOIN chain" +
		" ON runs.id = chain.id WHERE runs.continues <> '') SELECT id FROM chain)"
	return "(e.run_id IN " + chain +
		" OR e.id IN (SELECT r.evaluation_id FROM reused r WHERE r.run_id IN " + chain + "))"
}

// chosen returns the WHERE clause of a query. It is not ok if nothing can match.
func (s *sqlStore) chosen(q Query) (where string, args []any, ok bool) {
	var terms []string
	if q.Run != "" {
		if !s.wide {
			return "", nil, false
		}
		args = append(args, q.Run)
		terms = append(terms, s.ofChain(q.Continued))
	}
	if q.NoRun && s.wide {
		terms = append(terms, "coalesce(e.run_id, '') = ''")
	}
	if q.Model != "" {
		args = append(args, q.Model)
		terms = append(terms, fmt.Sprintf("e.model_name = $%d", len(args)))
	}
	if q.After > 0 {
		args = append(args, q.After)
		terms = append(terms, fmt.Sprintf("e.id > $%d", len(args)))
	}
	if len(terms) > 0 {
		where = " WHERE " + strings.Join(terms, " AND ")
	}
	return where, args, true
}

// errAmbiguous means that a joined key cannot be split into its columns.
var errAmbiguous = errors.New("a text holds the separator")

// A summaryScan reads rows of summarySelect. Each key is split once and each string
// and list kept once.
type summaryScan struct {
	raw     []sql.RawBytes
	to      []any
	keys    map[string]*Evaluation
	strings map[string]string
	lists   map[string][]int
}

// keysMost bounds what is remembered where hardly two rows agree.
const keysMost = 50_000

// newSummaryScan returns an empty summaryScan.
func newSummaryScan() *summaryScan {
	b := &summaryScan{raw: make([]sql.RawBytes, 2+len(sumColumnNames)),
		keys: map[string]*Evaluation{}, strings: map[string]string{}, lists: map[string][]int{}}
	for i := range b.raw {
		b.to = append(b.to, &b.raw[i])
	}
	return b
}

// text returns a text, shared with equal ones.
func (b *summaryScan) text(part []byte) string {
	if v, ok := b.strings[string(part)]; ok {
		return v
	}
	v := clean(string(part))
	b.strings[string(part)] = v
	return v
}

// list returns a list of numbers, shared with equal ones.
func (b *summaryScan) list(part []byte) []int {
	if v, ok := b.lists[string(part)]; ok {
		return v
	}
	v := readInts(string(part))
	b.lists[string(part)] = v
	return v
}

// of returns the evaluation of a joined key, shared with equal ones.
func (b *summaryScan) of(key []byte) (*Evaluation, error) {
	if e, ok := b.keys[string(key)]; ok {
		return e, nil
	}
	parts := bytes.Split(key, []byte(between))
	if len(parts) != len(keyColumns) {
		return nil, errAmbiguous
	}
	at := func(column string) []byte { return parts[slices.Index(keyColumns, column)] }
	text := func(column string) string { return b.text(at(column)) }
	e := &Evaluation{TestFile: text("test_file"), Model: text("model_name"),
		Expected: audit.Label(fold(text("expected_result"))), Actual: fold(text("actual_result")),
		App: text("app"), Query: text("query"), Family: text("family"), Prompt: text("prompt"),
		Twin: text("twin"), Outcome: audit.Outcome(text("outcome")),
		Status: audit.Status(text("status")), Violates: b.list(at("violates")),
		CaseHash: text("case_hash"), Reason: ReasonGrade(readNumber(text("reason"))),
		Index: int(readNumber(text("trial_index"))),
		Usage: audit.Usage{Priced: readNumber(text("priced")) != 0}}
	e.complete()
	if len(b.keys) >= keysMost {
		b.keys, b.strings = map[string]*Evaluation{}, map[string]string{}
	}
	b.keys[string(key)] = e
	return e, nil
}

// scan reads one row. With errAmbiguous it returns the ID alone.
func (b *summaryScan) scan(rows *sql.Rows) (Evaluation, error) {
	if err := rows.Scan(b.to...); err != nil {
		return Evaluation{}, err
	}
	id, err := readID(string(b.raw[0]))
	if err != nil {
		return Evaluation{}, err
	}
	known, err := b.of(b.raw[1])
	if err != nil {
		return Evaluation{ID: id}, err
	}
	e := *known
	e.ID = id
	e.Usage.TokensIn, e.Usage.TokensOut = readNumber(string(b.raw[2])), readNumber(string(b.raw[3]))
	e.Usage.USD = readFloat(string(b.raw[4]))
	e.Latency = time.Duration(readNumber(string(b.raw[5]))) * time.Millisecond
	e.Confidence = readFloat(string(b.raw[6]))
	return e, nil
}
