// Package rules holds what the analyser knows of languages, frameworks and
// weaknesses, as data: YAML files that are embedded, read once and compiled into
// tables by name. The words of the format are the fields of Rule, Match and
// Model; a field that no struct knows is an error.
package rules

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"assay/audit"
	"assay/internal/static/lang"

	"go.yaml.in/yaml/v3"
)

//go:embed *.yaml
var files embed.FS

// EngineVersion changes when the engine judges the same rules differently. It
// is part of the hash that recordings carry.
const EngineVersion = "1"

// A Rule is one thing that the analyser reports.
type Rule struct {
	ID         string   `yaml:"id"`
	Title      string   `yaml:"title"`
	CWE        []int    `yaml:"cwe"` // most specific first
	Dimension  string   `yaml:"dim"`
	Severity   string   `yaml:"sev"`
	Lang       []string `yaml:"lang"`
	Why        string   `yaml:"why"`   // what an attacker gains, and what to do
	Clean      string   `yaml:"clean"` // class of sanitizers that end this flow
	Weak       string   `yaml:"weak"`  // shape under which a parameter of an uncalled function counts as a source
	Confidence float64  `yaml:"conf"`  // of a match; flows that start at a parameter get less
	Match      []Match  `yaml:"match"`
	Text       []Text   `yaml:"text"`
	Check      string   `yaml:"check"` // a check in Go that reports under this rule
	Topic      string   `yaml:"topic"` // group of requirements that a match violates
	Per        string   `yaml:"per"`   // file or function: further matches there say nothing new

	Sev   audit.Severity  `yaml:"-"`
	Dim   audit.Dimension `yaml:"-"`
	CWEs  []audit.CWE     `yaml:"-"`
	Class uint32          `yaml:"-"`
}

// A Match is a place in the tree that a rule fires on. Exactly one of Call, New,
// Assign, Note, Pair, Attr, Return and Ident says which.
type Match struct {
	Call    string            `yaml:"call"`
	New     string            `yaml:"new"`
	Assign  string            `yaml:"assign"` // a member's or variable's name, receiver as in call
	Note    string            `yaml:"note"`
	Pair    string            `yaml:"pair"`   // a key of a literal collection or a named argument
	Attr    string            `yaml:"attr"`   // an attribute of markup in code
	Return  string            `yaml:"return"` // a value returned by a function whose annotations match this expression
	Ident   string            `yaml:"ident"`
	Arg     yaml.Node         `yaml:"arg"`   // a position or name, or several: one of them is tainted
	Shape   string            `yaml:"shape"` // condition on the text that the tainted value stands in
	Where   map[string]string `yaml:"where"`
	Absent  map[string]string `yaml:"absent"`  // scope (call, function, class, file, project) -> expression that must not match
	Present map[string]string `yaml:"present"` // scope -> expression that must match

	Rule    *Rule          `yaml:"-"`
	Pats    []Pattern      `yaml:"-"`
	Args    []string       `yaml:"-"`
	Tests   []Test         `yaml:"-"`
	Without []ScopeTest    `yaml:"-"`
	With    []ScopeTest    `yaml:"-"`
	FnNotes *regexp.Regexp `yaml:"-"`
}

// A Text is a search in files that are not parsed as code.
type Text struct {
	Files   string `yaml:"files"`   // expression on the path
	Line    string `yaml:"line"`    // expression on each line
	Unless  string `yaml:"unless"`  // expression on the line that takes the match back
	Absent  string `yaml:"absent"`  // expression on the whole file
	Present string `yaml:"present"` // expression on the whole file

	Rule                                           *Rule          `yaml:"-"`
	FilesRE, LineRE, UnlessRE, AbsentRE, PresentRE *regexp.Regexp `yaml:"-"`
}

// A Test is a condition on one argument: by position, name, "recv" or "value".
type Test struct {
	Arg  string
	Kind string // match, differ, absent, present, tainted, const, dynamic
	RE   *regexp.Regexp
}

// A ScopeTest is an expression on the text of a scope.
type ScopeTest struct {
	Scope string
	RE    *regexp.Regexp
}

// A Pattern names calls or members: a receiver and a name. Names are looked up
// by table, so only the receiver is left to test.
type Pattern struct {
	Name   string
	Recv   string // "" none, "*" any, else a name
	RecvRE *regexp.Regexp
	Match  *Match
	Model  *Model
}

// A Model says what a call or member does to data.
type Model struct {
	Kind   string            `yaml:"kind"` // source, clean, guard, pass, stop, type, keyword
	Lang   []string          `yaml:"lang"`
	Call   string            `yaml:"call"`
	Member string            `yaml:"member"`
	Ident  string            `yaml:"ident"`
	Param  string            `yaml:"param"`  // source: expression on a parameter's annotations
	Entry  string            `yaml:"entry"`  // source: expression on a function's annotations or name, all plain parameters count
	Except string            `yaml:"except"` // expression on parameter types or names that are left out
	Class  []string          `yaml:"class"`
	Arg    string            `yaml:"arg"`
	Type   string            `yaml:"type"`
	Needs  string            `yaml:"needs"` // class that must already be clean
	Note   string            `yaml:"note"`
	Where  map[string]string `yaml:"where"`

	Bits                       uint32         `yaml:"-"`
	NeedBits                   uint32         `yaml:"-"`
	ParamRE, EntryRE, ExceptRE *regexp.Regexp `yaml:"-"`
	Tests                      []Test         `yaml:"-"`
}

type document struct {
	Rules  []*Rule  `yaml:"rules"`
	Models []*Model `yaml:"models"`
}

// A Table finds patterns of one language by name.
type Table struct {
	Calls, Assigns, Notes, Pairs, Attrs, Idents   map[string][]Pattern
	Sources, Cleans, Guards, Passes, Stops, Types map[string][]Pattern
	SourceMembers, SourceIdents                   map[string][]Pattern
	Params, Entries                               []*Model
	Returns                                       []*Match
	Checks                                        map[string]*Rule
	Keywords                                      map[string]bool // a file with none of them is not parsed
}

// A Set is all rules, compiled.
type Set struct {
	Rules  []*Rule
	ByID   map[string]*Rule
	Tables map[lang.Lang]*Table
	Texts  []*Text
	Checks map[string]*Rule
	Hash   string
}

// Class bits of sanitizers. A rule's Clean names one.
var classes = map[string]uint32{"sql": 1, "html": 2, "shell": 4, "path": 8, "url": 16, "ldap": 32,
	"xpath": 64, "log": 128, "header": 256, "regex": 512, "code": 1024, "xml": 2048, "nosql": 4096,
	"deser": 8192, "template": 16384, "redirect": 32768, "email": 65536, "secret": 1 << 17, "norm": 1 << 30}

// All is every class but norm: a value of which nothing harmful can be made.
const All = uint32(1<<20 - 1)

// Norm marks a path that was normalised; a prefix check counts only then.
const Norm = uint32(1 << 30)

// ClassBits gives the bits of class names; "all" is All.
func ClassBits(names []string) (uint32, error) {
	var bits uint32
	for _, n := range names {
		if n == "all" {
			bits |= All
			continue
		}
		b, ok := classes[n]
		if !ok {
			return 0, fmt.Errorf("%q is no class of sanitizers", n)
		}
		bits |= b
	}
	return bits, nil
}

var load = sync.OnceValues(func() (*Set, error) { return read(files) })

// Load gives the embedded rules, compiled once.
func Load() (*Set, error) { return load() }

// Read compiles the embedded rules anew; Load is what callers want.
func Read() (*Set, error) { return read(files) }

func read(fsys fs.FS) (*Set, error) {
	s := &Set{ByID: map[string]*Rule{}, Tables: map[lang.Lang]*Table{}, Checks: map[string]*Rule{}}
	for _, l := range []lang.Lang{lang.Java, lang.Python, lang.JS, lang.Go, lang.PHP} {
		s.Tables[l] = newTable()
	}
	names, err := fs.Glob(fsys, "*.yaml")
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("no rules are embedded: %w", err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "engine %s\n", EngineVersion)
	for _, name := range names {
		b, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(h, "%s %d\n", name, len(b))
		h.Write(b)
		if err := s.add(name, b); err != nil {
			return nil, err
		}
	}
	s.Hash = hex.EncodeToString(h.Sum(nil))
	return s, nil
}

func newTable() *Table {
	m := func() map[string][]Pattern { return map[string][]Pattern{} }
	return &Table{Calls: m(), Assigns: m(), Notes: m(), Pairs: m(), Attrs: m(), Idents: m(), Sources: m(),
		Cleans: m(), Guards: m(), Passes: m(), Stops: m(), Types: m(), SourceMembers: m(), SourceIdents: m(),
		Checks: map[string]*Rule{}, Keywords: map[string]bool{}}
}

func (s *Set) add(name string, b []byte) error {
	if strings.HasPrefix(name, "data-") { // tables of checks, read by those
		return nil
	}
	var d document
	dec := yaml.NewDecoder(bytes.NewReader(b))
	dec.KnownFields(true)
	if err := dec.Decode(&d); err != nil {
		return fmt.Errorf("rules/%s: %w", name, err)
	}
	for _, r := range d.Rules {
		if err := s.addRule(r); err != nil {
			return fmt.Errorf("rules/%s: rule %s: %w", name, r.ID, err)
		}
	}
	for i, m := range d.Models {
		if err := s.addModel(m); err != nil {
			return fmt.Errorf("rules/%s: model %d (%s%s%s): %w", name, i+1, m.Call, m.Member, m.Ident, err)
		}
	}
	return nil
}

func (s *Set) addRule(r *Rule) (err error) {
	if r.ID == "" || s.ByID[r.ID] != nil {
		return fmt.Errorf("the id is missing or used twice")
	}
	if r.Title == "" || r.Why == "" || len(r.CWE) == 0 {
		return fmt.Errorf("title, why and cwe are needed")
	}
	if r.Sev, err = audit.ParseSeverity(r.Severity); err != nil {
		return err
	}
	if r.Dim, err = audit.ParseDimension(r.Dimension); err != nil {
		return err
	}
	for _, c := range r.CWE {
		r.CWEs = append(r.CWEs, audit.CWE(c))
	}
	if r.Confidence == 0 {
		r.Confidence = 0.8
	}
	if r.Clean != "" {
		if r.Class, err = ClassBits([]string{r.Clean}); err != nil {
			return err
		}
	}
	s.ByID[r.ID], s.Rules = r, append(s.Rules, r)
	if r.Check != "" {
		s.Checks[r.ID] = r
	}
	for i := range r.Match {
		if err := s.addMatch(r, &r.Match[i]); err != nil {
			return fmt.Errorf("match %d: %w", i+1, err)
		}
	}
	for i := range r.Text {
		if err := s.addText(r, &r.Text[i]); err != nil {
			return fmt.Errorf("text %d: %w", i+1, err)
		}
	}
	if len(r.Match)+len(r.Text) == 0 && r.Check == "" {
		return fmt.Errorf("it has nothing to match")
	}
	return nil
}

func (s *Set) addText(r *Rule, t *Text) error {
	t.Rule = r
	for _, p := range []struct {
		to   **regexp.Regexp
		from string
	}{{&t.FilesRE, t.Files}, {&t.LineRE, t.Line}, {&t.UnlessRE, t.Unless}, {&t.AbsentRE, t.Absent}, {&t.PresentRE, t.Present}} {
		if p.from == "" {
			continue
		}
		re, err := regexp.Compile(p.from)
		if err != nil {
			return err
		}
		*p.to = re
	}
	if t.FilesRE == nil || t.LineRE == nil {
		return fmt.Errorf("files and line are needed")
	}
	s.Texts = append(s.Texts, t)
	return nil
}

func langsOf(names []string) ([]lang.Lang, error) {
	if len(names) == 0 {
		return nil, fmt.Errorf("lang is needed")
	}
	var out []lang.Lang
	for _, n := range names {
		switch l := lang.Lang(n); l {
		case lang.Java, lang.Python, lang.JS, lang.Go, lang.PHP:
			out = append(out, l)
		default:
			return nil, fmt.Errorf("%q is no language: expected java, python, js, go or php", n)
		}
	}
	return out, nil
}

func (s *Set) addMatch(r *Rule, m *Match) error {
	langs, err := langsOf(r.Lang)
	if err != nil {
		return err
	}
	m.Rule = r
	if err := m.compile(); err != nil {
		return err
	}
	for _, l := range langs {
		t := s.Tables[l]
		for _, k := range []struct {
			text string
			to   map[string][]Pattern
			pre  string
		}{{m.Call, t.Calls, ""}, {m.New, t.Calls, "new "}, {m.Assign, t.Assigns, ""}, {m.Note, t.Notes, ""},
			{m.Pair, t.Pairs, ""}, {m.Attr, t.Attrs, ""}, {m.Ident, t.Idents, ""}} {
			if err := addPatterns(k.to, t, k.text, k.pre, m, nil, true); err != nil {
				return err
			}
		}
		if m.Return != "" {
			t.Returns = append(t.Returns, m)
		}
	}
	return nil
}

func (m *Match) compile() (err error) {
	switch m.Arg.Kind {
	case yaml.ScalarNode:
		m.Args = []string{m.Arg.Value}
	case yaml.SequenceNode:
		for _, c := range m.Arg.Content {
			m.Args = append(m.Args, c.Value)
		}
	}
	if m.Tests, err = tests(m.Where); err != nil {
		return err
	}
	if m.Without, err = scopes(m.Absent); err != nil {
		return err
	}
	if m.With, err = scopes(m.Present); err != nil {
		return err
	}
	if m.Return != "" {
		m.FnNotes, err = regexp.Compile(m.Return)
	}
	return err
}

func tests(where map[string]string) ([]Test, error) {
	var out []Test
	for _, k := range sortedKeys(where) {
		v, kind := where[k], ""
		t := Test{Arg: k}
		switch {
		case strings.HasPrefix(v, "/"):
			kind = "match"
		case strings.HasPrefix(v, "!/"):
			kind, v = "differ", v[1:]
		case v == "absent", v == "present", v == "tainted", v == "const", v == "dynamic":
			kind = v
		default:
			return nil, fmt.Errorf("where %s: %q: expected /expression/, !/expression/, absent, present, tainted, const or dynamic", k, v)
		}
		t.Kind = kind
		if strings.HasPrefix(v, "/") {
			re, err := slashRE(v)
			if err != nil {
				return nil, err
			}
			t.RE = re
		}
		out = append(out, t)
	}
	return out, nil
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

func scopes(m map[string]string) ([]ScopeTest, error) {
	var out []ScopeTest
	for _, k := range sortedKeys(m) {
		switch k {
		case "call", "function", "class", "file", "project":
		default:
			return nil, fmt.Errorf("%q is no scope: expected call, function, class, file or project", k)
		}
		re, err := regexp.Compile(m[k])
		if err != nil {
			return nil, err
		}
		out = append(out, ScopeTest{k, re})
	}
	return out, nil
}

func (s *Set) addModel(m *Model) error {
	langs, err := langsOf(m.Lang)
	if err != nil {
		return err
	}
	if m.Bits, err = ClassBits(m.Class); err != nil {
		return err
	}
	if m.Needs != "" {
		if m.NeedBits, err = ClassBits([]string{m.Needs}); err != nil {
			return err
		}
	}
	for _, p := range []struct {
		to   **regexp.Regexp
		from string
	}{{&m.ParamRE, m.Param}, {&m.EntryRE, m.Entry}, {&m.ExceptRE, m.Except}} {
		if p.from != "" {
			if *p.to, err = regexp.Compile(p.from); err != nil {
				return err
			}
		}
	}
	if m.Tests, err = tests(m.Where); err != nil {
		return err
	}
	for _, l := range langs {
		t := s.Tables[l]
		var to map[string][]Pattern
		switch m.Kind {
		case "source":
			to = t.Sources
		case "clean":
			to = t.Cleans
		case "guard":
			to = t.Guards
		case "pass":
			to = t.Passes
		case "stop":
			to = t.Stops
		case "type":
			to = t.Types
		case "keyword": // words that make a file worth parsing for a check
			for _, w := range strings.Split(m.Call, "|") {
				t.Keywords[w] = true
			}
			continue
		default:
			return fmt.Errorf("%q is no kind: expected source, clean, guard, pass, stop, type or keyword", m.Kind)
		}
		if m.ParamRE != nil {
			t.Params = append(t.Params, m)
		}
		if m.EntryRE != nil {
			t.Entries = append(t.Entries, m)
		}
		if err := addPatterns(to, t, m.Call, "", nil, m, false); err != nil {
			return err
		}
		if err := addPatterns(t.SourceMembers, t, m.Member, "", nil, m, false); err != nil {
			return err
		}
		if err := addPatterns(t.SourceIdents, t, m.Ident, "", nil, m, false); err != nil {
			return err
		}
	}
	return nil
}

// addPatterns reads "recv.a|b, c": alternatives of names behind a receiver,
// several separated by commas.
func addPatterns(to map[string][]Pattern, t *Table, text, pre string, m *Match, model *Model, keyword bool) error {
	for _, one := range splitPatterns(text) {
		recv, names := "", one
		var re *regexp.Regexp
		if strings.HasPrefix(one, "/") {
			end := strings.LastIndex(one, "/.")
			if end <= 0 {
				return fmt.Errorf("%q: expected /expression/.name", one)
			}
			var err error
			if re, err = regexp.Compile("(?i)" + one[1:end]); err != nil {
				return err
			}
			recv, names = "/", one[end+2:]
		} else if i := strings.LastIndexByte(one, '.'); i >= 0 {
			recv, names = one[:i], one[i+1:]
		}
		if strings.Contains(recv, "|") && re == nil {
			return fmt.Errorf("%q: alternatives stand behind one receiver only", one)
		}
		if pre != "" && recv == "" {
			recv = "?" // "new p.T" and "new T" alike
		}
		for _, n := range strings.Split(names, "|") {
			n = strings.TrimSpace(n)
			if n == "" {
				return fmt.Errorf("%q: an empty name", text)
			}
			to[pre+n] = append(to[pre+n], Pattern{Name: n, Recv: recv, RecvRE: re, Match: m, Model: model})
			if keyword {
				for _, w := range strings.FieldsFunc(n, func(r rune) bool { return r == '-' || r == ':' || r == ' ' }) {
					t.Keywords[w] = true
				}
			}
		}
	}
	return nil
}

func splitPatterns(s string) []string {
	var out []string
	for _, p := range strings.Split(s, ", ") {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	for i := 1; i < len(keys); i++ {
		for j := i; j > 0 && keys[j] < keys[j-1]; j-- {
			keys[j], keys[j-1] = keys[j-1], keys[j]
		}
	}
	return keys
}

// Data reads an embedded table that a check owns.
func Data(name string, into any) error {
	b, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	dec := yaml.NewDecoder(bytes.NewReader(b))
	dec.KnownFields(true)
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("rules/%s: %w", name, err)
	}
	return nil
}

// Position reads an argument's position; ok is false for names.
func Position(arg string) (i int, ok bool) {
	n, err := strconv.Atoi(arg)
	return n, err == nil
}
