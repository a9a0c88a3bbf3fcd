package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"assay/audit"
)

const runColumns = "id, suite, started, ended, command, score_version, state, planned, reused, correct, wrong, refused, malformed, errored, skipped, tokens_in, tokens_out, usd, priced"

func runValues(r Run) []any {
	n := func(o audit.Outcome) int { return r.Outcomes[o] }
	return []any{r.ID, cmp.Or(r.Suite, "Bench"), formatTime(r.Started), formatTime(r.Ended), clean(r.Command), r.ScoreVersion, clean(r.State),
		r.Planned, r.Reused, n(audit.OutcomeCorrect), n(audit.OutcomeWrong), n(audit.OutcomeRefused),
		n(audit.OutcomeMalformed), n(audit.OutcomeErrored), n(audit.OutcomeSkipped),
		r.Usage.TokensIn, r.Usage.TokensOut, r.Usage.USD, number(r.Usage.Priced)}
}

func (s *sqlStore) Runs(ctx context.Context) ([]Run, error) {
	if !s.wide {
		return nil, nil
	}
	columns := runColumns
	if !s.audited { // a file that is older than the column
		columns = strings.Replace(columns, "suite", "'Bench'", 1)
	}
	rows, err := s.db.QueryContext(ctx, "SELECT "+columns+" FROM runs ORDER BY started DESC, id DESC")
	if err != nil {
		return nil, s.wrap("reading runs", err)
	}
	defer rows.Close()
	var out []Run
	for rows.Next() {
		var r Run
		var started, ended string
		var priced int
		var counts [6]int
		err := rows.Scan(&r.ID, &r.Suite, &started, &ended, &r.Command, &r.ScoreVersion, &r.State, &r.Planned, &r.Reused,
			&counts[0], &counts[1], &counts[2], &counts[3], &counts[4], &counts[5],
			&r.Usage.TokensIn, &r.Usage.TokensOut, &r.Usage.USD, &priced)
		if err != nil {
			return nil, s.wrap("reading runs", err)
		}
		r.Started, r.Ended, r.Usage.Priced = readTime(started), readTime(ended), priced != 0
		r.Outcomes = make(map[audit.Outcome]int, len(counts))
		for i, o := range audit.Outcomes() {
			r.Outcomes[o] = counts[i]
		}
		out = append(out, r)
	}
	return out, s.wrap("reading runs", rows.Err())
}

// Counted asks for a few hundred runs at once.
func (s *sqlStore) Counted(ctx context.Context, runs []string) (map[string][]int64, error) {
	counted := map[string][]int64{}
	for chunk := range slices.Chunk(runs, 300) {
		args := make([]any, len(chunk))
		for i, run := range chunk {
			args[i] = run
		}
		of := " WHERE run_id IN (" + places(1, len(chunk)) + ")"
		rows, err := s.db.QueryContext(ctx, "SELECT run_id, id FROM evaluations"+of+" UNION ALL SELECT run_id, evaluation_id FROM reused"+of, args...)
		if err != nil {
			return nil, s.wrap("reading what runs count", err)
		}
		defer rows.Close()
		for rows.Next() {
			var run string
			var id int64
			if err := rows.Scan(&run, &id); err != nil {
				return nil, s.wrap("reading what runs count", err)
			}
			counted[run] = append(counted[run], id)
		}
		if err := rows.Err(); err != nil {
			return nil, s.wrap("reading what runs count", err)
		}
	}
	return counted, nil
}
