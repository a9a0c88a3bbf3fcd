//go:build amd64 || arm64

package box

import (
	"encoding/binary"
	"runtime"

	"golang.org/x/sys/unix"
)

// denied are the system calls that no auditor needs and that lead out of a box
// where the kernel has a fault, or to keys that are not in files: it may not make
// namespaces or mounts, look into other processes, use the kernel's keyrings, or
// speak to the kernel's own machines.
var denied = []uint32{
	unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_REBOOT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_ACCT, unix.SYS_SYSLOG,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_QUOTACTL, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
}

// absent are the system calls of memory that is in no process and in no folder, where
// nothing of ours would count it: libraries that know them do without.
var absent = []uint32{unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET, unix.SYS_SHMGET}

const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// forbidden gives the filter of system calls as bubblewrap takes it: classic BPF
// over the kernel's struct seccomp_data. Calls of another architecture, and of
// x32, are unknown there; so is clone3, whose flags a filter cannot see, and in
// whose place libraries take clone.
func forbidden() []byte {
	const (
		load, equal, above, and, give = 0x20, 0x15, 0x35, 0x54, 0x06 // LD|W|ABS, JMP|JEQ|K, JMP|JGE|K, ALU|AND|K, RET|K
		number, machine, first        = 0, 4, 16                     // offsets of the fields
		refuse                        = uint32(0x00050000)           // SECCOMP_RET_ERRNO
		allow                         = uint32(0x7fff0000)
	)
	var b []byte
	op := func(code uint16, yes, no uint8, k uint32) {
		b = binary.NativeEndian.AppendUint16(b, code)
		b = append(b, yes, no)
		b = binary.NativeEndian.AppendUint32(b, k)
	}
	ours := uint32(unix.AUDIT_ARCH_X86_64)
	if runtime.GOARCH == "arm64" {
		ours = unix.AUDIT_ARCH_AARCH64
	}
	op(load, 0, 0, machine)
	op(equal, 1, 0, ours)
	op(give, 0, 0, refuse|uint32(unix.ENOSYS))
	op(load, 0, 0, number)
	op(above, 0, 1, 0x40000000) // x32
	op(give, 0, 0, refuse|uint32(unix.ENOSYS))
	for _, call := range append(absent, unix.SYS_CLONE3) {
		op(equal, 0, 1, call)
		op(give, 0, 0, refuse|uint32(unix.ENOSYS))
	}
	for _, call := range denied {
		op(equal, 0, 1, call)
		op(give, 0, 0, refuse|uint32(unix.EPERM))
	}
	op(equal, 0, 6, unix.SYS_SOCKET) // of kinds that a network namespace holds: one to a virtual machine's host is not
	op(load, 0, 0, first)
	op(equal, 9, 0, unix.AF_UNIX)
	op(equal, 8, 0, unix.AF_INET)
	op(equal, 7, 0, unix.AF_INET6)
	op(equal, 6, 0, unix.AF_NETLINK)
	op(give, 0, 0, refuse|uint32(unix.EAFNOSUPPORT))
	op(equal, 0, 4, unix.SYS_CLONE)
	op(load, 0, 0, first)
	op(and, 0, 0, namespaces)
	op(equal, 1, 0, 0)
	op(give, 0, 0, refuse|uint32(unix.EPERM))
	op(give, 0, 0, allow)
	return b
}
