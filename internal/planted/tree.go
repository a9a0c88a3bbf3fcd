package planted

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"assay/audit"
)

// maxSource is the size limit of a source file in bytes.
const maxSource = 200_000 // bytes

// toolFolders hold what runs a project. They are never exported.
var toolFolders = []string{"setup", "functional", "exploits"}

// tree reads the files of the project.
func (r *reader) tree() {
	r.walk("source", func(rel string, b []byte) {
		pos := audit.Pos{File: r.show(path.Join("source", rel))}
		to, problem := exportPath(rel)
		switch {
		case problem != "":
			r.c.Errorf(pos, "%s", problem)
		case len(b) > maxSource:
			r.c.Errorf(pos, "%d bytes: expected at most %d", len(b), maxSource)
		case bytes.IndexByte(b, 0) >= 0 || !utf8.Valid(b):
			r.c.Errorf(pos, "is no text in UTF-8: expected no binary file")
		case slices.ContainsFunc(r.p.sources, func(s source) bool { return s.path == to }):
			r.c.Errorf(pos, "comes out as %s, like another file", to)
		default:
			text := string(b)
			r.p.sources = append(r.p.sources, source{to, text, wordsIn(text),
				parseSource(pos.File, text, r.c)})
		}
	})
	if len(r.p.sources) == 0 {
		r.c.Errorf(audit.Pos{File: r.show("source")}, "holds no file: expected the application")
	}
	slices.SortFunc(r.p.sources, func(a, b source) int { return strings.Compare(a.path, b.path) })
	for _, dir := range toolFolders {
		r.walk(dir, func(rel string, b []byte) { r.p.tools[path.Join(dir, rel)] = b })
	}
}

// walk calls each with every file below a folder of the project, which may be absent. It skips
// installed and generated folders outside of source/.
func (r *reader) walk(dir string, each func(rel string, b []byte)) {
	root := path.Join(r.dir, dir)
	err := fs.WalkDir(r.fsys, root, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == root {
			return nil
		}
		if err != nil {
			return err
		}
		if d.IsDir() {
			if dir != "source" && (d.Name() == "node_modules" || d.Name() == "__pycache__") {
				return fs.SkipDir
			}
			return nil
		}
		rel := strings.TrimPrefix(name, root+"/")
		if !d.Type().IsRegular() {
			r.c.Errorf(audit.Pos{File: r.show(path.Join(dir, rel))},
				"is no regular file: expected files and folders alone")
			return nil
		}
		b, err := fs.ReadFile(r.fsys, name)
		if err != nil {
			return err
		}
		each(rel, b)
		return nil
	})
	if err != nil {
		r.c.Errorf(audit.Pos{File: r.show(dir)}, "cannot be read: %v", err)
	}
}

// exportPath returns the exported name of a stored file: go.mod.txt becomes go.mod, dot-env
// becomes .env, dot-__init__.py becomes __init__.py. The stored names exist because go:embed
// skips names that begin with a dot or an underscore.
func exportPath(rel string) (to, problem string) {
	parts := strings.Split(rel, "/")
	for i, part := range parts {
		switch {
		case part == "__pycache__" || part == "node_modules":
			return "", "lies in a generated folder: expected source alone"
		case part[0] == '.' || part[0] == '_':
			return "", fmt.Sprintf("the name %s begins with %c: expected it to be stored as dot-%s",
				part, part[0], strings.TrimPrefix(part, "."))
		case strings.ContainsAny(part, "\t\r\n"):
			return "", fmt.Sprintf(
				"the name %q holds a tab or the end of a line: expected none, as lists of files have a path a line", part)
		case strings.HasPrefix(part, "dot-_"):
			parts[i] = strings.TrimPrefix(part, "dot-")
		case strings.HasPrefix(part, "dot-"):
			parts[i] = "." + strings.TrimPrefix(part, "dot-")
		case part == "go.mod" || part == "go.sum":
			return "", "would make a module of its own here: expected it to be stored as " + part +
				".txt"
		case part == "go.mod.txt" || part == "go.sum.txt":
			parts[i] = strings.TrimSuffix(part, ".txt")
		}
	}
	return path.Join(parts...), ""
}

// checkSites checks that each site has a row, one primary region, and the functions that the
// row names.
func (r *reader) checkSites() {
	rows := map[string]audit.Pos{}
	for _, s := range r.p.Sites {
		if first, twice := rows[s.ID]; twice {
			r.c.Errorf(s.Pos, "a second row for %s: the first is at line %d", s.ID, first.Line)
		}
		rows[s.ID] = s.Pos
	}
	primary, others, holds := map[string]*region{}, map[string]*region{}, map[string]source{}
	for _, src := range r.p.sources {
		for _, g := range regions(src.nodes) {
			if _, ok := rows[g.site]; !ok && len(r.p.Sites) > 0 {
				r.c.Errorf(g.pos,
					"the site %s has no row in project.md: expected one under # Sites", g.site)
			}
			if first := primary[g.site]; first != nil && !g.plus {
				r.c.Errorf(g.pos,
					"a second primary region of %s: the first is at %s (further ones are marked site:%s+)", g.site, first.pos, g.site)
			}
			if g.plus {
				others[g.site] = g
			} else {
				primary[g.site], holds[g.site] = g, src
			}
		}
	}
	for _, s := range r.p.Sites {
		if primary[s.ID] == nil {
			what := "no region"
			if others[s.ID] != nil {
				what = "no primary region"
			}
			r.c.Errorf(s.Pos, "the site %s has %s in source/: expected site:%s good, bad, end",
				s.ID, what, s.ID)
			continue
		}
		for _, f := range s.Functions {
			words := wordPattern.FindAllString(f, -1)
			if len(words) == 0 || !holds[s.ID].words[words[len(words)-1]] {
				r.c.Errorf(s.Pos,
					"%s names the function %q, which the file of its primary region does not hold (%s): expected its name as the source has it", s.ID, f, primary[s.ID].pos)
			}
		}
	}
}
