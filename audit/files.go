package audit

import (
	"fmt"
	"io/fs"
)

// maxFile is the size of the largest file that is read as a fixture, a record or a
// recording, in bytes: a hundred times what any of ours has.
const maxFile = 64 << 20

// PlainFiles returns a file system that opens only plain files of at most 64 MB, because
// reading a FIFO may block, and reading a device may never end.
func PlainFiles(fsys fs.FS) fs.FS { return plainFiles{fsys} }

type plainFiles struct{ fs.FS }

// Open opens a plain file or a folder.
func (p plainFiles) Open(name string) (fs.File, error) {
	info, err := fs.Stat(p.FS, name)
	if err != nil {
		return nil, err
	}
	refuse := func(what string) (fs.File, error) {
		return nil, &fs.PathError{Op: "open", Path: name,
			Err: fmt.Errorf("%s: expected a plain file of at most %d MB", what, maxFile>>20)}
	}
	switch m := info.Mode(); {
	case m&fs.ModeNamedPipe != 0:
		return refuse("it is a FIFO")
	case m&fs.ModeSocket != 0:
		return refuse("it is a socket")
	case m&fs.ModeDevice != 0:
		return refuse("it is a device")
	case m.IsRegular() && info.Size() > maxFile:
		return refuse(fmt.Sprintf("it has %d bytes", info.Size()))
	}
	return p.FS.Open(name)
}

// Stat describes a file without opening it.
func (p plainFiles) Stat(name string) (fs.FileInfo, error) { return fs.Stat(p.FS, name) }

// ReadDir lists a folder.
func (p plainFiles) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(p.FS, name) }
