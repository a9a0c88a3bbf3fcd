package suite

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A house is a small repository of its own for a suite: our tables, one project,
// and auditors that print what a test wrote.
type house struct {
	t   *testing.T
	dir string
}

func newHouse(t *testing.T) *house {
	t.Setenv("ASSAY_ROOT", "")
	h := &house{t, t.TempDir()}
	for _, name := range []string{"goals.md", "dimensions.md", "smoke.md", "triggers.md",
		"models.md", "prompts/evaluation-prompt.txt"} {
		h.copy("fixtures/" + name)
	}
	h.copy("smoke-test-fixture/SmokeTestVulnApp.java")
	h.write("fixtures/auditors.md",
		"# Auditors\n\n## canned\n\n| Field | Value |\n|---|---|\n| Kind | tool |\n| Timeout | 1m |\n| Reads | "+h.dir+" |\n\n```sh\ncat "+h.path("canned")+"\n```\n\n## broken\n\n| Field | Value |\n|---|---|\n| Timeout | 1m |\n\n```sh\necho no licence >&2; exit 3\n```\n")
	return h
}

func (h *house) path(name string) string { return filepath.Join(h.dir, filepath.FromSlash(name)) }

func (h *house) copy(name string) {
	b, err := os.ReadFile(filepath.Join("../..", name))
	require.NoError(h.t, err)
	h.write(name, string(b))
}

func (h *house) write(name, text string) {
	require.NoError(h.t, os.MkdirAll(filepath.Dir(h.path(name)), 0o755))
	require.NoError(h.t, os.WriteFile(h.path(name), []byte(text), 0o644))
}

// suite gives the house's suite with flags as a user types them.
func (h *house) suite(args ...string) *Suite {
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	s := New(Options{Flags: flags, Shipped: os.DirFS(h.dir), Out: h.dir})
	s.auditWait = time.Millisecond
	require.NoError(h.t, flags.Parse(args))
	return s
}

// report is a text audit report with all five planted flaws.
func smokeReport(edit ...string) string {
	text := `=== HEADER START ===
Project root: .
COVERAGE: 5/10
STATS: findings=5
=== HEADER END ===

| ID | Severity | CWE | File | Lines | Function | Title |
|---|---|---|---|---|---|---|
| 1 | HIGH | CWE-89 | SmokeTestVulnApp.java | 51 | orders | injection |
| 2 | HIGH | CWE-22 | SmokeTestVulnApp.java | 69 | invoice | traversal |
| 3 | MEDIUM | CWE-798 | SmokeTestVulnApp.java | 38 | | secret |
| 4 | HIGH | CWE-862 | SmokeTestVulnApp.java | 93 | deleteUser | no check |
| 5 | CRITICAL | CWE-502 | SmokeTestVulnApp.java | 116 | cart | deserialization |

=== SENTINEL: AUDIT COMPLETE ===
`
	for i := 0; i+1 < len(edit); i += 2 {
		if !strings.Contains(text, edit[i]) {
			panic("the test edits nothing: " + edit[i])
		}
		text = strings.ReplaceAll(text, edit[i], edit[i+1])
	}
	return text
}

// TestFiveChecksCanFail: each broken report fails for its own reason and no other.
func TestFiveChecksCanFail(t *testing.T) {
	line := func(n int) string { return strings.Split(smokeReport(), "\n")[7+n] + "\n" }
	for _, tt := range []struct {
		name, report string
		want         string // the only complaint; empty: it passes
		verdict      string
	}{
		{"whole", smokeReport(), "", "PASS"},
		{"one missed", smokeReport(line(3), "", "findings=5", "findings=4"), "", "WARN"},
		{"no SENTINEL", smokeReport("=== SENTINEL: AUDIT COMPLETE ===\n", ""),
			"TestSmoke/canned/structure: fixtures/smoke.md:1: INVALID", "INVALID"},
		{"no HEADER", smokeReport("=== HEADER START ===\n", ""),
			"TestSmoke/canned/structure: fixtures/smoke.md:1: FAIL: the report has a whole HEADER block: no", "FAIL"},
		{"hallucinated path",
			smokeReport(line(5),
				line(5)+"| 6 | LOW | CWE-79 | src/Nowhere.java | 3 | | made up |\n",
				"findings=5", "findings=6"),
			"TestSmoke/canned/paths: fixtures/smoke.md:1: FAIL: 1 of 6 findings", "FAIL"},
		{"LOW on SQL injection", smokeReport("| 1 | HIGH", "| 1 | LOW"),
			"TestSmoke/canned/severity: fixtures/smoke.md:1: FAIL: SMOKE-1 is rated LOW", "FAIL"},
		{"3 of 5 found", smokeReport(line(3), "", line(4), "", "findings=5", "findings=3"),
			"TestSmoke/canned/flaws: fixtures/smoke.md:1: FAIL: 3 of 5", "FAIL"},
		{"empty output", "", "TestSmoke/canned/runs: fixtures/smoke.md:1: INVALID", "INVALID"},
		{"truncated SARIF",
			`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[{"ruleId":"a"`,
			"TestSmoke/canned/runs: fixtures/smoke.md:1: INVALID", "INVALID"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse(t)
			h.write("canned", tt.report)
			s := h.suite("-auditor", "canned")
			f := play(t, "TestSmoke", s.Smoke)
			require.Equal(t, tt.want != "", f.Failed(), f.complaints())
			require.Equal(t, tt.verdict, f.leaf("TestSmoke/canned").attrs["verdict"])
			if tt.want != "" {
				require.Len(t, f.complaints(), 1, f.complaints())
				require.Contains(t, f.complaints()[0], tt.want)
			}
			records, err := filepath.Glob(h.path("records/*smoke-canned.txt"))
			require.NoError(t, err)
			require.Len(t, records, 1, "every run writes its record")
		})
	}
}

func TestABrokenAuditorIsInvalid(t *testing.T) {
	h := newHouse(t)
	f := play(t, "TestSmoke", h.suite("-auditor", "broken").Smoke)
	require.Len(t, f.complaints(), 1)
	require.Contains(t, f.complaints()[0], "TestSmoke/broken/runs: fixtures/smoke.md:1: INVALID")
	require.Contains(t, f.complaints()[0], "(exit status 3): no licence")

	f = play(t, "TestSmoke", h.suite("-auditor", "nobody").Smoke)
	require.Contains(t, f.complaints()[0],
		`fixtures/auditors.md has no section "## nobody", and as a model: nobody is neither a section`)
}

// demoKey is the key of a project with twenty entries, one a file.
func demoKey(entries int) (key, tree string) {
	var b, tr strings.Builder
	b.WriteString(
		"# Demo\n\n| Field | Value |\n|---|---|\n| Repository | https://git.example/o/demo |\n| Commit | " + demoCommit + " |\n| Language | Java |\n| Licence | MIT |\n| Expected findings | 1 |\n| Coverage goal | 1 |\n\n# Known Vulnerabilities\n\n| ID | Dimension | CWE | Severity | File | Function | Lines | Title | Evidence |\n|---|---|---|---|---|---|---|---|---|\n")
	tr.WriteString("path\tlines\tblob\n")
	for i := range entries {
		fmt.Fprintf(&b, "| D-%02d | Injection | CWE-89 | HIGH | f%02d.java | | 40 | t | e |\n", i,
			i)
		fmt.Fprintf(&tr, "f%02d.java\t1000\t%s\n", i, demoCommit)
	}
	return b.String(), tr.String()
}

const demoCommit = "0123456789012345678901234567890123456789"

// TestStaticNeedsNoSection: it is known by its name, as a reviewer is, where the
// folder's auditors.md does not speak of it.
func TestStaticNeedsNoSection(t *testing.T) {
	h := newHouse(t)
	h.reviewer(right)
	f := play(t, "TestSmoke", h.suite("-auditor", "patterns").Smoke)
	require.Empty(t, f.complaints())
	require.NotNil(t, f.leaf("TestSmoke/patterns/flaws"))
}

// TestNothingSelectedIsInvalid: a name that is written wrong in -run or -filter must not
// pass for a suite that found nothing wrong.
func TestNothingSelectedIsInvalid(t *testing.T) {
	none := func(f *fake) { f.choose = func(string) bool { return false } }
	h := newHouse(t)
	h.demo(33)
	h.record(found(22))
	for name, suite := range map[string]func(T){"TestSmoke": h.suite().Smoke,
		"TestRegression": h.suite().Regression} {
		f := play(t, name, suite, none)
		require.Len(t, f.complaints(), 1, name)
		require.Contains(t, f.complaints()[0], "INVALID: nothing was selected", name)
	}
	f := play(t, "TestRegression", h.suite().Regression, func(f *fake) {
		f.choose = func(path string) bool { return path == "TestRegression/demo" }
	})
	require.Contains(t, f.complaints()[0], "INVALID: nothing was selected",
		"of a project no auditor")

	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	s := New(Options{Flags: flags, Shipped: os.DirFS("../.."), Out: t.TempDir()})
	require.NoError(t, flags.Parse([]string{"-filter", "nothing-like-this"}))
	t.Setenv("ASSAY_ROOT", "")
	f = play(t, "TestVerify", s.Verify)
	require.Len(t, f.complaints(), 1)
	require.Contains(t, f.complaints()[0], "INVALID: nothing was selected")
}

// TestASubtestOfNothingIsInvalid: whoever names a subtest asks for it, and a folder that
// holds nothing for its suite has none.
func TestASubtestOfNothingIsInvalid(t *testing.T) {
	for _, run := range []string{"", "Regression", "Regression/nosuch"} {
		h := newHouse(t)
		flags := flag.NewFlagSet("test", flag.ContinueOnError)
		flags.String("test.run", run, "")
		s := New(Options{Flags: flags, Shipped: os.DirFS(h.dir), Dir: t.TempDir()})
		f := play(t, "TestRegression", s.Regression)
		if run == "Regression/nosuch" {
			require.Len(t, f.complaints(), 1)
			require.Contains(t, f.complaints()[0], "INVALID: Regression: ")
			require.Contains(t, f.complaints()[0],
				" has no fixtures/projects or fixtures/planted or fixtures/fixes: nothing to measure, and -run names a subtest")
			continue
		}
		require.Empty(t, f.complaints())
		require.True(t, f.Skipped())
	}
}

// TestTheStampOfALiveRun lies among what else a run leaves in the folder of one's own, and
// is written where go test caches results alone.
func TestTheStampOfALiveRun(t *testing.T) {
	t.Chdir(t.TempDir())
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	log := flags.String("test.testlogfile", "", "")
	s := New(Options{Flags: flags})
	for dir, stamp := range map[string]string{"testdata/assay": "testdata/assay/artifacts/uncached",
		t.TempDir(): "artifacts/uncached"} {
		*log = ""
		require.NoError(t, s.uncached(&env{root: &root{Dir: dir}}))
		require.NoFileExists(t, stamp)
		*log = "log"
		require.NoError(t, s.uncached(&env{root: &root{Dir: dir}}))
		info, err := os.Stat(stamp)
		require.NoError(t, err)
		require.True(t, info.ModTime().After(time.Now()))
	}
}

// TestNoTemporaryFolder is a mistake in the environment, told before anything runs.
func TestNoTemporaryFolder(t *testing.T) {
	h := newHouse(t)
	for _, name := range []string{"TMPDIR", "TMP", "TEMP", "USERPROFILE"} {
		t.Setenv(name, filepath.Join(h.dir, "none"))
	}
	require.Equal(t, 2, h.suite().Main(neverRun{t}))
}
