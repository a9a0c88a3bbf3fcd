package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
	"assay/internal/store"
)

// serving runs the command until the test ends and gives the address that it prints.
func (s *shell) serving(args ...string) string {
	s.t.Helper()
	cmd := exec.Command(s.bin, args...)
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "ASSAY_DB=", "ASSAY_ROOT=")
	out, err := cmd.StdoutPipe()
	require.NoError(s.t, err)
	require.NoError(s.t, cmd.Start())
	lines := bufio.NewReader(out)
	s.t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGINT)
		io.Copy(io.Discard, lines)
		cmd.Wait()
	})
	line, err := lines.ReadString('\n')
	require.NoError(s.t, err)
	require.Regexp(s.t, `^http://127\.0\.0\.1:\d+/\n$`, line)
	return strings.TrimSuffix(strings.TrimSpace(line), "/")
}

func request(t *testing.T, method, to string, form url.Values, change func(*http.Request)) (int,
	string) {
	t.Helper()
	r, err := http.NewRequest(method, to, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if change != nil {
		change(r)
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(b)
}

// A report that is served shows what came since, and is for this machine alone.
func TestReportServed(t *testing.T) {
	s := newShell(t)
	root := "--root=" + s.house()
	s.fails("expected an address that only this machine reaches", "report", root,
		"--serve=0.0.0.0:0")
	at := s.serving("report", root, "--serve=127.0.0.1:0")
	_, page := request(t, "GET", at, nil, nil)
	require.Contains(t, page, "Nothing to show yet")
	s.record("patterns", 1, everything, nil)
	_, page = request(t, "GET", at, nil, nil)
	require.Contains(t, page, ">patterns</a>")
	require.Contains(t, page, "connect-src ")
	_, first := request(t, "GET", at+"/made", nil, nil)
	_, again := request(t, "GET", at+"/made", nil, nil)
	require.Equal(t, first, again, "nothing came: it is not made anew")
	s.record("other", 2, half, nil)
	_, now := request(t, "GET", at+"/made", nil, nil)
	require.NotEqual(t, first, now)
	_, page = request(t, "GET", at+"/projects/go-test-bench.html", nil, nil)
	require.Contains(t, page, "other")
	status, body := request(t, "HEAD", at+"/projects/go-test-bench.html", nil, nil)
	require.Equal(t, http.StatusOK, status)
	require.Empty(t, body)
	status, _ = request(t, "GET", at, nil, func(r *http.Request) { r.Host = "evil.example" })
	require.Equal(t, http.StatusForbidden, status, "a name that leads here is not this machine's")
	status, _ = request(t, "GET", at+"/../go.mod", nil, nil)
	require.Equal(t, http.StatusNotFound, status)
}

// Results in a PostgreSQL change without a file that tells so.
func TestReportServedOfPostgres(t *testing.T) {
	f := &following{cmd: &reportCmd{evidence: evidence{Records: t.TempDir(),
		DB: "postgres://db.example/assay"}}}
	now := time.Unix(1.7e9, 0)
	require.Equal(t, f.state(now), f.state(now.Add(unseen/2)))
	require.NotEqual(t, f.state(now), f.state(now.Add(unseen)))
	f.cmd.DB = "results.db"
	require.Equal(t, f.state(now), f.state(now.Add(unseen)))
}

// The overview tells of the newest run, and of one that goes on how far it is; without
// --serve nobody waits for more.
func TestReportTellsOfRuns(t *testing.T) {
	s := newShell(t)
	root, ctx := "--root="+s.house(), context.Background()
	st, err := store.Open(ctx, filepath.Join(s.dir, "results.db"))
	require.NoError(t, err)
	defer st.Close()
	run := store.Run{ID: "r1", Suite: "Bench", Started: time.Now().Add(-time.Minute), Planned: 4,
		State: "running"}
	require.NoError(t, st.Begin(ctx, run))
	answer := store.Evaluation{Run: "r1", Time: run.Started, TestFile: "tests/shop/q-01-good.md",
		App: "shop", Query: "q", Family: "shop/q", Model: "m", Expected: audit.Good, Actual: "good",
		Outcome: audit.OutcomeCorrect, Status: audit.Answered,
		Usage: audit.Usage{USD: 0.25, Priced: true}}
	for _, trial := range []string{"a", "b"} {
		answer.Trial = trial
		require.NoError(t, st.Put(ctx, answer))
	}
	at := s.serving("report", root, "--serve=127.0.0.1:0")
	_, page := request(t, "GET", at, nil, nil)
	require.Regexp(t,
		`Bench of [-0-9: ]+ UTC, has not ended: 2 of 4 trials, 0.50 USD, about \S+ left`, page)

	overview := func() string {
		b, err := os.ReadFile(strings.TrimSpace(s.ok("", "report", root, "--out=pages")))
		require.NoError(t, err)
		return string(b)
	}
	require.Contains(t, overview(), "UTC, 4 trials, has not ended<")
	run.State, run.Ended, run.Reused = "finished", run.Started.Add(90*time.Second), 1
	run.Outcomes, run.Usage = map[audit.Outcome]int{audit.OutcomeCorrect: 3,
		audit.OutcomeErrored: 1}, audit.Usage{TokensIn: 1200, TokensOut: 80, USD: 0.5}
	require.NoError(t, st.Finish(ctx, run))
	require.Contains(t, overview(),
		"UTC: 4 trials, 3 correct, 1 errored, 1 answered by earlier runs, 1200 tokens in, 80 out, 0.50 USD, 1m30s<")
	_, page = request(t, "GET", at, nil, nil)
	require.Contains(t, page, "1m30s<")
}

// A triage in a browser writes the same rows as one at a terminal; who has no token
// of the page writes nothing.
func TestTriageServed(t *testing.T) {
	s := newShell(t)
	root := "--root=" + s.house()
	s.record("secret-tool", 1, func(fs []audit.Finding) []audit.Finding {
		return append(fs, audit.Finding{ID: "X", CWEs: []audit.CWE{470}, File: "cmd/chi/app.go",
			Lines: audit.Range{Start: 3, End: 4}, Title: "stranger <b>"})
	}, nil)
	// hides nothing
	s.record("secret-tool", 2, everything,
		func(r *record.Record) { r.Trials = []record.RecordedTrial{{Invalid: "it broke off"}} })
	file := filepath.Join(s.dir, "go-test-bench.reviews.md")
	at := s.serving("triage", root, "--serve=127.0.0.1:0", "--out="+file, "--by=a reader",
		"go-test-bench")
	_, page := request(t, "GET", at, nil, nil)
	require.Contains(t, page, "stranger &lt;b&gt;")
	require.NotContains(t, page, "secret")
	of := regexp.MustCompile(`data-of="([^"]+)"`).FindStringSubmatch(page)
	token := regexp.MustCompile(`name="token" content="([^"]+)"`).FindStringSubmatch(page)
	require.NotNil(t, of)
	require.NotNil(t, token)
	with := func(r *http.Request) { r.Header.Set("X-Assay-Token", token[1]) }
	status, _ := request(t, "POST", at+"/rule", url.Values{"of": {of[1]}, "key": {"t"}}, nil)
	require.Equal(t, http.StatusForbidden, status)
	require.NoFileExists(t, file)
	status, _ = request(t, "POST", at+"/rule", url.Values{"of": {of[1]}, "key": {"x"}}, with)
	require.Equal(t, http.StatusBadRequest, status)
	status, why := request(t, "POST", at+"/rule", url.Values{"of": {of[1]}, "key": {"t"}}, with)
	require.Equal(t, http.StatusOK, status, why)
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(b), "CWE-470"))
	status, _ = request(t, "POST", at+"/rule", url.Values{"of": {of[1]}, "key": {"f"}}, with)
	require.Equal(t, http.StatusConflict, status, "it is ruled already")
	_, page = request(t, "GET", at, nil, nil)
	require.Contains(t, page, "Nothing is left to rule")
}

// A row that cannot be read back is told in the browser, where nobody sees the terminal.
func TestTriageTellsWhatIsNoRow(t *testing.T) {
	p := &audit.Project{Name: "shop", Title: "Shop",
		Tree: audit.Tree{"a.go": {Path: "a.go", Lines: 900}}}
	long := score.Scored{Path: "a.go", Finding: audit.Finding{CWEs: []audit.CWE{89}, File: "a.go",
		Lines: audit.Range{Start: 1, End: 800}}}
	out := filepath.Join(t.TempDir(), "shop.reviews.md")
	s := &sitting{triage: &triage{project: p, by: "a reader", to: io.Discard}, out: out,
		open: []score.Scored{long}, skipped: map[string]bool{}}
	w := httptest.NewRecorder()
	s.rule(w, httptest.NewRequest("POST", "/rule?of="+long.Fingerprint()+"&key=t", nil))
	require.Equal(t, http.StatusUnprocessableEntity, w.Code)
	require.Contains(t, w.Body.String(), "no row: ")
	require.Contains(t, w.Body.String(), "the row spans 800 lines and names no function")
	require.NoFileExists(t, out)
}

// An interrupt ends a triage at the terminal, which waits for a key.
func TestTriageInterrupted(t *testing.T) {
	s := newShell(t)
	root := "--root=" + s.house()
	s.record("tool", 1, func(fs []audit.Finding) []audit.Finding {
		return append(fs, audit.Finding{ID: "X", CWEs: []audit.CWE{470}, File: "cmd/chi/app.go",
			Lines: audit.Range{Start: 3, End: 4}, Title: "stranger"})
	}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // what does not end is killed
	defer cancel()
	cmd := exec.CommandContext(ctx, s.bin, "triage", root,
		"--out="+filepath.Join(s.dir, "reviews.md"), "go-test-bench")
	cmd.Dir = s.dir
	keys, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer keys.Close()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(out)
	_, err = lines.ReadString(']') // it asks
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	rest, err := io.ReadAll(lines)
	require.NoError(t, err)
	require.NoError(t, cmd.Wait())
	require.Contains(t, string(rest), "0 rows in ")
}
