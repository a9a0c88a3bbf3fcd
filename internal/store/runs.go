package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"assay/audit"
)

const runColumns = "id, suite, started, ended, command, score_version, state, planned, reused, correct, wrong, refused, malformed, errored, skipped, tokens_in, tokens_out, usd, priced, plan, parts, continues"

// runValues returns the values of a run's row, in the order of runColumns.
func runValues(r Run) []any {
	n := func(o audit.Outcome) int { return r.Outcomes[o] }
	parts := ""
	if len(r.Parts) > 0 {
		b, _ := json.Marshal(r.Parts) // strings alone
		parts = clean(string(b))
	}
	return []any{r.ID, cmp.Or(r.Suite, "Bench"), formatTime(r.Started), formatTime(r.Ended),
		clean(r.Command), r.ScoreVersion, clean(r.State),
		r.Planned, r.Reused, n(audit.OutcomeCorrect), n(audit.OutcomeWrong),
		n(audit.OutcomeRefused),
		n(audit.OutcomeMalformed), n(audit.OutcomeErrored), n(audit.OutcomeSkipped),
		r.Usage.TokensIn, r.Usage.TokensOut, r.Usage.USD, number(r.Usage.Priced), r.Plan,
		parts, r.Continues}
}

// Runs returns the runs, oldest first. See [Store].
func (s *sqlStore) Runs(ctx context.Context) ([]Run, error) {
	if !s.wide {
		return nil, nil
	}
	columns := runColumns
	if !s.audited { // a file that is older than the column
		columns = strings.Replace(columns, "suite", "'Bench'", 1)
	}
	if !s.planned {
		columns = strings.Replace(columns, "plan, parts, continues", "'', '', ''", 1)
	}
	var out []Run
	for r, err := range stream(ctx, s, scanRun,
		"SELECT "+columns+" FROM runs ORDER BY started DESC, id DESC") {
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// Latest returns the newest run of each variant. See [Store].
func (s *sqlStore) Latest(ctx context.Context) ([]RunVariant, error) {
	if !s.wide || !s.ran {
		return nil, nil
	}
	runs, err := s.Runs(ctx)
	if err != nil {
		return nil, err
	}
	age := map[string]int{} // place among the runs, the newest first
	for i := range runs {
		age[runs[i].ID] = i
	}
	type seen struct {
		RunVariant
		last int64 // ID of its newest evaluation
	}
	newest := map[[2]string]seen{}
	older := func(a, b *seen) bool {
		i, known := age[a.Run]
		j, ok := age[b.Run]
		if known && ok {
			return i > j
		}
		return known == ok && a.last < b.last || !known && ok
	}
	scan := func(rows *sql.Rows) (v seen, err error) {
		err = rows.Scan(&v.Run, &v.Model, &v.Prompt, &v.last)
		return v, err
	}
	const columns = "coalesce(run_id, ''), coalesce(CAST(model_name AS TEXT), ''), coalesce(prompt, ''), MAX(e.id)"
	const group = " GROUP BY 1, 2, 3"
	for v, err := range stream(ctx, s, scan, "SELECT "+columns+" FROM evaluations e"+group+
		" UNION ALL SELECT "+strings.Replace(columns, "run_id", "r.run_id", 1)+
		" FROM reused r JOIN evaluations e ON e.id = r.evaluation_id"+group) {
		if err != nil {
			return nil, err
		}
		key := [2]string{v.Model, v.Prompt}
		if old, ok := newest[key]; !ok || older(&old, &v) {
			newest[key] = v
		}
	}
	out := make([]RunVariant, 0, len(newest))
	for _, v := range newest {
		out = append(out, v.RunVariant)
	}
	return out, nil
}

// Chain returns the first of these runs, which are the newest first, and those that it
// continues.
func Chain(runs []Run) []Run {
	chain := runs[:1:1]
	for next := runs[0].Continues; next != ""; {
		i := slices.IndexFunc(runs, func(r Run) bool { return r.ID == next })
		if i < 0 {
			break
		}
		chain, runs, next = append(chain, runs[i]), runs[i+1:], runs[i].Continues
	}
	return chain
}

// scanRun reads a row of runs.
func scanRun(rows *sql.Rows) (r Run, err error) {
	var started, ended, parts string
	var priced int
	var counts [6]int
	err = rows.Scan(&r.ID, &r.Suite, &started, &ended, &r.Command, &r.ScoreVersion, &r.State,
		&r.Planned, &r.Reused,
		&counts[0], &counts[1], &counts[2], &counts[3], &counts[4], &counts[5],
		&r.Usage.TokensIn, &r.Usage.TokensOut, &r.Usage.USD, &priced, &r.Plan, &parts, &r.Continues)
	_ = json.Unmarshal([]byte(parts), &r.Parts) // empty in runs that are older than the column
	r.Started, r.Ended, r.Usage.Priced = readTime(started), readTime(ended), priced != 0
	r.Outcomes = make(map[audit.Outcome]int, len(counts))
	for i, o := range audit.Outcomes() {
		r.Outcomes[o] = counts[i]
	}
	return r, err
}
