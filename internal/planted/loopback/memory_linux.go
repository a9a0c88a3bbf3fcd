package loopback

import "syscall"

// memory is where files do not reach a disk. A database is made there in a fifth
// of the time.
const memory = "/dev/shm"

// room is what a cluster may come to need, in bytes.
const room = 2 << 30

// folder gives the folder for a cluster: memory where there is room, else "",
// which is the folder for temporary files.
func folder() string {
	var at syscall.Statfs_t
	if syscall.Statfs(memory, &at) != nil || at.Bavail*uint64(at.Bsize) < room {
		return ""
	}
	return memory
}
