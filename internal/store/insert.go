package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// InsertTx writes evaluations with their attempts within a transaction of
// somebody else's, on a PostgreSQL that Open has opened before: for rows that
// must be there if, and only if, something else happens too. It gives the trials
// whose row is new; one whose run holds a row for it already is left as it is.
func InsertTx(ctx context.Context, tx pgx.Tx, evs ...Evaluation) (inserted map[string]bool, err error) {
	inserted = make(map[string]bool, len(evs))
	var args, attempts []any
	for start := 0; start < len(evs); start += rowsPerStatementPostgres {
		chunk := evs[start:min(start+rowsPerStatementPostgres, len(evs))]
		args, attempts = args[:0], attempts[:0]
		for i := range chunk {
			if chunk[i].Run == "" || chunk[i].Trial == "" {
				return nil, fmt.Errorf("store: evaluation of %s names no run or no trial", chunk[i].TestFile)
			}
			args = append(args, values(&chunk[i])...)
		}
		rows, err := tx.Query(ctx, fmt.Sprintf(insertEvaluations, tuples(len(chunk), len(evaluationColumns)))+" RETURNING trial_key", args...)
		if err != nil {
			return nil, fmt.Errorf("store: writing evaluations: %w", err)
		}
		keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return nil, fmt.Errorf("store: writing evaluations: %w", err)
		}
		for _, k := range keys {
			inserted[k] = true
		}
		n := 0
		for i := range chunk {
			for k, a := range chunk[i].Attempts {
				if inserted[chunk[i].Trial] {
					attempts = append(attempts, attemptValues(&chunk[i], k, a)...)
					n++
				}
			}
		}
		if n == 0 {
			continue
		}
		if _, err := tx.Exec(ctx, fmt.Sprintf(insertAttempts, tuples(n, attemptWidth)), attempts...); err != nil {
			return nil, fmt.Errorf("store: writing attempts: %w", err)
		}
	}
	return inserted, nil
}
