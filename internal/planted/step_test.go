//go:build unix

package planted

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestStepIsKilledWhole: a step that hangs is killed with all that it started, and
// the end of its output is told.
func TestStepIsKilledWhole(t *testing.T) {
	dir := t.TempDir()
	var b []byte
	// a busy machine may not have begun by then
	for limit := 300 * time.Millisecond; len(b) == 0; limit *= 4 {
		s := step{name: "build", command: "sleep 1000 & echo $! $$ > pids; echo begun; sleep 1000",
			dir: dir, timeout: limit}
		e, err := s.run(t.Context())
		require.ErrorContains(t, err, "build: killed after "+limit.String()+
			": expected it to end by then")
		if string(e.Stdout) == "begun\n" {
			require.ErrorContains(t, err, "\n    begun")
			b, err = os.ReadFile(filepath.Join(dir, "pids"))
			require.NoError(t, err)
		}
		require.Less(t, limit, time.Minute, "%s", e.Stdout)
	}
	for _, pid := range strings.Fields(string(b)) {
		requireGone(t, pid)
	}
}

// requireGone waits until a process has ended; one that nobody has waited for yet has.
func requireGone(t *testing.T, pid string) {
	require.Eventually(t, func() bool {
		b, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
		return err != nil || strings.Contains(string(b), ") Z ")
	}, 2*time.Minute, 5*time.Millisecond)
}

// TestStepLeavesNothing: what a step leaves behind when it ends well is killed.
func TestStepLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	_, err := step{name: "build", command: "sleep 1000 >/dev/null 2>&1 & echo $! > left", dir: dir,
		timeout: time.Minute}.run(t.Context())
	require.NoError(t, err)
	b, err := os.ReadFile(filepath.Join(dir, "left"))
	require.NoError(t, err)
	requireGone(t, strings.TrimSpace(string(b)))
}

// TestStepHasAUmaskOfItsOwn: what a draw lets others read is the same on any machine.
func TestStepHasAUmaskOfItsOwn(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	e, err := step{name: "test", command: "umask", dir: t.TempDir(),
		timeout: time.Minute}.run(t.Context())
	require.NoError(t, err)
	require.Equal(t, "0022\n", string(e.Stdout))
}

// TestTailIsBounded: of a flood the end is kept.
func TestTailIsBounded(t *testing.T) {
	s := step{name: "build",
		command: "i=0; while [ $i -lt 40000 ]; do echo line $i of a flood of output; i=$((i+1)); done; false", dir: t.TempDir(), timeout: time.Minute}
	e, err := s.run(t.Context())
	require.LessOrEqual(t, len(e.Stdout), maxOutput+100, "with a line that tells of the cut")
	require.ErrorContains(t, err, "line 39999 of")
	require.Equal(t, 41, len(strings.Split(err.Error(), "\n")))
}

// TestEnvironment: secrets and switches of ours reach no step; what packages are
// installed with reaches setup and build alone.
func TestEnvironment(t *testing.T) {
	t.Setenv("GOOGLE_API_KEY", "secret")
	t.Setenv("OPENROUTER_API_KEY", "secret")
	t.Setenv("npm_config_registry", "http://127.0.0.1/")
	t.Setenv("GOFLAGS", "-mod=mod")
	plain := strings.Join(environment("/opt/pg"), "\n")
	require.NotContains(t, plain, "secret")
	require.NotContains(t, plain, "npm_config")
	require.Contains(t, plain, "PATH=/opt/pg:")
	require.Contains(t, plain, "GOFLAGS=-mod=mod -trimpath")
	require.Contains(t, strings.Join(environment("", network...), "\n"), "npm_config_registry=")
}
