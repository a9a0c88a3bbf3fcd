package box

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// A cgroup limits the memory and the number of all processes of a run together. It is nil
// where none can be made.
type cgroup struct {
	path string
	dir  *os.File
}

// newCgroup makes a cgroup below one that already gives its children the controllers, and in
// which this account may make one. It changes no other cgroup. It returns nil if there is none.
func newCgroup(p Process) *cgroup {
	mounts, err1 := os.ReadFile("/proc/self/mountinfo")
	own, err2 := os.ReadFile("/proc/self/cgroup")
	if err1 != nil || err2 != nil {
		return nil
	}
	memory := p.Limits.Memory
	if p.Box != nil && p.Box.sized {
		memory += p.Limits.Disk // which is memory too
	}
	for _, parent := range dividable(string(mounts), string(own)) {
		// bubblewrap or reaper are in it
		if g := newCgroupIn(parent, memory, p.Limits.Processes+8); g != nil {
			return g
		}
	}
	return nil
}

// dividable returns the cgroups that give their children the controllers of memory and
// processes: this process's own, and those above it.
func dividable(mountinfo, self string) []string {
	var mounted, root string
	for line := range strings.Lines(mountinfo) {
		before, after, _ := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if strings.HasPrefix(after, "cgroup2 ") && len(fields) > 4 {
			root, mounted = fields[3], fields[4]
		}
	}
	own := ""
	for line := range strings.Lines(self) {
		if rest, ok := strings.CutPrefix(line, "0::"); ok {
			own = strings.TrimSpace(rest)
		}
	}
	below, err := filepath.Rel(root, own)
	if mounted == "" || own == "" || strings.HasPrefix(own, "/..") || err != nil ||
		!filepath.IsLocal(below) {
		return nil // ours is not in what is mounted here
	}
	var found []string
	for dir := filepath.Join(mounted, below); within(dir, mounted); dir = filepath.Dir(dir) {
		b, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
		given := strings.Fields(string(b))
		if err == nil && slices.Contains(given, "memory") && slices.Contains(given, "pids") {
			found = append(found, dir)
		}
	}
	return found
}

func newCgroupIn(parent string, memory int64, processes int) *cgroup {
	g := &cgroup{path: filepath.Join(parent, "assay-"+rand.Text())}
	if os.Mkdir(g.path, 0o755) != nil {
		return nil
	}
	err1 := g.write("memory.max", strconv.FormatInt(memory, 10))
	err2 := g.write("pids.max", strconv.Itoa(processes))
	_ = g.write("memory.swap.max", "0")
	_ = g.write("memory.oom.group", "1")
	dir, err3 := os.Open(g.path)
	if err1 != nil || err2 != nil || err3 != nil {
		_ = os.Remove(g.path)
		return nil
	}
	g.dir = dir
	return g
}

func (g *cgroup) write(file, value string) error {
	f, err := os.OpenFile(filepath.Join(g.path, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(value)
	return err
}

func (g *cgroup) crossed() (memory, processes bool) {
	if g == nil {
		return false, false
	}
	return g.count("memory.events", "oom_kill") > 0, g.count("pids.events", "max") > 0
}

func (g *cgroup) count(file, name string) int {
	b, _ := os.ReadFile(filepath.Join(g.path, file))
	for line := range strings.Lines(string(b)) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == name {
			n, _ := strconv.Atoi(fields[1])
			return n
		}
	}
	return 0
}

func (g *cgroup) kill() {
	if g == nil || g.write("cgroup.kill", "1") == nil {
		return
	}
	b, _ := os.ReadFile(filepath.Join(g.path, "cgroup.procs"))
	for _, f := range strings.Fields(string(b)) {
		if pid, err := strconv.Atoi(f); err == nil && pid > 1 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func (g *cgroup) remove() {
	if g != nil {
		_ = g.dir.Close()
		_ = os.Remove(g.path)
	}
}
