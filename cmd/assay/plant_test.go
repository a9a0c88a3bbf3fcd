package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit/fixture"
	"assay/internal/suite"
)

// TestPlantedAllByHand: what assay plant writes is what Regression audits, and its
// key is read as any project's.
func TestPlantedAllByHand(t *testing.T) {
	root := "../.."
	if testing.Short() { // two projects are all of another root
		root = t.TempDir()
		for _, name := range []string{"grants", "marina"} {
			dir := filepath.Join("fixtures/planted", name)
			require.NoError(t, os.CopyFS(filepath.Join(root, dir),
				os.DirFS(filepath.Join("../..", dir))))
		}
	}
	out := filepath.Join(t.TempDir(), "all")
	c := &plantCmd{Name: "planted-all", Seed: 7, Out: out, Root: root}
	require.NoError(t, c.Run())

	fsys, err := suite.Checkout(c.Root)
	require.NoError(t, err)
	drawn, key, err := suite.Drawn(fsys, "planted-all@7")
	require.NoError(t, err)
	require.Equal(t, "planted-all@7", key.Name)
	for _, f := range drawn.Files {
		b, err := os.ReadFile(filepath.Join(out, f.Path))
		require.NoError(t, err)
		require.Equal(t, string(f.Content), string(b), f.Path)
	}
	again, err := fixture.ReadProject(os.DirFS(filepath.Dir(out)), "all.key.md")
	require.NoError(t, err)
	require.Equal(t, key.KeyHash, again.KeyHash)
	require.Len(t, again.Tree, len(drawn.Files))

	c = &plantCmd{Name: "marina@7", Seed: 1, Out: out + "7", Root: root}
	require.NoError(t, c.Run(), "the name of a draw, as everywhere")
	_, key, err = suite.Drawn(fsys, "marina@7")
	require.NoError(t, err)
	again, err = fixture.ReadProject(os.DirFS(filepath.Dir(out)), "all7.key.md")
	require.NoError(t, err)
	require.Equal(t, key.KeyHash, again.KeyHash)

	c = &plantCmd{Name: "webgoat", Seed: 7, Out: out + "2", Root: root}
	require.ErrorContains(t, c.Run(), `no planted project "webgoat"`)
	require.NoDirExists(t, out+"2")
}

// TestAnExportHoldsNoKey: beside the folder in which it is asked for, too.
func TestAnExportHoldsNoKey(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), "here")
	require.NoError(t, os.Mkdir(out, 0o755))
	t.Chdir(out)
	require.NoError(t, (&plantCmd{Name: "grants", Seed: 1, Out: ".", Root: root}).Run())
	require.FileExists(t, out+".key.md")
	require.FileExists(t, out+".key.tree.tsv")
	keys, err := filepath.Glob("*key*")
	require.NoError(t, err)
	require.Empty(t, keys)
}
