//go:build unix

package store_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/internal/store"
)

// TestASleepingHolder: who is silent, however long, still holds the database, and so does
// a process that another one of its own goroutines tried to take it from.
func TestASleepingHolder(t *testing.T) {
	where, ctx := filepath.Join(t.TempDir(), "results.db"), context.Background()
	asleep, in := holder(t, where)
	require.NoError(t, asleep.Process.Signal(syscall.SIGSTOP))
	_, err := store.Open(ctx, where)
	require.ErrorIs(t, err, store.ErrHeld)
	link := filepath.Join(t.TempDir(), "other.db")
	require.NoError(t, os.Symlink(where, link))
	_, err = store.Open(ctx, link)
	require.ErrorIs(t, err, store.ErrHeld, "under any name")
	require.NoError(t, asleep.Process.Signal(syscall.SIGCONT))
	require.NoError(t, in.Close())
	require.NoError(t, asleep.Wait())

	s := open(t, where)
	_, err = store.Open(ctx, where)
	require.ErrorIs(t, err, store.ErrHeld)
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), "ASSAY_TEST_HOLD="+where)
	out, err := other.Output()
	require.NoError(t, err)
	require.Contains(t, string(out),
		fmt.Sprintf("one run at a time writes to it, and process %d on ", os.Getpid()))
	require.NoError(t, s.Put(ctx, evaluation("r1", "k1")))
}
