//go:build unix

package box

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadOnlyFoldersAreRemoved, as an export's and those of Go's module cache are.
func TestReadOnlyFoldersAreRemoved(t *testing.T) {
	dir, remove, err := TempDir("home")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "src", "a"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "src", "a", "f"), nil, 0o444))
	require.NoError(t, os.Chmod(filepath.Join(dir, "src", "a"), 0o555))
	require.NoError(t, remove())
	require.NoDirExists(t, dir)
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
