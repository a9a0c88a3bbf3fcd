package suite

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit/fixture"
	"assay/internal/record"
	"assay/internal/report"
)

// TestBeside: the old auditor runs between the trials of the new one, on the same
// projects, and the new one is held against it, whatever the committed baseline
// says.
func TestBeside(t *testing.T) {
	h := newHouse(t)
	h.repository(40)
	p, err := fixture.ReadProject(os.DirFS(h.dir), "fixtures/projects/demo.md")
	require.NoError(t, err)
	books := h.path("books")
	t.Setenv("ASSAY_SANDBOX", "off") // the books are outside
	h.agents(p.Vulnerabilities, "old: -books "+books+" -usd 1 -envelope claude", "same: -books "+books+
		" -usd 2 -envelope claude",
		"worse: -find 28", "breaks: -truncate")
	markdown := h.path("summary.md")
	t.Setenv("GITHUB_STEP_SUMMARY", markdown)
	s := h.suite("-auditor", "same", "-beside", "old", "-trials", "3", "-concurrency", "1",
		"-budget", "none")
	f := play(t, "TestRegression", s.Regression)
	var out strings.Builder
	s.summary.print(&out, view{all: true, width: screenWidth})
	require.Regexp(t, `WARN +same +demo .* \$6.00 +30 +9 +[\d.]+m?s\n`, out.String())
	require.Contains(t, out.String(), "Regression: $9.00 now, in ", "both sides are paid for")
	table, err := os.ReadFile(markdown)
	require.NoError(t, err)
	require.Contains(t, string(table),
		"| n | recall | baseline | change | precision | F1 | coverage | cost | tokens | turns | time | look first at |\n|---|")
	require.Regexp(t, `\| \$6.00 \| 30 \| 9 \| [\d.]+m?s \| `, string(table))
	require.False(t, f.Failed(), f.complaints())
	require.Equal(t, "WARN", f.attrs["verdict:same/demo"]) // unconfined
	b, err := os.ReadFile(books)
	require.NoError(t, err)
	var costs []string
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "ended "); ok {
			costs = append(costs, strings.Fields(rest)[1])
		}
	}
	require.Len(t, costs, 6)
	for i := 0; i < 6; i += 2 {
		require.NotEqual(t, costs[i], costs[i+1], "they alternate, trial by trial: %v", costs)
	}

	f = play(t, "TestRegression", h.suite("-auditor", "worse", "-beside", "same", "-trials", "6",
		"-budget", "none").Regression)
	require.True(t, f.Failed())
	require.Equal(t, "FAIL", f.attrs["verdict:worse/demo"])
	require.Contains(t, strings.Join(f.complaints(), "\n"), "30 points less")
	rs, err := record.ReadAll(h.path("records"))
	require.NoError(t, err)
	require.Len(t, rs, 4, "a record of either side")
	require.Len(t, rs[3].Beside.Trials, 6)
	require.Equal(t, []string{"same", "same", "worse"}, []string{rs[3].Beside.Auditor,
		rs[2].Auditor, rs[2].SideOf})
	require.Len(t, rs[2].Trials, 6)
	require.Contains(t, rs[3].Text(), "same ran beside it")
	all, err := record.ReadAuditors(h.dir)
	require.NoError(t, err)
	now, err := all.Find("worse")
	require.NoError(t, err)
	before, err := all.Find("same")
	require.NoError(t, err)
	d, err := report.DiffAuditors("same", "worse", before, now)
	require.NoError(t, err)
	require.InDelta(t, -30, d.Total.Diff.Center, 1e-9, "compare works afterwards, with B against A")

	f = play(t, "TestRegression", h.suite("-auditor", "same", "-beside", "breaks",
		"-budget", "none").Regression)
	require.Equal(t, "INVALID", f.attrs["verdict:same/demo"])
	require.Contains(t, strings.Join(f.complaints(), "\n"),
		"no trial of the other side counts: it ended early, twice")
	rs, err = record.ReadAll(h.path("records"))
	require.NoError(t, err)
	last := rs[len(rs)-1]
	beside := last.Beside
	require.Len(t, beside.Trials[0].Earlier, 1)
	require.Equal(t, 2, beside.Trials[0].EarlyEnds)
	for _, want := range []string{"; beside it, breaks: 2 of 2 runs ended early; ",
		"; beside it, breaks: trial 1 was tried again: it ended early: ",
		"; beside it, breaks: trial 1 proves nothing: it ended early, twice: "} {
		require.Contains(t, last.Text(), want)
	}

	for want, args := range map[string][]string{
		"-beside is \"old\" without -auditor or -model": {"-beside", "old"},
		"-beside is \"old\", which -auditor or -model names too": {"-auditor", "old",
			"-beside", "old"},
	} {
		_, err := h.suite(args...).environment()
		require.ErrorContains(t, err, want)
	}
	f = play(t, "TestRegression", h.suite("-auditor", "same", "-beside", "older").Regression)
	require.Contains(t, f.complaints()[0], `no section "## older"`)
}

// TestBesideNobody checks that each suite refuses a name beside that nobody has.
func TestBesideNobody(t *testing.T) {
	h := newHouse(t)
	h.repository(4)
	h.corpus(1)
	h.reviewer(right)
	for test, c := range map[string]struct {
		flag string
		run  func(*Suite) func(T)
	}{
		"TestSmoke":      {"-auditor", func(s *Suite) func(T) { return s.Smoke }},
		"TestRegression": {"-auditor", func(s *Suite) func(T) { return s.Regression }},
		"TestBench":      {"-model", func(s *Suite) func(T) { return s.Bench }},
	} {
		f := play(t, test, c.run(h.suite(c.flag, "canned", "-beside", "nosuch")))
		require.True(t, f.Failed(), test)
		require.Contains(t, strings.Join(f.complaints(), "\n"),
			"nosuch is neither a section of fixtures/auditors.md nor a row of fixtures/models.md",
			test)
	}
}
