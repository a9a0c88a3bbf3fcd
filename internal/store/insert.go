package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
)

// InsertTx writes evaluations with their attempts within the caller's transaction, on a
// PostgreSQL database that Open has opened before. Use it for rows that must be stored together
// with other changes. It returns the number of new rows; a trial that already has a row in its
// run is left unchanged.
func InsertTx(ctx context.Context, tx pgx.Tx, evs ...Evaluation) (inserted int, err error) {
	if err := named(evs); err != nil {
		return 0, err
	}
	var args []any
	for chunk := range slices.Chunk(evs, rowsPerStatementPostgres) {
		if args, err = written(args[:0], chunk); err != nil {
			return 0, err
		}
		tag, err := tx.Exec(ctx, insertion(len(chunk)), args...)
		if err != nil {
			return 0, fmt.Errorf("store: writing evaluations: %w", err)
		}
		inserted += int(tag.RowsAffected())
	}
	return inserted, nil
}

// named refuses evaluations that could not be found again.
func named(evs []Evaluation) error {
	for i := range evs {
		if evs[i].Run == "" || evs[i].Trial == "" {
			return fmt.Errorf("store: evaluation of %s names no run or no trial", evs[i].TestFile)
		}
	}
	return nil
}
