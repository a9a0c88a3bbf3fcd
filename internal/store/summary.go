package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"assay/audit"
)

// The group begins with the run although no line shows it: in this order the
// index evaluations_summary gives the groups without sorting a million rows.
const (
	groupColumns = "e.run_id, e.model_name, e.prompt, e.twin, e.app, e.family, e.expected_result, e.outcome, e.reason"
	sumColumns   = "count(*), sum(e.tokens_in), sum(e.tokens_out), sum(e.usd), min(e.priced), sum(e.latency_ms)"
)

// Summary groups in the database. Rows that others wrote lack the columns to
// group by and are read one by one.
func (s *sqlStore) Summary(ctx context.Context, q Query) ([]Line, error) {
	l := lines{}
	switch {
	case !s.wide && q.Run == "":
		if err := l.addRows(s.Evaluations(ctx, q)); err != nil {
			return nil, err
		}
	case !s.wide:
	case q.Run == "":
		if err := s.group(ctx, l, "evaluations e WHERE e.run_id IS NOT NULL", q.Model); err != nil {
			return nil, err
		}
		text, args := "SELECT "+s.columns+" FROM evaluations e WHERE e.run_id IS NULL", []any(nil)
		if q.Model != "" {
			text, args = text+" AND e.model_name = $1", []any{q.Model}
		}
		if err := l.addRows(s.rows(ctx, scan, text, args...)); err != nil {
			return nil, err
		}
	default:
		if err := s.group(ctx, l, "evaluations e WHERE e.run_id = $1", q.Model, q.Run); err != nil {
			return nil, err
		}
		from := "reused r JOIN evaluations e ON e.id = r.evaluation_id WHERE r.run_id = $1"
		if err := s.group(ctx, l, from, q.Model, q.Run); err != nil {
			return nil, err
		}
	}
	return l.sorted(), nil
}

func (s *sqlStore) group(ctx context.Context, l lines, from, model string, args ...any) error {
	if model != "" {
		args = append(args, model)
		from += fmt.Sprintf(" AND e.model_name = $%d", len(args))
	}
	rows, err := s.db.QueryContext(ctx, "SELECT "+groupColumns+", "+sumColumns+" FROM "+from+" GROUP BY "+groupColumns, args...)
	if err != nil {
		return s.wrap("summing up", err)
	}
	defer rows.Close()
	for rows.Next() {
		var run, model, prompt, twin, app, family, expected, outcome sql.NullString
		var reason, in, out, priced, latency sql.NullInt64
		var usd sql.NullFloat64
		var n Line
		if err := rows.Scan(&run, &model, &prompt, &twin, &app, &family, &expected, &outcome, &reason,
			&n.Count, &in, &out, &usd, &priced, &latency); err != nil {
			return s.wrap("summing up", err)
		}
		n.Model, n.Prompt, n.Twin, n.App, n.Family = model.String, prompt.String, twin.String, app.String, family.String
		n.Expected, n.Outcome, n.Reason = audit.Label(expected.String), audit.Outcome(outcome.String), Reason(reason.Int64)
		n.Usage = audit.Usage{TokensIn: in.Int64, TokensOut: out.Int64, USD: usd.Float64, Priced: priced.Int64 != 0}
		n.Latency = time.Duration(latency.Int64) * time.Millisecond
		l.add(n)
	}
	return s.wrap("summing up", rows.Err())
}

// lines are keyed by a Line that has no count and no sums.
type lines map[Line]*Line

func (l lines) add(n Line) {
	key := n
	key.Count, key.Usage, key.Latency = 0, audit.Usage{}, 0
	old, ok := l[key]
	if !ok {
		l[key] = &n
		return
	}
	old.Count += n.Count
	old.Usage = old.Usage.Add(n.Usage)
	old.Latency += n.Latency
}

func (l lines) addRows(rows iter.Seq2[Evaluation, error]) error {
	for e, err := range rows {
		if err != nil {
			return err
		}
		l.add(Line{Model: e.Model, Prompt: e.Prompt, Twin: e.Twin, App: e.App, Family: e.Family, Expected: e.Expected,
			Outcome: e.Outcome, Reason: e.Reason, Count: 1, Usage: e.Usage, Latency: e.Latency})
	}
	return nil
}

func (l lines) sorted() []Line {
	out := make([]Line, 0, len(l))
	for _, n := range l {
		out = append(out, *n)
	}
	slices.SortFunc(out, func(a, b Line) int {
		return cmp.Or(strings.Compare(a.Model, b.Model), strings.Compare(a.Prompt, b.Prompt), strings.Compare(a.Twin, b.Twin),
			strings.Compare(a.App, b.App), strings.Compare(a.Family, b.Family), strings.Compare(string(a.Expected), string(b.Expected)),
			strings.Compare(string(a.Outcome), string(b.Outcome)), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}
