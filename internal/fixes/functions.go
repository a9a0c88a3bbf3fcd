package fixes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
	"assay/internal/box"
)

// A function is a function of a file, as universal-ctags sees it.
type function struct {
	name, scope string      // name is "" for one that has none
	lines       audit.Range // with its decorators
	at          int         // the line of its name
}

var errNoCtags = errors.New(
	"universal-ctags is not installed, and it finds the bounds of functions: " +
		"install the package universal-ctags")

// functionKinds are the kinds of ctags that are functions in some language; the others are
// one where their line says so.
var functionKinds = strings.Fields(`function func method member subroutine singletonMethod constructor
	procedure sub getter setter generator operator macro`)

var (
	// What follows the name that is given a function, up to the parameters: const f = async (,
	// x.f = function, var f = func(; at the top of a file it may be wrapped: var f = handle(func(
	named   = regexp.MustCompile(`[=:]\s*(async\s+)?(function\b|func\s*\(|\w+\s*=>|(<.*>)?\()`)
	wrapped = regexp.MustCompile(
		`^\w.*[=:]\s*[\w.]+\((async\s+)?(function\b|func\s*\(|\w+\s*=>|\()`)
	arrow     = regexp.MustCompile(`^\)\s*(:[^=;]*)?(=>|->)`)
	anonymous = regexp.MustCompile(`^(AnonymousFunction|__anon|anonymous)[0-9a-f]*`)
)

// reserved are words that ctags takes for names where it does not know the syntax.
var reserved = strings.Fields(
	"export default const let var async function return if for while switch catch")

// isLambda reports whether a name is given a function on a line, counted from 1.
func isLambda(lines []string, line int) bool {
	for _, start := range []*regexp.Regexp{wrapped, named} {
		m := start.FindStringIndex(lines[line-1])
		if m == nil {
			continue
		}
		if head := lines[line-1][m[0]:m[1]]; !strings.HasSuffix(head, "(") ||
			strings.Contains(head, "func") {
			return true
		}
		text := strings.Join(append([]string{lines[line-1][m[1]:]},
			lines[line:min(len(lines), line+25)]...), " ")
		if arrow.MatchString(text[closed(text):]) {
			return true
		}
	}
	return false
}

// closed returns where the bracket closes that is open before a text; its length if nowhere.
func closed(text string) int {
	depth := 1
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			return i
		}
	}
	return len(text)
}

// functionsOf returns the functions of files, given as text by path. Each text is parsed once.
func (r *Repository) functionsOf(ctx context.Context,
	files map[string]string) (map[string][]function, error) {
	found, missing := map[string][]function{}, map[string]string{}
	for file, text := range files {
		if fs, ok := r.parsed[path.Ext(file)+text]; ok {
			found[file] = fs
		} else {
			missing[file] = text
		}
	}
	parsed, err := functionsOf(ctx, r.ctags, missing)
	for file, text := range missing {
		found[file], r.parsed[path.Ext(file)+text] = parsed[file], parsed[file]
	}
	return found, err
}

func functionsOf(ctx context.Context, ctags string,
	files map[string]string) (found map[string][]function, err error) {
	if len(files) == 0 {
		return nil, nil
	}
	if ctags == "" {
		return nil, errNoCtags
	}
	dir, remove, err := box.TempDir("ctags")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	var list strings.Builder
	names := map[string]string{} // file in dir -> path
	for file, text := range files {
		name := fmt.Sprintf("%d%s", len(names), path.Ext(file))
		names[name] = file
		list.WriteString(name + "\n")
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	cmd := exec.CommandContext(ctx, ctags, "--options=NONE", "--output-format=json", "--sort=no",
		"--fields=+neKs", "-f", "-", "-L", "-")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(list.String())
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ctags: %w: expected universal-ctags with JSON output", err)
	}
	found = map[string][]function{}
	for line := range bytes.Lines(out) {
		var tag struct {
			Type  string `json:"_type"`
			Name  string
			Path  string
			Kind  string
			Scope string
			Line  int
			End   int
		}
		if json.Unmarshal(line, &tag) != nil || tag.Type != "tag" || tag.Line < 1 {
			continue
		}
		file := names[tag.Path]
		lines := splitLines(files[file])
		if tag.Line > len(lines) {
			continue
		}
		same := func(f function) bool { return f.at == tag.Line && f.name != "" }
		if !slices.Contains(functionKinds, tag.Kind) &&
			(tag.Kind == "class" || !isLambda(lines, tag.Line) ||
				slices.ContainsFunc(found[file], same)) { // a parameter of the one before
			continue
		}
		f := function{tag.Name, tag.Scope, audit.Range{Start: tag.Line, End: tag.End}, tag.Line}
		if anonymous.MatchString(f.name) || slices.Contains(reserved, f.name) {
			f.name = ""
		}
		if f.lines.End < f.lines.Start {
			f.lines.End = endOf(lines, tag.Line)
		}
		for f.lines.Start > 1 && decorator.MatchString(lines[f.lines.Start-2]) {
			f.lines.Start--
		}
		found[file] = append(found[file], f)
	}
	for _, fs := range found {
		slices.SortFunc(fs, func(a, b function) int { return a.lines.Start - b.lines.Start })
	}
	return found, nil
}

var decorator = regexp.MustCompile(`^\s*(@[A-Za-z]|#\[|\[[A-Z]\w*[\](])`)

// endOf returns the last line of a function whose end ctags does not know: the closing line
// that is indented no deeper than its first one.
func endOf(lines []string, start int) int {
	indent := func(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }
	base, opened := indent(lines[start-1]), false
	for i := start - 1; i < len(lines); i++ {
		text := strings.TrimSpace(lines[i])
		deeper := text == "" || indent(lines[i]) > base
		switch {
		case i >= start && !deeper && closing.MatchString(text) && !strings.HasSuffix(text, "{"):
			if !opened && indent(lines[i]) < base {
				return max(i, start)
			}
			return i + 1
		case i >= start && !deeper && !opened && !strings.HasPrefix(text, "{") &&
			!strings.HasPrefix(text, ")"):
			return max(i, start) // no body in braces: it ends above
		}
		opened = opened || strings.HasSuffix(text, "{") || opener.MatchString(text)
		if i == start-1 && opened && strings.Count(text, "{") > 0 &&
			strings.Count(text, "{") == strings.Count(text, "}") {
			return start
		}
	}
	return len(lines)
}

var (
	closing = regexp.MustCompile(`^([})\]]|end\b)`)
	opener  = regexp.MustCompile(`\{|\bdo$|^(local )?function\b|^def\b`)
)

// innermost returns the function that holds a line: the innermost one that has a name, else
// the innermost; nil for none.
func innermost(fs []function, line int) (found *function) {
	for i := range fs {
		f := &fs[i]
		if f.lines.Start <= line && line <= f.lines.End &&
			(found == nil || f.name != "" || found.name == "") {
			found = f
		}
	}
	return found
}
