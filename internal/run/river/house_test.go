package river_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/audit"
	"assay/internal/auditor"
	"assay/internal/postgres"
	"assay/internal/run"
	"assay/internal/run/river"
	"assay/internal/run/testdata/mockapi"
	"assay/internal/store"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if text := os.Getenv(childEnv); text != "" {
		os.Exit(child(text))
	}
	code := m.Run()
	if shared.server != nil {
		shared.server.Stop()
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// ownServer starts a PostgreSQL of the test's own.
func ownServer(t testing.TB) *postgres.Server {
	dir := ""
	if _, measured := t.(*testing.B); measured {
		dir = os.TempDir() // where to sync a commit takes its time
	}
	s, err := postgres.StartServer(dir)
	refuse(t, err)
	t.Cleanup(s.Stop)
	return s
}

func refuse(t testing.TB, err error) {
	if errors.Is(err, postgres.ErrMissing) && os.Getenv("ASSAY_CHECK") == "" {
		t.Skip("PostgreSQL is missing (./check installs it): ", err)
	}
	require.NoError(t, err)
}

// shared is the PostgreSQL of those who do not restart it.
var shared struct {
	once   sync.Once
	server *postgres.Server
	err    error
	number atomic.Int64
}

// database makes a database of the test's own.
func database(t testing.TB) (dsn string) {
	shared.once.Do(func() { shared.server, shared.err = postgres.StartServer("") })
	refuse(t, shared.err)
	c, err := pgx.Connect(context.Background(), shared.server.DSN)
	require.NoError(t, err)
	defer c.Close(context.Background())
	name := fmt.Sprint("test", shared.number.Add(1))
	_, err = c.Exec(context.Background(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	return strings.Replace(shared.server.DSN, "/"+postgres.Role+"?", "/"+name+"?", 1)
}

func open(t testing.TB, dsn string) *river.DB {
	db, err := river.Open(context.Background(), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// model is the reviewer that asks the mock. Its stated price makes the most that
// a request may cost several times what the mock charges.
func model(base string) (audit.Reviewer, error) { return modelNamed("m", base) }

func modelNamed(name, base string) (audit.Reviewer, error) {
	return auditor.Chat(auditor.ChatConfig{Name: name, Provider: "mock", BaseURL: base,
		Key: "sk-test", KeyName: "ASSAY_API_KEY", MaxTokens: 100,
		Model:   audit.Model{Name: "m", ID: "maker/m", In: 0.15, Out: 0.60, Priced: true},
		Timeout: 20 * time.Second})
}

// trials gives n trials: families of six cases, the last four of each bad.
func trials(n int, r audit.Reviewer) []run.ReviewTrial {
	spec := &audit.Spec{App: "shop", Prompt: "A shop."}
	var out []run.ReviewTrial
	for i := range n {
		c := &audit.Case{App: "shop", Query: fmt.Sprintf("q%03d", i/6), Number: i%6 + 1,
			Label: audit.Good, Language: "sql", Code: fmt.Sprint("SELECT ", i)}
		if i%6 >= 2 {
			c.Label, c.Violates = audit.Bad, []int{2}
		}
		out = append(out, run.ReviewTrial{Case: c, Spec: spec, PromptName: "p",
			Prompt: "Judge.", Reviewer: r})
	}
	return out
}

// A house is what a test's plans and workers are made of.
type house struct {
	reviewer audit.Reviewer
	items    []run.Job
	trials   []run.ReviewTrial
	byKey    map[string]run.Job
}

func newHouse(ts []run.ReviewTrial) *house {
	h := &house{reviewer: ts[0].Reviewer, trials: ts, byKey: map[string]run.Job{}}
	for i := range ts {
		it := ts[i].Item()
		h.items = append(h.items, it)
		h.byKey[it.Key] = it
	}
	return h
}

func (h *house) task(i int) river.ReviewArgs { return river.ReviewArgsOf(&h.trials[i]) }

func (h *house) rebuild(_ context.Context, t river.ReviewArgs) (run.Job, error) {
	it, ok := h.byKey[t.Key]
	if !ok {
		return it, fmt.Errorf("%w: no trial of %s has the key %.12s", river.ErrOther, t.Case, t.Key)
	}
	return it, nil
}

// chatHouse is a house of n trials of the mock's model.
func chatHouse(t testing.TB, s *mockapi.Server, n int) *house {
	r, err := model(s.BaseURL)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.(io.Closer).Close()) })
	return newHouse(trials(n, r))
}

func (h *house) enqueue(t testing.TB, db *river.DB, c run.Config) *river.Execution {
	c.Store = db.Store
	if c.Budget == 0 {
		c.Budget = math.Inf(1)
	}
	plan, err := run.Prepare(context.Background(), c, run.Listed(h.items))
	require.NoError(t, err)
	r, err := db.Enqueue(context.Background(), plan, h.task)
	require.NoError(t, err)
	return r
}

// work starts a worker within this process; stop ends it and gives its error.
func work(t testing.TB, db *river.DB, w river.Worker) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	w.Ready = func(id string) { ready <- id }
	go func() { ended <- db.Work(ctx, w) }()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	var err error
	stopped := false
	stop = func() error {
		cancel()
		if !stopped {
			stopped = true
			err = <-ended
		}
		return err
	}
	t.Cleanup(func() { _ = stop() })
	return stop
}

// account checks that a run has one outcome for each of its trials, and gives
// them by outcome.
func account(t testing.TB, db *river.DB, id string, planned int) map[audit.Outcome]int {
	ctx := context.Background()
	rows := map[string]int{}
	for ev, err := range db.Store.Evaluations(ctx, store.Query{Run: id}) {
		require.NoError(t, err)
		rows[ev.Trial]++
		attempts, err := db.Store.Attempts(ctx, ev.Run, ev.Trial)
		require.NoError(t, err)
		require.Len(t, attempts, ev.Tries, "a row and its attempts are one transaction")
	}
	for _, n := range rows {
		require.Equal(t, 1, n, "no trial is counted twice")
	}
	runs, err := db.Store.Runs(ctx)
	require.NoError(t, err)
	for _, r := range runs {
		if r.ID != id {
			continue
		}
		sum := 0
		for _, n := range r.Outcomes {
			sum += n
		}
		require.Equal(t, planned, r.Planned)
		require.Equal(t, planned, sum, "planned = the sum of the outcomes")
		require.Equal(t, planned, len(rows)+r.Outcomes[audit.OutcomeSkipped])
		require.False(t, r.Ended.IsZero())
		return r.Outcomes
	}
	t.Fatalf("no run %s", id)
	return nil
}
