package run_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"assay/internal/run"
	"assay/internal/run/mockapi"
	"assay/internal/store"

	"github.com/stretchr/testify/require"
)

// Benchmarks of a whole run, in a process of its own (plan, SQLite, HTTP client,
// engine), against the mock in this one, in turns with the floor: the same requests by a
// loop. s is from planning to the account, cpu-s what the process used of all cores
// (which a busy machine changes less), MB the peak of its resident memory; x-floor,
// cpu-x-floor and MB-x-floor are these over the loop's, in medians of pairs.
//
//	go test -run '^$' -bench 'Run' -benchtime 5x ./internal/run
func BenchmarkRunZeroLatency(b *testing.B) { benchmarkRun(b, 1440, 5, 0) }

// 300 ms latency, 100 at once: the ideal is 15 rounds of 300 ms.
func BenchmarkRunLatency(b *testing.B) { benchmarkRun(b, 1440, 100, 300*time.Millisecond) }

const benchEnv = "ASSAY_RUN_BENCH_CHILD"

type benchOrders struct {
	Base, DB            string
	Trials, Concurrency int
	Floor               bool
}

func benchmarkRun(b *testing.B, n, concurrency int, latency time.Duration) {
	s := mockapi.New(func(mockapi.Request) mockapi.Reply { return mockapi.Reply{Cost: 0.001, Latency: latency} })
	s.Forget = true
	defer s.Close()
	exe, err := os.Executable()
	require.NoError(b, err)
	child := func(floor bool) (seconds, cpu, mb float64) {
		o, err := json.Marshal(benchOrders{s.BaseURL, filepath.Join(b.TempDir(), "results.db"), n, concurrency, floor})
		require.NoError(b, err)
		cmd := exec.Command(exe, "-test.run=^TestBenchChild$")
		cmd.Env = append(os.Environ(), benchEnv+"="+string(o))
		out, err := cmd.Output()
		require.NoError(b, err, "%s", out)
		_, err = fmt.Sscanf(string(out), "took %f", &seconds)
		require.NoError(b, err, "%s", out)
		return seconds, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), peakMemory(cmd.ProcessState)
	}
	figures := map[string][]float64{}
	for b.Loop() {
		seconds, cpu, mb := child(false)
		floorSeconds, floorCPU, floorMB := child(true)
		for unit, v := range map[string]float64{"s": seconds, "cpu-s": cpu, "MB": mb, "trials/s": float64(n) / seconds,
			"x-floor": seconds / floorSeconds, "cpu-x-floor": cpu / floorCPU, "MB-x-floor": mb / floorMB} {
			figures[unit] = append(figures[unit], v)
		}
	}
	for unit, vs := range figures {
		slices.Sort(vs)
		b.ReportMetric(vs[len(vs)/2], unit)
	}
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
	if o.Floor {
		require.NoError(t, floor(o))
		fmt.Printf("took %f\n", time.Since(start).Seconds())
		return
	}
	s, err := store.Open(ctx, o.DB)
	require.NoError(t, err)
	ts := trials(o.Trials, modelAt(t, o.Base, time.Minute))
	sum := finish(t, ctx, run.Config{Store: s, Budget: 1000, Concurrency: o.Concurrency}, items(ts))
	require.NoError(t, s.Close())
	require.Zero(t, sum.Unanswered())
	fmt.Printf("took %f\n", time.Since(start).Seconds())
}

// floor asks what a run asks and keeps what was said, and does nothing else: no plan, no
// budget, no pace, no retries, no resuming.
func floor(o benchOrders) error {
	db, err := sql.Open("sqlite", "file:"+o.DB+"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE evaluations (id INTEGER PRIMARY KEY, timestamp TEXT, test_file TEXT, model_name TEXT, expected_result TEXT, actual_result TEXT, explanation TEXT, raw TEXT, cost REAL)"); err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: o.Concurrency}}
	defer client.CloseIdleConnections()
	slots, errs := make(chan struct{}, o.Concurrency), make(chan error, o.Trials)
	for _, t := range trials(o.Trials, &reviewer{name: "m"}) {
		slots <- struct{}{}
		go func() {
			errs <- floorTrial(db, client, o.Base, &t)
			<-slots
		}()
	}
	all := make([]error, o.Trials)
	for i := range all {
		all[i] = <-errs
	}
	return errors.Join(all...)
}

func floorTrial(db *sql.DB, client *http.Client, base string, t *run.Trial) error {
	task := t.Task()
	body, err := json.Marshal(map[string]any{"model": "maker/m", "temperature": 0, "max_tokens": 2048, "messages": []map[string]string{
		{"role": "system", "content": task.Prompt}, {"role": "user", "content": task.Spec + "\n\n```" + task.Language + "\n" + task.Code + "\n```"}}})
	if err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodPost, base+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer key")
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	var reply struct {
		Choices []struct{ Message struct{ Content string } }
		Usage   struct{ Cost float64 }
	}
	if err := json.Unmarshal(raw, &reply); err != nil {
		return err
	}
	content := reply.Choices[0].Message.Content
	var said struct{ Explanation, Verdict string }
	if err := json.Unmarshal([]byte(content), &said); err != nil {
		return err
	}
	_, err = db.Exec("INSERT INTO evaluations (timestamp, test_file, model_name, expected_result, actual_result, explanation, raw, cost) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		time.Now().UTC().Format(time.RFC3339), t.Case.ID(), "m", string(t.Case.Label), said.Verdict, said.Explanation, content, reply.Usage.Cost)
	return err
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
