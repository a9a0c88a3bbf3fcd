package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"assay/audit/fixture"
	"assay/internal/fixes"
)

type fixesCmd struct {
	Find fixesFindCmd `cmd:"" help:"Propose commits of a repository that may be security fixes, as a table on stdout."`
	Add  fixesAddCmd  `cmd:"" help:"Derive where the flaws lay that fixes mend, and add them to fixtures/fixes/NAME.md."`
	Show fixesShowCmd `cmd:"" help:"Print the diff of a fix, its places, and what was dropped and why."`
}

// Help returns the help text.
func (fixesCmd) Help() string { return "A benchmark of your own security fixes: docs/fixes.md." }

type fixesFindCmd struct {
	Repository string `arg:"" help:"Folder of a git repository with its history."`
	Since      string `help:"Earliest date, like 2026-01-01."`
	OSV        string `help:"Advisories in the format of OSV (GitHub's, Go's): a file or a folder; the commits that they name are proposed too." name:"osv" type:"path"`
}

// Run prints candidates for fixes as TSV.
func (c *fixesFindCmd) Run(ctx context.Context, out io.Writer) error {
	repository, err := fixes.Open(ctx, c.Repository)
	if err != nil {
		return err
	}
	advisories, err := readAdvisories(c.OSV)
	if err != nil {
		return err
	}
	rows, looked, err := repository.Find(ctx, c.Since, advisories)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, fixes.FormatRows(rows)); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr,
		"%d of %d commits may be fixes: delete those that are none, and fill in cwe\n",
		len(rows), looked)
	return nil
}

type fixesAddCmd struct {
	Name       string `arg:"" help:"Of the table: fixtures/fixes/NAME.md; what it holds stays."`
	File       string `arg:"" help:"Tab-separated values: commit and cwe, and optionally id, title, severity, advisory, place, introduced, twin." type:"existingfile"`
	Repository string `required:"" help:"Folder of the git repository with its history."`
	URL        string `help:"https or ssh address by which others reach the repository; default: that of its remote origin."`
	OSV        string `help:"Advisories in the format of OSV, which say a CWE where a row has none: a file or a folder." name:"osv" type:"path"`
	Pin        string `help:"Commit of the pool's vulnerable tree; default: the parent of the first fix."`
	Root       string `help:"Folder with fixtures/." default:"." env:"ASSAY_ROOT" type:"path"`
}

func readAdvisories(path string) (fixes.Advisories, error) {
	if path == "" {
		return nil, nil
	}
	return fixes.ReadAdvisories(path)
}

// page returns a table's file below the root.
func page(name string) string { return path.Join(fixes.Dir, name+".md") }

// Run derives the places of fixes and writes their table.
func (c *fixesAddCmd) Run(ctx context.Context, out io.Writer) error {
	if err := checkName(c.Name); err != nil {
		return err
	}
	text, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	rows, err := fixes.ReadRows(filepath.Base(c.File), string(text))
	if err != nil {
		return err
	}
	repository, err := fixes.Open(ctx, c.Repository)
	if err != nil {
		return err
	}
	table, err := c.table(ctx, repository)
	if err != nil {
		return err
	}
	advisories, err := readAdvisories(c.OSV)
	if err != nil {
		return err
	}
	added, notes, refused := fixes.Add(ctx, table, repository, rows, c.Pin, advisories)
	var lines fixture.Errors
	if errors.As(refused, &lines); refused != nil && lines == nil {
		return refused
	}
	for _, note := range append(lines, notes...) {
		fmt.Fprintln(out, note)
	}
	if len(table.Fixes) == 0 {
		return fmt.Errorf("no row could be used: nothing is written")
	}
	file := filepath.Join(c.Root, filepath.FromSlash(page(c.Name)))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(table.Format()), 0o644); err != nil {
		return err
	}
	table, advice, err := fixes.Read(os.DirFS(c.Root), page(c.Name))
	if err != nil {
		return err
	}
	leaks, err := repository.Leaks(ctx, table)
	if err != nil {
		return err
	}
	for _, a := range append(advice, leaks...) {
		fmt.Fprintln(out, a)
	}
	size, err := repository.Measure(ctx, table.Pin, table.Scope)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %s\n", under(c.Root, filepath.FromSlash(page(c.Name))), table.Summary())
	fmt.Fprintf(out, "each tree of the pool: %s\n", size)
	if len(lines) > 0 {
		return fmt.Errorf("%d of %d rows are left out, %d added", len(lines), len(rows), added)
	}
	return nil
}

// table reads the table, or begins one.
func (c *fixesAddCmd) table(ctx context.Context, r *fixes.Repository) (*fixes.Benchmark, error) {
	t, _, err := fixes.Read(os.DirFS(c.Root), page(c.Name))
	if err == nil || !notThere(c.Root, page(c.Name)) {
		return t, err
	}
	t = &fixes.Benchmark{Name: c.Name, Repository: c.URL}
	root, err := filepath.EvalSymlinks(c.Root)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(r.Dir)
	if err != nil {
		return nil, err
	}
	if below, err := filepath.Rel(root, real); t.Repository == "" && err == nil &&
		filepath.IsLocal(below) && below != "." {
		t.Repository = filepath.ToSlash(below)
	}
	if t.Repository == "" {
		t.Repository = r.URL(ctx)
	}
	if t.Repository == "" {
		return nil, fmt.Errorf(
			"%s has no remote origin with an https or ssh URL: name the address by --url, or put the repository below %s", c.Repository, c.Root)
	}
	return t, nil
}

// notThere reports whether a file is missing.
func notThere(root, name string) bool {
	_, err := fs.Stat(os.DirFS(root), name)
	return errors.Is(err, fs.ErrNotExist)
}

type fixesShowCmd struct {
	Name       string `arg:"" help:"Of the table."`
	ID         string `arg:"" help:"Of the fix, or its commit."`
	Repository string `help:"Folder of the git repository with its history; default: what the table says, where that lies below the root."`
	Root       string `help:"Folder with fixtures/." default:"." env:"ASSAY_ROOT" type:"path"`
}

// Run prints one fix with its diff and places.
func (c *fixesShowCmd) Run(ctx context.Context, out io.Writer) error {
	t, _, err := fixes.Read(os.DirFS(c.Root), page(c.Name))
	if err != nil {
		return err
	}
	dir := c.Repository
	if dir == "" {
		if strings.Contains(t.Repository, "://") {
			return fmt.Errorf("%s lies at %s: name a folder with its history by --repository",
				c.Name, t.Repository)
		}
		dir = filepath.Join(c.Root, t.Repository)
	}
	r, err := fixes.Open(ctx, dir)
	if err != nil {
		return err
	}
	f, unknown := t.ByID(c.ID)
	commit := c.ID
	if f != nil {
		commit = f.Commit
	}
	d, err := r.DeriveCommit(ctx, commit)
	if err != nil {
		return errors.Join(unknown, err)
	}
	fixes.Show(out, f, d)
	return nil
}
