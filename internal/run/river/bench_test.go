package river_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"assay/internal/run"
	"assay/internal/run/river"
	"assay/internal/run/testdata/mockapi"
)

// Benchmarks of a spread run: worker processes against the mock in this one and a
// PostgreSQL that syncs every commit to the disk. s is from the moment when all
// workers are there to the account, worker-cpu-s what they used of all cores,
// pg-cpu-s what PostgreSQL used. In-process figures: internal/run, RunZeroLatency.
//
//	go test -run '^$' -bench Spread -benchtime 1x -count 3 ./internal/run/river
func BenchmarkSpreadZeroLatency(b *testing.B) {
	for _, workers := range []int{1, 4} {
		b.Run(fmt.Sprint("workers=", workers),
			func(b *testing.B) { benchmarkSpread(b, workers, 5000, 64, 128/workers, 0) })
	}
}

// 300 ms latency, each worker holds 25 trials: one alone waits for the provider.
func BenchmarkSpreadLatency(b *testing.B) {
	for _, workers := range []int{1, 4} {
		b.Run(fmt.Sprint("workers=", workers),
			func(b *testing.B) {
				benchmarkSpread(b, workers, 360*workers, 100, 25,
					300*time.Millisecond)
			})
	}
}

func benchmarkSpread(b *testing.B, workers, n, concurrency, slots int, latency time.Duration) {
	for b.Loop() {
		s := mockapi.New(func(mockapi.Request) mockapi.Reply {
			return mockapi.Reply{Cost: 0.00001,
				Latency: latency}
		})
		s.Forget = true
		pg := ownServer(b)
		river.Durable(b, pg.DSN)
		db := open(b, pg.DSN)
		h := chatHouse(b, s, n)
		began := time.Now()
		f := newFleet(b, workers, orders{DSN: pg.DSN, Base: s.BaseURL, Trials: n, Slots: slots})
		for {
			enrolled, _, err := db.Workers(context.Background(), 0)
			require.NoError(b, err)
			if enrolled > 0 && time.Since(began) > 3*time.Second {
				break
			}
		}
		cpu := postgresCPU(b, pg.DSN)
		began = time.Now()
		r := h.enqueue(b, db, run.Config{Concurrency: concurrency})
		enqueued := time.Since(began)
		sum, err := r.Finish()
		require.NoError(b, err)
		require.Zero(b, sum.Unanswered())
		took := time.Since(began).Seconds()
		used := postgresCPU(b, pg.DSN) - cpu
		f.stop()
		b.ReportMetric(took, "s")
		b.ReportMetric(enqueued.Seconds(), "enqueue-s")
		b.ReportMetric(float64(n)/took, "trials/s")
		b.ReportMetric(f.cpu.Seconds(), "worker-cpu-s")
		b.ReportMetric(used, "pg-cpu-s")
		b.ReportMetric(0, "ns/op")
		s.Close()
	}
}

// Four workers at a provider that grants 50 requests a second, a second each. ratio is
// the time over what it grants and one latency, refused-% of the requests after the first
// quarter.
func BenchmarkSpreadPace(b *testing.B) {
	for _, after := range []string{"", "1"} {
		b.Run("RetryAfter="+after, func(b *testing.B) { benchmarkPace(b, after) })
	}
}

func benchmarkPace(b *testing.B, after string) {
	const rate, n, workers, concurrency = 50.0, 1000, 4, 200
	for b.Loop() {
		g := &bucket{rate: rate, left: rate, quarter: n / 4}
		s := mockapi.New(func(mockapi.Request) mockapi.Reply {
			if g.take() {
				return mockapi.Reply{Cost: 0.00001, Latency: time.Second}
			}
			r := mockapi.Reply{Status: 429, Body: `{"error":{"message":"slowly"}}`,
				Latency: 50 * time.Millisecond}
			if after != "" {
				r.Header = map[string]string{"Retry-After": after}
			}
			return r
		})
		pg := ownServer(b)
		db := open(b, pg.DSN)
		h := chatHouse(b, s, n)
		f := newFleet(b, workers, orders{DSN: pg.DSN, Base: s.BaseURL, Trials: n,
			Slots: 2 * concurrency / workers})
		for there := 0; there < workers; {
			var err error
			there, _, err = db.Workers(context.Background(), 0)
			require.NoError(b, err)
		}
		r := h.enqueue(b, db, run.Config{Concurrency: concurrency})
		sum, err := r.Finish()
		require.NoError(b, err)
		require.Zero(b, sum.Unanswered())
		b.ReportMetric(sum.State.Elapsed.Seconds()/(n/rate+1), "ratio")
		b.ReportMetric(100*float64(g.refused)/float64(g.asked), "refused-%")
		b.ReportMetric(0, "ns/op")
		f.stop()
		s.Close()
	}
}

// A bucket is a provider's: it fills at a rate.
type bucket struct {
	mu               sync.Mutex
	rate, left       float64
	at               time.Time
	granted, quarter int
	asked, refused   int // since a quarter was granted
}

func (g *bucket) take() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if !g.at.IsZero() {
		g.left = min(g.rate, g.left+g.rate*now.Sub(g.at).Seconds())
	}
	g.at = now
	ok := g.left >= 1
	if g.granted > g.quarter {
		g.asked++
		if !ok {
			g.refused++
		}
	}
	if ok {
		g.left--
		g.granted++
	}
	return ok
}

// postgresCPU gives the seconds that the server's processes which are alive have
// used, with those that ended.
func postgresCPU(b *testing.B, dsn string) float64 {
	conf, err := pgx.ParseConfig(dsn)
	require.NoError(b, err)
	pid, err := os.ReadFile(conf.Host + "/data/postmaster.pid")
	require.NoError(b, err)
	leader := strings.SplitN(string(pid), "\n", 2)[0]
	entries, err := os.ReadDir("/proc")
	require.NoError(b, err)
	ticks := 0
	for _, e := range entries {
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		own := e.Name() == leader
		if len(fields) < 15 || !own && fields[1] != leader {
			continue
		}
		columns := []int{11, 12} // user and system time
		if own {
			columns = []int{11, 12, 13, 14} // and that of its children that ended
		}
		ticks += sumOf(fields, columns)
	}
	return float64(ticks) / 100
}

// ownCPU gives the seconds that this process has computed.
func ownCPU(b *testing.B) float64 {
	stat, err := os.ReadFile("/proc/self/stat")
	require.NoError(b, err)
	return float64(sumOf(strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])),
		[]int{11, 12})) / 100
}

func sumOf(fields []string, columns []int) (sum int) {
	for _, i := range columns {
		n, _ := strconv.Atoi(fields[i])
		sum += n
	}
	return sum
}
