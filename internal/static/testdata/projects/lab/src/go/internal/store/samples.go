package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/lib/pq"
	"rm-labor.example/tracker/internal/model"
)

var ErrFull = errors.New("freezer is full")

var orderColumns = map[string]string{
	"barcode":  "barcode",
	"received": "received_at",
}

type Samples struct {
	db *sql.DB
}

func NewSamples(db *sql.DB) *Samples {
	return &Samples{db: db}
}

const sampleColumns = "id, barcode, material, state, laboratory_id, freezer_id, received_at"

func scanAll(rows *sql.Rows) ([]model.Sample, error) {
	defer rows.Close()
	var out []model.Sample
	for rows.Next() {
		var s model.Sample
		if err := rows.Scan(&s.ID, &s.Barcode, &s.Material, &s.State, &s.LaboratoryID, &s.FreezerID, &s.ReceivedAt); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

func (s *Samples) List(ctx context.Context, lab int64, f model.SampleFilter) ([]model.Sample, error) {
	var b strings.Builder
	b.WriteString("SELECT " + sampleColumns + " FROM samples WHERE laboratory_id = $1")
	args := []any{lab}
	if f.Material != "" {
		args = append(args, f.Material)
		fmt.Fprintf(&b, " AND material = $%d", len(args))
	}
	if len(f.States) > 0 {
		b.WriteString(" AND state IN ('" + strings.Join(f.States, "','") + "')")
	}
	fmt.Fprintf(&b, " ORDER BY received_at LIMIT %d", f.Limit)
	rows, err := s.db.QueryContext(ctx, b.String(), args...)
	if err != nil {
		return nil, err
	}
	return scanAll(rows)
}

func (s *Samples) Shelf(ctx context.Context, lab, freezer int64, f model.SampleFilter) ([]model.Sample, error) {
	column, ok := orderColumns[f.OrderBy]
	if !ok {
		column = "received_at"
	}
	direction := "ASC"
	if f.Desc {
		direction = "DESC"
	}
	query := fmt.Sprintf("SELECT %s FROM samples WHERE laboratory_id = $1 AND freezer_id = $2 ORDER BY %s %s", sampleColumns, column, direction)
	rows, err := s.db.QueryContext(ctx, query, lab, freezer)
	if err != nil {
		return nil, err
	}
	return scanAll(rows)
}

func (s *Samples) ByBarcodes(ctx context.Context, lab int64, codes []string) ([]model.Sample, error) {
	rows, err := s.db.QueryContext(ctx,
		"SELECT "+sampleColumns+" FROM samples WHERE laboratory_id = $1 AND barcode = ANY($2)",
		lab, pq.Array(codes))
	if err != nil {
		return nil, err
	}
	return scanAll(rows)
}

func (s *Samples) Get(ctx context.Context, id int64) (model.Sample, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT "+sampleColumns+" FROM samples WHERE id = $1", id)
	if err != nil {
		return model.Sample{}, err
	}
	found, err := scanAll(rows)
	if err != nil || len(found) == 0 {
		return model.Sample{}, sql.ErrNoRows
	}
	return found[0], nil
}

func (s *Samples) Store(ctx context.Context, lab, sample, freezer int64) error {
	var used, size int
	err := s.db.QueryRowContext(ctx,
		"SELECT (SELECT COUNT(*) FROM samples WHERE freezer_id = f.id), f.places FROM freezers f WHERE f.id = $1", freezer).Scan(&used, &size)
	if err != nil {
		return err
	}
	if used >= size {
		return ErrFull
	}
	_, err = s.db.ExecContext(ctx,
		"UPDATE samples SET freezer_id = $1 WHERE id = $2 AND laboratory_id = $3", freezer, sample, lab)
	return err
}

func (s *Samples) Claim(ctx context.Context, lab, sample int64, login string) (bool, error) {
	res, err := s.db.ExecContext(ctx,
		"UPDATE samples SET claimed_by = $1 WHERE id = $2 AND laboratory_id = $3 AND claimed_by IS NULL",
		login, sample, lab)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}
