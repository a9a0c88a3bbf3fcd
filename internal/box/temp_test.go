//go:build unix

package box

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFoldersOfKilledProcessesAreRemoved: read-only as they may be; what somebody
// holds, is new or is named otherwise stays.
func TestFoldersOfKilledProcessesAreRemoved(t *testing.T) {
	in := t.TempDir()
	t.Setenv("TMPDIR", in)
	held, remove, err := TempDir("home")
	require.NoError(t, err)
	left := filepath.Join(in, heldPrefix+"export-1") // the kernel let go of it
	for _, dir := range []string{left, held} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "src", "a"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "src", "a", "f"), nil, 0o444))
		require.NoError(t, os.Chmod(filepath.Join(dir, "src", "a"), 0o555))
	}
	other := filepath.Join(in, "assay-smoke-1")
	require.NoError(t, os.Mkdir(other, 0o755))

	clearKilled(in, time.Now().Add(-time.Hour))
	require.DirExists(t, left, "it may not be held yet")
	clearKilled(in, time.Now().Add(time.Hour))
	require.NoDirExists(t, left)
	require.DirExists(t, held)
	require.DirExists(t, other)
	require.NoError(t, remove())
	require.NoDirExists(t, held)
}

// TestALinkInTheFoldersPlace: what it leads to is not ours to change.
func TestALinkInTheFoldersPlace(t *testing.T) {
	elsewhere := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(elsewhere, "a"), 0o755))
	dir, remove, err := TempDir("home")
	require.NoError(t, err)
	require.NoError(t, os.Remove(dir))
	require.NoError(t, os.Symlink(elsewhere, dir))
	require.NoError(t, remove())
	info, err := os.Stat(filepath.Join(elsewhere, "a"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), info.Mode().Perm())
	_, err = os.Lstat(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestTempDirIsAbsolute: programs are told of it that run in another folder.
func TestTempDirIsAbsolute(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("scratch", 0o755))
	t.Setenv("TMPDIR", "scratch")
	dir, remove, err := TempDir("home")
	require.NoError(t, err)
	defer func() { require.NoError(t, remove()) }()
	require.True(t, filepath.IsAbs(dir), dir)
	require.DirExists(t, dir)
	t.Setenv("TMPDIR", "nowhere")
	_, _, err = TempDir("home")
	require.ErrorContains(t, err, "TMPDIR")
}
