package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"assay/internal/store"

	"github.com/stretchr/testify/require"
)

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
