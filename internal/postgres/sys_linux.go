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
