//go:build unix

package box

import (
	"io/fs"
	"syscall"
)

// harmless are the signals by which no program ends.
var harmless = []syscall.Signal{syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGSTOP, syscall.SIGTSTP,
	syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGURG, syscall.SIGWINCH}

// noWait keeps the opening of a FIFO from waiting for its other end.
const noWait = syscall.O_NONBLOCK | syscall.O_NOFOLLOW

// allocated returns the bytes of disk that a file takes.
func allocated(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512
	}
	return info.Size()
}

// ownedByNobody reports whether a file belongs to the account nobody.
func ownedByNobody(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Uid == nobody
}
