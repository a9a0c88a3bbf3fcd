package box

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// attributes start a program in a session of its own, so that it has no terminal
// and one signal reaches all of it; it dies with us.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// processTree gives the process, all that descend from it and all of its group.
func processTree(leader int) []int {
	children := map[int][]int{}
	tree := []int{leader}
	for _, pid := range processes() {
		b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		if err != nil {
			continue
		}
		// The name, in parentheses, may hold blanks; state, parent and group follow.
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(fields) < 3 {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		group, _ := strconv.Atoi(fields[2])
		children[parent] = append(children[parent], pid)
		if group == leader && pid != leader {
			tree = append(tree, pid)
		}
	}
	for i := 0; i < len(tree); i++ {
		for _, c := range children[tree[i]] {
			if !slices.Contains(tree, c) {
				tree = append(tree, c)
			}
		}
	}
	return tree
}

// markedProcesses gives the processes whose environment held the mark when they
// started.
func markedProcesses(mark string) []int {
	var found []int
	for _, pid := range processes() {
		if pid == os.Getpid() {
			continue
		}
		b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
		if err == nil && bytes.Contains(b, []byte(mark)) {
			found = append(found, pid)
		}
	}
	return found
}

func processes() []int {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	var pids []int
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// residentMemory gives the bytes that the processes hold in memory together;
// what they share is counted for each.
func residentMemory(pids []int) int64 {
	sum := int64(0)
	for _, pid := range pids {
		b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "statm"))
		if fields := strings.Fields(string(b)); err == nil && len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64)
			sum += pages * int64(os.Getpagesize())
		}
	}
	return sum
}

// ownPeak gives the largest memory of a single process of the run, as the kernel
// kept it, where that says something: a process inherits the peak of the one that
// started it, which is ours, so a figure that is not above ours may be ours.
func ownPeak(state *os.ProcessState) int64 {
	theirs, ok := state.SysUsage().(*syscall.Rusage)
	var ours syscall.Rusage
	if !ok || syscall.Getrusage(syscall.RUSAGE_SELF, &ours) != nil || theirs.Maxrss <= ours.Maxrss {
		return 0
	}
	return theirs.Maxrss * 1024
}
