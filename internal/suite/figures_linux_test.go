package suite

import (
	"bytes"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"

	"assay/internal/run/testdata/mockapi"
)

// trialsSQL selects the trials of the newest run of a reviewer, with the runs that it
// continues: one row each, that of the last attempt. It is written without our code.
const trialsSQL = `WITH RECURSIVE
chain(id) AS (SELECT (SELECT id FROM runs WHERE EXISTS (SELECT 1 FROM evaluations e WHERE e.run_id = runs.id AND e.model_name = $1)
	ORDER BY started DESC LIMIT 1) UNION SELECT runs.continues FROM runs JOIN chain ON runs.id = chain.id WHERE runs.continues <> ''),
rows_of AS (SELECT * FROM evaluations e WHERE e.model_name = $1 AND (e.run_id IN (SELECT id FROM chain)
	OR e.id IN (SELECT evaluation_id FROM reused WHERE run_id IN (SELECT id FROM chain)))),
trials AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY trial_key ORDER BY id DESC) AS place FROM rows_of)
`

// expected are figures by SQL.
type expected struct {
	trials, correct, wrong, refused, malformed, errored int
	goods, goodsRight, bads, badsRight                  int
	usd, seconds                                        float64
	tokens                                              int64
}

func figuresBySQL(t *testing.T, file, model string) (e expected) {
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	require.NoError(t, err)
	defer db.Close()
	of := func(outcome string) string { return "coalesce(SUM(outcome = '" + outcome + "'), 0)" }
	of2 := func(label, outcomes string) string {
		return "coalesce(SUM(expected_result = '" + label + "' AND outcome IN (" + outcomes +
			")), 0)"
	}
	require.NoError(t, db.QueryRow(trialsSQL+"SELECT COUNT(*), "+of("correct")+", "+of("wrong")+
		", "+of("refused")+", "+of("malformed")+", "+of("errored")+", "+
		of2("good", "'correct', 'wrong'")+", "+of2("good", "'correct'")+", "+of2("bad",
		"'correct', 'wrong'")+", "+of2("bad", "'correct'")+
		" FROM trials WHERE place = 1", model).
		Scan(&e.trials, &e.correct, &e.wrong, &e.refused, &e.malformed, &e.errored, &e.goods,
			&e.goodsRight, &e.bads, &e.badsRight))
	require.NoError(t,
		db.QueryRow(trialsSQL+
			"SELECT coalesce(SUM(usd), 0), coalesce(SUM(tokens_in + tokens_out), 0), coalesce(SUM(latency_ms), 0) / 1000.0 FROM rows_of", model).
			Scan(&e.usd, &e.tokens, &e.seconds))
	return e
}

// metrics returns the figures under the names that every format uses.
func (e *expected) metrics() map[string]float64 {
	answered := float64(e.correct + e.wrong)
	recall, specificity := float64(e.badsRight)/float64(e.bads), float64(e.goodsRight)/float64(e.goods)
	all := map[string]float64{"errors/100": 100 * float64(e.wrong) / answered,
		"accuracy": float64(e.correct) / answered,
		"recall":   recall, "specificity": specificity,
		"balanced accuracy": (recall + specificity) / 2,
		"unanswered":        float64(e.refused+e.malformed+e.errored) / float64(e.trials),
		"trials":            float64(e.trials), "cost": e.usd, "tokens": float64(e.tokens),
		"seconds": e.seconds}
	// no good case, or no bad one
	maps.DeleteFunc(all, func(_ string, v float64) bool { return math.IsNaN(v) })
	return all
}

// TestEveryOutputHasTheFiguresOfTheDatabase: after real runs with refusals, malformed
// replies, SIGKILL, SIGTERM, a stop by budget and a second complete run, each output shows
// what SQL finds in results.db for the run that is shown.
func TestEveryOutputHasTheFiguresOfTheDatabase(t *testing.T) {
	bin, assay := commands(t)
	var slow atomic.Int64  // requests from this one on take long; 0: none
	var mended atomic.Bool // a request that was turned down is not any more
	reached := make(chan int, 10_000)
	b := newBout(t, bin, 6, func(r mockapi.Request) mockapi.Reply {
		reached <- r.N
		reply := mockapi.Reply{Cost: 0.01, Latency: 5 * time.Millisecond}
		if n := slow.Load(); n > 0 && int64(r.N) >= n {
			reply.Latency = 3 * time.Second
		}
		switch {
		case strings.Contains(r.Prompt, "-- 1 3"), strings.Contains(r.Model, "gpt-5.4") &&
			strings.Contains(r.Prompt, "-- 0 1"):
			reply.Content, reply.Finish = "I cannot help with that.", "content_filter"
		case strings.Contains(r.Prompt, "-- 2 4"):
			reply.Content = "hm"
		case strings.Contains(r.Prompt, "-- 3 2") && !mended.Load():
			return mockapi.Reply{Status: 413, Body: "{}"}
		case strings.Contains(r.Prompt, "evil") == (r.N%5 != 0):
			reply.Content = mockapi.Verdict("bad")
		default:
			reply.Content = mockapi.Verdict("good")
		}
		return reply
	})
	models := []string{"gpt-4o-mini", "gpt-5.4-mini"}
	h := &figuresHouse{t: t, bout: b, assay: assay, db: b.h.path("results.db"), models: models}
	args := []string{"-test.run", "Bench", "-model", strings.Join(models, ","), "-trials", "2",
		"-concurrency", "2"}

	after := func(n int, signal os.Signal) string { // signals the run after so many requests
		began := len(b.mock.Requests())
		for len(reached) > 0 {
			<-reached
		}
		slow.Store(int64(began + n))
		cmd := exec.Command(bin, args...)
		cmd.Dir, cmd.Env = b.root, b.env
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		require.NoError(t, cmd.Start())
		for <-reached < began+n {
		}
		require.NoError(t, cmd.Process.Signal(signal))
		_ = cmd.Wait()
		slow.Store(0)
		return out.String()
	}
	run := func(more ...string) string {
		cmd := exec.Command(bin, append(args, more...)...)
		cmd.Dir, cmd.Env = b.root, b.env
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	t.Log("SIGKILL")
	after(30, syscall.SIGKILL)
	h.compare("")
	t.Log("SIGTERM")
	h.compare(after(30, syscall.SIGTERM))
	t.Log("budget")
	h.compare(run("-budget", "0.80"))
	t.Log("complete")
	h.compare(run("-budget", "none"))
	first := figuresBySQL(t, h.db, models[0])
	require.Equal(t, []int{72, 2}, []int{first.trials, first.errored})
	t.Log("errored trials again")
	mended.Store(true)
	h.compare(run("-budget", "none"))
	first = figuresBySQL(t, h.db, models[0])
	require.Equal(t, []int{72, 0}, []int{first.trials, first.errored})
	asked := len(b.mock.Requests())
	t.Log("all again")
	h.compare(run("-budget", "none"))
	require.Equal(t, 72, figuresBySQL(t, h.db, models[0]).trials, "a complete run is not added to")
	require.GreaterOrEqual(t, len(b.mock.Requests())-asked, 144)
}

// A figuresHouse compares outputs with figures by SQL.
type figuresHouse struct {
	t         *testing.T
	bout      *bout
	assay, db string
	models    []string
}

// run runs the command, which may fail: a comparison may be inconclusive.
func (h *figuresHouse) run(args ...string) string {
	cmd := exec.Command(h.assay, append(args, "--root", h.bout.h.dir)...)
	cmd.Dir, cmd.Env = h.bout.root, h.bout.env
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || len(out) == 0 {
		require.NoError(h.t, err, "%q: %s", args, errs.String())
	}
	return string(out)
}

// compare compares every output, and the screen where there is one.
func (h *figuresHouse) compare(screen string) {
	h.t.Helper()
	want := map[string]expected{}
	for _, m := range h.models {
		want[m] = figuresBySQL(h.t, h.db, m)
		require.Positive(h.t, want[m].correct, "the runs are of use")
		h.t.Logf("%s: %+v", m, want[m])
	}
	h.csv(want)
	h.json(want)
	h.benchfmt(want)
	h.comparison(want)
	page := filepath.Join(h.t.TempDir(), "page.html")
	h.run("report", "--single", "--out", page)
	text, err := os.ReadFile(page)
	require.NoError(h.t, err)
	texts := map[string]string{"text": h.run("report", "-o", "text"), "page": string(text)}
	if screen != "" {
		texts["screen"] = screen
	}
	summary := h.run("summary")
	for model, e := range want {
		require.Contains(h.t, summary, fmt.Sprintf("$%.2f", e.usd), "summary of %s", model)
		if unanswered := e.metrics()["unanswered"]; unanswered > .05 {
			require.Contains(h.t, summary, fmt.Sprintf("%.1f %%", 100*unanswered),
				"summary of %s", model)
		}
	}
	for name, text := range texts {
		for model, e := range want {
			m := e.metrics()
			require.Regexp(h.t, regexp.QuoteMeta(model), text, name)
			balanced := "undefined"
			if v, ok := m["balanced accuracy"]; ok {
				balanced = fmt.Sprintf("%.1f %%", 100*v)
			}
			for _, shown := range []string{balanced, fmt.Sprintf("%.1f", m["errors/100"]),
				fmt.Sprintf("%.1f %%", 100*m["unanswered"]), fmt.Sprintf("$%.2f", m["cost"])} {
				require.Contains(h.t, text, shown, "%s of %s: %+v\n%s", name, model, e, screen)
			}
		}
	}
}

// close reports whether a figure is the expected one to six digits.
func (h *figuresHouse) close(want, got float64, what ...any) {
	h.t.Helper()
	require.InDelta(h.t, want, got, 1e-5*math.Max(1, math.Abs(want)), what...)
}

func (h *figuresHouse) csv(want map[string]expected) {
	h.t.Helper()
	rows, err := csv.NewReader(strings.NewReader(h.run("report", "-o", "csv"))).ReadAll()
	require.NoError(h.t, err)
	for model, e := range want {
		for name, figure := range e.metrics() {
			found := false
			for _, r := range rows {
				if r[0] == "Bench" && r[1] == "all" && r[2] == model && r[4] == name {
					got, err := strconv.ParseFloat(r[5]+map[bool]string{true: r[6]}[r[5] == ""], 64)
					require.NoError(h.t, err, "%q", r)
					h.close(figure, got, "csv: %s of %s", name, model)
					found = true
				}
			}
			require.True(h.t, found, "csv: no %s of %s", name, model)
		}
	}
}

type benchJSON struct {
	Planned  int
	Outcomes map[string]int
	Consumed struct {
		Trials  int
		USD     float64
		Tokens  int64
		Seconds float64
	}
	BalancedAccuracy struct{ Value float64 } `json:"balanced_accuracy"`
	Unanswered       float64
}

func (h *figuresHouse) bench(e expected, b benchJSON, what string) {
	h.t.Helper()
	got := expected{trials: b.Consumed.Trials, correct: b.Outcomes["correct"],
		wrong: b.Outcomes["wrong"], refused: b.Outcomes["refused"],
		malformed: b.Outcomes["malformed"], errored: b.Outcomes["errored"]}
	require.Equal(h.t, expected{trials: e.trials, correct: e.correct, wrong: e.wrong,
		refused: e.refused, malformed: e.malformed, errored: e.errored}, got, what)
	require.Equal(h.t, b.Planned, e.trials+b.Outcomes["skipped"], what)
	h.close(e.usd, b.Consumed.USD, what)
	h.close(e.seconds, b.Consumed.Seconds, what)
	require.Equal(h.t, e.tokens, b.Consumed.Tokens, what)
	h.close(e.metrics()["balanced accuracy"], b.BalancedAccuracy.Value, what)
	h.close(e.metrics()["unanswered"], b.Unanswered, what)
}

func (h *figuresHouse) json(want map[string]expected) {
	h.t.Helper()
	var all struct {
		Bench []struct {
			Model, App string
			Figures    benchJSON
		}
	}
	require.NoError(h.t, json.Unmarshal([]byte(h.run("report", "-o", "json")), &all))
	seen := 0
	for _, f := range all.Bench {
		if f.App == "" {
			h.bench(want[f.Model], f.Figures, "json: "+f.Model)
			require.Equal(h.t, 72, f.Figures.Planned, "what did not begin is counted")
			seen++
		}
	}
	require.Equal(h.t, len(want), seen)
}

// benchfmt: a line a trial, whose counts, dollars and tokens add up.
func (h *figuresHouse) benchfmt(want map[string]expected) {
	h.t.Helper()
	sums := map[string]map[string]float64{}
	r := benchfmt.NewReader(strings.NewReader(h.run("report", "-o", "benchfmt")), "report")
	for r.Scan() {
		res, ok := r.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		name := regexp.MustCompile(
			`^Bench/app=all/model=(.*)/prompt=`).FindStringSubmatch(string(res.Name))
		if name == nil {
			continue
		}
		if sums[name[1]] == nil {
			sums[name[1]] = map[string]float64{}
		}
		for _, v := range res.Values {
			sums[name[1]][v.Unit] += v.Value
		}
		sums[name[1]]["lines"]++
	}
	require.NoError(h.t, r.Err())
	for model, e := range want {
		require.Equal(h.t, 2.0, sums[model]["lines"], "benchfmt: a line a trial of %s", model)
		for _, unit := range []string{"trials", "cost", "tokens", "seconds"} {
			h.close(e.metrics()[unit], sums[model][unit]+sums[model][unit+"-low"],
				"benchfmt: %s of %s", unit, model)
		}
	}
}

func (h *figuresHouse) comparison(want map[string]expected) {
	h.t.Helper()
	var d struct{ FiguresA, FiguresB benchJSON }
	require.NoError(h.t,
		json.Unmarshal([]byte(h.run("compare", "-o", "json", h.models[0], h.models[1])), &d))
	h.bench(want[h.models[0]], d.FiguresA, "compare")
	h.bench(want[h.models[1]], d.FiguresB, "compare")
	text := h.run("compare", h.models[0], h.models[1])
	for model, e := range want {
		for _, shown := range []string{fmt.Sprintf("%.1f %%", 100*e.metrics()["unanswered"]),
			fmt.Sprintf("$%.2f", e.usd)} {
			require.Contains(h.t, text, shown, "compare: %s", model)
		}
	}
}
