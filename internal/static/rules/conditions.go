package rules

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// An Expr is a regular expression in a file of rules; none where the field is absent.
type Expr struct{ *regexp.Regexp }

// UnmarshalYAML compiles the expression; the error names its line.
func (e *Expr) UnmarshalYAML(n *yaml.Node) (err error) {
	if e.Regexp, err = regexp.Compile(n.Value); err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	return nil
}

// Words are one word, or a list of them.
type Words []string

// UnmarshalYAML reads both forms.
func (w *Words) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*w = Words{n.Value}
		return nil
	}
	return n.Decode((*[]string)(w))
}

// Classes are bits of what a value may be cleaned of.
type Classes uint32

// Classes that the engine itself asks about.
const (
	HTML     Classes = 2
	Path     Classes = 8
	URL      Classes = 16
	Redirect Classes = 32768

	// All is every class but norm: a value of which nothing harmful can be made.
	All Classes = 1<<20 - 1
	// Stored are the classes that data read back from the application's own store is
	// clean of: markup in it still harms.
	Stored = All &^ HTML
)

// classes by name. norm marks a path that was normalised: a prefix check counts only
// then.
var classes = map[string]Classes{"sql": 1, "html": HTML, "shell": 4, "path": Path, "url": URL, "log": 128, "code": 1024, "nosql": 4096,
	"deser": 8192, "template": 16384, "redirect": Redirect, "norm": 1 << 30, "all": All, "stored": Stored}

// UnmarshalYAML reads the name of a class, or several.
func (c *Classes) UnmarshalYAML(n *yaml.Node) error {
	var names Words
	if err := names.UnmarshalYAML(n); err != nil {
		return err
	}
	for _, name := range names {
		bits, ok := classes[name]
		if !ok {
			return fmt.Errorf("line %d: %q is no class of sanitizers", n.Line, name)
		}
		*c |= bits
	}
	return nil
}

// A Test is a condition on one argument: by position, name, "recv" or "value".
type Test struct {
	Arg  string
	Kind string // match, differ, absent, present, tainted, const, dynamic
	RE   *regexp.Regexp
}

// Tests are conditions that hold together, in the order of their arguments.
type Tests []Test

// UnmarshalYAML reads arguments with their conditions.
func (ts *Tests) UnmarshalYAML(n *yaml.Node) error {
	var where map[string]string
	if err := n.Decode(&where); err != nil {
		return err
	}
	for _, k := range slices.Sorted(maps.Keys(where)) {
		v, t := where[k], Test{Arg: k}
		var err error
		switch {
		case strings.HasPrefix(v, "/"):
			t.Kind = "match"
			t.RE, err = slashRE(v)
		case strings.HasPrefix(v, "!/"):
			t.Kind = "differ"
			t.RE, err = slashRE(v[1:])
		case v == "absent", v == "present", v == "tainted", v == "const", v == "dynamic":
			t.Kind = v
		default:
			err = fmt.Errorf("%q: expected /expression/, !/expression/, absent, present, tainted, const or dynamic", v)
		}
		if err != nil {
			return fmt.Errorf("line %d: where %s: %w", n.Line, k, err)
		}
		*ts = append(*ts, t)
	}
	return nil
}

func slashRE(v string) (*regexp.Regexp, error) {
	end := strings.LastIndexByte(v, '/')
	if end == 0 {
		return nil, fmt.Errorf("%q: the closing slash is missing", v)
	}
	flags := v[end+1:]
	if flags != "" {
		flags = "(?" + flags + ")"
	}
	return regexp.Compile(flags + v[1:end])
}

// A ScopeTest is an expression on the text of a scope.
type ScopeTest struct {
	Scope string
	RE    *regexp.Regexp
}

// Scopes are expressions on scopes, in the order of these.
type Scopes []ScopeTest

// UnmarshalYAML reads scopes with their expressions.
func (ss *Scopes) UnmarshalYAML(n *yaml.Node) error {
	var in map[string]Expr
	if err := n.Decode(&in); err != nil {
		return err
	}
	for _, k := range slices.Sorted(maps.Keys(in)) {
		if !slices.Contains([]string{"call", "function", "class", "file", "project"}, k) {
			return fmt.Errorf("line %d: %q is no scope: expected call, function, class, file or project", n.Line, k)
		}
		*ss = append(*ss, ScopeTest{k, in[k].Regexp})
	}
	return nil
}
