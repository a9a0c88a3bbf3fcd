package box

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

// scratch are the folders that every program may write under bubblewrap.
var scratch = []string{"/tmp", "/var/tmp", "/dev/shm"}

// kept are the parts of /proc that are mounted read-only, so that not even root of the box can
// write them.
var kept = []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs",
	"/proc/acpi", "/proc/mtrr", "/proc/scsi", "/proc/pressure"}

// arguments returns the arguments of bubblewrap that stand before the command. Mounts are made
// from the outside in, so that the deeper one wins.
func (b *Box) arguments(p Process) []string {
	args := []string{"--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
		"--unshare-cgroup-try", "--cap-drop", "ALL"}
	switch {
	case b.drops:
		// What setpriv needs to take the rest away.
		args = append(args, "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add",
			"CAP_SETPCAP")
	case os.Geteuid() == 0:
		id := strconv.Itoa(nobody)
		args = append(args, "--unshare-user", "--uid", id, "--gid", id)
	default:
		args = append(args, "--unshare-user-try")
	}
	if !p.Network.Open {
		args = append(args, "--unshare-net")
	}
	var mounts []mount
	for _, p := range scratch {
		mounts = append(mounts, mount{p, scratchFolder})
	}
	mounts = append(mounts, b.mounts...)
	if p.Home != nil && b.sized {
		mounts = append(mounts, mount{p.Home.Dir, sizedHome})
	} else if p.Home != nil {
		mounts = append(mounts, mount{p.Home.Dir, "--bind"})
	}
	slices.SortStableFunc(mounts, func(x, y mount) int {
		return strings.Count(x.path, "/") - strings.Count(y.path, "/")
	})
	args = append(args, "--proc", "/proc")
	for _, p := range kept {
		if Exists(p) {
			args = append(args, "--ro-bind", p, p)
		}
	}
	args = append(args, "--dev", "/dev")
	made := map[string]bool{"/": true}
	for _, m := range mounts {
		if b.drops { // bubblewrap would make the folders around it for root alone
			for _, dir := range above(m.path) {
				if !made[dir] {
					args = append(args, "--perms", "0755", "--dir", dir)
				}
				made[dir] = true
			}
		}
		made[m.path] = true
		args = append(args, b.mountArguments(m, p.Limits.Disk)...)
	}
	for _, m := range mounts {
		if m.kind == "--tmpfs" { // an empty folder in the place of one that is hidden
			args = append(args, "--remount-ro", m.path)
		}
	}
	return append(args, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/")
}

// mountArguments returns the arguments of bubblewrap that make one mount. Folders that it makes
// in memory hold disk bytes where their size can be limited.
func (b *Box) mountArguments(m mount, disk int64) []string {
	size := strconv.FormatInt(disk, 10)
	switch m.kind {
	case "--tmpfs":
		if b.sized {
			return []string{"--size", strconv.Itoa(1 << 20), m.kind, m.path}
		}
		return []string{m.kind, m.path}
	case sizedHome:
		return []string{"--perms", "0700", "--size", size, "--tmpfs", m.path}
	case scratchFolder:
		switch {
		case b.sized:
			return []string{"--perms", "1777", "--size", size, "--tmpfs", m.path}
		case b.drops:
			return []string{"--perms", "1777", "--tmpfs", m.path}
		}
		return []string{"--tmpfs", m.path}
	case hideFile:
		return []string{"--ro-bind", "/dev/null", m.path}
	case "--symlink":
		if target, err := os.Readlink(m.path); err == nil {
			return []string{m.kind, target, m.path}
		}
		return nil
	}
	return []string{m.kind, m.path, m.path}
}
