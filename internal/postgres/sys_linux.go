package postgres

import "syscall"

// quit asks postgres for its immediate shutdown.
const quit = syscall.SIGQUIT

// attributes makes the child run as o, in a process group of its own (Ctrl-C
// reaches us, who then stop it), and end when we end, however that happens.
func attributes(o *owner) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: quit}
	if o != nil {
		a.Credential = &syscall.Credential{Uid: uint32(o.uid), Gid: uint32(o.gid)}
	}
	return a
}

// memory gives the folder for a cluster: where files do not reach a disk, and a
// database is made in a fifth of the time, if a cluster has room there and we may
// write there; else "", which is the folder for temporary files.
func memory() string {
	const folder, room, write = "/dev/shm", 2 << 30, 2
	var at syscall.Statfs_t
	if syscall.Statfs(folder, &at) != nil || at.Bavail*uint64(at.Bsize) < room || syscall.Access(folder, write) != nil {
		return ""
	}
	return folder
}
