package postgres

import "syscall"

// quit is the signal for PostgreSQL's immediate shutdown.
const quit = syscall.SIGQUIT

// attributes makes the child run as o, in a process group of its own (so that Ctrl-C does not
// reach it), and end when we end, even if we are killed.
func attributes(o *owner) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: quit}
	if o != nil {
		a.Credential = &syscall.Credential{Uid: uint32(o.uid), Gid: uint32(o.gid)}
	}
	return a
}

// memory returns the folder for a cluster: /dev/shm, where creating a database takes a fifth of
// the time, if it is writable and has room; else "", which stands for the temporary folder.
func memory() string {
	const folder, room, write = "/dev/shm", 2 << 30, 2
	var at syscall.Statfs_t
	if syscall.Statfs(folder, &at) != nil || at.Bavail*uint64(at.Bsize) < room ||
		syscall.Access(folder, write) != nil {
		return ""
	}
	return folder
}
