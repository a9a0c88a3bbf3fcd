//go:build unix && !linux

package box

import (
	"os"
	"syscall"
)

const xcpu = syscall.SIGXCPU

// attributes start a program in a session of its own, so that it has no terminal
// and one signal reaches all of it.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func (l *launched) askToEnd() { _ = syscall.Kill(-l.cmd.Process.Pid, syscall.SIGTERM) }

func (l *launched) kill() { _ = syscall.Kill(-l.cmd.Process.Pid, syscall.SIGKILL) }

func raise(s os.Signal) { _ = syscall.Kill(os.Getpid(), s.(syscall.Signal)) }
