//go:build unix

package report_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"assay/internal/store"

	"github.com/stretchr/testify/require"
)

// fill writes rows evaluations of ten models over cases of five applications, a
// hundred runs.
func fill(tb testing.TB, where string, rows int) {
	tb.Helper()
	ctx := context.Background()
	st, err := store.Open(ctx, where)
	require.NoError(tb, err)
	defer st.Close()
	start := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	each := max(1, rows/100)
	var batch []store.Evaluation
	for i := range rows {
		run := fmt.Sprint("run-", i/each)
		if i%each == 0 {
			require.NoError(tb,
				st.Begin(ctx, store.Run{ID: run, Started: start.Add(time.Duration(i) * time.Second),
					Planned: each, State: "ended"}))
		}
		e := evaluation(i, start)
		e.Run = run
		if batch = append(batch, e); len(batch) == 1000 || i == rows-1 {
			require.NoError(tb, st.Put(ctx, batch...))
			batch = batch[:0]
		}
	}
}

// The report of many evaluations as its user meets it: the command, its seconds, its
// processor time and the most memory that it held at a time. ASSAY_ROWS says how many
// (100,000), ASSAY_ROWS_DB keeps the file for the next time.
//
//	ASSAY_ROWS=1000000 go test -run '^$' -bench Site -benchtime 1x ./internal/report
func BenchmarkSite(b *testing.B) {
	rows := 100_000
	if n, err := strconv.Atoi(os.Getenv("ASSAY_ROWS")); err == nil {
		rows = n
	}
	where := os.Getenv("ASSAY_ROWS_DB")
	if where == "" {
		where = filepath.Join(b.TempDir(), "results.db")
	}
	if _, err := os.Stat(where); err != nil {
		fill(b, where, rows)
	}
	bin := filepath.Join(b.TempDir(), "assay")
	out, err := exec.Command("go", "build", "-o", bin, "assay/cmd/assay").CombinedOutput()
	require.NoError(b, err, "%s", out)
	var cpu time.Duration
	var peak int64
	for b.Loop() {
		cmd := exec.Command(bin, "report", "--root", "../..", "--records", b.TempDir(), "--db",
			where, "--out", b.TempDir())
		out, err := cmd.CombinedOutput()
		require.NoError(b, err, "%s", out)
		cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		peak = max(peak, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	}
	b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s")
	b.ReportMetric(float64(peak)/1000, "MB") // Linux counts in kB
}
