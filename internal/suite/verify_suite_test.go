package suite

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"assay/internal/box"
	"assay/internal/postgres"
	"assay/internal/proof"
)

// TestALedgerThatIsForgedOrStaleFails: an entry whose effects nobody saw, and one
// of another content, do not stand in for a proof.
func TestALedgerThatIsForgedOrStaleFails(t *testing.T) {
	if _, err := postgres.BinDir(); errors.Is(err, postgres.ErrMissing) &&
		os.Getenv("ASSAY_CHECK") == "" {
		t.Skip(err)
	}
	t.Setenv("ASSAY_ROOT", "")
	t.Setenv("ASSAY_PROOF", "all")
	whole, err := os.ReadFile("../../" + proof.LedgerFile)
	require.NoError(t, err)
	for _, tt := range []struct{ name, entry, to, want string }{
		{"as it is", `$^`, "", ""},
		{"forged", `(?m)^(clinic/lab-trend\t.*\t)[0-9a-f]+$`, "${1}00", "the entry is forged"},
		{"stale", `(?m)^(clinic/lab-trend\t)[0-9a-f]+`, "${1}00", "holds another content or none"},
		{"cut", `(?s)^(.{80}).*$`, "$1", "columns: expected family"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ledger := regexp.MustCompile(tt.entry).ReplaceAllString(string(whole), tt.to)
			flags := flag.NewFlagSet("test", flag.ContinueOnError)
			s := New(Options{Flags: flags,
				Shipped: Overlay{fstest.MapFS{proof.LedgerFile: {Data: []byte(ledger)}},
					os.DirFS("../..")}, Out: t.TempDir()})
			require.NoError(t, flags.Parse([]string{"-filter", "clinic/lab-trend"}))
			f := play(t, "TestVerify", s.Verify)
			require.Equal(t, tt.want != "", f.Failed(), f.complaints())
			require.Contains(t, strings.Join(f.complaints(), "\n"), tt.want)
		})
	}
}

// TestVerifyOfAForeignRoot: a harness runs in the sandbox, where it reads no key and writes
// nothing; what has no place there is refused where the sandbox is required, and told otherwise.
func TestVerifyOfAForeignRoot(t *testing.T) {
	if missing := box.Missing(); missing != "" {
		t.Skip(missing)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	canary := filepath.Join(t.TempDir(), "canary")
	require.NoError(t, os.WriteFile(canary, []byte("secret"), 0o644))
	const harness = `import json, os, sys
try:
    seen = open(%q).read()
except OSError:
    seen = "kept out"
try:
    open(%q, "w")
    seen = "written"
except OSError:
    pass
for line in sys.stdin:
    print(json.dumps({"error": "harness: " + seen}))
`
	root := t.TempDir()
	write := func(name, text string) {
		file := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	const spec = "# Prompt\n\n## Security Requirements\n\n1. Own rows alone.\n"
	const described = "# Description\n\nx\n\n# Parameters\n\n```json\n{\"a\": 1, \"_set\": \"benign\"}\n{\"a\": 2, \"_set\": \"attack\"}\n```\n"
	for _, label := range []string{"01-good", "02-bad"} {
		text := "# Description\n\nx\n\n# Code\n\n```python\nx = \"" + label +
			"\"\n```\n\n# Expected\n\n" + label[3:] + "\n"
		write("tests/notes/read-"+label+".md", text)
		write("tests/rows/read-"+label+".md", text)
	}
	write("tests/notes/SPEC.md", spec)
	write("tests/notes/read.md", described)
	write("tests/notes/harness.py", fmt.Sprintf(harness, canary, canary+".new"))
	write("tests/rows/SPEC.md", spec)
	write("tests/rows/read.md", described)
	write("tests/rows/data.sql", "COPY (SELECT 1) TO PROGRAM 'touch "+canary+".new';")
	t.Setenv("ASSAY_ROOT", root)
	t.Setenv("ASSAY_SANDBOX", "require")
	t.Setenv("ASSAY_PG_URL", "postgres://nobody@127.0.0.1:1/x")
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	s := New(Options{Flags: flags, Shipped: os.DirFS("../.."), Out: t.TempDir()})
	f := play(t, "TestVerify", s.Verify)
	told := strings.Join(f.complaints(), "\n")
	require.Contains(t, told, "tests/rows/data.sql: is not proven, as ASSAY_SANDBOX=require")
	require.Contains(t, told, "harness: kept out")
	require.NotContains(t, told, "secret")
	require.NoFileExists(t, canary+".new")
}

// A folder of one's own with planted projects and without cases has something to prove.
func TestPlantedProjectsAloneAreVerified(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, plantedDir, "mini"), 0o755))
	t.Setenv("ASSAY_ROOT", root)
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	s := New(Options{Flags: flags, Shipped: os.DirFS("../.."), Out: t.TempDir()})
	f := play(t, "TestVerify", s.Verify)
	require.True(t, f.Failed())
	require.Contains(t, strings.Join(f.complaints(), "\n"), "fixtures/planted/mini/project.md")
}
