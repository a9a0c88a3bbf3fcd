package run_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"assay/audit"
	"assay/internal/run"
	"assay/internal/run/testdata/mockapi"

	"github.com/stretchr/testify/require"
)

// Benchmarks of a whole run, in a process of its own (plan, SQLite, HTTP client,
// engine), against the mock in this one, in turns with the floor: the same requests by a
// loop. s is from planning to the account, cpu-s what the process used of all cores
// (which a busy machine changes less), MB the peak of its resident memory; x-floor,
// cpu-x-floor and MB-x-floor are these over the loop's, in medians of pairs. The loop asks
// for streams, as a run does; cpu-x-whole is over one that takes its replies in one piece.
//
//	go test -run '^$' -bench 'Run' -benchtime 5x ./internal/run
func BenchmarkRunZeroLatency(b *testing.B) { benchmarkRun(b, 1440, 5, 0) }

// 300 ms latency, 100 at once: the ideal is 15 rounds of 300 ms.
func BenchmarkRunLatency(b *testing.B) { benchmarkRun(b, 1440, 100, 300*time.Millisecond) }

const benchEnv = "ASSAY_RUN_BENCH_CHILD"

type benchOrders struct {
	Base, DB            string
	Trials, Concurrency int
	Floor, Whole        bool // a loop; its replies in one piece
}

func benchmarkRun(b *testing.B, n, concurrency int, latency time.Duration) {
	s := mockapi.New(func(mockapi.Request) mockapi.Reply {
		return mockapi.Reply{Cost: 0.001,
			Latency: latency}
	})
	s.Forget = true
	defer s.Close()
	exe, err := os.Executable()
	require.NoError(b, err)
	child := func(floor, whole bool) (seconds, cpu, mb float64) {
		o, err := json.Marshal(benchOrders{s.BaseURL, filepath.Join(b.TempDir(), "results.db"), n,
			concurrency, floor, whole})
		require.NoError(b, err)
		cmd := exec.Command(exe, "-test.run=^TestBenchChild$")
		cmd.Env = append(os.Environ(), benchEnv+"="+string(o))
		out, err := cmd.Output()
		require.NoError(b, err, "%s", out)
		_, err = fmt.Sscanf(string(out), "took %f", &seconds)
		require.NoError(b, err, "%s", out)
		return seconds, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(),
			peakMemory(cmd.ProcessState)
	}
	figures := map[string][]float64{}
	for b.Loop() {
		seconds, cpu, mb := child(false, false)
		floorSeconds, floorCPU, floorMB := child(true, false)
		_, wholeCPU, _ := child(true, true)
		for unit, v := range map[string]float64{"s": seconds, "cpu-s": cpu, "MB": mb,
			"trials/s": float64(n) / seconds,
			"x-floor":  seconds / floorSeconds, "cpu-x-floor": cpu / floorCPU,
			"cpu-x-whole": cpu / wholeCPU, "MB-x-floor": mb / floorMB} {
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
	if o.Base == "" {
		many(t, o)
		return
	}
	if o.Floor {
		require.NoError(t, floor(o))
		fmt.Printf("took %f\n", time.Since(start).Seconds())
		return
	}
	s := openAt(t, o.DB)
	ts := trials(o.Trials, modelAt(t, o.Base, time.Minute))
	sum := finish(t, ctx, run.Config{Store: s, Budget: 1000, Concurrency: o.Concurrency}, items(ts))
	require.Zero(t, sum.Unanswered())
	fmt.Printf("took %f\n", time.Since(start).Seconds())
}

// floor asks what a run asks and keeps what was said, and does nothing else: no plan, no
// budget, no pace, no retries, no resuming.
func floor(o benchOrders) error {
	db, err := sql.Open("sqlite",
		"file:"+o.DB+
			"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(
		"CREATE TABLE evaluations (id INTEGER PRIMARY KEY, timestamp TEXT, test_file TEXT, model_name TEXT, expected_result TEXT, actual_result TEXT, explanation TEXT, raw TEXT, cost REAL)"); err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: o.Concurrency}}
	defer client.CloseIdleConnections()
	slots, errs := make(chan struct{}, o.Concurrency), make(chan error, o.Trials)
	for _, t := range trials(o.Trials, &reviewer{name: "m"}) {
		slots <- struct{}{}
		go func() {
			errs <- floorTrial(db, client, &o, &t)
			<-slots
		}()
	}
	all := make([]error, o.Trials)
	for i := range all {
		all[i] = <-errs
	}
	return errors.Join(all...)
}

func floorTrial(db *sql.DB, client *http.Client, o *benchOrders, t *run.ReviewTrial) error {
	task := t.Task()
	body, err := json.Marshal(map[string]any{"model": "maker/m", "temperature": 0,
		"max_tokens": 2048, "stream": !o.Whole, "messages": []map[string]string{
			{"role": "system", "content": task.Prompt}, {"role": "user", "content": task.Spec +
				"\n\n```" + task.Language + "\n" + task.Code + "\n```"}}})
	if err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodPost, o.Base+"/chat/completions", bytes.NewReader(body))
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
	content, cost := "", 0.0
	read := func(data []byte) error {
		var reply struct {
			Choices []struct{ Message, Delta struct{ Content string } }
			Usage   struct{ Cost float64 }
		}
		if err := json.Unmarshal(data, &reply); err != nil {
			return err
		}
		for _, c := range reply.Choices {
			content += c.Message.Content + c.Delta.Content
		}
		cost += reply.Usage.Cost
		return nil
	}
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		data := bytes.TrimPrefix(lines.Bytes(), []byte("data: "))
		if bytes.HasPrefix(data, []byte("{")) { // else a comment, or the end of a stream
			if err := read(data); err != nil {
				return err
			}
		}
	}
	var said struct{ Explanation, Verdict string }
	if err := json.Unmarshal([]byte(content), &said); err != nil {
		return err
	}
	_, err = db.Exec(
		"INSERT INTO evaluations (timestamp, test_file, model_name, expected_result, actual_result, explanation, raw, cost) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		time.Now().UTC().Format(time.RFC3339), t.Case.ID(), "m", string(t.Case.Label), said.Verdict,
		said.Explanation, content, cost)
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
					r := mockapi.Reply{Cost: 0.001, Latency: time.Second,
						Header: map[string]string{}}
					if left < 1 {
						refused++
						r = mockapi.Reply{Status: 429, Body: `{"error":{"message":"slow down"}}`,
							Header: map[string]string{}}
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
				sum := finish(b, context.Background(),
					run.Config{Store: &memory{}, Budget: math.Inf(1), Concurrency: c.concurrency},
					items(ts))
				require.Zero(b, sum.Unanswered())
				b.ReportMetric(time.Since(began).Seconds()/(float64(c.n)/rate+1), "x-granted")
				b.ReportMetric(100*float64(refused)/float64(c.n+refused), "%refused")
				b.ReportMetric(0, "ns/op")
				s.Close()
			}
		})
	}
}

// A run whose results are discarded once they are stored, in a process of its own, with
// items made when they are needed, a third of the trials of an earlier run: the peak of
// its resident memory, and what each trial adds to it, from a tenth of the trials on.
// ASSAY_TRIALS says how many trials (300,000).
//
//	ASSAY_TRIALS=1000000 go test -run '^$' -bench RunMemory -benchtime 1x -timeout 1h ./internal/run
func BenchmarkRunMemory(b *testing.B) {
	n := 300_000
	if of, err := strconv.Atoi(os.Getenv("ASSAY_TRIALS")); err == nil {
		n = of
	}
	exe, err := os.Executable()
	require.NoError(b, err)
	peak := func(n int) (mb, cpu float64) {
		o, err := json.Marshal(benchOrders{DB: filepath.Join(b.TempDir(), "results.db"), Trials: n,
			Concurrency: 20})
		require.NoError(b, err)
		cmd := exec.Command(exe, "-test.run=^TestBenchChild$", "-test.timeout=1h")
		cmd.Env = append(os.Environ(), benchEnv+"="+string(o))
		out, err := cmd.CombinedOutput()
		require.NoError(b, err, "%s", out)
		return peakMemory(cmd.ProcessState),
			(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	}
	for b.Loop() {
		small, _ := peak(n / 10)
		whole, cpu := peak(n)
		b.ReportMetric(whole, "MB")
		b.ReportMetric((whole-small)*1e6/(float64(n)*.9), "B/trial")
		b.ReportMetric(cpu/float64(n)*1e6, "cpu-µs/trial")
		b.ReportMetric(0, "ns/op")
	}
}

// many carries out a plan of trials made when they are needed: a third of them first, and
// then all.
func many(t *testing.T, o benchOrders) {
	s := openAt(t, o.DB)
	r := &reviewer{name: "m", provider: "p", settings: "s"}
	one := trials(120, r)
	of := func(n int) run.Jobs {
		return run.Jobs{Count: n, At: func(i int) run.Job {
			trial := one[i%len(one)]
			trial.Index = i / len(one)
			return trial.Item()
		}}
	}
	for _, n := range []int{o.Trials / 3, o.Trials} {
		p, err := run.Prepare(t.Context(), run.Config{Store: s, Budget: math.Inf(1),
			Concurrency: o.Concurrency, Discard: true}, of(n))
		require.NoError(t, err)
		started, err := p.Start(t.Context())
		require.NoError(t, err)
		sum, err := started.Finish()
		require.NoError(t, err)
		require.Equal(t, n, sum.State.Outcome(audit.OutcomeCorrect)+
			sum.State.Outcome(audit.OutcomeWrong))
	}
	require.EqualValues(t, o.Trials, r.asked.Load())
}
