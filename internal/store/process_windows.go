package store

import "os"

// processLives reports whether there is a process of this number.
func processLives(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		_ = p.Release()
	}
	return err == nil
}
