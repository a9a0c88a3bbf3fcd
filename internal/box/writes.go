package box

import (
	"os"
	"path/filepath"
)

// A writable is a folder or file of this machine that a program may write: there is no
// file system of limited size around it, so it is looked at how much it grows.
type writable struct {
	path   string
	root   *os.Root // of the folder, or of that which holds the file
	name   string   // within root
	before int64    // bytes that it took when the program began
}

// openWrites keeps what the program may write, as it is before the program starts:
// what it puts into the place of something is not followed.
func openWrites(paths []string) (ws []writable, err error) {
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return ws, err
		}
		dir, name := p, "."
		if !info.IsDir() {
			dir, name = filepath.Split(p)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return ws, err
		}
		ws = append(ws, writable{p, root, name, size(root, name, 1<<62)})
	}
	return ws, nil
}

// grown gives by how many bytes it has grown, those of files included that a process
// of the leader's removed and holds open; where they are more than most, something
// above it.
func (w writable) grown(leader int, most int64) int64 {
	sum := size(w.root, w.name, w.before+most) - w.before
	if sum > most {
		return sum
	}
	return sum + removed(leader, w.root)
}
