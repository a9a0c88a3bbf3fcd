package seal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"assay/audit"
)

// An Export is a sealed export of a project.
type Export struct {
	Dir     string // absolute
	Files   int
	Blanked int // files in which something was emptied
	Names   Names
	Missing []string          // files outside of the manifest that the source's copy lacks
	paths   map[string]string // exported path -> path at the pin
	used    map[audit.Rename]bool
}

// Export writes the sealed export of the clone into dir, which must be empty or absent. Answers
// are blanked in place, names are replaced by the project's table, and every line keeps its
// number. Files and folders are read-only. It is an error if a row of the project's tables has
// no effect, because a mistyped pattern would leave answers in the export, or if an entry or
// decoy is blanked completely. After an error dir is removed.
func (c *Clone) Export(ctx context.Context, dir string) (_ *Export, err error) {
	bs, err := c.blobs(ctx)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	root, err := OpenEmpty(dir, "the sealed export")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err = errors.Join(err, root.Close()); err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	s := &Export{Dir: dir, Names: c.Project.Renames, paths: map[string]string{},
		used: map[audit.Rename]bool{}}
	blankers := compile(c.Project.Blanks)
	source := map[string][]byte{} // of the files that the key names
	for _, e := range c.Project.Entries() {
		source[e.File] = nil
	}
	err = c.read(ctx, bs, func(b blob, content []byte, err error) error {
		if _, listed := c.Project.Tree[b.path]; err != nil && !listed {
			s.Missing = append(s.Missing, b.path)
			return nil
		}
		if err != nil {
			return err
		}
		if _, named := source[b.path]; named {
			source[b.path] = bytes.Clone(content)
		}
		return s.write(root, b.path, content, blankers)
	})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(append(s.lost(root, c.Project, source),
		s.unused(blankers))...); err != nil {
		return nil, err
	}
	return s, ReadOnly(s.Dir)
}

// lost returns an error for each entry and decoy of which the export has no line.
func (s *Export) lost(root *os.Root, p *audit.Project, source map[string][]byte) []error {
	var errs []error
	blank := func(content []byte, lines audit.Range) bool {
		return len(bytes.TrimSpace(linesOf(content, lines))) == 0
	}
	for _, e := range p.Entries() {
		content, err := root.ReadFile(s.Names.Hide(e.File))
		if e.Lines.IsZero() { // the whole file is meant
			e.Lines = audit.Range{Start: 1, End: len(source[e.File])}
		}
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %s: %w", e.Pos, e.ID, err))
		case blank(content, e.Lines) && !blank(source[e.File], e.Lines):
			errs = append(errs,
				fmt.Errorf("%s: %s: the sealed export leaves nothing of %s:%s: expected blanks that spare the code of entries and decoys", e.Pos, e.ID, e.File, e.Lines))
		}
	}
	return errs
}

// OpenEmpty opens a folder for writing. The folder must be empty or absent; what names its
// purpose in the error.
func OpenEmpty(dir, what string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("%s: expected an empty folder for %s", dir, what)
	}
	return os.OpenRoot(dir)
}

// write blanks, renames and writes one file.
func (s *Export) write(root *os.Root, name string, content []byte, blankers []*blanker) error {
	blanked := false
	for _, b := range blankers {
		if ok, _ := doublestar.Match(b.Glob, name); ok {
			b.used = true
			content = b.apply(content)
			blanked = true
		}
	}
	if blanked {
		s.Blanked++
	}
	to, err := s.Names.hide(name, name, s.used)
	if err != nil {
		return err
	}
	if back := s.Names.reveal(to); back != name {
		return fmt.Errorf(
			"the renames make %s of %s, and of that %s again: findings could not be mapped back",
			to, name, back)
	}
	if isText(content) && !manifests[path.Base(name)] {
		text, err := s.Names.hide(name, string(content), s.used)
		if err != nil {
			return err
		}
		content = []byte(text)
	}
	if other, taken := s.paths[to]; taken {
		return fmt.Errorf("the renames give %s and %s the same path", other, name)
	}
	s.paths[to] = name
	if err := root.MkdirAll(path.Dir(to), 0o755); err != nil {
		return err
	}
	s.Files++
	return root.WriteFile(to, content, 0o444)
}

// manifests are files that name external packages. Renaming would break the build, and these
// names reveal nothing.
var manifests = map[string]bool{"go.mod": true, "go.sum": true, "package.json": true,
	"package-lock.json": true,
	"yarn.lock":         true, "pom.xml": true, "requirements.txt": true, "Pipfile": true,
	"Pipfile.lock": true,
	"poetry.lock":  true, "composer.json": true, "composer.lock": true}

// ReadOnly removes write permission from the folders of an export. An auditor that runs as root
// can still write; internal/box mounts the export read-only where it can.
func ReadOnly(dir string) error {
	return filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(name, 0o555)
		}
		return err
	})
}

// A blanker applies one row of the table of blanks.
type blanker struct {
	audit.Blank
	pattern *regexp.Regexp
	used    bool
	cut     bool // whether anything was emptied
}

// compile returns the blankers. Package fixture has checked their patterns.
func compile(blanks []audit.Blank) (bs []*blanker) {
	for _, b := range blanks {
		bl := &blanker{Blank: b}
		if b.Pattern != "" {
			bl.pattern = regexp.MustCompile(b.Pattern)
		}
		bs = append(bs, bl)
	}
	return bs
}

// apply returns the content with the selected lines or matches blanked and the number of lines
// unchanged.
func (b *blanker) apply(content []byte) []byte {
	if b.pattern == nil && len(b.Lines) == 0 {
		b.cut = true
		return bytes.Repeat([]byte("\n"), bytes.Count(content, []byte("\n")))
	}
	if strings.HasPrefix(b.Blank.Pattern, "(?s)") {
		return b.acrossLines(content)
	}
	lines := bytes.SplitAfter(content, []byte("\n"))
	for i, line := range lines {
		text := bytes.TrimRight(line, "\r\n")
		end := line[len(text):]
		var kept []byte
		switch {
		case b.pattern != nil:
			kept = b.pattern.ReplaceAll(text, []byte(b.With))
		case slices.ContainsFunc(b.Lines,
			func(r audit.Range) bool { return r.Start <= i+1 && i+1 <= r.End }):
		default:
			kept = text
		}
		b.cut = b.cut || !bytes.Equal(kept, text)
		lines[i] = append(slices.Clone(kept), end...)
	}
	return bytes.Join(lines, nil)
}

// acrossLines replaces matches that may span lines and keeps their line ends.
func (b *blanker) acrossLines(content []byte) []byte {
	var out []byte
	at := 0
	for _, m := range b.pattern.FindAllSubmatchIndex(content, -1) {
		b.cut = true
		out = append(out, content[at:m[0]]...)
		before := bytes.Count(out, []byte("\n"))
		out = b.pattern.Expand(out, []byte(b.With), content, m)
		kept := bytes.Count(out, []byte("\n")) - before
		out = append(out,
			bytes.Repeat([]byte("\n"),
				max(0, bytes.Count(content[m[0]:m[1]], []byte("\n"))-kept))...)
		at = m[1]
	}
	return append(out, content[at:]...)
}

// unused returns an error for each blank and rename without effect.
func (s *Export) unused(blankers []*blanker) error {
	for _, b := range blankers {
		switch {
		case !b.used:
			return fmt.Errorf("%s: %q matches no file: its answers stay in the export",
				b.Pos, b.Glob)
		case !b.cut:
			return fmt.Errorf(
				"%s: nothing in %q is emptied by this row: its answers stay in the export",
				b.Pos, b.Glob)
		}
	}
	var errs []error
	for _, r := range s.Names {
		if !s.used[r] {
			errs = append(errs, fmt.Errorf("%s: the name %q does not occur in the project",
				r.Pos, r.From))
		}
	}
	return errors.Join(errs...)
}

// isText reports whether content is text by git's rule: no NUL in the first 8,000 bytes.
func isText(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), 8000)], 0) < 0
}

// Hash returns a SHA-256 hash, in hex, of a project's commit and its tables of blanks and
// renames. Recordings with equal hashes are of the same files.
func Hash(p *audit.Project) string {
	sum := sha256.New()
	fmt.Fprintln(sum, p.Commit)
	for _, b := range p.Blanks {
		fmt.Fprintf(sum, "blank %q %v %q %q\n", b.Glob, b.Lines, b.Pattern, b.With)
	}
	for _, r := range p.Renames {
		fmt.Fprintf(sum, "rename %q %q %v\n", r.From, r.To, r.Within)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
