package suite

import (
	"bytes"
	"cmp"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"

	"assay/audit/fixture"
	"assay/internal/record"
)

// auditsSQL selects the trials of the newest run of an auditor as trialsSQL does those of a
// reviewer.
const auditsSQL = `WITH RECURSIVE
chain(id) AS (SELECT (SELECT id FROM runs WHERE EXISTS (SELECT 1 FROM audits a WHERE a.run_id = runs.id AND a.auditor = $1)
	ORDER BY started DESC LIMIT 1) UNION SELECT runs.continues FROM runs JOIN chain ON runs.id = chain.id WHERE runs.continues <> ''),
rows_of AS (SELECT *, rowid AS place FROM audits a WHERE a.auditor = $1 AND a.run_id IN (SELECT id FROM chain)),
last AS (SELECT *, ROW_NUMBER() OVER (PARTITION BY trial_key ORDER BY place DESC) AS nth FROM rows_of)
`

// auditFigures are figures of an auditor by SQL.
type auditFigures struct {
	valid, invalid int
	usd, seconds   float64
	tokens         int64
}

func auditsBySQL(t *testing.T, file, auditor string) (f auditFigures) {
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, db.QueryRow(auditsSQL+`SELECT coalesce(SUM(outcome = 'correct'), 0),
		coalesce(SUM(outcome <> 'correct'), 0) FROM last WHERE nth = 1`, auditor).
		Scan(&f.valid, &f.invalid))
	require.NoError(t, db.QueryRow(auditsSQL+`SELECT coalesce(SUM(usd), 0),
		coalesce(SUM(wall_ms), 0) / 1000.0, coalesce(SUM(tokens_in + tokens_out), 0)
		FROM rows_of`, auditor).Scan(&f.usd, &f.seconds, &f.tokens))
	return f
}

// TestEveryOutputHasTheAuditsOfTheDatabase: after runs of two auditors that end by SIGKILL,
// SIGTERM and the budget, and whole ones, each output shows what SQL finds in results.db.
func TestEveryOutputHasTheAuditsOfTheDatabase(t *testing.T) {
	bin, assay := commands(t)
	gate := filepath.Join(t.TempDir(), "gate")
	l := newLab(t, 1, "")
	p, err := fixture.ReadProject(os.DirFS(l.dir), "fixtures/projects/demo.md")
	require.NoError(t, err)
	l.agents(p.Vulnerabilities, "half: -find 10 -envelope claude -in 1000 -out 50 -usd 0.08",
		"most: -find 15 -envelope claude -in 2000 -out 60 -usd 0.05 -books "+l.books+
			" -until "+gate)
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	b := &bout{h: l.house, root: root, env: append(os.Environ(), "ASSAY_SANDBOX=off",
		"ASSAY_ROOT="+l.dir, "ASSAY_DB="+l.path("results.db"))}
	recall := map[string]float64{"half": .5, "most": .75}
	h := &figuresHouse{t: t, bout: b, assay: assay, db: l.path("results.db")}
	args := []string{"-test.run", "Regression", "-auditor", "half,most", "-trials", "3",
		"-concurrency", "1"}
	start := func(more ...string) (*exec.Cmd, *bytes.Buffer) {
		cmd, out := exec.Command(bin, append(args, more...)...), &bytes.Buffer{}
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = root, b.env, out, out
		require.NoError(t, cmd.Start())
		return cmd, out
	}
	after := func(signal os.Signal) string { // signals the run while "most" waits
		begun := l.entries("begun")
		cmd, out := start("-budget", "none")
		l.await("begun", begun+1)
		require.NoError(t, cmd.Process.Signal(signal))
		_ = cmd.Wait()
		l.gone()
		return out.String()
	}
	run := func(more ...string) string {
		cmd, out := start(more...)
		_ = cmd.Wait()
		return out.String()
	}
	after(syscall.SIGKILL)
	t.Log("SIGTERM")
	h.audits(after(syscall.SIGTERM), recall)
	require.NoError(t, os.WriteFile(gate, nil, 0o644))
	t.Log("budget")
	h.audits(run("-budget", "0.40"), recall)
	t.Log("complete")
	h.audits(run("-budget", "none"), recall)
	require.Equal(t, 3, auditsBySQL(t, h.db, "half").valid)
	t.Log("all again")
	h.audits(run("-budget", "none"), recall)
	require.Equal(t, []int{3, 0}, []int{auditsBySQL(t, h.db, "most").valid,
		auditsBySQL(t, h.db, "most").invalid})
	require.Equal(t, 6, l.entries("ended"), "a complete run asks all again")
}

// audits compares every output with the figures of the database.
func (h *figuresHouse) audits(screen string, recall map[string]float64) {
	h.t.Helper()
	want := map[string]auditFigures{}
	for name := range recall {
		want[name] = auditsBySQL(h.t, h.db, name)
		h.t.Logf("%s: %+v", name, want[name])
	}
	newest := map[string]*record.Record{}
	rs, err := record.ReadAll(h.bout.h.path("records"))
	require.NoError(h.t, err)
	for _, r := range rs {
		newest[r.Auditor] = r
	}
	page := filepath.Join(h.t.TempDir(), "page.html")
	h.run("report", "--single", "--out", page)
	html, err := os.ReadFile(page)
	require.NoError(h.t, err)
	texts := map[string]string{"screen": screen, "text": h.run("report", "-o", "text"),
		"page": string(html), "summary": h.run("summary")}
	rows, err := csv.NewReader(strings.NewReader(h.run("report", "-o", "csv"))).ReadAll()
	require.NoError(h.t, err)
	var all struct {
		Audits []struct {
			Auditor string
			Trials  int
			Metrics struct {
				Recall   float64
				Consumed struct {
					USD, Seconds float64
					Tokens       int64
				}
			}
		}
	}
	require.NoError(h.t, json.Unmarshal([]byte(h.run("report", "-o", "json")), &all))
	units := map[string]map[string]float64{}
	bench := benchfmt.NewReader(strings.NewReader(h.run("report", "-o", "benchfmt")), "report")
	name := regexp.MustCompile(`^Regression/.*auditor=([a-z]+)`)
	for bench.Scan() {
		if res, ok := bench.Result().(*benchfmt.Result); ok {
			if m := name.FindStringSubmatch(string(res.Name)); m != nil {
				if units[m[1]] == nil {
					units[m[1]] = map[string]float64{}
				}
				for _, v := range res.Values {
					units[m[1]][v.Unit] += v.Value
				}
			}
		}
	}
	require.NoError(h.t, bench.Err())
	for auditor, w := range want {
		figures := map[string]float64{"cost": w.usd, "tokens": float64(w.tokens),
			"seconds": w.seconds, "trials": float64(w.valid),
			"recall": recall[auditor]}
		// the record
		r := newest[auditor]
		require.NotNil(h.t, r, auditor)
		u, seconds, _ := r.Consumed()
		valid := len(r.Counting())
		h.close(w.usd, u.USD, "record: cost of %s", auditor)
		require.InDelta(h.t, w.seconds, seconds, .01, "record: seconds of %s", auditor)
		require.Equal(h.t, []int64{int64(w.valid), w.tokens},
			[]int64{int64(valid), u.TokensIn + u.TokensOut}, "record of %s", auditor)
		// text, page, screen and the summary of a pull request
		for what, text := range texts {
			if w.usd > 0 {
				require.Contains(h.t, text, fmt.Sprintf("$%.2f", w.usd), "%s of %s: %+v", what,
					auditor, w)
			}
			// The screen shows no figures of a run that is not complete; the summary names those
			// that decide the verdict, which of "most" is that it was unconfined.
			if w.valid == 3 && (what != "summary" || auditor == "half") ||
				w.valid > 0 && (what == "text" || what == "page") {
				require.Contains(h.t, text, fmt.Sprintf("%.1f %%", 100*recall[auditor]),
					"%s of %s", what, auditor)
			}
		}
		if w.valid == 0 { // no figures, so that nothing has a cost
			continue
		}
		// CSV
		for metric, figure := range figures {
			found := false
			for _, row := range rows {
				if row[1] == "demo" && row[2] == auditor && row[4] == metric {
					got, err := strconv.ParseFloat(cmp.Or(row[5], row[6]), 64)
					require.NoError(h.t, err, "%q", row)
					require.InDelta(h.t, figure, got, .01, "csv: %s of %s", metric, auditor)
					found = true
				}
			}
			require.True(h.t, found, "csv: no %s of %s", metric, auditor)
		}
		// JSON
		found := false
		for _, a := range all.Audits {
			if a.Auditor != auditor {
				continue
			}
			found = true
			require.Equal(h.t, w.valid, a.Trials, "json: trials of %s", auditor)
			require.Equal(h.t, w.tokens, a.Metrics.Consumed.Tokens, "json: tokens of %s", auditor)
			h.close(w.usd, a.Metrics.Consumed.USD, "json: cost of %s", auditor)
			require.InDelta(h.t, w.seconds, a.Metrics.Consumed.Seconds, .01, "json: seconds of %s", auditor)
			h.close(figures["recall"], a.Metrics.Recall, "json: recall of %s", auditor)
		}
		require.True(h.t, found, "json: no %s", auditor)
		// benchfmt: a line a trial
		for metric, figure := range figures {
			if metric == "recall" {
				figure *= float64(w.valid)
			}
			require.InDelta(h.t, figure, units[auditor][metric]+units[auditor][metric+"-low"], .01,
				"benchfmt: %s of %s", metric, auditor)
		}
	}
	if want["half"].valid > 0 && want["most"].valid > 0 {
		require.Contains(h.t, h.run("compare", "half", "most"),
			"most: 25.0 points of recall more")
	}
}
