package box

import (
	"context"
	"os"
	"time"
)

// sampleEvery is the interval at which a running program's usage is measured, diskEvery that
// for folders of unlimited size. If measuring a folder takes long, it takes at most a tenth of
// the time.
const (
	sampleEvery = 200 * time.Millisecond
	diskEvery   = 2 * time.Second
)

// leastFile is the number of bytes that even an empty file counts for, as the kernel needs
// memory for it.
const leastFile = 4096

// A group is a program that runs, with all processes that it started.
type group struct {
	*launched
	leader int
	ended  chan error
	counts time.Time // when its folders are measured next
	peak   int64
}

// stop ends the program and returns how it ended. It sends TERM and, after the grace, KILL;
// without a grace it sends KILL alone.
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

// wait waits until the program ends, and ends it when its time is up, it crosses a limit, its
// output is full or this process is interrupted. It notes in e which limit was crossed and whether
// its time was up, and returns the interrupt and how the program ended. If outer has ended, ctx
// ended with it and not at the program's timeout.
func (g *group) wait(ctx, outer context.Context, grace time.Duration, full <-chan struct{},
	interrupts <-chan os.Signal, e *Exit) (interrupt os.Signal, err error) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case err = <-g.ended:
			return nil, err
		case <-tick.C:
			if e.Crossed = g.sample().crossed(g.limits); e.Crossed != "" {
				return nil, g.stop(0)
			}
			tick.Reset(sampleEvery) // sampling itself takes time
		case <-ctx.Done():
			e.TimedOut = outer.Err() == nil
			return nil, g.stop(grace)
		case <-full:
			return nil, g.stop(grace)
		case interrupt = <-interrupts:
			return interrupt, g.stop(grace)
		}
	}
}

// sample returns what all processes use now, and keeps the peak of their memory. Memory that
// processes share counts once where it decides whether the limit is crossed.
func (g *group) sample() usage {
	u := watch(g.leader)
	if u.memory > g.limits.Memory {
		u.memory = withoutShared(g.leader)
	}
	u.disk, u.folder = g.diskUsed(false)
	g.peak = max(g.peak, u.memory)
	return u
}

// last returns the usage of a program that has ended, with the peak of its memory.
func (g *group) last(state *os.ProcessState) usage {
	u := usage{memory: max(g.peak, ownPeak(state)), cpu: state.UserTime() + state.SystemTime()}
	u.disk, u.folder = g.diskUsed(true)
	return u
}

// diskUsed returns the bytes that the home takes, or by which a folder of Writes has grown if
// that is more. If a file system is full, the result is above the limit. Folders of unlimited
// size are measured only every diskEvery, unless now is set.
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
