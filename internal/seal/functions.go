package seal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/audit"
)

// Functions returns the functions of the files that the project's key names, or of all files if
// it names none. Extents come from universal-ctags if [Ctags] finds it. Other names of entries
// (a mapper's statement, a shell function, and all names without ctags) get the first line that
// contains the name as a whole word. A name that does not occur in its file is an error.
func (c *Clone) Functions(ctx context.Context) (map[string][]audit.Function, error) {
	ctags := Ctags()
	functions := map[string][]audit.Function{}
	var errs []error
	named := map[string][]audit.Entry{}
	for _, e := range c.Project.Entries() {
		named[e.File] = append(named[e.File], e)
	}
	wanted := func(path string) bool {
		return named[path] != nil || len(named) == 0 &&
			nameable(path)
	}
	err := c.each(ctx, wanted, func(b blob, content []byte) {
		path := b.path
		declared, err := tagged(ctx, ctags, path, content)
		errs = append(errs, err)
		functions[path] = declared
		for _, e := range named[path] {
			for _, name := range e.Functions {
				if slices.ContainsFunc(functions[path],
					func(f audit.Function) bool { return f.Name == name }) {
					continue
				}
				at := word(name).FindIndex(content)
				if at == nil {
					errs = append(errs,
						fmt.Errorf("%s: %s names the function %q, which does not occur in %s: expected its name as the source has it", e.Pos, e.ID, name, path))
					continue
				}
				line := 1 + bytes.Count(content[:at[1]-1], []byte("\n"))
				functions[path] = append(functions[path],
					audit.Function{Name: name, Lines: audit.Range{Start: line, End: line}})
			}
		}
	})
	return functions, errors.Join(append(errs, err)...)
}

// CheckFunctions checks the project's manifest of functions against the source at the pin: each
// name must occur as a whole word within its lines. It returns an error for each that does not,
// and one if the project has no manifest.
func (c *Clone) CheckFunctions(ctx context.Context) error {
	if c.Project.Functions == nil {
		return fmt.Errorf(
			"%s: the project has no manifest of functions: write it with assay fetch --functions",
			c.Project.Pos)
	}
	var errs []error
	seen := map[string]bool{}
	listed := func(path string) bool { _, ok := c.Project.Functions[path]; return ok }
	err := c.each(ctx, listed, func(b blob, content []byte) {
		path := b.path
		seen[path] = true
		for _, f := range c.Project.Functions[path] {
			if !word(f.Name).Match(linesOf(content, f.Lines)) {
				errs = append(errs,
					fmt.Errorf("%s: by the manifest of functions %s has the function %q in lines %s, where it does not occur: write the manifest again with assay fetch --functions", c.Project.Pos, path, f.Name, f.Lines))
			}
		}
	})
	for path := range c.Project.Functions {
		if err == nil && !seen[path] {
			errs = append(errs,
				fmt.Errorf("%s: the manifest of functions names %s, which the source lacks",
					c.Project.Pos, path))
		}
	}
	return errors.Join(append(errs, err)...)
}

// each calls f with the files at the pin that are wanted.
func (c *Clone) each(ctx context.Context, wanted func(path string) bool,
	f func(b blob, content []byte)) error {
	bs, err := c.blobs(ctx)
	if err != nil {
		return err
	}
	bs = slices.DeleteFunc(bs, func(b blob) bool { return !wanted(b.path) })
	return c.read(ctx, bs, func(b blob, content []byte, err error) error {
		if err == nil {
			f(b, content)
		}
		return err
	})
}

// Ctags returns the path of universal-ctags, "" if it is not installed.
func Ctags() string {
	for _, name := range []string{"universal-ctags", "ctags"} {
		if p, err := exec.LookPath(name); err == nil {
			if out, _ := exec.Command(p, "--version").Output(); bytes.HasPrefix(out,
				[]byte("Universal Ctags")) {
				return p
			}
		}
	}
	return ""
}

// functionKinds are the kinds of ctags that are functions.
var functionKinds = strings.Fields(
	"function func method member generator getter setter singletonMethod subroutine procedure")

// tagged returns the functions that ctags, a path or "", finds in a file.
func tagged(ctx context.Context, ctags, name string, content []byte) (fs []audit.Function,
	err error) {
	if ctags == "" {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "assay-ctags-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, path.Base(name))
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, ctags, "--options=NONE", "--sort=no", "-x",
		"--_xformat=%{name}\t%{line}\t%{end}\t%{kind}", file).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", name, ctags, err)
	}
	for line := range strings.Lines(string(out)) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) != 4 || !slices.Contains(functionKinds, cells[3]) {
			continue
		}
		f := audit.Function{Name: cells[0]}
		f.Lines.Start, _ = strconv.Atoi(cells[1])
		f.Lines.End, _ = strconv.Atoi(cells[2])
		// ctags makes up names of those that have none
		if f.Lines.End > 0 && word(f.Name).Match(linesOf(content, f.Lines)) {
			fs = append(fs, f)
		}
	}
	return fs, nil
}

// word returns an expression that matches a name as a whole word.
func word(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?:^|\W)` + regexp.QuoteMeta(name) + `(?:\W|$)`)
}

// linesOf returns the lines of a range.
func linesOf(content []byte, r audit.Range) []byte {
	lines := bytes.SplitAfter(content, []byte("\n"))
	end := min(r.End, len(lines))
	return bytes.Join(lines[min(max(r.Start-1, 0), end):end], nil)
}
