package box

import (
	"os"
	"time"
)

// sampleEvery is how often what a running program uses is looked at; diskEvery, its
// folders that are no file system of limited size. Where that takes long, they are
// looked at in a tenth of the time.
const (
	sampleEvery = 200 * time.Millisecond
	diskEvery   = 2 * time.Second
)

// leastFile is what a file counts for at least, an empty one too: it is memory of the
// kernel's.
const leastFile = 4096

type group struct {
	*launched
	leader int
	ended  chan error
	counts time.Time // when its folders are looked at next
	peak   int64
}

// stop sends TERM and, after the grace, KILL; without a grace KILL alone.
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
	u.disk, u.folder = g.diskUsed(false)
	g.peak = max(g.peak, u.memory)
	return u
}

// last gives what is known when all have ended: their peak of memory, not what they have.
func (g *group) last(state *os.ProcessState) usage {
	u := usage{memory: max(g.peak, ownPeak(state)), cpu: state.UserTime() + state.SystemTime()}
	u.disk, u.folder = g.diskUsed(true)
	return u
}

// diskUsed gives what the home takes, or a folder has grown by that is the machine's
// own, or what is over the limit when one is full or over it. What must be counted is
// counted when it is time, or now.
func (g *group) diskUsed(now bool) (used int64, folder string) {
	for _, v := range g.volumes {
		if full(v, g.limits.Disk) {
			return g.limits.Disk + 1, ""
		}
	}
	began := time.Now()
	if !now && began.Before(g.counts) {
		return 0, ""
	}
	if g.home != nil && g.home.root != nil && len(g.volumes) == 0 {
		used = size(g.home.root, ".", g.limits.Disk)
	}
	for _, w := range g.writes {
		if grown := w.grown(g.leader, g.limits.Disk); used <= g.limits.Disk && grown > used {
			used, folder = grown, w.path
		}
	}
	g.counts = time.Now().Add(max(diskEvery, 10*time.Since(began)))
	return used, folder
}
