package river_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"assay/internal/run"
	"assay/internal/run/river"
	"assay/internal/run/testdata/mockapi"
)

// What a large plan costs: time, processor time and bytes of heap for each trial where it is
// planned and
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
		r, err := model(s.BaseURL)
		require.NoError(b, err)
		ts := trials(n, r)
		plan, err := run.Prepare(ctx, run.Config{Store: db.Store, Budget: 1e6, Concurrency: 32},
			run.Jobs{Count: n, At: func(i int) run.Job { return ts[i].Item() }})
		require.NoError(b, err)
		b.ReportMetric(time.Since(began).Seconds()/n*1e6, "plan-µs/trial")
		used, own := postgresCPU(b, pg.DSN), ownCPU(b)
		began = time.Now()
		id, _, err := db.EnqueueOnly(ctx, plan,
			func(i int) river.ReviewArgs { return river.ReviewArgsOf(&ts[i]) })
		require.NoError(b, err)
		b.ReportMetric(time.Since(began).Seconds()/n*1e6, "enqueue-µs/trial")
		b.ReportMetric((ownCPU(b)-own)/n*1e6, "enqueue-cpu-µs/trial")
		b.ReportMetric((postgresCPU(b, pg.DSN)-used)/n*1e6, "pg-cpu-µs/trial")
		b.ReportMetric((heap()-before)/n, "heap-B/trial")
		runtime.KeepAlive(plan)
		runtime.KeepAlive(ts)
		c, err := pgx.Connect(ctx, pg.DSN)
		require.NoError(b, err)
		size := func(table string, rows float64) float64 {
			var bytes float64
			require.NoError(b,
				c.QueryRow(ctx, "SELECT pg_total_relation_size($1)", table).Scan(&bytes))
			return bytes / rows
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(size("river_job", n), "job-B/trial")
		f := newFleet(b, 1, orders{DSN: pg.DSN + "&application_name=worker", Base: s.BaseURL,
			Trials: n, Slots: 32})
		rows, held := 0, 0
		for rows < done {
			time.Sleep(50 * time.Millisecond)
			require.NoError(b, c.QueryRow(ctx, "SELECT count(*) FROM evaluations WHERE run_id = $1",
				id).Scan(&rows))
			var now int
			require.NoError(b,
				c.QueryRow(ctx,
					"SELECT count(*) FROM pg_stat_activity WHERE application_name = 'worker'").Scan(&now))
			held = max(held, now)
		}
		_, err = db.Stop(ctx, id, "enough")
		require.NoError(b, err)
		b.ReportMetric(size("evaluations", float64(rows)), "row-B/trial")
		b.ReportMetric(float64(held), "connections")
		f.stop()
		require.NoError(b, c.Close(ctx))
	}
}
