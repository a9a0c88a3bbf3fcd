//go:build unix

package static

import (
	"context"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkProject analyses the folder that ASSAY_SCAN names and reports files and
// megabytes a second, by the clock and by the processor, and the peak of memory:
//
//	ASSAY_SCAN=<folder> go test ./internal/static -run XXX -bench Project -benchtime 3x
func BenchmarkProject(b *testing.B) {
	dir := os.Getenv("ASSAY_SCAN")
	if dir == "" {
		b.Skip("ASSAY_SCAN names no folder")
	}
	RulesHash()
	a := New(Options{})
	files, size := 0, int64(0)
	runtime.GC()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // resets the peak where the system allows it
	start := processor()
	for b.Loop() {
		res, err := a.Analyse(context.Background(), os.DirFS(dir))
		require.NoError(b, err)
		require.Positive(b, res.Files)
		files += res.Files
		size = res.Bytes
	}
	spent := processor() - start
	b.SetBytes(size)
	b.ReportMetric(float64(files)/b.Elapsed().Seconds(), "files/s")
	b.ReportMetric(float64(files)/spent.Seconds(), "files/cpu-s")
	b.ReportMetric(float64(peak())/1024, "peak-MB")
}

// processor gives the time that this process has spent on processors.
func processor() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

var peakLine = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peak gives the most memory that this process has held, in kB; 0 where the system
// does not say.
func peak() int {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	if m := peakLine.FindSubmatch(b); m != nil {
		n, _ := strconv.Atoi(string(m[1]))
		return n
	}
	return 0
}
