//go:build unix

package store

import (
	"errors"
	"syscall"
)

// processLives reports whether there is a process of this number.
func processLives(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
