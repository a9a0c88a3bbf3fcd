package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLintTakesAbsoluteFolders(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "tests/my-app"), 0o755))
	dirs, err := below(root, []string{"tests/my-app/", filepath.Join(root, "tests/my-app")})
	require.NoError(t, err)
	require.Equal(t, []string{"tests/my-app", "tests/my-app"}, dirs)
	_, err = below(root, []string{filepath.Dir(root)})
	require.ErrorContains(t, err, "lies outside of "+root)
	require.ErrorContains(t, (&lintCmd{Root: root, Dirs: []string{filepath.Join(root, "tests/my-app")}}).Run(), "tests/my-app: holds no case")
}
