//go:build unix

package suite

import (
	"os"

	"golang.org/x/sys/unix"
)

// columnsOf gives the width of a terminal; 0 for what is none.
func columnsOf(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
