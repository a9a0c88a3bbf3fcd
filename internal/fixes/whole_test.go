package fixes_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/internal/fixes"
)

// The auditor of this test: it knows three strings. One is gone where it is mended (told
// apart), one stays (blind), and one is not in the key.
const auditors = `# Auditors

## agent

| Field | Value |
|---|---|
| Kind | agent |
| Format | json |
| Cost | 0 |
| Files | agent/* |

` + "```sh" + `
cat "$ASSAY_FILES/agent/report.json"
` + "```" + `

## grep

| Field | Value |
|---|---|
| Kind | tool |
| Format | json |

` + "```sh" + `
sep=; printf '['
report() { # pattern, file, CWE
  line=$(grep -n -m1 -F "$1" "$2" 2>/dev/null | cut -d: -f1)
  [ -z "$line" ] || { printf '%s{"file":"%s","line":%s,"cwe":"%s","severity":"HIGH","title":"x"}' "$sep" "$2" "$line" "$3"; sep=,; }
}
report "where name = '" users.py CWE-89
report "def admin(request)" users.py CWE-306
report "class Basket" orders.js CWE-79
[ -z "$ASSAY_DIFF" ] || ! grep -q '^+.*apply(code' "$ASSAY_DIFF" || report "func apply" coupon.go CWE-639
printf ']'
` + "```" + `
`

// TestTheWholeWay goes from a repository to a gate: find, add, show, lint, and Regression on
// the pool and on a change.
func TestTheWholeWay(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the command and the suites")
	}
	s := theShop(t)
	bin := filepath.Join(t.TempDir(), "assay")
	out, err := exec.Command("go", "build", "-o", bin, "assay/cmd/assay").CombinedOutput()
	require.NoError(t, err, "%s", out)
	root := t.TempDir()
	status := 0
	run := func(name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "ASSAY_ROOT="+root,
			"ASSAY_CACHE="+filepath.Join(root, "cache"))
		if name == "go" {
			cmd.Dir = filepath.Join("..", "..")
		}
		out, _ := cmd.CombinedOutput()
		require.Equal(t, status, cmd.ProcessState.ExitCode(), "%s %v\n%s", name, args, out)
		return string(out)
	}
	s.git("clone", "-q", s.dir, filepath.Join(root, "repository"))
	found := run(bin, "fixes", "find", "repository", "--since", "2026-01-01")
	require.Contains(t, found, s.commits["query"]+"\tCWE-89\t")
	require.NoError(t, os.WriteFile(filepath.Join(root, "fixes.tsv"),
		[]byte(s.tsv(entries)), 0o644))
	added := run(bin, "fixes", "add", "shop", "fixes.tsv", "--repository", "repository")
	require.Contains(t, added,
		"fixtures/fixes/shop.md: 12 fixes: 11 in the pool, 1 with the change that brought the flaw, 1 without a clean twin, 0 unread\n")
	require.Contains(t, added, "each tree of the pool: 6 files of code, about ")
	shown := run(bin, "fixes", "show", "shop", "F02")
	for _, want := range []string{"F02 ", "  1. users.py:find:6\n", "users.py:find:6  place\n",
		"dropped: outside of functions"} {
		require.Contains(t, shown, want)
	}
	lint := run(bin, "lint")
	require.Contains(t, lint, "advice: fixtures/fixes/shop.md:13: F01 mended again by ")
	require.Contains(t, lint,
		"F03: the pool names GHSA-2222-3333-4444 in README.md: choose another pin, or leave the entry out")
	require.Contains(t, run(bin, "plan", "--filter", "shop"),
		"2 projects, 21 vulnerabilities; a trial of all of them: ")
	require.Contains(t, run(bin, "plan", "--filter", "shop", "--view", "change"),
		"2 projects, 2 vulnerabilities; a trial of all of them: ")

	require.NoError(t, os.WriteFile(filepath.Join(root, "fixtures", "auditors.md"),
		[]byte(auditors), 0o644))
	suite := func(args ...string) string {
		out := run("go",
			append([]string{"test", "-count=1", "-v", "-run", "Regression", ".", "-args"},
				args...)...)
		return strings.Join(strings.Fields(out), " ")
	}
	pool := suite("-auditor", "grep", "-filter", "shop")
	require.Contains(t, pool, "told apart 1 of 10 (10 %, ")
	require.Contains(t, pool, "found 2, also where mended 1; reversed 0, missed 8")
	require.Contains(t, pool, "findings that match no fix: 2 in 2 trials, nobody knows")
	require.NotContains(t, pool, "in added lines")
	require.Contains(t, pool, "F11: its place is another one at the pin")
	change := suite("-auditor", "grep", "-view", "change", "-filter", "shop")
	require.Contains(t, change, "told apart 1 of 1 (100 %, ")
	require.NotContains(t, change, "shop.F02")
	require.Contains(t, change, "grep shop.F10.mended 1 100.0 %")
	require.Contains(t, change, "in added lines 0")

	// A drop through the gate: the agent knows nine entries, then none.
	table, _, err := fixes.Read(os.DirFS(root), fixes.Dir+"/shop.md")
	require.NoError(t, err)
	var known []string
	for _, f := range table.Fixes[:10] {
		if p := f.Places[fixes.AtPin]; len(p) > 0 && f.ID != "F02" {
			known = append(known,
				fmt.Sprintf(`{"file":%q,"line":%d,"cwe":%q,"severity":"HIGH","title":"x"}`,
					p[0].File, p[0].Lines.Start, f.CWEs[0]))
		}
	}
	report := func(findings ...string) {
		require.NoError(t, os.MkdirAll(filepath.Join(root, "agent"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, "agent", "report.json"),
			[]byte("["+strings.Join(findings, ",")+"]"), 0o644))
	}
	report(known...)
	suite("-auditor", "agent", "-filter", "shop", "-trials", "3")
	run(bin, "baseline", "agent")
	report()
	status = 1
	drop := suite("-auditor", "agent", "-filter", "shop", "-trials", "3")
	require.Regexp(t, `FAIL: recall \S+ %, was \S+ %: (shop fell from|\d+ points less)`, drop)

	// A fix that is found later enters the table: what was reported before it was right.
	status = 0
	require.NoError(t, os.RemoveAll(filepath.Join(root, "fixtures", "baselines")))
	report(`{"file":"pay.go","line":18,"cwe":"CWE-20","severity":"HIGH","title":"x"}`)
	suite("-auditor", "agent", "-filter", "shop")
	records, err := filepath.Glob(filepath.Join(root, "records", "*-shop-agent.json"))
	require.NoError(t, err)
	clone := filepath.Join(root, "repository")
	text, err := os.ReadFile(filepath.Join(clone, "pay.go"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(clone, "pay.go"),
		[]byte(strings.Replace(string(text), "+= amount", "+= max(amount, 0)", 1)), 0o644))
	in := &shop{t: t, dir: clone, minutes: s.minutes,
		when: time.Now().AddDate(0, 0, 2).Format(time.DateOnly), commits: map[string]string{}}
	in.git("commit", "-qam", "Refund no negative amounts")
	require.NoError(t, os.WriteFile(filepath.Join(root, "later.tsv"),
		[]byte("commit\tcwe\n"+in.git("rev-parse", "HEAD")+"\tCWE-20\n"), 0o644))
	run(bin, "fixes", "add", "shop", "later.tsv", "--repository", "repository")
	again := run(bin, "score", records[len(records)-1])
	require.Contains(t, again, "F13 was reported ahead of the fix")
}
