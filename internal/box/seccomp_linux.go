//go:build amd64 || arm64

package box

import (
	"encoding/binary"
	"runtime"

	"golang.org/x/sys/unix"
)

// denied are the system calls that no auditor needs and by which a fault of the kernel could
// lead out of a box, or to keys that are not in files: those that make namespaces or mounts, look
// into other processes, use the kernel's keyrings, or load programs into the kernel.
var denied = []uint32{
	unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE,
	unix.SYS_MOVE_MOUNT,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP,
	unix.SYS_PIDFD_GETFD,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_REBOOT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_ACCT,
	unix.SYS_SYSLOG,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_QUOTACTL, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
}

// absent are the system calls that make memory in no process and in no folder, which the limits
// would not count. They fail as if the kernel did not know them: libraries do without.
var absent = []uint32{unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_SHMGET}

// shared are the system calls of System V and POSIX IPC, which all programs of an account
// share where there are no namespaces.
var shared = []uint32{unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND,
	unix.SYS_MSGRCV, unix.SYS_MSGCTL,
	unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMCTL, unix.SYS_SEMTIMEDOP, unix.SYS_MQ_OPEN,
	unix.SYS_MQ_UNLINK}

const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// filtered reports whether this architecture has a filter of system calls.
const filtered = true

// sockets are the kinds of sockets that a program may make. In a network of its own it may
// make all that this network holds.
type sockets struct {
	host bool // its network is the machine's
	open bool // and all of it
	tcp  bool // plain TCP: Landlock, where it can, says to which port
	unix bool // to programs outside: Landlock says to which
}

// forbidden returns the filter of system calls: classic BPF over the kernel's struct
// seccomp_data. Calls of another architecture, and of x32, are unknown there; so is clone3,
// whose flags a filter cannot see, and in whose place libraries take clone.
func forbidden(s sockets) []byte {
	ours := uint32(unix.AUDIT_ARCH_X86_64)
	if runtime.GOARCH == "arm64" {
		ours = unix.AUDIT_ARCH_AARCH64
	}
	var f filter
	f.op(load, 0, 0, machine)
	f.op(equal, 1, 0, ours)
	f.refuse(unix.ENOSYS)
	f.op(load, 0, 0, number)
	f.op(atLeast, 0, 1, 0x40000000) // x32
	f.refuse(unix.ENOSYS)
	for _, call := range append(absent, unix.SYS_CLONE3) {
		f.deny(call, unix.ENOSYS)
	}
	for _, call := range denied {
		f.deny(call, unix.EPERM)
	}
	if s.host {
		for _, call := range shared {
			f.deny(call, unix.EPERM)
		}
		f.when(unix.SYS_PRLIMIT64, func(f *filter) { // of itself alone
			f.op(load, 0, 0, first)
			f.op(equal, 1, 0, 0)
			f.refuse(unix.EPERM)
		})
		if !s.open { // Landlock asks about bind, and listen binds by itself
			f.deny(unix.SYS_LISTEN, unix.EACCES)
		}
		if !s.unix { // a pair of datagram sockets can be connected to others
			f.when(unix.SYS_SOCKETPAIR, func(f *filter) {
				f.op(load, 0, 0, second)
				f.op(and, 0, 0, socketType)
				f.op(equal, 0, 1, unix.SOCK_DGRAM)
				f.refuse(unix.EAFNOSUPPORT)
			})
		}
	}
	f.families(s)
	f.when(unix.SYS_CLONE, func(f *filter) {
		f.op(load, 0, 0, first)
		f.op(and, 0, 0, namespaces)
		f.op(equal, 1, 0, 0)
		f.refuse(unix.EPERM)
	})
	f.op(give, 0, 0, allow)
	return f.code
}

// families allows the sockets that the program may make.
func (f *filter) families(s sockets) {
	// Of the families those that a network namespace holds: one to a virtual machine's host is not.
	f.when(unix.SYS_SOCKET, func(f *filter) {
		f.op(load, 0, 0, first)
		f.allowIf(unix.AF_NETLINK)
		if !s.host || s.unix {
			f.allowIf(unix.AF_UNIX)
		}
		if !s.host || s.open || s.tcp {
			f.op(equal, 2, 0, unix.AF_INET)
			f.op(equal, 1, 0, unix.AF_INET6)
		}
		f.refuse(unix.EAFNOSUPPORT)
		// no datagrams, and no other protocol over streams: Landlock knows TCP alone
		if s.host && !s.open {
			f.op(load, 0, 0, second)
			f.op(and, 0, 0, socketType)
			f.op(equal, 1, 0, unix.SOCK_STREAM)
			f.refuse(unix.EPROTONOSUPPORT)
			f.op(load, 0, 0, third)
			f.allowIf(0)
			f.allowIf(unix.IPPROTO_TCP)
			f.refuse(unix.EPROTONOSUPPORT)
		}
	})
}

// Operations of classic BPF, offsets of the fields that they load, and what they return.
const (
	// LD|W|ABS, JMP|JEQ|K, JMP|JGE|K, ALU|AND|K, RET|K
	load, equal, atLeast, and, give       = 0x20, 0x15, 0x35, 0x54, 0x06
	number, machine, first, second, third = 0, 4, 16, 24, 32
	withError                             = uint32(0x00050000) // SECCOMP_RET_ERRNO
	allow                                 = uint32(0x7fff0000)
	socketType                            = 0xf
)

// A filter is a program that is written instruction by instruction.
type filter struct{ code []byte }

// op appends an instruction that skips yes or no instructions.
func (f *filter) op(code uint16, yes, no uint8, k uint32) {
	f.code = binary.NativeEndian.AppendUint16(f.code, code)
	f.code = append(f.code, yes, no)
	f.code = binary.NativeEndian.AppendUint32(f.code, k)
}

func (f *filter) refuse(err unix.Errno) { f.op(give, 0, 0, withError|uint32(err)) }

// deny refuses a system call.
func (f *filter) deny(call uint32, err unix.Errno) {
	f.op(equal, 0, 1, call)
	f.refuse(err)
}

// allowIf allows the call if the loaded field has this value.
func (f *filter) allowIf(value uint32) {
	f.op(equal, 0, 1, value)
	f.op(give, 0, 0, allow)
}

// when appends what decides about one system call. What it does not refuse is allowed.
func (f *filter) when(call uint32, decide func(*filter)) {
	var inner filter
	decide(&inner)
	inner.op(give, 0, 0, allow)
	f.op(equal, 0, uint8(len(inner.code)/unix.SizeofSockFilter), call)
	f.code = append(f.code, inner.code...)
}
