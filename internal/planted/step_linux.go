package planted

import "syscall"

// attributes start a program in a process group of its own; it dies with us.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
