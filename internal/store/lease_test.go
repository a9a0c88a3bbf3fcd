package store_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/internal/store"
)

// This binary is another process that writes too: it opens the database, says so,
// and holds it until its input ends.
func TestMain(m *testing.M) {
	if where := os.Getenv("ASSAY_TEST_HOLD"); where != "" {
		s, err := store.Open(context.Background(), where)
		fmt.Println("held", err)
		_, _ = io.Copy(io.Discard, os.Stdin)
		if err == nil {
			err = s.Close()
		}
		fmt.Println("closed", err)
		os.Exit(0)
	}
	code := m.Run()
	stopServer()
	os.Exit(code)
}

// holder starts a process that holds the database.
func holder(t *testing.T, where string) (*exec.Cmd, io.Closer) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ASSAY_TEST_HOLD="+where)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "held <nil>\n", line)
	return cmd, in
}

// TestOneRunAtATime: the second of two processes is told who the first is; when
// that ends, in order or by a kill, the next one follows at once.
func TestOneRunAtATime(t *testing.T) {
	where, ctx := filepath.Join(t.TempDir(), "results.db"), context.Background()
	first, in := holder(t, where)
	_, err := store.Open(ctx, where)
	require.ErrorIs(t, err, store.ErrHeld)
	host, herr := os.Hostname()
	require.NoError(t, herr)
	require.Regexp(t, `results\.db: one run at a time writes to it, and process `+
		fmt.Sprint(first.Process.Pid)+` on `+regexp.QuoteMeta(host)+
		` has done so for \d+s: wait for its end, stop it, or name another database by ASSAY_DB$`,
		err.Error())
	ro, err := store.OpenReadOnly(ctx, where)
	require.NoError(t, err, "reading disturbs nobody")
	require.NoError(t, ro.Close())
	require.NoError(t, in.Close())
	require.NoError(t, first.Wait())

	second, _ := holder(t, where)
	require.NoError(t, second.Process.Kill())
	_ = second.Wait()
	s, err := store.Open(ctx, where)
	require.NoError(t, err, "a dead holder's lease is taken over")
	require.NoError(t, s.Put(ctx, evaluation("r1", "k1")))
	require.NoError(t, s.Close())
}

// TestANewerSchemaIsRefused, for reading and for writing.
func TestANewerSchemaIsRefused(t *testing.T) {
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) {
			where, ctx := e.fresh(t), context.Background()
			require.NoError(t, open(t, where).Close())
			db, err := e.open(where)
			require.NoError(t, err)
			defer db.Close()
			_, err = db.Exec(
				"INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, true)")
			require.NoError(t, err)
			_, err = store.Open(ctx, where)
			require.ErrorContains(t, err, "its tables are of version 99, and this Assay knows ")
			_, err = store.OpenReadOnly(ctx, where)
			require.ErrorContains(t, err,
				"use the newer Assay, or name another database by ASSAY_DB")
		})
	}
}

// TestAStrangersFileStaysAsItIs to the byte, and nothing is laid beside it.
func TestAStrangersFileStaysAsItIs(t *testing.T) {
	make := func(t *testing.T, statements ...string) string {
		where := filepath.Join(t.TempDir(), "results.db")
		db, err := sql.Open("sqlite", where)
		require.NoError(t, err)
		for _, s := range statements {
			_, err = db.Exec(s)
			require.NoError(t, err, s)
		}
		require.NoError(t, db.Close())
		return where
	}
	write := func(t *testing.T, content string) string {
		where := filepath.Join(t.TempDir(), "results.db")
		require.NoError(t, os.WriteFile(where, []byte(content), 0o644))
		return where
	}
	for name, where := range map[string]string{
		"a database": make(t, "CREATE TABLE songs (id INTEGER, title TEXT)",
			"INSERT INTO songs VALUES (1, 'x')"),
		"with a journal": make(t, "PRAGMA journal_mode(WAL)", "CREATE TABLE songs (id INTEGER)"),
		"same name":      make(t, "CREATE TABLE evaluations (id INTEGER, name TEXT)"),
		"newer": make(t,
			"CREATE TABLE evaluations (id INTEGER, timestamp TEXT, test_file TEXT, model_name TEXT, expected_result TEXT, actual_result TEXT, explanation TEXT)", "CREATE TABLE goose_db_version (version_id INTEGER)", "INSERT INTO goose_db_version VALUES (99)"),
		// The second migration fails at the column that is there, and takes the first along.
		"half a migration": make(t,
			"CREATE TABLE evaluations (id INTEGER, timestamp TEXT, test_file TEXT, model_name TEXT, expected_result TEXT, actual_result TEXT, explanation TEXT, settings_hash TEXT)"),
		"text":           write(t, strings.Repeat("no database ", 1000)),
		"a cut database": write(t, "SQLite format 3\x00\x10\x00"),
	} {
		t.Run(name, func(t *testing.T) {
			before, err := os.ReadFile(where)
			require.NoError(t, err)
			_, err = store.Open(context.Background(), where)
			require.ErrorContains(t, err, "results.db")
			after, err := os.ReadFile(where)
			require.NoError(t, err)
			if name == "half a migration" { // it was taken for ours, whose journal is another
				require.Equal(t,
					tables(t, make(t,
						"CREATE TABLE evaluations (id INTEGER, timestamp TEXT, test_file TEXT, model_name TEXT, expected_result TEXT, actual_result TEXT, explanation TEXT, settings_hash TEXT)")), tables(t, where))
				return
			}
			require.Equal(t, before, after)
			info, err := os.Stat(where)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o644), info.Mode().Perm())
			beside, err := filepath.Glob(where + "*")
			require.NoError(t, err)
			require.Equal(t, []string{where}, beside)
		})
	}
}

// tables gives what a database says of its tables.
func tables(t *testing.T, where string) (all []string) {
	db, err := sql.Open("sqlite", where)
	require.NoError(t, err)
	defer db.Close()
	rows, err := db.Query("SELECT name || ' ' || COALESCE(sql, '') FROM sqlite_master ORDER BY 1")
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var s string
		require.NoError(t, rows.Scan(&s))
		all = append(all, s)
	}
	require.NoError(t, rows.Err())
	return all
}
