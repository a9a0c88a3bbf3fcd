package planted

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

func attributes() *syscall.SysProcAttr { return nil }

// killGroup ends the process; those that it started are not found.
func killGroup(leader *os.Process) { _ = leader.Kill() }

// lockFile waits until nobody else holds the file.
func lockFile(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &windows.Overlapped{})
}
