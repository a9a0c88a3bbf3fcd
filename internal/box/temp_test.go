//go:build unix

package box

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFoldersOfKilledProcesses checks that a later process removes the folders of a killed one,
// and neither those of a living one nor foreign ones.
func TestFoldersOfKilledProcesses(t *testing.T) {
	if in := os.Getenv("ASSAY_TEST_LEAVE"); in != "" {
		dir, _, err := TempDirIn(in, "export")
		fmt.Println(dir, err)
		select {}
	}
	in := t.TempDir()
	leave := func() (dir string, kill func()) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFoldersOfKilledProcesses$")
		cmd.Env = append(os.Environ(), "ASSAY_TEST_LEAVE="+in)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		line, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		_, err = fmt.Sscan(line, &dir)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), nil, 0o400))
		old := time.Now().Add(-time.Hour)
		require.NoError(t, os.Chtimes(dir, old, old))
		return dir, func() { _, _ = cmd.Process.Kill(), cmd.Wait() }
	}
	gone, kill := leave()
	kill()
	young, kill := leave()
	kill()
	require.NoError(t, os.Chtimes(young, time.Now(), time.Now()))
	held, kill := leave()
	defer kill()
	require.NoDirExists(t, gone, "the third process swept before it made its own")
	require.DirExists(t, young)
	foreign := filepath.Join(in, "assay-capture-7")
	require.NoError(t, os.Mkdir(foreign, 0o700))
	require.NoError(t, os.Chtimes(foreign, time.Unix(1, 0), time.Unix(1, 0)))
	require.NoError(t, os.Chtimes(held, time.Unix(1, 0), time.Unix(1, 0)))
	dir, remove, err := TempDirIn(in, "home")
	require.NoError(t, err)
	require.DirExists(t, held)
	require.DirExists(t, foreign)
	require.NoError(t, remove())
	require.NoDirExists(t, dir)
}
