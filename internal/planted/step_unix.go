//go:build unix

package planted

import (
	"os"
	"syscall"
)

// killGroup ends all of a process's group; an error says that all have ended.
func killGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }

// lockFile waits until nobody else holds the file.
func lockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }
