package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"assay/internal/run"
	"assay/internal/run/mockapi"
	"assay/internal/store"

	"github.com/stretchr/testify/require"
)

// Benchmarks of a whole run, in a process of its own (plan, SQLite, HTTP client,
// engine), against the mock in this one. s is from planning to the account,
// cpu-s what the process used of all cores (which a busy machine changes less),
// MB the peak of its resident memory, x-ideal the time over the latency that
// cannot be avoided.
//
//	go test -run '^$' -bench 'Run' -benchtime 3x ./internal/run
func BenchmarkRunZeroLatency(b *testing.B) { benchmarkRun(b, 1440, 5, 0) }

// 300 ms latency, 100 at once: the ideal is 15 rounds of 300 ms less the last.
func BenchmarkRunLatency(b *testing.B) { benchmarkRun(b, 1440, 100, 300*time.Millisecond) }

const benchEnv = "ASSAY_RUN_BENCH_CHILD"

type benchOrders struct {
	Base, DB            string
	Trials, Concurrency int
}

func benchmarkRun(b *testing.B, n, concurrency int, latency time.Duration) {
	s := mockapi.New(func(mockapi.Request) mockapi.Reply { return mockapi.Reply{Cost: 0.001, Latency: latency} })
	s.Forget = true
	defer s.Close()
	exe, err := os.Executable()
	require.NoError(b, err)
	var seconds, cpu, rss float64
	for b.Loop() {
		o, err := json.Marshal(benchOrders{s.BaseURL, filepath.Join(b.TempDir(), "results.db"), n, concurrency})
		require.NoError(b, err)
		cmd := exec.Command(exe, "-test.run=^TestBenchChild$")
		cmd.Env = append(os.Environ(), benchEnv+"="+string(o))
		out, err := cmd.Output()
		require.NoError(b, err, "%s", out)
		var took float64
		_, err = fmt.Sscanf(string(out), "took %f", &took)
		require.NoError(b, err, "%s", out)
		seconds += took
		cpu += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		rss = max(rss, peakMemory(cmd.ProcessState))
	}
	per := seconds / float64(b.N)
	b.ReportMetric(per, "s")
	b.ReportMetric(cpu/float64(b.N), "cpu-s")
	b.ReportMetric(rss, "MB")
	if latency > 0 {
		ideal := math.Ceil(float64(n)/float64(concurrency)) * latency.Seconds()
		b.ReportMetric(per/ideal, "x-ideal")
	}
	b.ReportMetric(float64(n)/per, "trials/s")
	b.ReportMetric(0, "ns/op")
}

// TestBenchChild is no test: it is the process that the benchmarks measure.
func TestBenchChild(t *testing.T) {
	text := os.Getenv(benchEnv)
	if text == "" {
		t.Skip("started by benchmarks alone")
	}
	var o benchOrders
	require.NoError(t, json.Unmarshal([]byte(text), &o))
	start, ctx := time.Now(), context.Background()
	s, err := store.Open(ctx, o.DB)
	require.NoError(t, err)
	ts := trials(o.Trials, modelAt(t, o.Base, time.Minute))
	sum := finish(t, ctx, run.Config{Store: s, Budget: 1000, Concurrency: o.Concurrency}, items(ts))
	require.NoError(t, s.Close())
	require.Zero(t, sum.Unanswered())
	fmt.Printf("took %f\n", time.Since(start).Seconds())
}

// A server that grants 50 requests a second and takes a second for each: x-granted is
// the time over what it grants and one latency, refused the share of requests turned
// down, the first ones included.
//
//	go test -run '^$' -bench Pace -benchtime 1x ./internal/run
func BenchmarkPace(b *testing.B) {
	for _, c := range []struct {
		name           string
		n, concurrency int
		after          string
		stated         bool
	}{
		{"n=480/concurrency=60", 480, 60, "", false},
		{"n=960/concurrency=100", 960, 100, "", false},
		{"n=960/concurrency=100/Retry-After", 960, 100, "1", false},
		{"n=960/concurrency=1000", 960, 1000, "", false},
		{"n=960/concurrency=100/headers", 960, 100, "", true},
	} {
		b.Run(c.name, func(b *testing.B) {
			const rate, burst = 50, 50.0
			for b.Loop() {
				var mu sync.Mutex
				left, at, refused := burst, time.Now(), 0
				s := mockapi.New(func(mockapi.Request) mockapi.Reply {
					mu.Lock()
					defer mu.Unlock()
					now := time.Now()
					left, at = min(burst, left+rate*now.Sub(at).Seconds()), now
					r := mockapi.Reply{Cost: 0.001, Latency: time.Second, Header: map[string]string{}}
					if left < 1 {
						refused++
						r = mockapi.Reply{Status: 429, Body: `{"error":{"message":"slow down"}}`, Header: map[string]string{}}
						if c.after != "" {
							r.Header["Retry-After"] = c.after
						}
					} else {
						left--
					}
					if c.stated {
						r.Header["x-ratelimit-limit-requests"] = fmt.Sprint(int(burst))
						r.Header["x-ratelimit-remaining-requests"] = fmt.Sprint(int(left))
						r.Header["x-ratelimit-reset-requests"] = time.Duration((burst - left) / rate * 1e9).String()
					}
					return r
				})
				s.Forget = true
				began := time.Now()
				ts := trials(c.n, modelAt(b, s.BaseURL, time.Minute))
				sum := finish(b, context.Background(), run.Config{Store: &memory{}, Budget: math.Inf(1), Concurrency: c.concurrency}, items(ts))
				require.Zero(b, sum.Unanswered())
				b.ReportMetric(time.Since(began).Seconds()/(float64(c.n)/rate+1), "x-granted")
				b.ReportMetric(100*float64(refused)/float64(c.n+refused), "%refused")
				b.ReportMetric(0, "ns/op")
				s.Close()
			}
		})
	}
}

// Memory while running: bytes of heap in use per planned item at the end of a
// run that keeps no results, and how much it grew between a tenth and the end.
func BenchmarkRunMemory(b *testing.B) {
	const n = 100_000
	for b.Loop() {
		var early, late uint64
		heap := func() uint64 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		done := 0
		c := run.Config{Store: nothing{&memory{}}, Budget: math.Inf(1), Concurrency: 5, Discard: true, Progress: func(e run.Event) {
			if e.Kind != run.Done {
				return
			}
			switch done++; done {
			case n / 10:
				early = heap()
			case n:
				late = heap()
			}
		}}
		its := items(trials(n, &reviewer{name: "m"}))
		finish(b, context.Background(), c, its)
		b.ReportMetric((float64(late)-float64(early))/1e6, "MB-growth")
		b.ReportMetric(float64(late)/n, "B/item")
		runtime.KeepAlive(its)
	}
}

// nothing stores nothing.
type nothing struct{ *memory }

func (nothing) Begin(context.Context, store.Run) error                  { return nil }
func (nothing) Finish(context.Context, store.Run) error                 { return nil }
func (nothing) Put(context.Context, ...store.Evaluation) error          { return nil }
func (nothing) Reuse(context.Context, string, []store.Evaluation) error { return nil }
func (nothing) Answered(context.Context, []string) (map[string]store.Evaluation, error) {
	return nil, nil
}
