package box

import (
	"os"
	"syscall"
)

// xcpu is no signal of this system.
const xcpu = syscall.Signal(-1)

func attributes() *syscall.SysProcAttr { return nil }

// askToEnd: a program without a window cannot be asked.
func (l *launched) askToEnd() {}

func (l *launched) kill() { _ = l.cmd.Process.Kill() }

func raise(os.Signal) { os.Exit(1) }
