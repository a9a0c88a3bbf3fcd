//go:build linux

package box

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// systemFiles are what a root of a machine could write to own it, or to harm it.
var systemFiles = []string{
	"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hostname",
	"/proc/sys/kernel/domainname",
	"/proc/sys/kernel/sysrq", "/proc/sys/kernel/randomize_va_space", "/proc/sys/kernel/panic",
	"/proc/sys/vm/drop_caches",
	"/proc/sys/vm/overcommit_memory", "/proc/sys/fs/binfmt_misc/register",
	"/proc/sys/fs/suid_dumpable", "/proc/sys/net/ipv4/ip_forward",
	"/proc/sys/user/max_user_namespaces", "/proc/sysrq-trigger", "/proc/kcore", "/proc/kmsg",
	"/proc/mtrr", "/proc/irq/default_smp_affinity",
	"/sys/kernel/uevent_helper", "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/release_agent",
	"/sys/fs/cgroup/memory/release_agent", "/sys/power/state",
	"/dev/mem", "/dev/kmsg", "/dev/vda", "/dev/sda", "/dev/loop0", "/dev/fuse", "/dev/net/tun",
	"/dev/kvm",
	"/etc/passwd", "/etc/shadow", "/etc/ld.so.preload", "/bin/sh", "/usr/bin/env", "/root/.bashrc",
	"/var/run/docker.sock", "/run/docker.sock",
}

// mayWrite is what a program may write: beside its home, these.
var mayWrite = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
	"/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm", "/tmp", "/var/tmp",
	"/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"}

// probe says of each thing that a program must not reach whether it is HELD, and
// by what, or OPEN. It changes nothing: it asks for the right to write, and opens
// without writing.
func probe(own []string) {
	say := func(open bool, what string, why any) {
		if open {
			fmt.Println("OPEN", what, why)
		} else {
			fmt.Println("HELD", what, why)
		}
	}
	var null unix.Stat_t
	_ = unix.Stat("/dev/null", &null)
	hidden := func(name string) bool { // /dev/null lies over it
		var s unix.Stat_t
		return unix.Stat(name, &s) == nil && s.Ino == null.Ino && s.Dev == null.Dev
	}
	files := systemFiles
	var first unix.Stat_t
	// else the first process of the box is its own
	if unix.Stat("/proc/1", &first) == nil && int(first.Uid) != os.Geteuid() {
		files = append(files, "/proc/1/mem", "/proc/1/environ", "/proc/1/oom_score_adj",
			"/proc/1/root", "/proc/1/uid_map")
	}
	for _, name := range files {
		if hidden(name) {
			say(false, name, "hidden")
			continue
		}
		err := unix.Access(name, unix.W_OK)
		if err == nil {
			say(true, name, "access(2) grants writing")
			continue
		}
		// Opening is no writing. What is no file, and what does something when it is
		// opened, is left at that.
		if f, err2 := os.OpenFile(name, os.O_WRONLY|unix.O_NONBLOCK, 0); err2 == nil {
			_ = f.Close()
			say(true, name, "can be opened for writing")
			continue
		}
		say(false, name, err)
	}
	allowed := func(name string) bool {
		return slices.ContainsFunc(append(own, mayWrite...),
			func(p string) bool { return within(name, p) })
	}
	for _, root := range []string{"/proc", "/sys", "/dev", "/etc", "/run", "/boot", "/var"} {
		n := 0
		_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if filepath.Dir(name) == "/proc" &&
				(strings.Trim(filepath.Base(name), "0123456789") == "" || name == "/proc/self" ||
					name == "/proc/thread-self") {
				if d.IsDir() {
					return fs.SkipDir // processes, which are its own
				}
				return nil
			}
			if within(name, "/proc/net") {
				return nil // its own network
			}
			n++
			if err == nil && d.Type()&fs.ModeSymlink == 0 && !allowed(name) && !hidden(name) &&
				canWrite(name) {
				say(true, name, "can be written")
			}
			return nil
		})
		fmt.Println("LOOKED at", n, "below", root)
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(mounts)) {
		point := strings.Fields(line)[4]
		if point != "/proc" && !allowed(point) && !hidden(point) {
			say(canWrite(point), "mount "+point, strings.Fields(line)[5])
		}
	}
	status, _ := os.ReadFile("/proc/self/status")
	field := func(name string) string {
		for line := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(line, name+":"); ok {
				return strings.TrimSpace(rest)
			}
		}
		return "?"
	}
	fmt.Println("CapBnd", field("CapBnd"))
	for _, name := range []string{"CapInh", "CapPrm", "CapEff", "CapAmb"} {
		say(strings.Trim(field(name), "0") != "", name, field(name))
	}
	say(field("NoNewPrivs") != "1", "gaining privileges by exec", "NoNewPrivs "+field("NoNewPrivs"))
	say(os.Geteuid() == 0 || os.Getegid() == 0, "root", fmt.Sprintf("uid %d gid %d groups %s",
		os.Geteuid(), os.Getegid(), field("Groups")))
	_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false)
	say(err == nil, "the session's keyring", err)
	_, err = unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, false)
	say(err == nil, "the user's keyring", err)
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_PEEKDATA, 1, 0, 0, 0, 0)
	say(!errors.Is(errno, unix.EPERM), "ptrace", errno)
	_, _, errno = unix.RawSyscall(unix.SYS_UNSHARE, unix.CLONE_NEWUSER, 0, 0)
	say(!errors.Is(errno, unix.EPERM), "unshare of a user namespace", errno)
	child := exec.Command("/bin/sh", "-c", ":")
	child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
	err = child.Run()
	say(err == nil, "clone into a user namespace", err)
	for family, name := range map[int]string{unix.AF_VSOCK: "a virtual machine's host",
		unix.AF_ALG: "the kernel's ciphers", unix.AF_PACKET: "raw packets"} {
		fd, err := unix.Socket(family, unix.SOCK_STREAM, 0)
		say(!errors.Is(err, unix.EAFNOSUPPORT), "a socket to "+name, fmt.Sprint(fd, " ", err))
	}
	for name, call := range map[string]uintptr{"memory in no folder": unix.SYS_MEMFD_CREATE,
		"secret memory": unix.SYS_MEMFD_SECRET, "memory of no process": unix.SYS_SHMGET} {
		_, _, errno := unix.RawSyscall(call, 0, 0, 0)
		say(errno != unix.ENOSYS, name, errno)
	}
	pids, _ := filepath.Glob("/proc/[0-9]*")
	say(len(pids) > 8, "the machine's processes", fmt.Sprint(len(pids), " processes"))
	_, err = os.ReadDir("/sys/fs/cgroup")
	say(err == nil, "cgroups", err)
}

// canWrite reports whether a file can be written, or a folder can take another. Landlock does
// not answer access(2), so what that grants is tried.
func canWrite(name string) bool {
	info, err := os.Stat(name)
	if err != nil || unix.Access(name, unix.W_OK) != nil {
		return false
	}
	if info.IsDir() {
		dir, err := os.MkdirTemp(name, "assay-probe")
		_ = os.Remove(dir)
		return err == nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|unix.O_NONBLOCK, 0)
	_ = f.Close()
	return err == nil
}

// TestNothingOfTheSystemCanBeWritten checks, whatever account runs it, that the program can
// write nothing but its own folders.
func TestNothingOfTheSystemCanBeWritten(t *testing.T) {
	confined(t, func(t *testing.T, l *lair) {
		e, _ := l.run(`"$SELF" probe "$HOME" "$OWN"`)
		said := string(e.Stdout)
		t.Logf("as uid %d, %s\n%s", os.Geteuid(), e.Confined, said)
		require.Equal(t, 0, e.Code, string(e.Stderr))
		if l.box.landlock > 0 {
			require.Contains(t, e.Confined,
				"unconfined: the names, sizes and times of files, the list of processes")
			said = regexp.MustCompile(
				`OPEN the machine's processes \d+ processes\n`).ReplaceAllString(said, "")
		}
		require.NotContains(t, said, "OPEN ")
		require.Contains(t, said, "HELD /proc/sys/kernel/core_pattern")
		require.Contains(t, said, "HELD clone into a user namespace")
		if l.box.drops {
			require.Contains(t, said, "CapBnd 0000000000000000")
			require.Contains(t, said, "HELD root uid 65534 gid 65534 groups \n")
		}
		if runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64" {
			require.Contains(t, said, "HELD ptrace operation not permitted")
		}
	})
}
