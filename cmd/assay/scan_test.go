package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit/findings"
)

// TestScanEndsAsItFound: findings end the program with 1, a clean folder with 0, and
// one without anything to read is an error that says what was expected.
func TestScanEndsAsItFound(t *testing.T) {
	dir := t.TempDir()
	scan := func(format string) error {
		return (&scanCmd{Dir: dir, Format: format}).Run(context.Background())
	}
	require.ErrorContains(t, scan("text"), dir+": there is no file that the analyser reads: expected Java,")
	page, unread := filepath.Join(dir, "page.php"), filepath.Join(dir, "utf16.py")
	require.NoError(t, os.WriteFile(unread, []byte("\xff\xfei\x00m\x00"), 0o600))
	for _, format := range []string{"text", "sarif"} {
		require.EqualError(t, scan(format), dir+": none of its 1 files could be analysed, and nothing is known of them")
	}
	require.NoError(t, os.WriteFile(page, []byte("<?php\necho 1;\n"), 0o600))
	require.NoError(t, scan("text"))
	require.NoError(t, os.WriteFile(page, []byte("<?php\necho $_GET['q'];\n"), 0o600))
	for _, format := range []string{"text", "sarif"} {
		require.Equal(t, status(1), scan(format), format)
	}
}

// TestScanOfNothingIsAFailedRun in SARIF, too: who waits for the file gets one, and none that
// looks clean.
func TestScanOfNothingIsAFailedRun(t *testing.T) {
	s := newShell(t)
	failed := func(why string) {
		log := s.fails(why, "scan", ".", "--format=sarif")
		rep, err := findings.Read("scan.sarif", strings.NewReader(log), findings.Options{})
		require.NoError(t, err)
		require.Equal(t, "static", rep.Tool)
		require.Empty(t, rep.Findings)
		require.NotEmpty(t, rep.Failed)
		require.Contains(t, log, why)
	}
	failed("there is no file that the analyser reads")
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "utf16.py"), []byte("\xff\xfei\x00m\x00"), 0o600))
	failed("none of its 1 files could be analysed")
	require.Empty(t, s.fails("none of its 1 files", "scan", "."))
}

func TestAnInterruptedScanSaysWhatIsNotRead(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "page.php"), []byte("<?php\necho 1;\n"), 0o600))
	ctx, interrupt := context.WithCancel(context.Background())
	interrupt()
	require.EqualError(t, (&scanCmd{Dir: dir, Format: "text"}).Run(ctx), dir+" was not read to its end, and nothing is written of it: context canceled")
}

// TestReadingsAreDated by a day, which what reads the recording can tell from another.
func TestReadingsAreDated(t *testing.T) {
	c := &keepCmd{Reader: "me", Date: "yesterday", Root: t.TempDir()}
	require.EqualError(t, c.Run(), `--date is "yesterday": expected a day like 2026-11-23`)
	c.Date = "2026-11-23"
	require.NotContains(t, c.Run().Error(), "--date")
}
