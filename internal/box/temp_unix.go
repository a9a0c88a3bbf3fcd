//go:build unix

package box

import (
	"os"
	"syscall"
)

// The kernel releases both when the file is closed or its process ends, however it ends.
func lockShared(f *os.File) error {
	return syscall.Flock(int(f.Fd()),
		syscall.LOCK_SH|syscall.LOCK_NB)
}
func lockAlone(f *os.File) error {
	return syscall.Flock(int(f.Fd()),
		syscall.LOCK_EX|syscall.LOCK_NB)
}
