package suite

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"assay/internal/postgres"
	"assay/internal/proof"
)

// TestALedgerThatIsForgedOrStaleFails: an entry whose effects nobody saw, and one
// of another content, do not stand in for a proof.
func TestALedgerThatIsForgedOrStaleFails(t *testing.T) {
	if _, err := postgres.BinDir(); errors.Is(err, postgres.ErrMissing) && os.Getenv("ASSAY_CHECK") == "" {
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
			s := New(Options{Flags: flags, Own: Overlay{fstest.MapFS{proof.LedgerFile: {Data: []byte(ledger)}}, os.DirFS("../..")}, Out: t.TempDir()})
			require.NoError(t, flags.Parse([]string{"-filter", "clinic/lab-trend"}))
			f := play(t, "TestVerify", s.Verify)
			require.Equal(t, tt.want != "", f.Failed(), f.complaints())
			require.Contains(t, strings.Join(f.complaints(), "\n"), tt.want)
		})
	}
}

// A folder of one's own with planted projects and without cases has something to prove.
func TestPlantedProjectsAloneAreVerified(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, plantedDir, "mini"), 0o755))
	t.Setenv("ASSAY_ROOT", root)
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	s := New(Options{Flags: flags, Own: os.DirFS("../.."), Out: t.TempDir()})
	f := play(t, "TestVerify", s.Verify)
	require.True(t, f.Failed())
	require.Contains(t, strings.Join(f.complaints(), "\n"), "fixtures/planted/mini/project.md")
}
