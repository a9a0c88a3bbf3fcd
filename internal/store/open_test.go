package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"assay/internal/store"

	"github.com/stretchr/testify/require"
)

func TestSQLiteFileIsPrivate(t *testing.T) {
	where := filepath.Join(t.TempDir(), "results.db")
	require.NoError(t, os.WriteFile(where, nil, 0o644))
	s := open(t, where)
	require.NoError(t, s.Put(context.Background(), evaluation("r1", "k1")))
	found, err := filepath.Glob(where + "*")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(found), 2, "database and write-ahead log")
	for _, f := range found {
		info, err := os.Stat(f)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), f)
	}
}

// Who only reads leaves the folder as it was.
func TestReadingLaysNothingBeside(t *testing.T) {
	dir := t.TempDir()
	where := filepath.Join(dir, "results.db")
	s, err := store.Open(t.Context(), where)
	require.NoError(t, err)
	require.NoError(t, s.Put(t.Context(), evaluation("r1", "k1")))
	require.NoError(t, s.Close())
	listing := func() (names []string) {
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range entries {
			info, err := e.Info()
			require.NoError(t, err)
			names = append(names, fmt.Sprint(e.Name(), info.Size(), info.ModTime()))
		}
		return names
	}
	before := listing()
	ro, err := store.OpenReadOnly(t.Context(), where)
	require.NoError(t, err)
	require.Len(t, all(t, ro, store.Query{}), 1)
	require.NoError(t, ro.Close())
	require.Equal(t, before, listing())
}

// A link to where nothing is yet is a way to keep results elsewhere.
func TestALinkToNothingYet(t *testing.T) {
	dir := t.TempDir()
	elsewhere, link := filepath.Join(dir, "elsewhere.db"), filepath.Join(dir, "results.db")
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Skip(err)
	}
	require.NoError(t, open(t, link).Put(context.Background(), evaluation("r1", "k1")))
	info, err := os.Stat(elsewhere)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestOpenErrorsTeach(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	other := filepath.Join(dir, "other.db")
	db, err := sql.Open("sqlite", other)
	require.NoError(t, err)
	_, err = db.Exec("CREATE TABLE evaluations (id INTEGER, name TEXT)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	_, err = store.OpenReadOnly(ctx, other)
	require.ErrorContains(t, err,
		"other.db: a database of something else, left as it is: expected a table evaluations with id, timestamp")

	text := filepath.Join(dir, "text.db")
	require.NoError(t, os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o600))
	_, err = store.Open(ctx, text)
	require.ErrorContains(t, err, "text.db")
	_, err = store.Open(ctx, "")
	require.ErrorContains(t, err, "no file named")

	unlocked := filepath.Join(dir, "unlocked.db")
	require.NoError(t, os.WriteFile(unlocked+"-lock", []byte(strings.Repeat("no lock ", 100)),
		0o600))
	_, err = store.Open(ctx, unlocked)
	require.ErrorContains(t, err,
		"unlocked.db-lock, which says that one run at a time writes, cannot be locked: file is not a database")
	require.ErrorContains(t, err, "remove it when nothing runs")

	for url, says := range map[string]string{
		"postgres://someone:hunter2@127.0.0.1:1/none?connect_timeout=1":               "postgres://someone:xxxxx@127.0.0.1:1/none?connect_timeout=1",
		"postgres://someone:hunter2@127.0.0.1:port/none":                              "postgres://someone:xxxxx@127.0.0.1:port/none: the URL is not understood",
		"postgres://127.0.0.1:1/none?user=someone&password=hunter2&connect_timeout=1": "postgres://127.0.0.1:1/none?user=someone&password=xxxxx&connect_timeout=1",
		"postgres://someone:2nuh@hunter2@127.0.0.1:1/none?connect_timeout=1":          "postgres://someone:xxxxx@127.0.0.1:1/none?connect_timeout=1: the user or the password holds an @: expected %40 in its place",
		"mysql://someone:hunter2@127.0.0.1:1/none":                                    "results are no mysql:// URL: expected one of a PostgreSQL (postgres://...), or the path of a file",
		"file:x.db?mode=ro":                            "results are no file: URL: expected the path of a file alone, like results.db",
		"host=127.0.0.1 user=someone password=hunter2": "results are named by keywords (host=...): expected the URL of a PostgreSQL (postgres://...), or the path of a file",
		"Postgres://someone:hunter2@127.0.0.1:1/none":  "results are no Postgres:// URL",
	} {
		for _, open := range []func(context.Context, string) (store.Store,
			error){store.Open, store.OpenReadOnly} {
			_, err = open(ctx, url)
			require.ErrorContains(t, err, says)
			require.NotContains(t, err.Error(), "hunter2")
			require.NotContains(t, err.Error(), "2nuh")
		}
	}
}

// SQLite writes to a file that was removed as if it were there, and nobody ever reads it.
func TestAFileThatIsTakenAway(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("which lets nobody remove a file that is open")
	}
	for name, take := range map[string]func(where string) error{
		"removed": os.Remove,
		"replaced": func(where string) error {
			return errors.Join(os.Rename(where, where+".old"), os.WriteFile(where, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, where := t.Context(), filepath.Join(t.TempDir(), "results.db")
			s, err := store.Open(ctx, where)
			require.NoError(t, err)
			defer s.Close()
			require.NoError(t, s.Begin(ctx, store.Run{ID: "r1"}))
			require.NoError(t, s.Put(ctx, evaluation("r1", "k1")))
			require.NoError(t, take(where))
			err = s.Put(ctx, evaluation("r1", "k2"))
			require.ErrorIs(t, err, store.ErrGone)
			require.ErrorContains(t, err,
				where+": writing evaluations: the file is not there any more")
			require.ErrorIs(t, s.Finish(ctx, store.Run{ID: "r1"}), store.ErrGone)
		})
	}
}
