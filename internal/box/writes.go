package box

import (
	"os"
	"path/filepath"
)

// A writable is a folder or file of this machine that a program may write. It lies in no file
// system of limited size, so its growth is measured.
type writable struct {
	path   string
	root   *os.Root // of the folder, or of that which holds the file
	name   string   // within root
	before int64    // bytes that it took when the program began
}

// openWrites opens what the program may write before the program starts, so that links which
// the program puts in its place are not followed.
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

// grown returns by how many bytes it has grown, with files that processes of the leader have
// removed and hold open. It stops counting once they are more than most.
func (w writable) grown(leader int, most int64) int64 {
	sum := size(w.root, w.name, w.before+most) - w.before
	if sum > most {
		return sum
	}
	return sum + removed(leader, w.root)
}
