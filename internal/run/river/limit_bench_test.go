package river_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"assay/internal/run"
	"assay/internal/run/mockapi"
)

// What all workers share is two rows. This measures how many tries a second these
// let through when nothing is gathered: each try takes its lease and ends it in
// transactions of its own, on as many connections as there are clients, with every
// commit synced. It is the most that very many small workers reach together.
//
//	go test -run '^$' -bench Rows -benchtime 1x -count 3 ./internal/run/river
func BenchmarkRows(b *testing.B) {
	for _, each := range []int{1, 10} {
		b.Run(fmt.Sprint("gathered=", each), func(b *testing.B) { benchmarkRows(b, 16, each) })
	}
}

func benchmarkRows(b *testing.B, clients, each int) {
	pg := ownServer(b)
	durable(b, pg.DSN)
	open(b, pg.DSN) // makes the tables
	ctx := context.Background()
	c, err := pgx.Connect(ctx, pg.DSN)
	require.NoError(b, err)
	defer c.Close(ctx)
	_, err = c.Exec(ctx, "INSERT INTO spread_runs (run_id, identity, budget, remaining, config) VALUES ('r', 'i', 'Infinity', 1000000000, '{}')")
	require.NoError(b, err)
	_, err = c.Exec(ctx, "INSERT INTO spread_providers (provider, most, slots) VALUES ('p', 100000, 100000)")
	require.NoError(b, err)
	for b.Loop() {
		var n atomic.Int64
		var wait sync.WaitGroup
		stop := time.Now().Add(3 * time.Second)
		for id := range clients {
			wait.Go(func() {
				c, err := pgx.Connect(ctx, pg.DSN)
				if err != nil {
					b.Error(err)
					return
				}
				defer c.Close(ctx)
				for i := 0; time.Now().Before(stop); i++ {
					if err := lease(ctx, c, fmt.Sprint(id), i, each); err != nil {
						b.Error(err)
						return
					}
					n.Add(int64(each))
				}
			})
		}
		wait.Wait()
		b.ReportMetric(float64(n.Load())/3, "tries/s")
		b.ReportMetric(0, "ns/op")
	}
}

// lease takes and ends the leases of so many tries.
func lease(ctx context.Context, c *pgx.Conn, id string, i, each int) error {
	keys, reviewers, most := make([]string, each), make([]string, each), make([]float64, each)
	unsure, throttled, pause := make([]float64, each), make([]bool, each), make([]int64, each)
	for k := range keys {
		keys[k], reviewers[k], most[k] = fmt.Sprint(id, "-", i, "-", k), "m", 0.001
	}
	if _, err := c.Exec(ctx, "SELECT verdict FROM spread_reserve('r', $1, 'p', $2, $3, $4, '15 minutes')", id, keys, reviewers, most); err != nil {
		return err
	}
	_, err := c.Exec(ctx, "SELECT spread_settle('r', $1, 'p', $2, $3, $4, $5, $6, $7, 0)", id, keys, most, unsure, throttled, pause, each)
	return err
}

// What a large plan costs: seconds and bytes of heap for each trial where it is
// enqueued, bytes in the database for each while it waits and when it is done, and
// connections that one worker holds.
//
//	go test -run '^$' -bench Large -benchtime 1x ./internal/run/river
func BenchmarkLargePlan(b *testing.B) {
	const n, done = 50_000, 3000
	s := mockapi.New(func(mockapi.Request) mockapi.Reply { return mockapi.Reply{Cost: 0.00001} })
	s.Forget = true
	defer s.Close()
	for b.Loop() {
		pg := ownServer(b)
		db := open(b, pg.DSN)
		ctx := context.Background()
		heap := func() float64 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return float64(m.HeapAlloc)
		}
		before, began := heap(), time.Now()
		h := chatHouse(b, s, n)
		plan, err := run.Prepare(ctx, run.Config{Store: db.Store, Budget: 1e6, Concurrency: 32}, h.items)
		require.NoError(b, err)
		id, _, err := db.EnqueueOnly(ctx, plan, h.tasks)
		require.NoError(b, err)
		b.ReportMetric(time.Since(began).Seconds()/n*1e6, "µs/trial")
		b.ReportMetric((heap()-before)/n, "heap-B/trial")
		runtime.KeepAlive(plan)
		runtime.KeepAlive(h)
		c, err := pgx.Connect(ctx, pg.DSN)
		require.NoError(b, err)
		size := func(table string, rows float64) float64 {
			var bytes float64
			require.NoError(b, c.QueryRow(ctx, "SELECT pg_total_relation_size($1)", table).Scan(&bytes))
			return bytes / rows
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(size("river_job", n), "job-B/trial")
		f := newFleet(b, 1, orders{DSN: pg.DSN + "&application_name=worker", Base: s.BaseURL, Trials: n, Slots: 32})
		rows, held := 0, 0
		for rows < done {
			time.Sleep(50 * time.Millisecond)
			require.NoError(b, c.QueryRow(ctx, "SELECT count(*) FROM evaluations WHERE run_id = $1", id).Scan(&rows))
			var now int
			require.NoError(b, c.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'worker'").Scan(&now))
			held = max(held, now)
		}
		_, err = db.Stop(ctx, id, "enough")
		require.NoError(b, err)
		b.ReportMetric(size("evaluations", float64(rows))+size("attempts", float64(rows)), "row-B/trial")
		b.ReportMetric(float64(held), "connections")
		f.stop()
		require.NoError(b, c.Close(ctx))
	}
}
