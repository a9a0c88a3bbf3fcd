//go:build unix

package seal

import (
	"os"
	"syscall"
)

// tryLock locks the file unless it is locked elsewhere.
func tryLock(f *os.File) (held bool, err error) {
	if err = syscall.Flock(int(f.Fd()),
		syscall.LOCK_EX|syscall.LOCK_NB); err == syscall.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}
