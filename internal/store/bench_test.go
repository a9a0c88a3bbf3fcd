package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"assay/audit"
	"assay/internal/store"

	"github.com/stretchr/testify/require"
)

// The summary of a run of a million trials, from a file on disk. ASSAY_ROWS says
// how many rows (1,000,000); making them takes most of a minute.
//
//	go test -run '^$' -bench Summary -benchtime 3x ./internal/store
func BenchmarkSummary(b *testing.B) {
	rows := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("ASSAY_ROWS")); err == nil {
		rows = n
	}
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(b.TempDir(), "results.db"))
	require.NoError(b, err)
	defer s.Close()
	fill(b, s, rows)
	for _, q := range []store.Query{{Run: "r"}, {}} {
		b.Run(fmt.Sprintf("run=%q", q.Run), func(b *testing.B) {
			for b.Loop() {
				lines, err := s.Summary(ctx, q)
				require.NoError(b, err)
				total := 0
				for _, l := range lines {
					total += l.Count
				}
				require.Equal(b, rows, total)
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s")
		})
	}
}

func fill(b *testing.B, s store.Store, rows int) {
	start := time.Now()
	var batch []store.Evaluation
	for i := range rows {
		e := evaluation("r", fmt.Sprintf("%064x", i))
		e.Model = fmt.Sprint("model", i%10)
		e.Query = fmt.Sprint("q", i/10%120)
		e.Family = e.App + "/" + e.Query
		if i%3 == 0 {
			e.Outcome, e.Actual, e.Reason = audit.OutcomeCorrect, "bad", store.ReasonRight
		}
		if batch = append(batch, e); len(batch) == 1000 || i == rows-1 {
			require.NoError(b, s.Put(context.Background(), batch...))
			batch = batch[:0]
		}
	}
	b.Logf("%.0f rows/s written in batches of 1000", float64(rows)/time.Since(start).Seconds())
}

// One row at a time, as a run with one place writes them, and in batches.
func BenchmarkPut(b *testing.B) {
	for _, n := range []int{1, 5, 100, 1000} {
		b.Run(fmt.Sprint("batch=", n), func(b *testing.B) {
			s, err := store.Open(context.Background(), filepath.Join(b.TempDir(), "results.db"))
			require.NoError(b, err)
			defer s.Close()
			i := 0
			for b.Loop() {
				batch := make([]store.Evaluation, n)
				for k := range batch {
					batch[k] = evaluation("r", fmt.Sprint(i))
					i++
				}
				require.NoError(b, s.Put(context.Background(), batch...))
			}
			b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
