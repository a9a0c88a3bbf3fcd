package suite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit/fixture"
	"assay/internal/record"
)

// rescore reads records again, and gives what is told and the error.
func (h *house) rescore(names ...string) (string, error) {
	h.t.Helper()
	var b bytes.Buffer
	err := Rescore{Root: h.dir, Records: names}.Run(&b)
	return b.String(), err
}

// records gives the names of the records, oldest first; of one second the one that was
// written first.
func (h *house) records() []string {
	h.t.Helper()
	names, err := filepath.Glob(h.path("records/*.json"))
	require.NoError(h.t, err)
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Compare(strings.TrimSuffix(a, ".json"), strings.TrimSuffix(b, ".json"))
	})
	return names
}

// edit replaces text of a file of the house.
func (h *house) edit(name, was, now string) {
	h.t.Helper()
	b, err := os.ReadFile(h.path(name))
	require.NoError(h.t, err)
	require.Contains(h.t, string(b), was)
	h.write(name, strings.Replace(string(b), was, now, 1))
}

// TestRescore: a kept report is read again after its section or its key was mended;
// the old record stays, and nobody is asked.
func TestRescore(t *testing.T) {
	h := newHouse(t)
	h.repository(20)
	p, err := fixture.ReadProject(os.DirFS(h.dir), "fixtures/projects/demo.md")
	require.NoError(t, err)
	h.agents(p.Vulnerabilities, "agent: -envelope claude-stream -in 100 -out 5 -usd 0.1", "old: -find 15")
	h.edit("fixtures/auditors.md", "| Kind | agent |\n", "| Kind | agent |\n| Format | sarif |\n")
	require.True(t, play(t, "TestRegression", h.suite("-auditor", "agent", "-beside", "old",
		"-trials", "2").Regression).Failed())
	first := h.records()[0]
	before, err := os.ReadFile(first)
	require.NoError(t, err)

	said, err := h.rescore(first)
	require.ErrorContains(t, err, "INVALID", "what is printed as INVALID fails")
	require.Contains(t, said, "unchanged: INVALID; no record is written")
	require.Len(t, h.records(), 2, "one of each side")

	h.agents(p.Vulnerabilities, "agent: -crash", "old: -crash") // whoever asks it again sees it
	said, err = h.rescore(first)
	require.NoError(t, err, said)
	require.Contains(t, said, ": PASS, was INVALID: ")
	require.Contains(t, said, "  trial 2: 20 findings, recall 100.0 %")
	require.Contains(t, said, "; was: INVALID: ")
	require.Len(t, h.records(), 3)
	after, err := os.ReadFile(first)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after), "a record is never changed")
	again, err := record.Read(os.DirFS(h.path("records")), filepath.Base(h.records()[1]))
	require.NoError(t, err)
	require.Contains(t, again.Text(), " from the reports beside "+
		strings.TrimSuffix(filepath.Base(first), ".json"))
	require.Equal(t, 0.1, again.Trials[0].Usage.USD)

	h.edit("fixtures/projects/demo.md", "| D-01 |", "| E-01 |")
	said, err = h.rescore(h.records()[1]) // what it says is kept beside the first one
	require.NoError(t, err, said)
	require.Contains(t, said, ": PASS, was PASS: ",
		"another key gives another result, even of the same figures")
	require.Len(t, h.records(), 4)
}

// TestRescoreRefuses: what is missing, cut, another record's or a run that was stopped
// is no report to read again.
func TestRescoreRefuses(t *testing.T) {
	h := newHouse(t)
	h.repository(20)
	p, err := fixture.ReadProject(os.DirFS(h.dir), "fixtures/projects/demo.md")
	require.NoError(t, err)
	h.agents(p.Vulnerabilities, "agent: -find 20", "other: -find 20", "crashes: -crash")
	for _, name := range []string{"agent", "other", "crashes"} {
		play(t, "TestRegression", h.suite("-auditor", name).Regression)
	}
	of := func(name string) string {
		names, err := filepath.Glob(h.path("records/*-" + name + ".json"))
		require.NoError(t, err)
		return names[0]
	}
	said, err := h.rescore(of("crashes"))
	require.ErrorContains(t, err, "INVALID")
	require.Contains(t, said, "unchanged")
	require.Len(t, h.records(), 3)

	report := filepath.Join(record.TranscriptDir(of("agent")), "trial-01", "report.txt")
	whole, err := os.ReadFile(report)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(report, whole[:len(whole)/2], 0o600))
	_, err = h.rescore(of("agent"))
	require.ErrorContains(t, err, "its report is not what the run wrote")

	require.NoError(t, os.RemoveAll(record.TranscriptDir(of("agent"))))
	_, err = h.rescore(of("agent"))
	require.ErrorContains(t, err, "nothing that its auditor wrote was kept")

	require.NoError(t, os.Rename(record.TranscriptDir(of("other")),
		record.TranscriptDir(of("agent"))))
	_, err = h.rescore(of("agent"))
	require.ErrorContains(t, err, "these are the transcripts of another record")
	require.Len(t, h.records(), 3)
}

// TestRescoreOfSmoke: its record is judged again too.
func TestRescoreOfSmoke(t *testing.T) {
	h := newHouse(t)
	play(t, "TestSmoke", h.suite().Smoke)
	said, err := h.rescore(h.records()[0])
	require.NoError(t, err)
	require.Contains(t, said, "unchanged: PASS; no record is written")
	h.edit("fixtures/smoke.md", "| SMOKE-1 | Injection | CWE-89 |",
		"| SMOKE-1 | Injection | CWE-78 |")
	h.edit("fixtures/smoke.md", "| SMOKE-5 | Deserialization | CWE-502 |",
		"| SMOKE-5 | Deserialization | CWE-78 |")
	said, err = h.rescore(h.records()[0])
	require.ErrorContains(t, err, "FAIL")
	require.Contains(t, said, ": FAIL, was PASS: ")
	require.Len(t, h.records(), 2)
}

// TestRescoreOfWhatIsNoRun: a record that somebody made up, and a folder without the class
// that Smoke audits.
func TestRescoreOfWhatIsNoRun(t *testing.T) {
	h := newHouse(t)
	play(t, "TestSmoke", h.suite().Smoke)
	name := h.records()[0]
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(h.path("smoke-test-fixture")))
	_, err = h.rescore(name)
	require.ErrorContains(t, err, "smoke-test-fixture: ")
	require.ErrorContains(t, err,
		"expected the class that Smoke audits: name a folder that holds it with --root")

	for want, change := range map[string]map[string]any{
		"holds no trial: expected a record of a live run": {"trials": nil,
			"judgement": map[string]any{"verdict": "FAIL"}},
		`the suite is "Bench": expected Smoke or Regression`: {"suite": "Bench"},
	} {
		var r map[string]any
		require.NoError(t, json.Unmarshal(b, &r))
		maps.Copy(r, change)
		made, err := json.Marshal(r)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(name, made, 0o644))
		_, err = h.rescore(name)
		require.ErrorContains(t, err, want)
	}
}
