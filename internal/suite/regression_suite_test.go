package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit/fixture"
	"assay/internal/auditor"
	"assay/internal/record"
	"assay/internal/seal"
)

// demo puts a project with n entries into the house.
func (h *house) demo(n int) {
	key, tree := demoKey(n)
	h.write("fixtures/projects/demo.md", key)
	h.write("fixtures/projects/demo.tree.tsv", tree)
}

// record puts a recording of "canned" on the project into the house.
func (h *house) record(report string, edit ...func(*auditor.Recording)) {
	p, err := fixture.ReadProject(os.DirFS(h.dir), "fixtures/projects/demo.md")
	require.NoError(h.t, err)
	rec := &auditor.Recording{Auditor: "canned", Project: "demo", Commit: p.Commit,
		Export: seal.Hash(p), Key: p.KeyHash,
		Version: "1", Command: "cat", Date: "2026-01-02", Format: "text"}
	for _, e := range edit {
		e(rec)
	}
	require.NoError(h.t, rec.Write(h.path("fixtures/recordings"), []byte(report)))
}

// found is a report that finds the first n entries.
func found(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "=== HEADER START ===\nProject root: .\nCOVERAGE: 1/10\nSTATS: findings=%d\n",
		n)
	b.WriteString(
		"=== HEADER END ===\n\n| ID | Severity | CWE | File | Lines | Title |\n|---|---|---|---|---|---|\n")
	for i := range n {
		fmt.Fprintf(&b, "| %d | HIGH | CWE-89 | f%02d.java | 40 | t |\n", i+1, i)
	}
	b.WriteString("\n=== SENTINEL: AUDIT COMPLETE ===\n")
	return b.String()
}

// canned makes the section "canned" print a report.
func (h *house) canned(report string) { h.write("canned", report) }

// baseline makes what a live run of "canned" says now its baseline.
func (h *house) baseline() {
	play(h.t, "TestRegression", h.suite("-auditor", "canned").Regression)
	rs, err := record.ReadAll(h.path("records"))
	require.NoError(h.t, err)
	require.NotEmpty(h.t, rs)
	_, err = record.WriteBaseline(h.path("fixtures/baselines"), rs[len(rs)-1], false)
	require.NoError(h.t, err)
	require.NoError(h.t, os.RemoveAll(h.path("records")))
}

// TestRegressionCanFail: each broken run fails, or is INVALID, for its own reason
// and no other.
func TestRegressionCanFail(t *testing.T) {
	for _, tt := range []struct {
		name    string
		base    int // entries that the baseline found; 0: no baseline
		report  string
		verdict string
		want    string
	}{
		{"all found", 0, found(33), "PASS", ""},
		{"as the baseline", 33, found(33), "PASS", ""},
		{"recall below the goal without a baseline", 0, found(22), "FAIL",
			"recall 66.7 % misses the goal of 70.0 %; there is no baseline"},
		{"recall below the goal as the baseline", 22, found(22), "WARN", ""},
		{"recall below the goal where the baseline met it", 24, found(23), "FAIL",
			"the baseline met it"},
		{"drop of 6 points", 33, found(31), "FAIL", "drop"},
		{"drop of 3 points", 33, found(32), "WARN", ""},
		{"no findings by a run that finished", 0, found(0), "FAIL",
			"no known vulnerability was found"},
		{"paths of another root", 0, strings.ReplaceAll(found(33), "| f", "| src/f"), "FAIL",
			`no known vulnerability was found (random guessing does no worse); 33 of 33 findings are "missing path", the first: "src/f00.java" is no file of the project`},
		{"no CWEs", 0, strings.ReplaceAll(found(33), "CWE-89", ""), "FAIL",
			`33 of 33 findings are "no CWE"`},
		{"empty report", 0, "", "INVALID", "the report is empty"},
		{"truncated", 0, strings.Split(found(33), "| 20 |")[0], "INVALID", "truncated"},
		{"fewer rows than STATS says", 0, strings.Replace(found(33), "findings=33",
			"findings=40", 1), "INVALID", "it ended early, twice"},
		{"truncated SARIF", 0,
			`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[{`,
			"INVALID", "truncated"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse(t)
			h.repository(33)
			if tt.base > 0 {
				h.canned(found(tt.base))
				h.baseline()
			}
			h.canned(tt.report)
			f := play(t, "TestRegression", h.suite("-auditor", "canned").Regression)
			require.Equal(t, tt.want != "", f.Failed(), f.complaints())
			require.Equal(t, tt.verdict, f.attrs["verdict:canned/demo"], "%v", f.complaints())
			if tt.want != "" {
				require.Contains(t, strings.Join(f.complaints(), "\n"), tt.want)
				for _, c := range f.complaints() {
					require.Contains(t, c, "TestRegression: fixtures/projects/demo.md:")
				}
			}
		})
	}
}

// TestReplays: a recording that is scored as at its baseline is as recorded; one
// that is scored otherwise, or no longer belongs here, is red.
func TestReplays(t *testing.T) {
	for _, tt := range []struct {
		name    string
		report  string
		edit    func(*auditor.Recording)
		verdict string
		want    string
	}{
		{"as recorded far below the goals", found(3), nil, "as recorded", ""},
		{"changed", found(2), nil, "changed", "2 findings, and were 3"},
		{"another commit", found(3),
			func(r *auditor.Recording) { r.Commit = strings.Repeat("f", 40) }, "",
			"recorded at commit ffffffffffff"},
		{"another export", found(3), func(r *auditor.Recording) { r.Export = "x" }, "",
			"the sealed export of demo has changed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse(t)
			h.demo(33)
			h.record(found(3))
			play(t, "TestRegression", h.suite().Regression)
			rs, err := record.ReadAll(h.path("records"))
			require.NoError(t, err)
			_, err = record.WriteBaseline(h.path("fixtures/baselines"), rs[0], false)
			require.NoError(t, err)
			if tt.edit == nil {
				tt.edit = func(*auditor.Recording) {}
			}
			h.record(tt.report, tt.edit)
			f := play(t, "TestRegression", h.suite().Regression)
			require.Equal(t, tt.want != "", f.Failed(), f.complaints())
			require.Equal(t, tt.verdict, f.attrs["verdict:canned/demo_(recorded)"])
			if tt.want != "" {
				require.Contains(t, f.complaints()[0], tt.want)
			}
		})
	}
}

// A live run reports in its own order, and may have several trials: its baseline says
// nothing of a recording, whose findings are sorted.
func TestALiveBaselineIsNoneOfARecording(t *testing.T) {
	h := newHouse(t)
	h.repository(33)
	h.canned(found(3))
	h.baseline()
	h.record(found(2))
	s := h.suite()
	f := play(t, "TestRegression", s.Regression)
	require.False(t, f.Failed(), f.complaints())
	require.Equal(t, "as recorded", f.attrs["verdict:canned/demo_(recorded)"])
	require.Len(t, s.summary.notes, 1, "who thinks that it is held against something is told")
	require.Contains(t, s.summary.notes[0],
		"the recording of canned on demo is compared with nothing: its baseline is of a live run")

	require.NoError(t, os.RemoveAll(h.path("fixtures/baselines")))
	s = h.suite()
	play(t, "TestRegression", s.Regression)
	require.Empty(t, s.summary.notes, "without any baseline nobody thinks so")
}

func TestRegressionWithoutAnythingToHold(t *testing.T) {
	h := newHouse(t)
	f := play(t, "TestRegression", h.suite().Regression)
	require.Contains(t, f.complaints()[0], "fixtures/projects: holds no project")

	h.demo(3)
	f = play(t, "TestRegression", h.suite().Regression)
	require.Equal(t,
		[]string{"TestRegression/demo: fixtures/projects/demo.md:1: INVALID: no recording of an auditor on this project: make one with assay capture, or name an auditor with -auditor"}, f.complaints())

	f = play(t, "TestRegression", h.suite("-filter", "webgoat").Regression)
	require.Contains(t, f.complaints()[0], "INVALID: nothing was selected")
}

// TestWarnIsNeverHidden: a WARN passes its test and stands in the summary and the
// record's notes.
func TestWarnIsNeverHidden(t *testing.T) {
	h := newHouse(t)
	h.repository(33)
	h.canned(found(33))
	h.baseline()
	h.canned(found(32))
	s := h.suite("-auditor", "canned")
	require.False(t, play(t, "TestRegression", s.Regression).Failed())
	var b strings.Builder
	s.summary.print(&b, view{width: screenWidth, lines: screenLines})
	require.Regexp(t, `WARN +canned +demo .*\n +recall 97.0 %`, b.String())
	files, err := filepath.Glob(h.path("records/*.txt"))
	require.NoError(t, err)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.Contains(t, string(text), "Verdict: PASS\nNotes: Gate: WARN; canned on demo; ")
}

// TestTheRecordIsTheTemplate: line for line, word for word, and nothing between.
func TestTheRecordIsTheTemplate(t *testing.T) {
	h := newHouse(t)
	h.repository(33)
	h.canned(found(31))
	play(t, "TestRegression", h.suite("-auditor", "canned", "-change", "a new prompt").Regression)
	files, err := filepath.Glob(h.path("records/*.txt"))
	require.NoError(t, err)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.Regexp(t, `^Date: \d{4}-\d{2}-\d{2}
Change: a new prompt
Trigger: manual
Test: full suite
Results:
  Recall:    94% \(baseline: none\)  \[PASS\]
  Precision: 100% \(baseline: none\)  \[PASS\]
  F1:        97% \(baseline: none\)  \[PASS\]
  Coverage:  1/10 \(baseline: none\) \[PASS\]
Verdict: PASS
Notes: Gate: PASS; canned on demo; [^\n]+
$`, string(text))
}
