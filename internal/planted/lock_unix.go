//go:build unix

package planted

import (
	"os"
	"syscall"
)

// lockFile waits until nobody else holds the file.
func lockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }
