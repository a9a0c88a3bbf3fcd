package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/internal/suite"
)

func TestLintTakesAbsoluteFolders(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "tests/my-app"), 0o755))
	dirs, err := below(root, []string{"tests/my-app/", filepath.Join(root, "tests/my-app")})
	require.NoError(t, err)
	require.Equal(t, []string{"tests/my-app", "tests/my-app"}, dirs)
	_, err = below(root, []string{filepath.Dir(root)})
	require.ErrorContains(t, err, "lies outside of "+root)
	_, err = below(root, []string{"../tests/my-app"})
	require.ErrorContains(t, err, "../tests/my-app lies outside of "+root)
	require.ErrorContains(t,
		(&lintCmd{Root: root, Dirs: []string{filepath.Join(root, "tests/my-app")}}).Run(io.Discard),
		"tests/my-app: holds no case")
}

// TestLintHasTwoLevels: a corpus in the plain format passes with advice, which
// --strict makes errors; what cannot be run fails on both.
func TestLintHasTwoLevels(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	lint := func(strict bool, dirs ...string) (string, error) {
		var out bytes.Buffer
		err := (&lintCmd{Root: root, Strict: strict, Dirs: dirs}).Run(&out)
		return out.String(), err
	}
	out, err := lint(false)
	require.ErrorContains(t, err, "holds neither tests/ nor fixtures/: expected")

	write("tests/shop/SPEC.md", "# Prompt\n\nA shop.\n\n## Rules\n\n1. Be good.\n")
	write("tests/shop/list-01-bad.md",
		"# Description\n\nx\n\n# Code\n\n```sql\nSELECT 1\n```\n\n# Expected\n\nbad\n")
	const advice = "tests/shop/list-01-bad.md:7: a bad case without the section \"# Violates\": expected"
	for _, dirs := range [][]string{nil, {"tests/shop"}} {
		out, err = lint(false, dirs...)
		require.NoError(t, err)
		require.Contains(t, out, "advice: "+advice)
		_, err = lint(true, dirs...)
		require.ErrorContains(t, err, advice)
	}
	require.Contains(t, out, "tests/shop: 1 families, 1 requirements: it can be run; advice: 3")

	// two pieces of advice each
	for _, n := range []string{"11", "12", "13", "14", "15", "16", "17", "18", "19", "20"} {
		write("tests/shop/list-"+n+"-bad.md", "# Description\n\nx\n\n# Code\n\n```\nSELECT "+n+
			"\n```\n\n# Expected\n\nbad\n")
	}
	out, err = lint(false)
	require.NoError(t, err)
	require.Equal(t, 3, strings.Count(out, "\n"), "summed up: %s", out)
	require.Contains(t, out, `bad cases without "# Violates" (11 of 11)`)
	require.Contains(t, out, "(assay lint tests/<app> lists 9 more pieces of advice)")
	out, err = lint(false, "tests/shop")
	require.NoError(t, err)
	require.Equal(t, 24, strings.Count(out, "\n"), "told in full: %s", out)

	write("tests/shop/list-01-bad.md", "# Description\n\nx\n\n# Expected\n\nbad\n")
	_, err = lint(false)
	require.ErrorContains(t, err, `tests/shop/list-01-bad.md:7: the section "# Code" is missing`)
}

// TestLintNamesAnUnknownProvider: before a run would, with the line.
func TestLintNamesAnUnknownProvider(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "fixtures"), 0o755))
	models := "# Models\n\n| Name | Provider | ID | In | Out | Date |\n|---|---|---|---|---|---|\n| a | ollama | a | | | 2026-11-22 |\n| b | azure | b | 1 | 2 | 2026-11-22 |\n"
	require.NoError(t, os.WriteFile(filepath.Join(root, "fixtures/models.md"),
		[]byte(models), 0o600))
	err := (&lintCmd{Root: root}).Run(io.Discard)
	require.EqualError(t, err,
		`fixtures/models.md:6: the provider is "azure": expected openrouter, openai, anthropic, google, ollama or own, which is the server that ASSAY_BASE_URL names (docs/auditors.md)`)
}

// TestLintRefusesWhatTriggerRefuses: a pattern that matches nothing is told before a
// change asks for its suite, and of standard input nothing is said then.
func TestLintRefusesWhatTriggerRefuses(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "fixtures"), 0o755))
	triggers := "# Triggers\n\n| Change | Suite | Why |\n|---|---|---|\n| `docs/**` | none | x |\n| `src/[a` | full | x |\n"
	require.NoError(t, os.WriteFile(filepath.Join(root, "fixtures/triggers.md"),
		[]byte(triggers), 0o600))
	const refused = `fixtures/triggers.md:6: "src/[a" is not a pattern of paths`
	require.EqualError(t, (&lintCmd{Root: root}).Run(io.Discard), refused)
	_, _, err := ask(t, "src/a.go\n", "--root="+root)
	require.EqualError(t, err, refused)
}

// TestNoSuchProjectIsSaid alike by every command that takes one.
func TestNoSuchProjectIsSaid(t *testing.T) {
	s := newShell(t)
	require.NoError(t, os.Mkdir(filepath.Join(s.dir, "fixtures"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "key.csv"), nil, 0o600))
	for _, args := range [][]string{{"new", "project", "NOPE", "--again"}, {"fetch", "NOPE"},
		{"fetch", "NOPE", "--functions"}, {"import", "NOPE", "key.csv"}, {"triage", "NOPE"}} {
		_, errs, status := s.run("", args...)
		require.Equal(t, 1, status, args)
		require.Contains(t, errs,
			`there is no project "NOPE" in fixtures/projects or fixtures/planted`, args)
	}
}

// TestPlantedProjectsHaveNoPage: new project and import say so of one that is there.
func TestPlantedProjectsHaveNoPage(t *testing.T) {
	fsys, err := suite.Checkout("../..")
	require.NoError(t, err)
	_, err = suite.Page(fsys, "marina")
	require.ErrorContains(t, err, "marina is planted: ")
}

// TestEmptyVariablesAreNone: go test takes them so, and workflows leave them behind.
func TestEmptyVariablesAreNone(t *testing.T) {
	s := newShell(t)
	require.NoError(t, os.Mkdir(filepath.Join(s.dir, "fixtures"), 0o755))
	for _, name := range []string{"ASSAY_ROOT", "ASSAY_MODEL", "ASSAY_TRIALS", "ASSAY_CONCURRENCY",
		"ASSAY_FORCE", "ASSAY_DB"} {
		t.Setenv(name, "")
	}
	_, errs, _ := s.run("", "new", "project", "NOPE", "--again")
	require.Contains(t, errs, "there is no project")
	_, errs, _ = s.run("", "enqueue")
	require.Contains(t, errs, "ASSAY_DB is not set")
}

// TestWorkersTakeNumbersAsGoTestDoes: one that stands for nothing is a mistake, and not 1 or
// the default.
func TestWorkersTakeNumbersAsGoTestDoes(t *testing.T) {
	s := newShell(t)
	for _, line := range []string{"enqueue --trials=-4", "enqueue --concurrency=0",
		"work --concurrency=-3", "work --audits=-1", "work --grace=-1s"} {
		words := strings.Fields(line)
		flag, value, _ := strings.Cut(words[1], "=")
		_, errs, code := s.run("", words...)
		require.NotZero(t, code, line)
		require.Contains(t, errs, flag+" is "+value+": expected at least", line)
	}
}

// TestCommandsReadDotEnv: what .env says the commands take as go test does. The
// environment wins, a file that cannot be read is told, and a folder is none.
func TestCommandsReadDotEnv(t *testing.T) {
	s := newShell(t)
	mine, others := t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(mine, "fixtures"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(mine, "fixtures/goals.md"),
		[]byte(started("goals.md")), 0o600))
	lint := func(dotenv string, env ...string) string {
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, ".env"), []byte(dotenv), 0o600))
		cmd := exec.Command(s.bin, "lint")
		cmd.Dir, cmd.Env = s.dir, append(env, "HOME="+s.dir)
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	require.Empty(t, lint("ASSAY_ROOT="+mine))
	require.Contains(t, lint("ASSAY_ROOT="+mine, "ASSAY_ROOT="+others),
		others+": holds neither tests/ nor fixtures/")
	require.NoError(t, os.WriteFile(filepath.Join(mine, ".env"),
		[]byte("ASSAY_DB="+others+"/results.db\n"), 0o600))
	// that of the root too, as go test reads it
	for _, args := range [][]string{{"report", "--root=" + mine}, {"report"}} {
		cmd := exec.Command(s.bin, args...)
		cmd.Dir, cmd.Env = s.dir, []string{"HOME=" + s.dir, "ASSAY_ROOT=" + mine}
		out, _ := cmd.CombinedOutput()
		require.Contains(t, string(out), "no results in "+others+"/results.db")
	}
	_ = lint("ASSAY ROOT\n") // of a stranger's project that is scanned, it may be
	_, errs, status := s.run("", "lint", "--root="+mine)
	require.Zero(t, status)
	require.Contains(t, errs, ".env: ")
	_, errs, _ = s.run("", "lint")
	require.Equal(t, 1, strings.Count(errs, ".env: "), errs)
	require.NoError(t, os.Remove(filepath.Join(s.dir, ".env")))
	// where Python's tools may live
	require.NoError(t, os.Mkdir(filepath.Join(s.dir, ".env"), 0o755))
	_, errs, _ = s.run("", "lint", "--root="+mine)
	require.Empty(t, errs)
}

// TestLintReadsWhatIsNamed: a table as the table that it is, a planted project by its
// folder; and with nothing named all of them.
func TestLintReadsWhatIsNamed(t *testing.T) {
	lint := func(root string, names ...string) (string, error) {
		var out bytes.Buffer
		err := (&lintCmd{Root: root, Dirs: names}).Run(&out)
		return out.String(), err
	}
	out, err := lint("../..", "fixtures/goals.md", "fixtures/models.md", "fixtures/planted/club")
	require.NoError(t, err)
	require.Regexp(t, `^club, seed 1: \d+ known vulnerabilities, \d+ decoys, \d+ files\n$`, out)
	_, err = lint("../..", "fixtures/planted/nope")
	require.EqualError(t, err,
		`fixtures/planted/nope: no planted project: expected a folder with a project.md`)

	out, err = lint("../..", "tests")
	require.NoError(t, err)
	require.Regexp(t, `^tests: applications \d+, cases \d+\n$`, out)
	out, err = lint("../..", "fixtures/projects", "tests/boxoffice/edit-event-01-good.md")
	require.NoError(t, err)
	require.Regexp(t, `(?s)^damn-vulnerable-graphql-application: .*\ntests/boxoffice: `, out)
	_, err = lint("../..", "tests/boxoffice/nope-01-good.md")
	require.ErrorContains(t, err, "tests/boxoffice/nope-01-good.md: cannot be read")

	root := t.TempDir()
	_, err = lint(root, "fixtures/projects")
	require.ErrorContains(t, err, "no such file")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "fixtures/planted"), 0o755))
	_, err = lint(root)
	require.ErrorContains(t, err, "nothing to check in fixtures: expected cases below tests/")
	require.NoError(t, os.Mkdir(filepath.Join(root, "fixtures/planted/shop"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "fixtures/planted/shop/project.md"),
		[]byte("# Shop\n"), 0o600))
	_, named := lint(root, "fixtures/planted/shop")
	require.ErrorContains(t, named, "fixtures/planted/shop/project.md:1: ")
	for _, names := range [][]string{nil, {"."}, {"fixtures"}, {"fixtures/planted"}} {
		_, all := lint(root, names...)
		require.EqualError(t, all, named.Error())
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "fixtures/dimensions.md"),
		[]byte("# Nothing\n"), 0o600))
	_, err = lint(root, "fixtures/dimensions.md")
	require.ErrorContains(t, err, "fixtures/dimensions.md: no line for Injection")
	require.NoError(t, os.WriteFile(filepath.Join(root, "fixtures/smoke.md"),
		[]byte("# Nothing\n"), 0o600))
	_, err = lint(root)
	require.ErrorContains(t, err,
		`fixtures/smoke.md:1: the section "# Known Vulnerabilities" is missing`)
}
