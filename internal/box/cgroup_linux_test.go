package box

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDividable checks that a cgroup is made only below one that gives its children both
// controllers, and removed if it cannot be limited.
func TestDividable(t *testing.T) {
	root := t.TempDir()
	control := func(dir, given string) {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, dir, "cgroup.subtree_control"),
			[]byte(given+"\n"), 0o644))
	}
	control(".", "cpu memory pids")
	control("user.slice", "memory")
	control("user.slice/app.slice", "memory pids")
	control("user.slice/app.slice/own.scope", "")
	mounts := fmt.Sprintf(
		"1 1 0:5 / /proc rw - proc proc rw\n30 24 0:26 / %s rw,nosuid shared:4 - cgroup2 cgroup2 rw\n", root)
	require.Equal(t, []string{filepath.Join(root, "user.slice/app.slice"), root},
		dividable(mounts, "0::/user.slice/app.slice/own.scope\n"))
	require.Empty(t, dividable(mounts, "4:memory:/x\n"), "cgroup v1 alone")
	require.Empty(t, dividable("1 1 0:5 / /proc rw - proc proc rw\n", "0::/\n"))
	require.Empty(t, dividable(mounts, "0::/../outside\n"))

	require.Nil(t, newCgroupIn(root, 1, 1), "a plain folder has no memory.max")
	left, err := filepath.Glob(filepath.Join(root, "assay-*"))
	require.NoError(t, err)
	require.Empty(t, left)

	g := &cgroup{path: root}
	require.NoError(t, os.WriteFile(filepath.Join(root, "memory.events"),
		[]byte("low 0\noom 3\noom_kill 1\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "pids.events"), []byte("max 0\n"), 0o644))
	memory, processes := g.crossed()
	require.True(t, memory)
	require.False(t, processes)
	memory, processes = (*cgroup)(nil).crossed()
	require.False(t, memory || processes)
}
