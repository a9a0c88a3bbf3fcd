package box

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// TestReaperRunsBeforeTheProgram checks that a program that starts processes without end takes
// no time from the reaper.
func TestReaperRunsBeforeTheProgram(t *testing.T) {
	l := newLair(t, bare)
	want := "0"
	if granted() {
		want = "2" // round robin, of real time
	}
	e, _ := l.run(`policy() { set -- $(sed 's/.*)//' /proc/$1/stat); shift 38; echo $1; }
		i=0; until test "$(policy $PPID)" = ` + want + ` -o $i = 2000; do i=$((i+1)); done; cat /proc/$$/stat /proc/$PPID/stat`)
	require.Equal(t, 0, e.Code, string(e.Stderr))
	program, reaper, _ := strings.Cut(string(e.Stdout), "\n")
	field := func(line string, n int) string { // as proc(5) numbers them
		return strings.Fields(line[strings.LastIndexByte(line, ')')+1:])[n-3]
	}
	require.NotEqual(t, field(reaper, 6), field(program, 6), "their sessions")
	require.Equal(t, []string{want, "0"}, []string{field(reaper, 41), field(program, 41)},
		"their policies")
}

// granted reports whether the kernel gives a thread of ours such a priority.
func granted() bool {
	got := make(chan bool)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with us
		got <- ahead(0) == nil
	}()
	return <-got
}

// TestReaperEndsTooManyProcesses checks that the reaper ends a program between two measurements,
// and reports why.
func TestReaperEndsTooManyProcesses(t *testing.T) {
	runtime.LockOSThread() // with which the program would end
	defer runtime.UnlockOSThread()
	l := newLair(t, bare)
	for _, line := range []string{
		`i=0; while test $i -lt 400; do sleep 20 & i=$((i+1)); done; wait`,
		`i=0; while test $i -lt 400; do setsid sleep 20 & i=$((i+1)); done; wait`,
	} {
		p := Process{Dir: l.export, Command: Shell(line),
			Env: []string{"PATH=" + os.Getenv("PATH")}, Limits: Limits(audit.Limits{Processes: 60})}
		launched, err := p.start(nil, nil, nil)
		require.NoError(t, err)
		require.Error(t, launched.cmd.Wait(), "killed")
		require.Contains(t, launched.crossed(p.Limits), "more than 60 processes and threads")
		require.Empty(t, markedProcesses(launched.mark))
		launched.close()
	}
}
