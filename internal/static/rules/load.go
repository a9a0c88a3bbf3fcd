package rules

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"assay/audit"
	"assay/internal/static/lang"
)

// Load gives the embedded rules, compiled once.
var Load = sync.OnceValues(func() (*Set, error) { return Read(files) })

// Read compiles the rules that the YAML files of fsys hold; names that begin with
// "data-" are tables of checks and count for the hash alone. The error names the file,
// and the rule or the line.
func Read(fsys fs.FS) (*Set, error) {
	s := &Set{ByID: map[string]*Rule{}, Tables: map[lang.Lang]*Table{}}
	for _, l := range []lang.Lang{lang.Java, lang.Python, lang.JS, lang.Go, lang.PHP} {
		s.Tables[l] = newTable()
	}
	names, err := fs.Glob(fsys, "*.yaml")
	if err != nil || len(names) == 0 {
		return nil, cmp.Or(err, errors.New("there are no rules: expected *.yaml"))
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
		Cleans: m(), Guards: m(), Passes: m(), Stops: m(), Types: m(), SourceMembers: m(), SourceIdents: m()}
}

func (s *Set) add(name string, b []byte) error {
	if strings.HasPrefix(name, "data-") { // tables of checks, read by those
		return nil
	}
	var d document
	if err := decode(name, b, &d); err != nil {
		return err
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
	if r.Title == "" || r.Why == "" || len(r.CWEs) == 0 {
		return fmt.Errorf("title, why and cwe are needed")
	}
	if r.Sev, err = audit.ParseSeverity(r.Severity); err != nil {
		return err
	}
	if r.Dim, err = audit.ParseDimension(r.Dimension); err != nil {
		return err
	}
	if r.Confidence == 0 {
		r.Confidence = 0.8
	}
	s.ByID[r.ID], s.Rules = r, append(s.Rules, r)
	for i := range r.Match {
		if err := s.addMatch(r, &r.Match[i]); err != nil {
			return fmt.Errorf("match %d: %w", i+1, err)
		}
	}
	for i := range r.Text {
		t := &r.Text[i]
		if t.Files.Regexp == nil || t.Line.Regexp == nil {
			return fmt.Errorf("text %d: files and line are needed", i+1)
		}
		t.Rule, s.Texts = r, append(s.Texts, t)
	}
	if len(r.Match)+len(r.Text) == 0 && r.Check == "" {
		return fmt.Errorf("it has nothing to match")
	}
	return nil
}

func (s *Set) tables(langs []string) ([]*Table, error) {
	if len(langs) == 0 {
		return nil, fmt.Errorf("lang is needed")
	}
	var out []*Table
	for _, l := range langs {
		t := s.Tables[lang.Lang(l)]
		if t == nil {
			return nil, fmt.Errorf("%q is no language: expected java, python, js, go or php", l)
		}
		out = append(out, t)
	}
	return out, nil
}

func (s *Set) addMatch(r *Rule, m *Match) error {
	tables, err := s.tables(r.Lang)
	if err != nil {
		return err
	}
	m.Rule = r
	for _, t := range tables {
		for _, k := range []struct {
			text string
			to   map[string][]Pattern
			pre  string
		}{{m.Call, t.Calls, ""}, {m.New, t.Calls, "new "}, {m.Assign, t.Assigns, ""}, {m.Note, t.Notes, ""},
			{m.Pair, t.Pairs, ""}, {m.Attr, t.Attrs, ""}, {m.Ident, t.Idents, ""}} {
			if err := addPatterns(k.to, k.text, k.pre, m, nil); err != nil {
				return err
			}
		}
		if m.Return.Regexp != nil {
			t.Returns = append(t.Returns, m)
		}
	}
	return nil
}
