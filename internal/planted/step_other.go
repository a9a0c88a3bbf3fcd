//go:build unix && !linux

package planted

import "syscall"

// attributes start a program in a process group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
