package river

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/audit"
	"assay/internal/postgres"
	"assay/internal/run"
	"assay/internal/store"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// at gives a batcher of the run r at the provider p, as a worker of its own has it.
func at(t testing.TB, dsn, id string) *batcher {
	db, err := Open(context.Background(), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	_, err = db.pool.Exec(context.Background(), "INSERT INTO spread_workers (worker) VALUES ($1)",
		id)
	require.NoError(t, err)
	return &batcher{workers: &workers{db: db, id: id}, run: "r", provider: "p",
		config: run.Config{MaxWait: time.Minute}}
}

// row makes the rows that all share.
func row(t testing.TB, dsn string, budget float64, most int) {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, dsn)
	require.NoError(t, err)
	defer c.Close(ctx)
	_, err = c.Exec(ctx,
		"INSERT INTO spread_runs (run_id, identity, budget, remaining, config) VALUES ('r', 'i', $1, 1000000000, '{}')", budget)
	require.NoError(t, err)
	_, err = c.Exec(ctx, "INSERT INTO spread_providers (provider, pace) VALUES ('p', $1)",
		run.RateLimiter{Max: most})
	require.NoError(t, err)
}

// While the PostgreSQL is gone nobody can show that he is there: that counts against no worker.
func TestSilenceThatNobodyCouldBreak(t *testing.T) {
	pg, err := postgres.StartServer("")
	if errors.Is(err, postgres.ErrMissing) && os.Getenv("ASSAY_CHECK") == "" {
		t.Skip("PostgreSQL is missing (./check installs it): ", err)
	}
	require.NoError(t, err)
	t.Cleanup(pg.Stop)
	db := at(t, pg.DSN, "w").workers.db
	there := func(want int) {
		got, _, err := db.Workers(t.Context(), 0)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	there(1)
	var seen time.Time
	require.False(t, db.deserted(t.Context(), &seen, 0))
	_, err = db.exec(t.Context(), "UPDATE spread_workers SET shown = shown - interval '1 hour'")
	require.NoError(t, err)
	there(0)
	seen = time.Now().Add(-(leftBeats + 1) * beat)
	require.False(t, db.deserted(t.Context(), &seen, 0), "it was there a moment ago")
	require.True(t, db.deserted(t.Context(), &seen, 1), "none that runs audits is even enrolled")
	seen = seen.Add(-time.Hour)
	require.True(t, db.deserted(t.Context(), &seen, 0), "it has been silent for long")
	gone, end := context.WithCancel(t.Context())
	end()
	require.False(t, db.deserted(gone, &seen, 0))
	require.False(t, db.deserted(t.Context(), &seen, 0), "it may show itself now")

	// Nor does a worker bury another before it has been able to see it for long enough.
	c := &workers{db: db, id: "other", held: map[int64]time.Time{}}
	enrolled := func() (all []string) {
		require.NoError(t, c.beat(t.Context()))
		all, err := column[string](t.Context(), db,
			"SELECT worker FROM spread_workers ORDER BY worker")
		require.NoError(t, err)
		return all
	}
	require.Equal(t, []string{"other", "w"}, enrolled(), "it has shown itself for the first time")
	c.shown, c.since = c.shown.Add(-time.Minute), c.since.Add(-time.Hour)
	require.Equal(t, []string{"other", "w"}, enrolled(), "it was gone for a minute itself")
	c.since = c.since.Add(-time.Hour)
	require.Equal(t, []string{"other"}, enrolled())
}

// A turn of which nobody knows whether it was committed is made again: what was begun and
// ended in it counts once either way. What a worker holds that is taken for dead is charged
// in full, and not once more when its tries end after all.
func TestATurnThatIsMadeAgain(t *testing.T) {
	pg, err := postgres.StartServer("")
	if errors.Is(err, postgres.ErrMissing) && os.Getenv("ASSAY_CHECK") == "" {
		t.Skip("PostgreSQL is missing (./check installs it): ", err)
	}
	require.NoError(t, err)
	t.Cleanup(pg.Stop)
	d := at(t, pg.DSN, "w")
	row(t, pg.DSN, 1, 8)
	stands := func(out int, reserved, spent float64) {
		t.Helper()
		s := &shared{}
		require.NoError(t, pgx.BeginFunc(t.Context(), d.workers.db.pool,
			func(tx pgx.Tx) (err error) {
				s, err = lock(t.Context(), tx, "r", "p", "w")
				return err
			}))
		require.Equal(t, []int{out, out}, []int{s.budget.Out, s.limiter.InFlight})
		require.InDelta(t, reserved, s.budget.Reserved, 1e-9)
		require.InDelta(t, spent, s.budget.Spent, 1e-9)
	}
	asks := []*ask{d.asked("a"), d.asked("b")}
	var ends []*ending
	turn := func(known bool, more ...*ask) {
		t.Helper()
		before := d.held
		asks = append(asks, more...)
		rest, _, err := d.turn(asks, ends)
		require.NoError(t, err)
		require.Empty(t, rest)
		for _, a := range asks {
			require.NotNil(t, (<-a.answer).lease)
		}
		for _, e := range ends {
			require.NoError(t, <-e.done)
		}
		if !known { // the worker that does not know of it has what it had
			d.held = before
		}
	}
	turn(false)
	stands(2, .002, 0)
	first := asks[0].permit.lease
	turn(true, d.asked("c"))
	stands(3, .003, 0)
	require.Same(t, first, asks[0].permit.lease)
	require.Len(t, d.held, 3)

	asks, ends = nil, []*ending{{item: asks[0].item, lease: first, done: make(chan error, 1),
		skipped: "x",
		try: run.AttemptResult{Attempts: []audit.Attempt{{Usage: audit.Usage{USD: .0005,
			Priced: true}}}}}}
	turn(false)
	stands(2, .002, .0005)
	turn(true)
	stands(2, .002, .0005)
	require.Len(t, d.held, 2)

	var late []*ending
	for lease := range d.held {
		late = append(late, &ending{item: ends[0].item, lease: lease,
			done: make(chan error, 1), skipped: "x"})
	}
	_, err = d.workers.db.exec(t.Context(), "DELETE FROM spread_workers")
	require.NoError(t, err)
	require.NoError(t, d.workers.db.lose(t.Context()))
	stands(0, 0, .0025)
	ends = late
	turn(true)
	stands(0, 0, .0025)
	require.Empty(t, d.held)
}

// What all workers share is two rows. This measures how many tries a second these
// let through: each worker takes leases and ends them in turns of its own, with every
// commit synced. gathered is how many tries a turn holds.
//
//	go test -run '^$' -bench Rows -benchtime 1x -count 3 ./internal/run/river
func BenchmarkRows(b *testing.B) {
	for _, each := range []int{1, 10, 100} {
		b.Run(fmt.Sprint("gathered=", each), func(b *testing.B) { benchmarkRows(b, 8, each) })
	}
}

func benchmarkRows(b *testing.B, clients, each int) {
	pg, err := postgres.StartServer(os.TempDir())
	require.NoError(b, err)
	defer pg.Stop()
	Durable(b, pg.DSN)
	var ds []*batcher
	for id := range clients {
		ds = append(ds, at(b, pg.DSN, fmt.Sprint(id)))
	}
	row(b, pg.DSN, math.Inf(1), 100_000)
	for b.Loop() {
		var n atomic.Int64
		var wait sync.WaitGroup
		stop := time.Now().Add(3 * time.Second)
		for _, d := range ds {
			wait.Go(func() {
				for i := 0; time.Now().Before(stop); i++ {
					if err := d.round(stop.UnixNano(), i, each); err != nil {
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

// round takes and ends the leases of so many tries: of the last round's and this one's
// in one turn.
func (d *batcher) round(began int64, i, each int) error {
	var asks []*ask
	var ends []*ending
	for k := range each {
		asks = append(asks, d.asked(fmt.Sprint(began, i, "-", k)))
	}
	for lease := range d.held {
		key := fmt.Sprint(d.workers.id, began, i, "-", len(ends))
		ends = append(ends, &ending{item: &run.Job{Key: key}, lease: lease,
			done: make(chan error, 1), row: &store.Evaluation{Run: "r", Trial: key,
				Outcome:  audit.OutcomeCorrect,
				Attempts: []audit.Attempt{{HTTPStatus: 200}}}})
	}
	_, _, err := d.turn(asks, ends)
	return err
}

func (d *batcher) asked(key string) *ask {
	return &ask{item: &run.Job{Key: d.workers.id + key, Provider: "p", Reviewer: "m",
		Cost: run.Cost{Most: .001, Known: true}}, answer: make(chan permit, 1)}
}

// Durable makes the server sync what it commits, as one that is not a test's does.
func Durable(b *testing.B, dsn string) {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, strings.Replace(dsn, "//assay@/assay", "//postgres@/postgres", 1))
	require.NoError(b, err)
	defer c.Close(ctx)
	for _, s := range []string{"fsync", "full_page_writes", "autovacuum"} {
		_, err := c.Exec(ctx, "ALTER SYSTEM SET "+s+" = on")
		require.NoError(b, err)
	}
	_, err = c.Exec(ctx, "SELECT pg_reload_conf()")
	require.NoError(b, err)
}
