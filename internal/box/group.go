package box

import (
	"crypto/rand"
	"errors"
	"syscall"
	"time"
)

// sampleEvery is how often the memory of a running program is looked at.
const sampleEvery = 200 * time.Millisecond

// A group is everything that one run of a program started.
type group struct {
	leader int
	mark   string // a variable of its environment, by which those that left the group are found
	boxed  bool   // the leader is bubblewrap, whose end is the end of all the others
	ended  chan error
	peak   int64
}

// newMark gives the variable that marks the processes of one run.
func newMark() string { return "ASSAY_RUN=" + rand.Text() }

// stop sends TERM, waits for the grace, and sends KILL.
//
// Bubblewrap itself would end on TERM, and take along those that want to write
// their last line: it is left out.
func (g *group) stop(grace time.Duration) error {
	g.sample()
	if g.boxed {
		for _, pid := range processTree(g.leader) {
			if pid != g.leader {
				_ = syscall.Kill(pid, syscall.SIGTERM)
			}
		}
	} else {
		_ = syscall.Kill(-g.leader, syscall.SIGTERM)
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case err := <-g.ended:
		return err
	case <-timer.C:
		_ = syscall.Kill(-g.leader, syscall.SIGKILL)
		return <-g.ended
	}
}

// sweep kills what is left when the leader is gone: the rest of the group, and
// those that left the group and kept the mark. A process may fork while it is
// looked for, so the search ends when it finds nothing.
func (g *group) sweep() {
	_ = syscall.Kill(-g.leader, syscall.SIGKILL)
	for range 100 {
		left := markedProcesses(g.mark)
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			if err := syscall.Kill(pid, syscall.SIGKILL); errors.Is(err, syscall.EPERM) {
				return
			}
		}
	}
}

// sample keeps the largest sum of memory that all processes had at one time.
func (g *group) sample() {
	g.peak = max(g.peak, residentMemory(processTree(g.leader)))
}
