//go:build unix

package audit_test

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// TestPlainFiles: what would hold up a reader, or never end, is told and not
// opened; a link that leads to a plain file leads there.
func TestPlainFiles(t *testing.T) {
	dir, short := t.TempDir(), "s" // a socket's path must be short
	t.Chdir(dir)
	require.NoError(t, os.WriteFile("plain", []byte("text"), 0o644))
	require.NoError(t, os.Symlink("plain", "link"))
	require.NoError(t, os.Symlink("loop2", "loop"))
	require.NoError(t, os.Symlink("loop", "loop2"))
	require.NoError(t, os.Symlink("/dev/zero", "device"))
	require.NoError(t, syscall.Mkfifo("fifo", 0o644))
	l, err := net.Listen("unix", short)
	require.NoError(t, err)
	defer l.Close()
	require.NoError(t, os.WriteFile("giant", nil, 0o644))
	require.NoError(t, os.Truncate("giant", 100<<20))
	fsys := audit.PlainFiles(os.DirFS(dir))
	for name, want := range map[string]string{
		"plain": "", "link": "", "fifo": "it is a FIFO: expected a plain file of at most 64 MB",
		"s":      "it is a socket: expected",
		"device": "it is a device: expected", "loop": "too many levels of symbolic links",
		"giant": "it has 104857600 bytes: expected a plain file of at most 64 MB",
	} {
		b, err := fs.ReadFile(fsys, name)
		if want == "" {
			require.NoError(t, err)
			require.Equal(t, "text", string(b))
			continue
		}
		require.ErrorContains(t, err, name+": "+want)
	}
	found, err := fs.Glob(fsys, "*")
	require.NoError(t, err)
	require.Len(t, found, 8)
	_, err = fs.Stat(fsys, filepath.Base("fifo"))
	require.NoError(t, err)
}
