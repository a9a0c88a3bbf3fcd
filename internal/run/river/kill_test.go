package river_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"assay/audit"
	"assay/internal/run"
	"assay/internal/run/river"
	"assay/internal/run/testdata/mockapi"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// childEnv makes this test binary a worker: a JSON object, see orders.
const childEnv = "ASSAY_RIVER_TEST_CHILD"

// orders are what the child process is told.
type orders struct {
	DSN, Base, Name string
	Trials, Slots   int
	Audits          string // a folder: the worker audits, and nothing else
}

// child is a worker process.
func child(text string) int {
	var o orders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if o.Audits != "" {
		return auditing(ctx, o)
	}
	r, err := model(o.Base)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	h := newHouse(trials(o.Trials, r))
	db, err := river.OpenWorker(ctx, o.DSN)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	defer db.Close()
	if err := db.Work(ctx, river.Worker{Name: o.Name, Slots: o.Slots,
		Rebuild: h.rebuild}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	return 0
}

// A fleet is worker processes, each of which is started again when it ends.
type fleet struct {
	t       testing.TB
	orders  orders
	mu      sync.Mutex
	workers []*exec.Cmd
	ended   []chan error
	cpu     time.Duration // of those that ended
}

func newFleet(t testing.TB, n int, o orders) *fleet {
	f := &fleet{t: t, orders: o, workers: make([]*exec.Cmd, n), ended: make([]chan error, n)}
	for i := range n {
		f.start(i)
	}
	t.Cleanup(func() { f.stop() })
	return f
}

func (f *fleet) start(i int) {
	o := f.orders
	o.Name = fmt.Sprint("w", i)
	b, err := json.Marshal(o)
	require.NoError(f.t, err)
	exe, err := os.Executable()
	require.NoError(f.t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childEnv+"="+string(b))
	cmd.Stderr = os.Stderr
	require.NoError(f.t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.workers[i], f.ended[i] = cmd, ended
}

// kill kills a worker and waits until it is gone.
func (f *fleet) kill(i int) {
	_ = f.workers[i].Process.Kill() // it may have ended by itself, when the PostgreSQL was gone
	<-f.ended[i]
	f.spent(i)
}

func (f *fleet) spent(i int) {
	if s := f.workers[i].ProcessState; s != nil {
		f.cpu += s.UserTime() + s.SystemTime()
	}
	f.workers[i] = nil
}

// stop ends the workers in good order.
func (f *fleet) stop() {
	for _, w := range f.workers {
		if w != nil {
			_ = w.Process.Signal(syscall.SIGTERM)
		}
	}
	for i, w := range f.workers {
		if w != nil {
			<-f.ended[i]
			f.spent(i)
		}
	}
}

// Workers are killed at random instants and started again; the PostgreSQL is
// restarted in the middle, as after a crash. In the end every trial has one
// outcome, the budget held by the provider's own books, and so did the pace.
//
// The long form: four workers, 20,000 trials, a kill every two seconds for a minute.
//
//	ASSAY_SPREAD_KILLS=30 go test -run TestKilledWorkers -v -timeout 20m ./internal/run/river
func TestKilledWorkers(t *testing.T) {
	t.Parallel()
	kills, planned, between := 4, 500, 400*time.Millisecond
	latency, slots := 30*time.Millisecond, 12
	if text := os.Getenv("ASSAY_SPREAD_KILLS"); text != "" {
		_, err := fmt.Sscan(text, &kills)
		require.NoError(t, err)
		planned, between = 20_000, 2*time.Second
		latency, slots = 60*time.Millisecond, 20
	} else if testing.Short() {
		t.Skip("-short: no process is killed")
	}
	const pause = 300 * time.Millisecond
	pg := ownServer(t)
	pool, err := pgxpool.New(context.Background(), pg.DSN)
	require.NoError(t, err)
	defer pool.Close()
	rude := &throttle{pool: pool, pause: pause, every: max(100, planned/20),
		within: map[time.Time]int{}}
	s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
		if rude.speaks(r.N) {
			return mockapi.Reply{Status: 429, Body: `{"error":{"message":"slowly"}}`,
				Header: map[string]string{"Retry-After-Ms": fmt.Sprint(pause.Milliseconds())}}
		}
		return mockapi.Reply{Cost: 0.00001, Latency: latency}
	})
	defer s.Close()
	db := open(t, pg.DSN)
	h := chatHouse(t, s, planned)
	// Enough for all, and for what is charged in full because its worker died.
	budget := float64(planned)*0.00001 + float64(kills*3*slots)*h.items[0].Cost.Most
	r := h.enqueue(t, db, run.Config{Concurrency: slots, Budget: budget,
		FirstWait: 10 * time.Millisecond})
	began := time.Now()
	f := newFleet(t, 4, orders{DSN: pg.DSN, Base: s.BaseURL, Trials: planned, Slots: slots})
	rng := rand.New(rand.NewPCG(11, 11))
	for s.MostInFlight() == 0 { // no kill before there is something to kill
		time.Sleep(10 * time.Millisecond)
	}
	killed, restarts := 0, 0
	for range kills {
		time.Sleep(between)
		select {
		case <-r.Done():
			continue
		default:
		}
		i := rng.IntN(4)
		f.kill(i)
		killed++
		f.start(i)
		if killed == kills/2 {
			require.NoError(t, pg.Restart())
			restarts++
		}
	}
	last := time.Now()
	sum, err := r.Finish()
	require.NoError(t, err)
	took := time.Since(began)
	f.stop()
	outcomes := account(t, db, r.ID, planned)
	require.Equal(t, kills, killed, "the run was long enough for every kill")
	require.Equal(t, 1, restarts)
	require.Empty(t, sum.Stops)
	require.Zero(t, outcomes[audit.OutcomeSkipped])
	require.Zero(t, sum.Unanswered())
	books := s.Charged() + s.ChargedBroken()
	require.LessOrEqual(t, books, sum.State.Spent+1e-9, "we never think that we spent less")
	require.LessOrEqual(t, sum.State.Spent, budget+1e-9)
	require.LessOrEqual(t, s.MostInFlight(), slots, "the pace held")
	require.NotZero(t, rude.spoke)
	late := 0
	for until, n := range rude.within {
		late += n
		require.LessOrEqual(t, n, slots,
			"in the pause that ends at %s only what had its permit before it was known is sent",
			until)
	}
	answers, most := 0, 0
	for _, n := range s.Answers() {
		answers, most = answers+n, max(most, n)
	}
	require.LessOrEqual(t, answers-planned, killed*slots+restarts*slots,
		"asked twice are at most the trials in flight")
	t.Logf("%d kills, %d restart: planned %d = %d correct + %d wrong + %d errored; %d answers, %d of them lost in flight; charged $%.5f, accounted $%.5f (of it $%.5f unsure), budget $%.5f; at most %d in flight of %d; %d pauses asked for, %d requests within them; %.1f s, %.1f s of them after the last kill; workers' CPU %.1f s",
		killed, restarts, planned, outcomes[audit.OutcomeCorrect], outcomes[audit.OutcomeWrong],
		outcomes[audit.OutcomeErrored], answers, answers-planned,
		books, sum.State.Spent, sum.Unsure, budget, s.MostInFlight(), slots, rude.spoke, late,
		took.Seconds(), time.Since(last).Seconds(), f.cpu.Seconds())
}

// A throttle asks for a pause now and then, and counts the requests that come
// although the workers' PostgreSQL knows of it.
type throttle struct {
	pool   *pgxpool.Pool
	pause  time.Duration
	every  int
	mu     sync.Mutex
	said   time.Time
	spoke  int
	within map[time.Time]int // by when the pause ends
}

func (th *throttle) speaks(n int) bool {
	until := th.known()
	th.mu.Lock()
	defer th.mu.Unlock()
	if !until.IsZero() {
		th.within[until]++
	}
	if n%th.every != 0 || time.Since(th.said) < 2*th.pause {
		return false
	}
	th.said = time.Now()
	th.spoke++
	return true
}

// known is when the pause ends in which this moment lies, as the PostgreSQL has it; zero
// for none, and while the PostgreSQL is gone.
func (th *throttle) known() (until time.Time) {
	_ = th.pool.QueryRow(context.Background(), `SELECT (pace->>'Until')::timestamptz FROM spread_providers
		WHERE (pace->>'Until')::timestamptz > clock_timestamp()`).Scan(&until)
	return until
}

// auditing is a worker process that audits. Its first audit ever hangs, with a
// program under way.
func auditing(ctx context.Context, o orders) int {
	db, err := river.OpenWorker(ctx, o.DSN)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	defer db.Close()
	err = db.Work(ctx,
		river.Worker{Name: o.Name,
			Audit: func(ctx context.Context, t river.AuditArgs) ([]byte, error) {
				f, err := os.OpenFile(filepath.Join(o.Audits, "begun"),
					os.O_CREATE|os.O_EXCL|os.O_WRONLY,
					0o600)
				if err == nil {
					_ = f.Close()
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return fmt.Appendf(nil, "%s by %d", t.Project, os.Getpid()), nil
			}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	return 0
}

// A worker that dies in the middle of an audit has it done elsewhere: by another
// one that nobody has to tell.
func TestKilledInTheMiddleOfAnAudit(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: no process is killed")
	}
	dsn, dir := database(t), t.TempDir()
	db := open(t, dsn)
	f := newFleet(t, 1, orders{DSN: dsn, Audits: dir})
	type answer struct {
		b   []byte
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		b, err := db.Audit(context.Background(),
			river.AuditArgs{Run: "r", Project: "p", Auditor: "a"})
		answers <- answer{b, err}
	}()
	for {
		if _, err := os.Stat(filepath.Join(dir, "begun")); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	first := f.workers[0].Process.Pid
	f.kill(0)
	f.start(0)
	a := <-answers
	require.NoError(t, a.err)
	require.Equal(t, fmt.Sprintf("p by %d", f.workers[0].Process.Pid), string(a.b))
	require.NotEqual(t, first, f.workers[0].Process.Pid)
}
