package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
)

// ask runs assay trigger as its command line is typed.
func ask(t *testing.T, stdin string, args ...string) (out, why string, err error) {
	t.Helper()
	var c cli
	p, err := kong.New(&c)
	require.NoError(t, err)
	_, err = p.Parse(dashes(append([]string{"trigger"}, args...)))
	require.NoError(t, err)
	var o, w strings.Builder
	err = c.Trigger.answer(strings.NewReader(stdin), &o, &w,
		time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC))
	return o.String(), w.String(), err
}

func TestTrigger(t *testing.T) {
	root := "--root=../.."
	out, why, err := ask(t, "README.md\naudit/score/match.go\n", root)
	require.NoError(t, err)
	require.Equal(t, "full\n", out)
	require.Regexp(t,
		`^fixtures/triggers\.md:\d+: audit/\*\* needs full: .* \(audit/score/match\.go\)\n$`, why)

	out, why, err = ask(t, "README.md\ncmd/assay/main.go\n", root, "-explain", "-exit-code")
	require.Equal(t, status(10), err)
	require.Equal(t, "smoke\n", out)
	require.Equal(t, 2, strings.Count(why, "\n"))

	_, _, err = ask(t, "go.sum\n", root, "-exit-code")
	require.Equal(t, status(20), err)
	out, _, err = ask(t, "README.md\n", root, "-exit-code")
	require.NoError(t, err)
	require.Equal(t, "none\n", out)

	out, _, err = ask(t, "", root)
	require.ErrorContains(t, err, "no changed path on standard input")
	require.Empty(t, out, "no answer, rather than the wrong one")
	out, _, err = ask(t, "fixtures/prompts/mine.txt\n", "--root="+t.TempDir())
	require.NoError(t, err)
	require.Equal(t, "full\n", out, "by Assay's own rules")
	empty := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(empty, "fixtures"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(empty, "fixtures/triggers.md"),
		[]byte("# Triggers\n"), 0o644))
	_, _, err = ask(t, "a\n", "--root="+empty)
	require.ErrorContains(t, err, "fixtures/triggers.md")
}

func TestTriggerSinceLastFull(t *testing.T) {
	dir := t.TempDir()
	out, why, err := ask(t, "", "--root="+dir, "-since-last-full")
	require.NoError(t, err)
	require.Equal(t, "full\n", out)
	require.Contains(t, why, "no record of a full run")

	r := &record.Record{Suite: "Regression", Full: true, Project: "dvja", Auditor: "claude",
		Date:      time.Date(2026, 3, 30, 0, 0, 0, 0, time.UTC),
		Judgement: score.Judgement{Verdict: audit.Pass}}
	_, err = r.Write(filepath.Join(dir, "records"))
	require.NoError(t, err)
	out, _, err = ask(t, "", "--root="+dir, "-since-last-full")
	require.NoError(t, err)
	require.Equal(t, "none\n", out)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "records", "x.json"), []byte("{"), 0o644))
	_, _, err = ask(t, "", "--root="+dir, "-since-last-full")
	require.ErrorContains(t, err, "x.json")
}

func TestDashes(t *testing.T) {
	require.Equal(t, []string{"trigger", "--since-last-full", "--root=x", "-h", "-",
		"a-b", "--", "-raw"},
		dashes([]string{"trigger", "-since-last-full", "-root=x", "-h", "-", "a-b", "--", "-raw"}))
}
