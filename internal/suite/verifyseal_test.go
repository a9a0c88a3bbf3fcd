package suite

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"assay/audit/fixture"
	"assay/internal/proof"
)

// answersShow is a root with one project of sixty handlers, thirty of them with an
// entry, and a clone of it: what marks these thirty is a call of grade_book.
func answersShow(t *testing.T) (root, mirror string) {
	root, mirror = t.TempDir(), t.TempDir()
	clone := filepath.Join(mirror, "owner", "demo")
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", clone, "-c", "user.name=a", "-c", "user.email=a@b.example"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return strings.TrimSpace(string(out))
	}
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	write(filepath.Join(clone, "grades.py"), "grade_book = []\n\n\n")
	var key, tree strings.Builder
	for i := range 60 {
		name := fmt.Sprintf("part%02d.py", i)
		last := "    pass_on(value)\n"
		if i%2 == 0 {
			last = "    grade_book.append(value)\n"
			fmt.Fprintf(&key, "| K-%d | Injection | CWE-89 | HIGH | %s | | 2-3 | | flaw | `value` reaches it | |\n", i, name)
		}
		write(filepath.Join(clone, name), "def show(request):\n    value = request.q\n    run(value)\n"+last)
	}
	git("init", "--quiet")
	git("add", ".")
	git("commit", "--quiet", "-m", "one")
	for _, l := range strings.Split(git("ls-tree", "-r", "HEAD"), "\n") {
		f := strings.Fields(l)
		lines := 4
		if f[3] == "grades.py" {
			lines = 3
		}
		fmt.Fprintf(&tree, "%s\t%d\t%s\n", f[3], lines, f[2])
	}
	for name, text := range plainCorpus {
		write(filepath.Join(root, name), text)
	}
	write(filepath.Join(root, "fixtures/projects/demo.tree.tsv"), "path\tlines\tblob\n"+tree.String())
	write(filepath.Join(root, "fixtures/projects/demo.md"), "# Demo\n\n| Field | Value |\n|---|---|\n| Repository | https://git.example/owner/demo |\n| Commit | "+git("rev-parse", "HEAD")+" |\n| Language | Python |\n| Licence | MIT |\n| Expected findings | 2 |\n\n# Known Vulnerabilities\n\n| ID | Dimension | CWE | Severity | File | Function | Lines | Also | Title | Evidence | Corroborated by |\n|---|---|---|---|---|---|---|---|---|---|---|\n"+key.String()+"\n# Sealed Export\n\nNothing.\n")
	return root, mirror
}

// TestVerifyFindsWhatASealLeaves: a name that tells where entries lie is red and
// named, and has no place in the ledger but as an exception with its reason, which
// every run tells; renamed, it is measured once, and known from the ledger where the
// source is not at hand.
func TestVerifyFindsWhatASealLeaves(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	root, mirror := answersShow(t)
	t.Setenv("ASSAY_ROOT", root)
	t.Setenv("ASSAY_CACHE", t.TempDir())
	t.Setenv("ASSAY_MIRROR", mirror)
	verify := func(mode string) (f *fake, notes string) {
		t.Setenv("ASSAY_PROOF", mode)
		flags := flag.NewFlagSet("test", flag.ContinueOnError)
		s := New(Options{Flags: flags, Own: os.DirFS("../.."), Out: t.TempDir()})
		require.NoError(t, flags.Parse([]string{"-filter", "demo"}))
		f = play(t, "TestVerify", s.Verify)
		return f, strings.Join(s.summary.notes, "\n")
	}
	file := filepath.Join(root, proof.LedgerFile)
	ledger := func() string {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(b)
	}
	red := "demo.md:1: the sealed export tells where entries lie (3 names, p 0.0004, expected p 0.01 or more), the most by grade_book in "
	for _, mode := range []string{"", "update"} {
		f, _ := verify(mode)
		require.Contains(t, strings.Join(f.complaints(), "\n"), red)
	}
	require.NotContains(t, ledger(), "sealed/demo")

	require.NoError(t, os.WriteFile(file, []byte(ledger()+"sealed/demo\t-\t-\t-\tgrades are what it is about\n"), 0o644))
	for _, mode := range []string{"update", "all", ""} {
		f, notes := verify(mode)
		require.Empty(t, f.complaints(), "an exception with a reason")
		require.Contains(t, notes, "the sealed export of demo tells where entries lie (3 names, p 0.0004, the most by grade_book in ")
		require.Contains(t, notes, ": grades are what it is about")
	}
	excepted := ledger()
	require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(excepted, "\tgrades are what it is about", "")), 0o644))
	f, _ := verify("")
	require.Contains(t, strings.Join(f.complaints(), "\n"), red, "the ledger alone passes nothing red")
	require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(excepted, "p 0.0004", "p 0.4000")), 0o644))
	f, _ = verify("")
	require.Contains(t, strings.Join(f.complaints(), "\n"), "sealed/demo is an exception, and nothing is wrong with it")

	key := filepath.Join(root, "fixtures/projects/demo.md")
	text, err := os.ReadFile(key)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(key, append(text, "\n| Rename | To |\n|---|---|\n| grade_book | noted |\n"...), 0o644))
	f, notes := verify("update")
	require.Empty(t, f.complaints())
	require.NotContains(t, notes, "grades are")
	require.Contains(t, ledger(), "sealed/demo\t")
	require.NotContains(t, ledger(), "grades are")

	t.Setenv("ASSAY_MIRROR", "")
	t.Setenv("ASSAY_CACHE", t.TempDir())
	f, _ = verify("")
	require.Empty(t, f.complaints())
	require.Contains(t, strings.Join(f.logs, "\n"), "0 families proven now, 1 proven before")
}

// TestASealOfAnotherKeyIsStale: in our own corpus a key or seal that nobody
// measured is an error, and it says how to measure.
func TestASealOfAnotherKeyIsStale(t *testing.T) {
	t.Setenv("ASSAY_ROOT", "")
	t.Setenv("ASSAY_PROOF", "")
	t.Setenv("ASSAY_MIRROR", "")
	t.Setenv("ASSAY_CACHE", t.TempDir())
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	ledger := "family\tcontent\truntime\teffects\nsealed/dvja\t00\t32 names, p 0.500\tnone\n"
	s := New(Options{Flags: flags, Own: Overlay{fstest.MapFS{proof.LedgerFile: {Data: []byte(ledger)}}, os.DirFS("../..")}, Out: t.TempDir()})
	require.NoError(t, flags.Parse([]string{"-filter", "dvja"}))
	f := play(t, "TestVerify", s.Verify)
	require.Contains(t, strings.Join(f.complaints(), "\n"), "dvja.md:1: its names were not held against this key and this sealed export, and the source of dataease is not here")
}

// TestAnExportThatFailsIsNone: what kept the exports of all projects from being made
// keeps each project from being measured.
func TestAnExportThatFailsIsNone(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	root, mirror := answersShow(t)
	t.Setenv("ASSAY_CACHE", t.TempDir())
	t.Setenv("ASSAY_MIRROR", mirror)
	p, err := fixture.ReadProject(os.DirFS(root), "fixtures/projects/demo.md")
	require.NoError(t, err)
	x := newSealing(os.DirFS(root), t.TempDir(), p)
	require.NoError(t, os.WriteFile(filepath.Join(x.dir, p.Name), nil, 0o644)) // where the export would go
	for range 2 {
		_, err = x.open()
		require.Error(t, err)
	}
}
