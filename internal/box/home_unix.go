//go:build unix

package box

import (
	"io/fs"
	"os"
	"syscall"
)

// harmless are the signals by which no program ends.
var harmless = []syscall.Signal{syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGURG, syscall.SIGWINCH}

// noWait keeps the opening of a FIFO from waiting for its other end.
const noWait = syscall.O_NONBLOCK | syscall.O_NOFOLLOW

// hold opens a folder and takes hold of it, for as long as this process lives or until
// it is closed; nil where another one has.
func hold(dir string) *os.File {
	f, err := os.Open(dir)
	if err == nil && syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		return f
	}
	_ = f.Close()
	return nil
}

// allocated gives how much of a file there really is, in bytes.
func allocated(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512
	}
	return info.Size()
}

func ownedByNobody(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Uid == nobody
}
