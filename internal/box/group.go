package box

import (
	"crypto/rand"
	"os"
	"time"
)

// sampleEvery is how often what a running program uses is looked at; its folders,
// where they are no file system of their own, every diskEvery-th time.
const (
	sampleEvery = 200 * time.Millisecond
	diskEvery   = 10
)

// leastFile is what a file counts for at least, an empty one too: it is memory of the
// kernel's.
const leastFile = 4096

// A group is everything that one run of a program started.
type group struct {
	*launched
	leader  int
	ended   chan error
	samples int
	peak    int64
}

// newMark gives the variable that marks the processes of one run.
func newMark() string { return "ASSAY_RUN=" + rand.Text() }

// stop sends TERM, waits for the grace, and sends KILL.
func (g *group) stop(grace time.Duration) error {
	g.sample()
	if grace > 0 {
		g.askToEnd()
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case err := <-g.ended:
			return err
		case <-timer.C:
		}
	}
	g.kill()
	return <-g.ended
}

// sample gives what all processes use at one time, and keeps the most memory. What
// is over the limit by what processes share is not over it.
func (g *group) sample() usage {
	u := watch(g.leader)
	if u.memory > g.limits.Memory {
		u.memory = withoutShared(g.leader)
	}
	u.disk = g.diskUsed(g.samples%diskEvery == 0)
	g.samples++
	g.peak = max(g.peak, u.memory)
	return u
}

// last gives what is known when all have ended: the most memory, the time of all
// of them, and what they left on the disk.
func (g *group) last(state *os.ProcessState) usage {
	return usage{memory: max(g.peak, ownPeak(state)), cpu: state.UserTime() + state.SystemTime(), disk: g.diskUsed(true)}
}

// diskUsed gives what the home takes, or what is over its limit when it is full;
// where that must be counted, only when it is asked for.
func (g *group) diskUsed(count bool) int64 {
	for _, v := range g.volumes {
		if full(v, g.limits.Disk) {
			return g.limits.Disk + 1
		}
	}
	if g.home == nil || g.home.root == nil || len(g.volumes) > 0 || !count {
		return 0
	}
	return g.home.used()
}
