package seal

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// Who fetches at the same moment, in this process or another, waits for the first. Each
// gets the pinned commit alone: not refused, it asks for nothing else.
func TestFetchesOfOneProjectDoNotMeet(t *testing.T) {
	p, mirror := project(t)
	for range 5 {
		cache := t.TempDir()
		errs := make([]error, 8)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() {
				_, errs[i] = Fetch(context.Background(), p, cache,
					"file://"+mirror+"/{owner}/{name}")
			})
		}
		wg.Wait()
		require.NoError(t, errors.Join(errs...))
		require.NoDirExists(t, filepath.Join(cloneDir(p, cache), "refs", "fetched"))
	}
}

func TestFetchAgainAfterOneThatWasKilled(t *testing.T) {
	p, mirror := project(t)
	cache := t.TempDir()
	c := &Clone{cloneDir(p, cache), p}
	require.NoError(t, os.MkdirAll(c.Dir, 0o755))
	require.NoError(t, c.git(context.Background(), nil, "init", "--quiet", "--bare"))
	require.NoError(t, os.WriteFile(filepath.Join(c.Dir, "shallow.lock"), nil, 0o644))
	_, err := Fetch(context.Background(), p, cache, "file://"+mirror+"/{owner}/{name}")
	require.NoError(t, err)
	require.NoDirExists(t, filepath.Join(c.Dir, "refs", "fetched"), "the pinned commit alone")
}

func TestFetchStopsWaiting(t *testing.T) {
	p, mirror := project(t)
	cache := t.TempDir()
	held, err := Lock(context.Background(), cloneDir(p, cache)+".lock")
	require.NoError(t, err)
	defer held.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Fetch(ctx, p, cache, mirror)
	require.ErrorIs(t, err, context.Canceled)
}

// A mirror that lacks the project, or its pin, has nothing to give.
func TestAtHandLooksIntoTheMirror(t *testing.T) {
	p, mirror := project(t)
	ctx := context.Background()
	require.True(t, atHand(ctx, p, t.TempDir(), mirror))
	require.True(t, atHand(ctx, p, t.TempDir(), filepath.Join(mirror, "{owner}", "{name}")))
	require.True(t, atHand(ctx, p, t.TempDir(), "https://git.example/{owner}/{name}"),
		"what lies elsewhere is not asked")
	require.False(t, atHand(ctx, p, t.TempDir(), t.TempDir()), "a folder without the project")
	p.Commit = "0123456789abcdef0123456789abcdef01234567"
	require.False(t, atHand(ctx, p, t.TempDir(), mirror), "a clone without the pin")
}

// A tab or an end of line in a file's name would break the manifests, and so would one
// that is not in UTF-8.
func TestManifestsLeaveOutWhatTheyCannotName(t *testing.T) {
	dir, commit, _ := repository(t, map[string]string{"a b.py": "x\n", "tab\tname.py": "y\n",
		"end\nname.py": "z\n", "caf\xe9.py": "z\n"})
	p := &audit.Project{Name: "p", Repository: dir, Commit: commit}
	c, err := Fetch(context.Background(), p, t.TempDir(), "")
	require.NoError(t, err)
	tree, err := c.Tree(context.Background())
	require.NoError(t, err)
	require.Equal(t, []string{"a b.py"}, slices.Collect(maps.Keys(tree)))
	functions, err := c.Functions(context.Background())
	require.NoError(t, err)
	require.Equal(t, []string{"a b.py"}, slices.Collect(maps.Keys(functions)))
	others, err := c.Others(context.Background())
	require.NoError(t, err)
	require.Equal(t, []string{"a b.py", "tab\tname.py"}, others)
}
