//go:build unix

package run_test

import (
	"os"
	"os/signal"
	"syscall"
)

// peakMemory gives the most memory that a process had, in MB.
func peakMemory(s *os.ProcessState) float64 {
	return float64(s.SysUsage().(*syscall.Rusage).Maxrss) / 1024
}

// limitFiles makes a write beyond so many bytes of a file fail, as on a full disk.
func limitFiles(size uint64) error {
	signal.Ignore(syscall.SIGXFSZ)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: size})
}
