package box

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A stat is what the kernel says about a process.
type stat struct {
	pid, parent, group, threads int
	ticks, resident             int64
	started                     int64 // in ticks since the machine began
	dead                        bool  // it has ended and was not waited for
}

// clockTick is the unit in which the kernel reports CPU time: the same on every platform that
// Go runs on.
const clockTick = 10 * time.Millisecond

func readStat(pid int) (s stat, ok bool) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return s, false
	}
	// The name, in parentheses, may hold blanks; the state follows.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 22 {
		return s, false
	}
	n := func(i int) int64 { v, _ := strconv.ParseInt(fields[i], 10, 64); return v }
	s = stat{pid: pid, dead: fields[0] == "Z" || fields[0] == "X", parent: int(n(1)),
		group:   int(n(2)),
		threads: int(n(17)), started: n(19), resident: n(21) * int64(os.Getpagesize())}
	for _, i := range []int{11, 12, 13, 14} { // its own, and of its children that ended
		s.ticks += n(i)
	}
	return s, true
}

// signal sends a signal to this process unless another has its number by now: a program that
// forks without end goes through all numbers in seconds.
func (s stat) signal(sig syscall.Signal) {
	if now, ok := readStat(s.pid); ok && now.started == s.started {
		_ = syscall.Kill(s.pid, sig)
	}
}

// tree returns a process, all that descend from it and all of its group.
func tree(leader int) []stat {
	children := map[int][]stat{}
	var found []stat
	in := map[int]bool{}
	add := func(s stat) {
		if !in[s.pid] {
			in[s.pid] = true
			found = append(found, s)
		}
	}
	for _, pid := range processes() {
		s, ok := readStat(pid)
		if !ok {
			continue
		}
		children[s.parent] = append(children[s.parent], s)
		if pid == leader || s.group == leader {
			add(s)
		}
	}
	for i := 0; i < len(found); i++ {
		for _, c := range children[found[i].pid] {
			add(c)
		}
	}
	return found
}

// watch returns what the processes of a tree use now. The leader is bubblewrap or the reaper:
// only its CPU time counts, which includes that of children that have ended.
func watch(leader int) usage {
	var u usage
	for _, s := range tree(leader) {
		u.cpu += time.Duration(s.ticks) * clockTick
		if s.pid == leader {
			continue
		}
		u.memory += s.resident
		u.processes += s.threads
		u.openFiles = max(u.openFiles, openFiles(s.pid))
	}
	return u
}

// openFiles returns the number of open files of a process; 0 if it cannot be read.
func openFiles(pid int) int {
	dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
	info, err := os.Stat(dir)
	if err != nil {
		return 0
	}
	if info.Size() > 0 { // since Linux 6.2
		return int(info.Size())
	}
	d, err := os.Open(dir)
	if err != nil {
		return 0
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	return len(names)
}

// removed returns the bytes of files without a name that processes of a tree hold open, on the
// file system of a folder.
func removed(leader int, folder *os.Root) int64 {
	info, err := folder.Stat(".")
	if err != nil {
		return 0
	}
	device := info.Sys().(*syscall.Stat_t).Dev
	seen, sum := map[uint64]bool{}, int64(0)
	for _, s := range tree(leader) {
		dir := filepath.Join("/proc", strconv.Itoa(s.pid), "fd")
		fds, _ := os.ReadDir(dir)
		for _, fd := range fds {
			var st syscall.Stat_t
			if syscall.Stat(filepath.Join(dir, fd.Name()), &st) != nil || st.Nlink > 0 ||
				st.Dev != device ||
				st.Mode&syscall.S_IFMT != syscall.S_IFREG || seen[st.Ino] {
				continue
			}
			seen[st.Ino] = true
			sum += st.Blocks * 512
		}
	}
	return sum
}

// withoutShared returns the memory of the processes of a tree, shared memory counted once. It is
// slow, so it is called only if the plain sum is over the limit.
func withoutShared(leader int) int64 {
	sum := int64(0)
	for _, s := range tree(leader) {
		if s.pid == leader {
			continue
		}
		own := s.resident
		if b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.pid),
			"smaps_rollup")); err == nil {
			for line := range strings.Lines(string(b)) {
				if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "Pss:" {
					kb, _ := strconv.ParseInt(fields[1], 10, 64)
					own = kb << 10
				}
			}
		}
		sum += own
	}
	return sum
}

// markedProcesses returns the processes whose environment held the mark when they started.
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

// processes returns the IDs of all processes.
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

// threadsOf returns the number of threads of an account.
func threadsOf(uid int) int {
	sum := 0
	for _, pid := range processes() {
		info, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid)))
		if err != nil {
			continue
		}
		if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) == uid {
			if st, ok := readStat(pid); ok {
				sum += st.threads
			}
		}
	}
	return sum
}

// ownPeak returns the peak of memory of the largest process of the run; 0 if it is unknown. A
// process inherits the peak of the one that started it, so a value no larger than this process's
// own says nothing.
func ownPeak(state *os.ProcessState) int64 {
	theirs, ok := state.SysUsage().(*syscall.Rusage)
	var ours syscall.Rusage
	if !ok || syscall.Getrusage(syscall.RUSAGE_SELF, &ours) != nil || theirs.Maxrss <= ours.Maxrss {
		return 0
	}
	return theirs.Maxrss * 1024
}

// full reports whether the file system of a descriptor, of this size, has no room left or holds
// too many files.
func full(f *os.File, size int64) bool {
	var s syscall.Statfs_t
	return syscall.Fstatfs(int(f.Fd()), &s) == nil &&
		(s.Bavail == 0 || int64(s.Files-s.Ffree) > size/leastFile)
}
