//go:build unix

package store

import (
	"errors"
	"syscall"
)

func processLives(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
