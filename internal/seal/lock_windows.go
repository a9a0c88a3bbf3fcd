package seal

import (
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks the file unless it is locked elsewhere.
func tryLock(f *os.File) (held bool, err error) {
	const now = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	if err = windows.LockFileEx(windows.Handle(f.Fd()), now, 0, 1, 0,
		&windows.Overlapped{}); err == windows.ERROR_LOCK_VIOLATION {
		return false, nil
	}
	return err == nil, err
}
