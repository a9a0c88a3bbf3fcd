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

// A Sealed is a sealed export of a project.
type Sealed struct {
	Dir     string // absolute
	Files   int
	Blanked int // files in which something was emptied
	Names   Names
	Missing []string          // files outside of the manifest that the source's copy lacks
	paths   map[string]string // exported path -> path at the pin
	used    map[audit.Rename]bool
}

// Export writes the sealed export of the clone into dir, which must be empty or
// absent. Answers are emptied in place, names are changed by the project's
// table, and every line keeps its number. Files and folders come out read-only.
// A row of the project's tables that finds nothing is an error: a mistyped
// pattern would leave the answers where they are. So is an entry or a decoy of whose
// lines nothing is left. After an error nothing is left.
func (c *Clone) Export(ctx context.Context, dir string) (_ *Sealed, err error) {
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
	s := &Sealed{Dir: dir, Names: c.Project.Renames, paths: map[string]string{}, used: map[audit.Rename]bool{}}
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
	if err := errors.Join(append(s.lost(root, c.Project, source), s.unused(blankers))...); err != nil {
		return nil, err
	}
	return s, ReadOnly(s.Dir)
}

// lost gives the entries and decoys of the key of whose lines in the source the export
// leaves nothing: what is blanked or replaced must never be the flaw itself.
func (s *Sealed) lost(root *os.Root, p *audit.Project, source map[string][]byte) []error {
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
			errs = append(errs, fmt.Errorf("%s: %s: the sealed export leaves nothing of %s:%s: expected blanks that spare the code of entries and decoys", e.Pos, e.ID, e.File, e.Lines))
		}
	}
	return errs
}

// OpenEmpty opens a folder, which must be empty or absent, for what is written there.
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

func (s *Sealed) write(root *os.Root, name string, content []byte, blankers []*blanker) error {
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
		return fmt.Errorf("the renames make %s of %s, and of that %s again: findings could not be mapped back", to, name, back)
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

// manifests name packages of others, whose names are no hint and must stay, or
// the project does not build and tools that load it see nothing.
var manifests = map[string]bool{"go.mod": true, "go.sum": true, "package.json": true, "package-lock.json": true,
	"yarn.lock": true, "pom.xml": true, "requirements.txt": true, "Pipfile": true, "Pipfile.lock": true,
	"poetry.lock": true, "composer.json": true, "composer.lock": true}

// ReadOnly takes the right to write from an export's folders. An auditor that runs as
// root writes all the same: internal/box mounts it read-only where it can.
func ReadOnly(dir string) error {
	return filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(name, 0o555)
		}
		return err
	})
}

type blanker struct {
	audit.Blank
	pattern *regexp.Regexp
	used    bool
	cut     bool // whether anything was emptied
}

// compile takes blanks whose patterns audit/fixture has checked.
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

// apply gives the content with the named lines or matches emptied and as many
// lines as before.
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
		case slices.ContainsFunc(b.Lines, func(r audit.Range) bool { return r.Start <= i+1 && i+1 <= r.End }):
		default:
			kept = text
		}
		b.cut = b.cut || !bytes.Equal(kept, text)
		lines[i] = append(slices.Clone(kept), end...)
	}
	return bytes.Join(lines, nil)
}

// acrossLines replaces matches that may cross lines, whose ends it keeps.
func (b *blanker) acrossLines(content []byte) []byte {
	var out []byte
	at := 0
	for _, m := range b.pattern.FindAllSubmatchIndex(content, -1) {
		b.cut = true
		out = append(out, content[at:m[0]]...)
		before := bytes.Count(out, []byte("\n"))
		out = b.pattern.Expand(out, []byte(b.With), content, m)
		kept := bytes.Count(out, []byte("\n")) - before
		out = append(out, bytes.Repeat([]byte("\n"), max(0, bytes.Count(content[m[0]:m[1]], []byte("\n"))-kept))...)
		at = m[1]
	}
	return append(out, content[at:]...)
}

func (s *Sealed) unused(blankers []*blanker) error {
	for _, b := range blankers {
		switch {
		case !b.used:
			return fmt.Errorf("%s: %q matches no file: the answers that it means stay in the export", b.Pos, b.Glob)
		case !b.cut:
			return fmt.Errorf("%s: nothing in %q is emptied by this row: the answers that it means stay in the export", b.Pos, b.Glob)
		}
	}
	var errs []error
	for _, r := range s.Names {
		if !s.used[r] {
			errs = append(errs, fmt.Errorf("%s: the name %q stands nowhere in the project", r.Pos, r.From))
		}
	}
	return errors.Join(errs...)
}

// isText goes by git's rule: no NUL in the first 8,000 bytes.
func isText(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), 8000)], 0) < 0
}

// Hash identifies what a project's sealed export shows: SHA-256, in hex, over the
// commit and the tables of blanks and renames. Two recordings with the same hash
// saw the same files.
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
