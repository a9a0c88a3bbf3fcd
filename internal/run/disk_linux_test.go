package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/internal/run"
	"assay/internal/run/testdata/mockapi"
	"assay/internal/store"

	"github.com/stretchr/testify/require"
)

// diskEnv makes this test binary the program whose disk is full: a JSON object of
// diskOrders.
const diskEnv = "ASSAY_RUN_TEST_DISK"

type diskOrders struct{ Base, Mount, Out string }

// noMount is the exit status of a process that may not mount anything.
const noMount = 4

// TestDiskChild is no test: it is the process that has a disk of sixteen megabytes,
// most of it taken by a file. When the disk is full it removes the file and runs
// the same plan again.
func TestDiskChild(t *testing.T) {
	text := os.Getenv(diskEnv)
	if text == "" {
		t.Skip("started by another test alone")
	}
	var o diskOrders
	require.NoError(t, json.Unmarshal([]byte(text), &o))
	if err := syscall.Mount("tmpfs", o.Mount, "tmpfs", 0, "size=16m"); err != nil {
		fmt.Println("cannot mount:", err)
		os.Exit(noMount)
	}
	ballast := filepath.Join(o.Mount, "ballast")
	require.NoError(t, os.WriteFile(ballast, make([]byte, 15000<<10), 0o600))
	db := filepath.Join(o.Mount, "results.db")
	ctx := context.Background()
	s, err := store.Open(ctx, db)
	require.NoError(t, err)
	defer s.Close()
	r := modelAt(t, o.Base, 20*time.Second)
	for range 2 {
		p, err := run.Prepare(ctx, run.Config{Store: s, Budget: math.Inf(1), Concurrency: 8,
			StoreWait: time.Hour}, run.Listed(items(trials(400, r))))
		require.NoError(t, err)
		started, err := p.Start(ctx)
		require.NoError(t, err)
		sum, err := started.Finish()
		stored := 0
		for _, err := range s.Evaluations(ctx, store.Query{}) {
			require.NoError(t, err)
			stored++
		}
		fmt.Printf("stops %v, unstored %d, stored %d, error %.300q\n", sum.Stops, len(sum.Unstored),
			stored, fmt.Sprint(err))
		_ = os.Remove(ballast)
	}
	require.NoError(t, s.Close())
	b, err := os.ReadFile(db)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(o.Out, b, 0o600))
}

// A disk that really fills up (a small one of its own, in its own mount
// namespace) ends the run in good order; with room again, the same plan asks the
// rest, and what could not be stored.
func TestDiskThatFillsUp(t *testing.T) {
	s := mockapi.New(func(mockapi.Request) mockapi.Reply { return mockapi.Reply{Cost: 0.001} })
	defer s.Close()
	dir := t.TempDir()
	o := diskOrders{Base: s.BaseURL, Mount: filepath.Join(dir, "disk"),
		Out: filepath.Join(dir, "results.db")}
	require.NoError(t, os.Mkdir(o.Mount, 0o700))
	b, err := json.Marshal(o)
	require.NoError(t, err)
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe, "-test.run=^TestDiskChild$", "-test.timeout=120s")
	cmd.Env = append(os.Environ(), diskEnv+"="+string(b))
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 { // a user namespace makes root of us, within it
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}}
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Skip("no mount namespace can be had here: ", err)
	}
	err = cmd.Wait()
	if cmd.ProcessState.ExitCode() == noMount {
		t.Skip("no small disk can be mounted here: ", out.String())
	}
	require.NoError(t, err, out.String())
	lines := strings.Split(out.String(), "\n")
	require.Contains(t, lines[0], "results cannot be stored")
	require.Contains(t, lines[0], "disk")
	require.NotContains(t, lines[0], "stored 400")
	require.Contains(t, lines[1], "stops [], unstored 0")
	requireIntact(t, o.Out)
	answered, _ := ledger(t, o.Out)
	require.Len(t, answered, 400)
	for _, n := range answered {
		require.Equal(t, 1, n)
	}
	require.LessOrEqual(t, len(s.Requests()), 400+8,
		"nothing is paid for that cannot be kept, but what was in flight")
	t.Log(lines[0])
}
