//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// snoop says on standard error where it finds the text: below the named paths, in
// the folders up the tree, and in what /proc shows of other processes.
func snoop(text string, where []string) {
	s := &search{text: text}
	for _, w := range where {
		s.below(w, 6, 5000)
	}
	if dir, err := os.Getwd(); err == nil {
		for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			s.below(dir, 1, 500)
		}
	}
	pids, _ := filepath.Glob("/proc/[0-9]*")
	seen := map[string]bool{}
	for _, p := range pids {
		if p == fmt.Sprintf("/proc/%d", os.Getpid()) {
			continue
		}
		s.file(filepath.Join(p, "environ"))
		if dir, err := os.Readlink(p + "/cwd"); err == nil && !seen[dir] {
			seen[dir] = true
			s.below(p+"/cwd/", 1, 100)
		}
		if root, err := os.Readlink(p + "/root"); err == nil && !seen["root "+root] {
			seen["root "+root] = true
			for _, w := range where {
				s.below(filepath.Join(p, "root", w), 6, 500)
			}
		}
	}
	fmt.Fprintf(os.Stderr, "LOOKED at %d processes\n", len(pids))
}

// A search looks for a text in files.
type search struct{ text string }

// below looks through at most limit files, at most so deep.
func (s *search) below(root string, depth, limit int) {
	_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		rel, _ := filepath.Rel(root, name)
		if d.IsDir() && rel != "." && (strings.Count(rel, "/")+1 >= depth || name == "/proc" || name == "/sys") {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		if limit--; limit < 0 {
			return fs.SkipAll
		}
		s.file(name)
		return nil
	})
}

func (s *search) file(name string) {
	if holds(name, s.text) {
		fmt.Fprintln(os.Stderr, "FOUND", name)
	}
}

func holds(name, text string) bool {
	info, err := os.Stat(name)
	if err != nil || info.Size() > 1<<20 {
		return false
	}
	b, err := os.ReadFile(name)
	return err == nil && bytes.Contains(b, []byte(text))
}

// tryWrite says on standard error whether it could write the file.
func tryWrite(name string) {
	if err := os.WriteFile(name, []byte("was here\n"), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "KEPT OUT", err)
		return
	}
	fmt.Fprintln(os.Stderr, "WROTE", name)
}
