package auditor

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"assay/audit"
	"assay/audit/findings"
	"assay/internal/box"
)

// filesDir is the folder in a program's home with the files of its section, under their paths
// from the root. $ASSAY_FILES names it.
const filesDir = "files"

// maxFiles bounds the files of a section, in bytes.
const maxFiles = 64 << 20

// Files returns the contents of the files that an auditor consists of: those that the
// rows Files, Skill and Prompt of its section match and those below the root that its
// command line names. They are named by their paths from the root, or $NAME/path below
// the folder of a variable. Links are followed within these folders alone, and folders of
// notOwn are left out. A pattern that matches no file is an error.
func Files(entry audit.AuditorEntry) (map[string][]byte, error) {
	found := map[string][]byte{}
	var errs []error
	for _, pattern := range slices.Concat(entry.Files, entry.Skill, entry.Prompt) {
		if err := addPattern(found, entry, pattern); err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: Files %s: %w", entry.Pos,
				entry.Name, pattern, err))
		}
	}
	if entry.Root != "" {
		root, err := os.OpenRoot(entry.Root)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		for _, word := range wordForm.FindAllString(entry.Command, -1) {
			name := path.Clean(strings.TrimPrefix(strings.TrimPrefix(word, "ASSAY_FILES"), "/"))
			info, err := root.Stat(name)
			if err != nil || !info.Mode().IsRegular() || !fs.ValidPath(name) {
				continue
			}
			content, err := fs.ReadFile(root.FS(), name)
			if err != nil {
				errs = append(errs, err)
			}
			found[name] = content
		}
	}
	size := 0
	for _, content := range found {
		size += len(content)
	}
	if size > maxFiles {
		errs = append(errs,
			fmt.Errorf("%s: %s: its files have %s: expected at most %s: name toolchains in the row Reads", entry.Pos, entry.Name, box.Size(int64(size)), box.Size(maxFiles)))
	}
	return found, errors.Join(errs...)
}

// wordForm matches what may be a path within a command line.
var wordForm = regexp.MustCompile(`[\w@%+,./-]+`)

// addPattern adds the files that a pattern matches: one below the root, or $NAME/pattern
// below the folder of a variable, which matches nothing if that is not set.
func addPattern(found map[string][]byte, entry audit.AuditorEntry, pattern string) error {
	dir, below, prefix := entry.Root, pattern, ""
	if name, rest, ok := strings.Cut(pattern, "/"); ok && strings.HasPrefix(name, "$") {
		if dir = os.Getenv(name[1:]); dir == "" {
			return nil
		}
		below, prefix = rest, name+"/"
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	files, err := doublestar.Glob(ownFiles{root.FS()}, below, doublestar.WithFilesOnly(),
		doublestar.WithFailOnIOErrors())
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no file matches below %s: expected the files that it consists of", dir)
	}
	for _, file := range files {
		content, err := fs.ReadFile(root.FS(), file)
		if err != nil {
			return err
		}
		found[prefix+file] = content
	}
	return nil
}

// notOwn names folders that no pattern matches: a toolchain, and what programs leave behind.
var notOwn = []string{".venv", "venv", "node_modules", "__pycache__", ".git"}

// ownFiles is a file system in which folders do not list those of notOwn.
type ownFiles struct{ fs.FS }

// ReadDir lists a folder.
func (f ownFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(f.FS, name)
	return slices.DeleteFunc(entries,
		func(d fs.DirEntry) bool { return slices.Contains(notOwn, d.Name()) }), err
}

// Stat returns what is known of a file.
func (f ownFiles) Stat(name string) (fs.FileInfo, error) { return fs.Stat(f.FS, name) }

// Parts returns what an auditor of a section consists of, by name: the SHA-256 of each of
// its files and of the program and script that its command line begins with, its command line,
// version, model, formats and limits, and the values of the
// variables that it is given and that are no secrets. Two runs with equal parts ran the
// same auditor.
func Parts(entry audit.AuditorEntry, version string) (map[string]string, error) {
	files, err := Files(entry)
	if err != nil {
		return nil, err
	}
	parts := map[string]string{"command": entry.Command, "version": version, "format": entry.Format,
		"output": entry.Output,
		"limits": fmt.Sprintf("%+v timeout %s", entry.Limits, entry.Timeout)}
	if entry.Model != "" {
		parts["model"] = entry.Model
	}
	if strings.Contains(entry.Command, "ASSAY_FORMAT") {
		parts["report format"] = sha256Of([]byte(findings.Instructions))
	}
	for name, content := range files {
		parts[name] = sha256Of(content)
	}
	words := wordForm.FindAllString(entry.Command, -1)
	for _, word := range words[:min(2, len(words))] { // the program, and its script
		if content, err := os.ReadFile(word); err == nil && path.IsAbs(word) {
			parts[path.Base(word)] = sha256Of(content)
		}
	}
	for _, name := range entry.Variables() {
		value := os.Getenv(name)
		info, err := os.Stat(value)
		folder := err == nil && info.IsDir() // its place is no part of the auditor
		if value != "" && name != entry.Network.Key && !box.Secret(name) && !folder {
			parts["$"+name] = value
		}
	}
	return parts, nil
}

// A homeContent is what a run finds in its home.
type homeContent struct {
	files map[string]string // names to contents
	links map[string]string // names to paths of this machine
}

// homeFiles returns the content of a run's home: more, and below filesDir the files of the
// section. Files below the folder of a variable are read where they are. What the row Reads
// names below the root is read there too, and linked below filesDir.
func homeFiles(entry *audit.AuditorEntry, more map[string]string) (h homeContent, err error) {
	files, err := Files(*entry)
	if err != nil {
		return h, err
	}
	h = homeContent{maps.Clone(more), map[string]string{}}
	for _, name := range entry.Reads {
		if belowRoot(name) {
			h.links[path.Join(filesDir, name)] = filepath.Join(entry.Root, name)
		}
	}
	*entry = placed(*entry)
	for name, content := range files {
		if strings.HasPrefix(name, "$") {
			entry.Reads = append(entry.Reads, name)
			continue
		}
		h.files[path.Join(filesDir, name)] = string(content)
	}
	return h, nil
}

// home makes a home with this content, and with more files.
func (h homeContent) home(more map[string]string) (*box.Home, error) {
	files := maps.Clone(h.files)
	maps.Copy(files, more)
	home, err := box.NewHome(files)
	if err == nil {
		for name, target := range h.links {
			home.Link(name, target)
		}
	}
	return home, err
}

// belowRoot reports whether a path of the row Reads is one from the root.
func belowRoot(name string) bool {
	return !path.IsAbs(name) && !strings.HasPrefix(name, "~/") && !strings.HasPrefix(name, "$")
}

// placed returns the section with the paths of Reads that are from the root made absolute, and
// with the Pythons of its virtual environments.
func placed(entry audit.AuditorEntry) audit.AuditorEntry {
	reads := slices.Clone(entry.Reads)
	for i, name := range entry.Reads {
		if belowRoot(name) && entry.Root != "" {
			reads[i] = filepath.Join(entry.Root, name)
			if python := madeBy(reads[i]); python != "" {
				reads = append(reads, python)
			}
		}
	}
	entry.Reads = reads
	return entry
}

// madeBy returns the folder of the Python that a virtual environment was made by and leads to;
// "" where that is the system's, or dir is none.
func madeBy(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "pyvenv.cfg"))
	m := venvHome.FindSubmatch(text)
	if err != nil || m == nil {
		return ""
	}
	prefix := filepath.Dir(string(m[1]))
	if !filepath.IsAbs(prefix) || prefix == "/" || prefix == "/usr" || !box.Exists(prefix) {
		return ""
	}
	return prefix
}

var venvHome = regexp.MustCompile(`(?m)^home\s*=\s*(\S+)\s*$`)
