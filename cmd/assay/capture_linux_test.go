package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestCaptureThatIsInterrupted keeps what the agent wrote so far, which may have been
// paid for, and removes its export.
func TestCaptureThatIsInterrupted(t *testing.T) {
	s := newShell(t)
	tmp := t.TempDir()
	mark := fmt.Sprintf("86400.%d", os.Getpid()) // of the process that is waited for
	for name, text := range map[string]string{"src/app.py": "def f():\n    pass\n",
		"key.csv":              "path,line,cwe,true\napp.py,1,78,true\n",
		"fixtures/auditors.md": "# Auditors\n\n## slow\n\n| Field | Value |\n|---|---|\n| Kind | agent |\n| Format | json |\n| Timeout | 30m |\n| Cost | 0 USD |\n\n```sh\nsh -c 'echo so far; sleep " + mark + "'\n```\n"} {
		require.NoError(t, os.MkdirAll(filepath.Join(s.dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600))
	}
	s.ok("", "new", "project", "shop", "--repository=src", "--language=Python", "--cache=cache")
	s.ok("", "import", "shop", "key.csv")
	_, errs, _ := s.run("", "capture", "slow", "shop", "--cache=cache")
	_, line, _ := strings.Cut(errs, "|---|---|---|---|---|---|\n")
	keys := "# Frozen Keys\n\n| Project | Date | Known | Decoys | SHA-256 | Reason |\n|---|---|---|---|---|---|\n" + strings.TrimSpace(line) + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, "fixtures/keys.md"), []byte(keys), 0o600))

	var out bytes.Buffer
	cmd := exec.Command(s.bin, "capture", "slow", "shop", "--cache=cache")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, append(os.Environ(),
		"TMPDIR="+tmp), &out, &out
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, name := range all {
			if b, _ := os.ReadFile(name); string(b) == "sleep\x00"+mark+"\x00" {
				return true
			}
		}
		return false
	}, time.Minute, 10*time.Millisecond, "the agent never began")
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait()
	require.Equal(t, 1, cmd.ProcessState.ExitCode(), out.String())
	require.Contains(t, out.String(), "what it wrote is kept in ")
	kept, err := filepath.Glob(filepath.Join(s.dir, "records/*.transcript/trial-01/report.*"))
	require.NoError(t, err)
	require.Len(t, kept, 1, out.String())
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	require.Empty(t, left)
}
