package postgres_test

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/internal/postgres"
)

// Where nobody may write to /dev/shm, a cluster stands in the folder for temporary files.
func TestMemoryThatIsReadOnly(t *testing.T) {
	if _, err := postgres.BinDir(); errors.Is(err, postgres.ErrMissing) {
		t.Skip(err)
	}
	within := []string{"--dev-bind", "/", "/", "--ro-bind", "/dev/shm", "/dev/shm"}
	if out, err := exec.Command("bwrap", append(within, "true")...).CombinedOutput(); err != nil {
		t.Skipf("bwrap: %v %s", err, out)
	}
	out, err := exec.Command("bwrap",
		append(within, os.Args[0], "-test.run=^TestStart$", "-test.v")...).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: TestStart")
}
