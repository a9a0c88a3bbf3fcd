package box

import (
	"io/fs"
	"syscall"
)

var harmless []syscall.Signal

// noWait is of no use where a folder holds no FIFOs.
const noWait = 0

func allocated(info fs.FileInfo) int64 { return info.Size() }

func ownedByNobody(fs.FileInfo) bool { return false }
