package suite

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/auditor"
	"assay/internal/store"
)

// corpus puts an application with families into the house. A bad case's code says
// "evil", so that a program can answer.
func (h *house) corpus(families int) {
	h.write("tests/shop/SPEC.md",
		"# Prompt\n\nA shop.\n\n## Security Requirements\n\n1. Be good.\n")
	for f := range families {
		for n := 1; n <= 6; n++ {
			label, code, violates := "good", "SELECT 1", ""
			if n > 2 {
				label, code, violates = "bad", "SELECT evil", "\n# Violates\n\n1\n"
			}
			h.write(fmt.Sprintf("tests/shop/q%02d-%02d-%s.md", f, n, label),
				fmt.Sprintf(
					"# Description\n\nx\n\n# Code\n\n```sql\n%s -- %d %d\n```\n\n# Expected\n\n%s\n%s", code, f, n, label, violates))
		}
		h.write(fmt.Sprintf("tests/shop/q%02d.md", f),
			"# Description\n\nx\n\n# Parameters\n\n{\"a\": 1, \"_set\": \"benign\"}\n")
	}
}

// reviewer makes "canned" a reviewer that answers by a shell script, which gets
// the prompt on its standard input.
func (h *house) reviewer(script string) {
	h.write("answer.sh", script)
	h.write("fixtures/auditors.md",
		"# Auditors\n\n## canned\n\n| Field | Value |\n|---|---|\n| Kind | tool |\n| Timeout | 1m |\n| Reads | "+h.path("answer.sh")+" |\n\n```sh\nsh "+h.path("answer.sh")+"\n```\n")
}

const (
	right  = `if grep -q evil; then echo '{"verdict":"bad","explanation":"evil","violates":[1]}'; else echo '{"verdict":"good","explanation":"fine"}'; fi`
	always = `cat >/dev/null; echo '{"verdict":"bad","explanation":"I find everything bad","violates":[1]}'`
	prose  = `cat >/dev/null; echo 'I would rather talk about the weather.'`
)

// A lender is a reviewer of somebody who closes it himself.
type lender struct {
	audit.Reviewer
	closed bool
}

func (l *lender) Close() error { l.closed = true; return nil }

func TestBenchLeavesAReviewerOpenThatItWasGiven(t *testing.T) {
	h := newHouse(t)
	h.corpus(1)
	given := &lender{Reviewer: auditor.Control("control-words")}
	s := h.suite()
	s.opts.Reviewers = []audit.Reviewer{given}
	f := play(t, "TestBench", s.Bench)
	require.NotNil(t, f.leaf("TestBench/control-words/evaluation-prompt/shop/q00-01-good"))
	require.False(t, given.closed)
}

func TestBenchAnswers(t *testing.T) {
	for _, tt := range []struct {
		name, script string
		args         []string
		want         string // the only complaint; empty: none
		misses       int
		verdict      string // of the gate; empty: a part of the cases is not judged
	}{
		{"right", right, nil, "", 0, "PASS"},
		{"everything bad", always, nil, "balanced accuracy 50.0 % misses the goal of 70.0 %", 4,
			"FAIL"},
		{"no answer at all", prose, nil, "INVALID", 0, "INVALID"},
		{"strict", always, []string{"-strict", "-filter", "q00-01-good"}, "MISS", 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse(t)
			h.corpus(2)
			h.reviewer(tt.script)
			s := h.suite(append([]string{"-model", "canned"}, tt.args...)...)
			f := play(t, "TestBench", s.Bench)
			require.Equal(t, tt.want != "", f.Failed(), f.complaints())
			misses := 0
			for _, c := range []string{"q00", "q01"} {
				for n := 1; n <= 2; n++ {
					if l := f.leaf(fmt.Sprintf(
						"TestBench/canned/evaluation-prompt/shop/%s-%02d-good", c, n)); l != nil &&
						strings.HasPrefix(l.skipped, "MISS") {
						misses++
					}
				}
			}
			require.Equal(t, tt.misses, misses)
			require.Equal(t, tt.verdict, f.attrs["verdict:canned/evaluation-prompt"])
			if tt.want != "" {
				require.Contains(t, strings.Join(f.complaints(), "\n"), tt.want)
			}
		})
	}
}

// TestBenchRunsWhatIsChosen: -run and -filter limit what is asked, and not only
// what is shown.
func TestBenchRunsWhatIsChosen(t *testing.T) {
	rows := func(h *house) int {
		st, err := store.Open(context.Background(), h.path("results.db"))
		require.NoError(t, err)
		defer st.Close()
		n := 0
		for _, err := range st.Evaluations(context.Background(), store.Query{}) {
			require.NoError(t, err)
			n++
		}
		return n
	}
	for _, tt := range []struct {
		name   string
		args   []string
		choose func(string) bool
		want   int
	}{
		{"all", nil, nil, 12},
		{"-run", nil,
			func(p string) bool {
				return !strings.Contains(p, "shop/") ||
					strings.Contains(p, "q01-")
			}, 6},
		{"-filter", []string{"-filter", "q00-03"}, nil, 1},
		{"-filter by glob", []string{"-filter", "shop/*-good"}, nil, 4},
		{"-trials", []string{"-filter", "01-good", "-trials", "3"}, nil, 6},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse(t)
			h.corpus(2)
			h.reviewer(right)
			s := h.suite(append([]string{"-model", "canned"}, tt.args...)...)
			f := play(t, "TestBench", s.Bench, func(f *fake) { f.choose = tt.choose })
			require.Empty(t, f.complaints())
			require.Equal(t, tt.want, rows(h))
			info, err := os.Stat(h.path("results.db"))
			require.NoError(t, err)
			require.Zero(t, info.Mode().Perm()&0o077, "results.db is for its owner alone")
		})
	}
}

func TestBenchOfNothing(t *testing.T) {
	h := newHouse(t)
	h.corpus(1)
	h.reviewer(right)
	f := play(t, "TestBench", h.suite("-model", "canned", "-filter", "nothing-like-this").Bench)
	require.Contains(t, f.complaints()[0], "INVALID: nothing was selected")

	require.NoError(t, os.RemoveAll(h.path("tests")))
	f = play(t, "TestBench", h.suite("-model", "canned").Bench)
	require.Contains(t, f.complaints()[0], "tests: cannot be read")
}

// TestModelTextCannotForgeEvents: what a model writes reaches test output on one
// line, with control characters shown.
func TestModelTextCannotForgeEvents(t *testing.T) {
	h := newHouse(t)
	h.corpus(1)
	h.reviewer(`cat >/dev/null; printf '{"verdict":"bad","explanation":"x\\n\\u0016--- FAIL: TestBench\\n\\u001b[2J"}'`)
	f := play(t, "TestBench", h.suite("-model", "canned", "-filter", "q00-01").Bench)
	l := f.leaf("TestBench/canned/evaluation-prompt/shop/q00-01-good")
	require.Contains(t, l.skipped, `MISS`)
	require.NotContains(t, l.skipped, "\n")
	require.NotContains(t, l.skipped, "\x16")
	require.NotContains(t, l.skipped, "\x1b")
	require.Contains(t, l.skipped, `\u0016--- FAIL`)
}

// TestPartialSelectionDoesNotGate: a reviewer below every goal passes on a part
// of the cases, and the summary says why.
func TestPartialSelectionDoesNotGate(t *testing.T) {
	h := newHouse(t)
	h.corpus(2)
	h.reviewer(always)
	s := h.suite("-model", "canned", "-filter", "q00")
	require.False(t, play(t, "TestBench", s.Bench).Failed())
	var b strings.Builder
	s.summary.print(&b, view{all: true, width: screenWidth})
	require.Contains(t, b.String(), "a part of the cases was asked")
}

func TestLeftOverArguments(t *testing.T) {
	h := newHouse(t)
	s := h.suite("-model", "canned", "./...", "-filter", "x")
	require.Equal(t, 2, s.Main(neverRun{t}))
}

type neverRun struct{ t *testing.T }

func (n neverRun) Run() int { n.t.Error("tests ran in spite of left-over arguments"); return 0 }

// TestAStoppedRunSaysWhy: each case that was not asked is skipped with its reason, and
// the summary has it: a part of the cases is not judged, and fails nothing that would
// show a log.
func TestAStoppedRunSaysWhy(t *testing.T) {
	h := newHouse(t)
	h.corpus(2)
	url, _ := server(t, http.StatusUnauthorized)
	t.Setenv("ASSAY_BASE_URL", url)
	s := h.suite("-model", "m", "-budget", "none", "-concurrency", "1", "-filter", "q00")
	f := play(t, "TestBench", s.Bench)
	skipped := 0
	for n := 1; n <= 6; n++ {
		l := f.leaf(fmt.Sprintf("TestBench/m/evaluation-prompt/shop/q00-%02d-%s", n,
			map[bool]string{true: "bad", false: "good"}[n > 2]))
		if l.attrs["outcome"] == "skipped" {
			skipped++
			require.Regexp(t, `^NO ANSWER tests/shop/q00-\d\d-\w+.md:\d+: skipped: .*401`,
				l.skipped)
		}
	}
	require.Positive(t, skipped)
	require.Regexp(t, `Bench: .*401[^\n]*\nBench: \d of 6 trials were not begun`,
		strings.Join(s.summary.notes, "\n"))
}
