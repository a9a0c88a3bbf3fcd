package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/seal"
	"assay/internal/suite"
)

type newCmd struct {
	Case    newCaseCmd    `cmd:"" help:"Add a case to an application."`
	App     newAppCmd     `cmd:"" help:"Add an application with a first family."`
	Project newProjectCmd `cmd:"" help:"Add a project: its pin, its manifests, and an empty key."`
	Auditor newAuditorCmd `cmd:"" help:"Add an auditor: a command that audits a folder."`
}

type target struct {
	Root string `help:"Folder with tests/ and fixtures/." default:"." env:"ASSAY_ROOT" type:"existingdir"`

	in *bufio.Reader // nil: standard input
}

// need asks for a value that no flag gave. def is taken for an empty answer.
func (t *target) need(value *string, flag, question, def string) error {
	if *value != "" {
		return nil
	}
	if t.in == nil {
		t.in = bufio.NewReader(os.Stdin)
	}
	if def != "" {
		question += " [" + def + "]"
	}
	fmt.Fprintf(os.Stderr, "%s: ", question)
	line, err := t.in.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if *value = strings.TrimSpace(line); *value == "" {
		*value = def
	}
	if *value == "" {
		return fmt.Errorf("--%s is not given: expected %s", flag, question)
	}
	return nil
}

// write writes a file below the root, once it can be read.
func (t *target) write(name, text string, check func(dir fs.FS, name string) error) error {
	file := filepath.Join(t.Root, filepath.FromSlash(name))
	if err := replaceChecked(file, text, check); err != nil {
		return err
	}
	fmt.Println(file)
	return nil
}

// add writes new files and prints their names.
func (t *target) add(files map[string]string) error {
	if err := writeNew(t.Root, files); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Println(filepath.Join(t.Root, filepath.FromSlash(name)))
	}
	return nil
}

var plainName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// checkName checks that a name can be part of a file name.
func checkName(name string) error {
	if !plainName.MatchString(name) {
		return fmt.Errorf(
			"the name is %q: expected small letters, digits and hyphens, like find-orders", name)
	}
	return nil
}

type newCaseCmd struct {
	target
	Case        string `arg:"" help:"Application and query: orders/find-orders."`
	Label       string `help:"good or bad."`
	Description string `help:"What the code does, in a sentence; no reviewer sees it."`
	Violates    string `help:"Of a bad case: the numbers of the SPEC's requirements that it breaks, like 2, 5."`
	CWE         string `help:"Of a bad case: its weaknesses, like CWE-89." name:"cwe"`
	Code        string `help:"File with the code; its ending tells the language." type:"existingfile"`
}

// Run writes the files of a new family of cases.
func (c *newCaseCmd) Run() error {
	app, query, ok := strings.Cut(c.Case, "/")
	if !ok {
		return fmt.Errorf("%q is no case: expected application and query, like orders/find-orders",
			c.Case)
	}
	if err := errors.Join(checkName(app), checkName(query)); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(c.Root, "tests", app, "SPEC.md")); err != nil {
		return fmt.Errorf("%w: expected an application: assay new app %s", err, app)
	}
	err := errors.Join(c.need(&c.Label, "label", "good or bad", ""),
		c.need(&c.Description, "description", "what the code does, in a sentence", ""),
		c.need(&c.Code, "code", "the file with the code", ""))
	if err == nil && c.Label == string(audit.Bad) {
		err = c.need(&c.Violates, "violates", "the requirements that it breaks, like 2, 5", "")
	}
	if err != nil {
		return err
	}
	if c.Label != string(audit.Good) && c.Label != string(audit.Bad) {
		return fmt.Errorf("--label is %q: expected good or bad", c.Label)
	}
	code, err := os.ReadFile(c.Code)
	if err != nil {
		return err
	}
	taken, err := fs.Glob(os.DirFS(c.Root), path.Join("tests", app, query+"-[0-9][0-9]-*.md"))
	if err != nil {
		return err
	}
	cs := newCase{app: app, query: query, number: 1, label: audit.Label(c.Label),
		description: c.Description,
		violates:    c.Violates, cwe: c.CWE, code: fenced(c.Code, string(code))}
	for _, name := range taken {
		n := 0
		if _, err := fmt.Sscanf(strings.TrimPrefix(filepath.Base(name), query+"-"), "%d",
			&n); err == nil {
			cs.number = max(cs.number, n+1)
		}
	}
	return c.write(cs.name(), cs.text(), func(dir fs.FS, name string) error {
		_, err := fixture.ReadCase(dir, name)
		return err
	})
}

// fenced puts code into a fence that is longer than any in it.
func fenced(name, code string) string {
	fence := "```"
	for strings.Contains(code, fence) {
		fence += "`"
	}
	language := strings.TrimPrefix(filepath.Ext(name), ".")
	if long, ok := map[string]string{"js": "javascript", "ts": "typescript",
		"py": "python"}[language]; ok {
		language = long
	}
	return fence + language + "\n" + strings.TrimRight(code, "\n") + "\n" + fence
}

type newAppCmd struct {
	target
	Name     string `arg:"" help:"The application's name."`
	Language string `help:"sql, go, java, javascript or python." short:"l"`
}

// Run writes the files of a new application.
func (c *newAppCmd) Run() error {
	if err := checkName(c.Name); err != nil {
		return err
	}
	if err := c.need(&c.Language, "language", "sql, go, java, javascript or python",
		"sql"); err != nil {
		return err
	}
	if _, err := fs.Stat(start, "start/"+c.Language+".md"); err != nil {
		return fmt.Errorf("--language is %q: expected sql, go, java, javascript or python",
			c.Language)
	}
	return c.add(application(c.Name, c.Language))
}

type newAuditorCmd struct {
	target
	auditorFlags
	Name    string `arg:"" help:"The auditor's name."`
	Command string `help:"The command line, with paths below the root; or a model, or the folder of a skill."`
}

// Run adds a section. The command line runs in a copy of the project, and writes its report
// to standard output.
func (c *newAuditorCmd) Run() error {
	if err := checkName(c.Name); err != nil {
		return err
	}
	if err := errors.Join(c.need(&c.Command, "command", "the command line", ""),
		c.ask(&c.target)); err != nil {
		return err
	}
	s, err := c.section(c.Root, c.Name, c.Command)
	if err != nil {
		return err
	}
	text, err := withSection(c.Root, s)
	if err != nil {
		return err
	}
	return c.write("fixtures/auditors.md", text, func(dir fs.FS, name string) error {
		_, err := fixture.ReadAuditors(dir, name)
		return err
	})
}

// replaceChecked writes a file only when what it would hold can be read.
func replaceChecked(file, text string, check func(fs.FS, string) error) error {
	if err := checked(filepath.Base(file), text, check); err != nil {
		return fmt.Errorf("%s stays as it was, since it would hold:\n%w", file, err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// checked reports what is wrong with a file of this content.
func checked(name, text string, check func(fs.FS, string) error) error {
	dir, err := os.MkdirTemp("", "assay-new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		return err
	}
	return check(os.DirFS(dir), name)
}

type newProjectCmd struct {
	source
	target     `kong:"-"`
	Name       string `arg:"" help:"The project's name."`
	Repository string `help:"A local folder, or the URL of a git repository."`
	Commit     string `help:"The pin: 40 hex digits; default: the newest commit."`
	Language   string `help:"Languages of its source, separated by commas."`
	Licence    string `help:"Its licence." default:"unknown"`
	Key        string `help:"json: make nothing, and print the key of a project that is there (or planted: marina@7) as JSON, which assay import reads." enum:"json," default:""`
	Again      bool   `help:"Write the manifests of a project that is there again: its pin has moved."`

	made string // the repository that holds a folder as it is
}

// Run writes the files of a new project.
func (c *newProjectCmd) Run(ctx context.Context) error {
	if c.Key == "json" {
		return c.printKey()
	}
	if c.Again {
		return c.manifests(ctx, c.Name, true)
	}
	if err := checkName(c.Name); err != nil {
		return err
	}
	if err := c.need(&c.Repository, "repository", "the folder or the URL of its repository",
		""); err != nil {
		return err
	}
	if err := c.writePage(ctx); err != nil {
		return errors.Join(err, os.RemoveAll(c.made))
	}
	if err := c.manifests(ctx, c.Name, true); err != nil {
		return errors.Join(err, os.RemoveAll(c.made), c.unmake())
	}
	root := suite.Quoted(c.source.Root)
	fmt.Printf("\nnext: fill in the key, by hand or with assay import %s FILE --root %s, then\n  assay lint --root %s\n  ASSAY_ROOT=%s go test -run Regression\n", c.Name, root, root, root)
	return nil
}

// unmake removes the files of a project that was not completed.
func (c *newProjectCmd) unmake() (err error) {
	for _, ending := range []string{".md", ".tree.tsv", ".functions.tsv"} {
		gone := os.Remove(filepath.Join(c.source.Root, "fixtures/projects", c.Name+ending))
		if !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// writePage writes the project's page, with its pin.
func (c *newProjectCmd) writePage(ctx context.Context) error {
	if err := c.pin(ctx); err != nil {
		return err
	}
	if err := c.need(&c.Language, "language", "the languages of its source, separated by commas",
		"unknown"); err != nil {
		return err
	}
	cell := strings.NewReplacer("|", `\|`, "\n", " ")
	text := fmt.Sprintf(started("project.md"), c.Name, cell.Replace(c.Repository), c.Commit,
		cell.Replace(c.Language), cell.Replace(c.Licence))
	page := path.Join("fixtures/projects", c.Name+".md")
	if err := writeNew(c.source.Root, map[string]string{page: text}); err != nil {
		return err
	}
	fmt.Println(filepath.Join(c.source.Root, page))
	return nil
}

var pinned = regexp.MustCompile(`^[0-9a-f]{40}$`)

// pin copies a folder into the root and sets the commit; the newest is the default.
func (c *newProjectCmd) pin(ctx context.Context) error {
	info, err := os.Stat(c.Repository)
	switch {
	case err == nil && info.IsDir():
		if err := c.copyFolder(ctx, c.Repository); err != nil {
			return err
		}
	case !fixture.IsRepository(c.Repository):
		return fmt.Errorf("--repository is %q: expected a folder that is there, or %s",
			c.Repository, fixture.Repositories)
	case c.Commit == "":
		out, err := seal.GitOutput(ctx, "ls-remote", "--", c.Repository, "HEAD")
		if err != nil {
			return err
		}
		c.Commit, _, _ = strings.Cut(out, "\t")
	}
	return c.checkCommit()
}

// checkCommit checks that the commit is a full hash.
func (c *newProjectCmd) checkCommit() error {
	if !pinned.MatchString(c.Commit) {
		return fmt.Errorf(
			"the commit of %s is %q: expected 40 hex digits, and a repository with a commit",
			c.Repository, c.Commit)
	}
	return nil
}

// copyFolder creates a repository below the root with the folder's contents: its commit if it
// is a repository, else its files. Git runs in the copy with our configuration, because that of
// a foreign repository can name programs.
func (c *newProjectCmd) copyFolder(ctx context.Context, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	to, err := filepath.Abs(filepath.Join(c.source.Root, "fixtures", "sources", c.Name+".git"))
	if err != nil {
		return err
	}
	if _, err := os.Stat(to); err == nil {
		return fmt.Errorf("%s is there already: expected a name that is free", to)
	}
	below, err := seal.GitOutput(ctx, "-C", dir, "rev-parse", "--show-prefix")
	isRepository := err == nil && below == ""
	if isRepository && c.Commit == "" {
		c.Commit, _ = seal.GitOutput(ctx, "-C", dir, "rev-parse", "--verify", "--quiet", "HEAD")
	}
	if isRepository || c.Commit != "" {
		if err := c.checkCommit(); err != nil {
			return err
		}
	}
	c.Repository, c.made = path.Join("fixtures/sources", c.Name+".git"), to
	git := func(args ...string) (string, error) {
		out, err := seal.GitOutput(ctx,
			append([]string{"-C", dir, "--git-dir", to, "--work-tree", dir}, args...)...)
		if err != nil {
			err = fmt.Errorf("%s cannot be copied: %w", dir, err)
		}
		return out, err
	}
	if _, err := seal.GitOutput(ctx, "init", "--quiet", "--bare", "--", to); err != nil {
		return err
	}
	if !isRepository {
		_, err := git("add", "--all", "--force")
		if err == nil {
			_, err = git("-c", "user.name=assay", "-c", "user.email=assay@localhost", "commit",
				"--quiet", "-m", "As it was added")
		}
		if err == nil && c.Commit == "" {
			c.Commit, err = git("rev-parse", "HEAD")
		}
		return err
	}
	if _, err := git("fetch", "--quiet", "--depth", "1", "--no-tags", "--", dir,
		c.Commit+":refs/heads/pin"); err != nil {
		return err
	}
	if _, err := git("read-tree", c.Commit); err != nil {
		return err
	}
	changed, err := git("ls-files", "--modified", "--deleted", "--others", "--exclude-standard")
	if err == nil && changed != "" {
		fmt.Fprintf(os.Stderr,
			"%s has changes that are not committed: they are no part of the project\n", dir)
	}
	return errors.Join(err, os.Remove(filepath.Join(to, "index")))
}

// manifests writes that of functions, by which the key is checked without the source, and
// with files before it that of the source. What is there of them is not looked at.
func (s source) manifests(ctx context.Context, name string, files bool) error {
	fsys, err := suite.Checkout(s.Root)
	if err != nil {
		return err
	}
	page, err := suite.Page(fsys, name)
	if err != nil {
		return err
	}
	p, err := fixture.ReadKey(fsys, page)
	if err != nil {
		return err
	}
	clone, err := s.clone(ctx, p)
	if err != nil {
		return err
	}
	if files {
		tree, err := clone.Tree(ctx)
		if err != nil {
			return err
		}
		if len(tree) == 0 {
			return fmt.Errorf("%s holds no text file at %s", p.Repository, p.Commit)
		}
		if err := s.write(name+".tree.tsv", fixture.FormatTree(tree),
			len(tree), "files"); err != nil {
			return err
		}
	}
	if seal.Ctags() == "" {
		fmt.Fprintln(os.Stderr,
			"universal-ctags is not installed: functions match by name alone, without the lines they take")
	}
	functions, err := clone.Functions(ctx)
	if err != nil {
		return err
	}
	content := fixture.FormatFunctions(functions)
	// below a heading
	return s.write(name+".functions.tsv", content, bytes.Count(content, []byte("\n"))-1,
		"functions")
}

// write writes a file of fixtures/projects and prints its size.
func (s source) write(name string, content []byte, n int, of string) error {
	file := filepath.Join(s.Root, "fixtures/projects", name)
	if err := os.WriteFile(file, content, 0o644); err != nil {
		return err
	}
	fmt.Printf("%s: %d %s\n", file, n, of)
	return nil
}
