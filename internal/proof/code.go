package proof

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"assay/audit"
	"assay/internal/box"
)

// Deadline is the time limit for one case over all of its parameter sets. It stops code that
// never ends and is long enough for a busy machine.
const Deadline = 5 * time.Minute

// maxOutput is the number of bytes that a harness may print for one case.
const maxOutput = 8 << 20 // bytes that a harness may print for one case

// A MissingRuntime is the error for a language whose runtime is not installed.
type MissingRuntime struct{ Program, Package string }

func (m *MissingRuntime) Error() string {
	return fmt.Sprintf("%s is not in PATH: install %s", m.Program, m.Package)
}

// A language is how the cases of one programming language are run.
type language struct {
	harness string // file in the application's folder
	file    string // what the case's code is written to
	program string
	pkg     string // Debian's
	args    []string
}

// languages are the supported languages, recognized by the harness in the application's folder.
// Go is compiled, see golang.go; all others are interpreted.
var languages = []language{
	{"harness.mjs", "case.mjs", "node", "nodejs", []string{"harness.mjs", "case.mjs"}},
	{"harness.py", "case.py", "python3", "python3", []string{"-B", "harness.py", "case.py"}},
	{"harness.php", "case.php", "php", "php-cli", []string{"harness.php", "case.php"}},
	{"harness.go.txt", "case.go", "go", "golang", nil},
}

// NewCode prepares the harness of an application whose cases are code. Files of the
// application's folder whose names begin with "harness" are copied next to each case. It
// returns a *MissingRuntime if the language's runtime is not installed. The caller closes the
// result.
func NewCode(app *audit.App) (*LanguageRunner, error) {
	for _, l := range languages {
		if app.Harness[l.harness] == nil {
			continue
		}
		program, err := exec.LookPath(l.program)
		if err != nil {
			return nil, &MissingRuntime{l.program, l.pkg}
		}
		dir, remove, err := box.TempDir("proof")
		if err != nil {
			return nil, err
		}
		c := &LanguageRunner{app: app, lang: l, program: program, dir: dir, remove: remove,
			deadline: Deadline}
		if l.program == "go" {
			c.golang = &golang{code: c, binaries: map[string]string{}, failed: map[string]string{}}
		}
		return c, nil
	}
	var names []string
	for _, l := range languages {
		names = append(names, l.harness)
	}
	return nil, fmt.Errorf("%s has neither data.sql nor a harness: expected one of %s", app.Dir,
		strings.Join(names, ", "))
}

// A Code runs the cases of one application in their own language.
type LanguageRunner struct {
	app      *audit.App
	lang     language
	program  string
	dir      string
	remove   func() error // dir
	golang   *golang
	deadline time.Duration
	foreign  bool
}

// Close removes the temporary folder.
func (c *LanguageRunner) Close() { _ = c.remove() }

// Runtime returns the language's program with the first two numbers of its version. See
// [Runner].
func (c *LanguageRunner) Runtime(ctx context.Context) (string, error) {
	args := []string{"--version"}
	if c.lang.program == "go" {
		args = []string{"version"}
	}
	out, err := exec.CommandContext(ctx, c.program, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", c.program, strings.Join(args, " "), err)
	}
	return c.lang.program + " " + release(string(out)), nil
}

var versionRE = regexp.MustCompile(`\d+(\.\d+)?`)

// release returns the first two numbers of a version: a language keeps its meaning within them.
func release(version string) string { return versionRE.FindString(version) }

// Run runs code in a process of its own. See [Runner].
func (c *LanguageRunner) Run(ctx context.Context, fam *audit.Family, code string,
	sets []audit.ParamSet) ([][]Effect, error) {
	dir, err := os.MkdirTemp(c.dir, "case")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program, args, err := c.ready(ctx, dir, code)
	if err != nil {
		return nil, err
	}
	in, err := lines(fam, sets)
	if err != nil {
		return nil, err
	}
	return c.ask(ctx, dir, in, len(sets), program, args...)
}

// ready writes or compiles the code and returns the command that runs it in dir.
func (c *LanguageRunner) ready(ctx context.Context, dir, code string) (program string,
	args []string, err error) {
	if c.golang != nil {
		program, err = c.golang.binary(ctx, code)
		return program, []string{key(code)}, err
	}
	return c.program, c.lang.args, c.lay(dir, code)
}

// ask runs the harness on the input lines in and returns its effects, one for each of n lines.
func (c *LanguageRunner) ask(ctx context.Context, dir string, in []byte, n int, program string,
	args ...string) ([][]Effect, error) {
	out, stderr, err := c.runIn(ctx, dir, in, program, args...)
	if err != nil {
		return nil, fmt.Errorf("the harness failed: %w\n%s", err, clip(string(stderr), 2000))
	}
	return effects(out, n)
}

// lay writes the harness and the case's code into dir.
func (c *LanguageRunner) lay(dir, code string) error {
	for name, b := range c.app.Harness {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			return err
		}
	}
	return layCase(dir, c.lang.file, code)
}

// layCase writes a case's code into dir: to the file of this name or, if the code consists of
// several blocks with paths, to these paths with the diff among them applied.
func layCase(dir, file, code string) error {
	files, err := audit.PatchBlocks(audit.SplitBlocks("", code))
	if err != nil {
		return err
	}
	if files == nil {
		files = []audit.Block{{Path: file, Code: code}}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range files {
		if err := root.MkdirAll(path.Dir(f.Path), 0o700); err != nil {
			return err
		}
		if err := root.WriteFile(f.Path, []byte(f.Code), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// lines returns the parameter sets as the harness reads them: one JSON object a line, with the
// family's name as "query". A set with SQL in _rival is an error.
func lines(fam *audit.Family, sets []audit.ParamSet) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, s := range sets {
		if s.Rival != "" {
			return nil, fmt.Errorf(
				"%s: _rival is SQL, and this application's cases are code: expected _race, which its harness plays", s.Pos)
		}
		line := map[string]any{"query": fam.Query, "set": s.Set, "now": cmp.Or(s.Now, Now),
			"params": s.Values}
		if s.Race != nil {
			line["race"] = s.Race
		}
		if err := enc.Encode(line); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// effects parses the harness's output: one JSON object a line, for each of n parameter sets.
func effects(out []byte, n int) ([][]Effect, error) {
	var all [][]Effect
	sc := bufio.NewScanner(bytes.NewReader(out))
	sc.Buffer(nil, maxOutput)
	for sc.Scan() {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		var l struct {
			Effect   any
			Violated []struct {
				Requirement int
				Why         string
			}
			Error string
		}
		dec := json.NewDecoder(bytes.NewReader(sc.Bytes()))
		dec.UseNumber()
		err := dec.Decode(&l)
		if err == nil && dec.More() {
			err = errors.New("more stands behind it")
		}
		if err != nil {
			return nil, fmt.Errorf("the harness printed %q: expected one JSON object a line (%v)",
				clip(sc.Text(), 200), err)
		}
		text, err := json.MarshalIndent(l.Effect, "", " ")
		if err != nil {
			return nil, err
		}
		e := Effect{Result: strings.ReplaceAll(string(text), "\\u003c", "<"), Err: l.Error}
		if l.Effect != nil {
			e.Rows = 1
		}
		for _, v := range l.Violated {
			e.Violated = append(e.Violated, Violation{v.Requirement, "harness", v.Why})
		}
		all = append(all, []Effect{e})
	}
	if err := sc.Err(); err != nil {
		return nil, err
	}
	if len(all) != n {
		return nil, fmt.Errorf("the harness answered %d of %d parameter sets", len(all), n)
	}
	return all, nil
}

// runIn runs a program in dir with the standard input in, a bare environment and no network. It
// ends the program and all of its children at the deadline. A foreign harness runs in the
// sandbox, where it reads dir and the system's programs and writes nothing but temporary files.
func (c *LanguageRunner) runIn(ctx context.Context, dir string, in []byte, program string,
	args ...string) (stdout, stderr []byte, err error) {
	p := box.Process{Dir: dir, Command: append([]string{program}, args...), Stdin: string(in),
		Timeout: c.deadline, Offline: true, Cap: maxOutput}
	home := dir
	if c.foreign {
		if p.Home, err = box.NewHome(nil); err != nil {
			return nil, nil, err
		}
		defer p.Home.Close()
		entry := &audit.AuditorEntry{Name: "its harness", Pos: audit.Pos{File: c.app.Dir}}
		if c.golang != nil {
			entry.Reads = []string{program}
		}
		// of what is not for everybody a box shows the entries
		if err := os.Chmod(dir, 0o755); err != nil {
			return nil, nil, err
		}
		if p.Box, _, err = box.New(entry, dir); err != nil {
			return nil, nil, err
		}
		home = p.Home.Tmp()
	}
	p.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "TZ=UTC",
		"LC_ALL=C.UTF-8",
		"PYTHONHASHSEED=0", "NODE_NO_WARNINGS=1", "PYENV_ROOT=" + os.Getenv("PYENV_ROOT")}
	e, err := p.Run(ctx)
	switch {
	case err != nil:
	case e.Cut > 0:
		err = fmt.Errorf("more than %d MB of output", maxOutput>>20)
	case e.TimedOut:
		err = fmt.Errorf("no end within %s", c.deadline)
	case e.Crossed != "":
		err = errors.New(e.Crossed)
	case e.Code != 0:
		err = fmt.Errorf("exit status %d", e.Code)
	}
	return e.Stdout, e.Stderr, errors.Join(err, ctx.Err())
}
