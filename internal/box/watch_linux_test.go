package box

import (
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSignalsReachTheirOwnProcess checks that no signal reaches another process that has got the
// number of the one that it was meant for.
func TestSignalsReachTheirOwnProcess(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	own, ok := readStat(cmd.Process.Pid)
	require.True(t, ok)
	require.Positive(t, own.started)
	before := own
	before.started--
	before.signal(syscall.SIGKILL)
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait(), "the one that has the number now goes on")

	cmd = exec.Command("cat")
	_, err = cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	own, ok = readStat(cmd.Process.Pid)
	require.True(t, ok)
	own.signal(syscall.SIGKILL)
	require.ErrorContains(t, cmd.Wait(), "killed")
}
