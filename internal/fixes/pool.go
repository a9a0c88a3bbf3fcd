package fixes

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/audit"
)

// pool chooses the two trees of the pool and finds each fix's places there. A fix whose first
// place is another one at the pin has none there: its change alone is left.
func (a *adder) pool(ctx context.Context, pin string) error {
	t := a.table
	when := map[string]int{}
	for _, f := range t.Fixes {
		if a.commit(ctx, f.Commit) == "" || a.commit(ctx, f.Parent) == "" {
			return fmt.Errorf("%s: %s is not in %s: fetch it, or unshallow", f.Pos,
				short(f.Commit), a.Name)
		}
		out, err := a.git(ctx, "log", "-1", "--format=%ct", f.Commit, "--")
		if err != nil {
			return err
		}
		when[f.Commit], _ = strconv.Atoi(strings.TrimSpace(out))
	}
	byTime := slices.Clone(t.Fixes)
	slices.SortStableFunc(byTime, func(x, y Fix) int {
		if n := when[x.Commit] - when[y.Commit]; n != 0 || x.Commit == y.Commit {
			return n
		}
		if a.precedes(ctx, x.Commit, y.Commit) { // within one second
			return -1
		}
		return 1
	})
	if pin != "" {
		if t.Pin = a.commit(ctx, pin); t.Pin == "" {
			return fmt.Errorf("the pin %s is not in %s: fetch it, or unshallow", pin, a.Name)
		}
	} else if t.Pin == "" {
		t.Pin = byTime[0].Parent
	}
	t.Fixed = byTime[len(byTime)-1].Commit
	sources := map[string]*source{}
	for i := range t.Fixes {
		f := &t.Fixes[i]
		delete(f.Places, AtPin)
		delete(f.Places, AtFixed)
		if !a.precedes(ctx, f.Commit, t.Fixed) || a.precedes(ctx, f.Commit, t.Pin) {
			continue
		}
		for n, p := range f.Places[AtParent] {
			there, err := a.unchanged(ctx, sources, f.Parent, t.Pin, p)
			if err != nil {
				return err
			}
			if there != nil {
				f.Places[AtPin] = append(f.Places[AtPin], *there)
			} else if n == 0 {
				break
			}
		}
		if len(f.Places[AtPin]) == 0 {
			continue
		}
		for _, p := range f.Places[AtFix] {
			there, err := a.moved(ctx, sources, f.Commit, t.Fixed, p)
			if err != nil {
				return err
			}
			if there != nil {
				f.Places[AtFixed] = append(f.Places[AtFixed], *there)
			}
		}
	}
	return nil
}

// precedes reports whether a commit is another one or in its history.
func (a *adder) precedes(ctx context.Context, earlier, later string) bool {
	_, err := a.git(ctx, "merge-base", "--is-ancestor", earlier, later)
	return err == nil
}

// A source is one file of a commit.
type source struct {
	lines     []string
	functions []function
}

// source returns a file of a commit; nil where there is none.
func (a *adder) source(ctx context.Context, held map[string]*source,
	commit, path string) (*source, error) {
	key := commit + ":" + path
	if s, ok := held[key]; ok {
		return s, nil
	}
	text, ok := a.file(ctx, commit, path)
	if !ok {
		held[key] = nil
		return nil, nil
	}
	found, err := a.functionsOf(ctx, map[string]string{path: text})
	held[key] = &source{splitLines(text), found[path]}
	return held[key], err
}

func (s *source) text(r audit.Range) []string {
	end := min(r.End, len(s.lines))
	return s.lines[min(max(r.Start-1, 0), end):end]
}

// unchanged returns a place in another tree where its function stands there byte by byte, or,
// outside of functions, its lines; nil where it does not.
func (a *adder) unchanged(ctx context.Context, held map[string]*source, from, to string,
	p audit.Place) (*audit.Place, error) {
	old, err := a.source(ctx, held, from, p.File)
	if err != nil || old == nil {
		return nil, err
	}
	now, err := a.source(ctx, held, to, p.File)
	if err != nil || now == nil {
		return nil, err
	}
	f := innermost(old.functions, p.Lines.Start)
	if f == nil || f.name == "" {
		return now.find(old.text(p.Lines), p), nil
	}
	for _, g := range now.functions {
		if g.name == f.name && slices.Equal(old.text(f.lines), now.text(g.lines)) {
			shift := g.lines.Start - f.lines.Start
			return &audit.Place{File: p.File, Function: p.Function,
				Lines: audit.Range{Start: p.Lines.Start + shift, End: p.Lines.End + shift}}, nil
		}
	}
	return nil, nil
}

// find returns the one place where lines stand; nil for none, or several.
func (s *source) find(lines []string, p audit.Place) (found *audit.Place) {
	for i := 0; i+len(lines) <= len(s.lines) && len(lines) > 0; i++ {
		if slices.Equal(s.lines[i:i+len(lines)], lines) {
			if found != nil {
				return nil
			}
			found = &audit.Place{File: p.File, Function: p.Function,
				Lines: audit.Range{Start: i + 1, End: i + len(lines)}}
		}
	}
	return found
}

// moved returns where a place is in a later tree: in the function of the same name, or where
// its lines stand; nil where neither is there.
func (a *adder) moved(ctx context.Context, held map[string]*source, from, to string,
	p audit.Place) (*audit.Place, error) {
	same, err := a.unchanged(ctx, held, from, to, p)
	if err != nil || same != nil || p.Function == "" {
		return same, err
	}
	now, err := a.source(ctx, held, to, p.File)
	if err != nil || now == nil {
		return nil, err
	}
	at := slices.IndexFunc(now.functions, func(g function) bool { return g.name == p.Function })
	if at < 0 {
		return nil, nil
	}
	r := now.functions[at].lines
	r.End = min(r.End, r.Start+maxSpan-1)
	return &audit.Place{File: p.File, Function: p.Function, Lines: r}, nil
}

// contest marks fixes whose function a later fix mends again: the mended state was not clean.
func (a *adder) contest(ctx context.Context) error {
	derived := map[string][]audit.Place{}
	for i := range a.table.Fixes {
		f := &a.table.Fixes[i]
		if f.Twin != "" {
			continue
		}
		files := map[string]bool{}
		args := []string{f.Commit + "..HEAD", "--"}
		for _, p := range f.Places[AtFix] {
			if p.Function != "" && !files[p.File] {
				files[p.File] = true
				args = append(args, ":(literal)"+p.File)
			}
		}
		if len(files) == 0 {
			continue
		}
		later, err := a.log(ctx, args...)
		if err != nil {
			return err
		}
		for _, c := range slices.Backward(later) {
			inTable := slices.ContainsFunc(a.table.Fixes,
				func(g Fix) bool { return g.Commit == c.hash })
			if c.parent == "" || a.reverts[c.hash] != "" || !inTable &&
				!flawWords.MatchString(c.body) {
				continue
			}
			if _, ok := derived[c.hash]; !ok {
				d, err := a.Derive(ctx, c.hash, c.parent)
				if err != nil {
					return err
				}
				derived[c.hash] = d.Places[:min(len(d.Places), maxPlaces)]
			}
			if slices.ContainsFunc(f.Places[AtFix], func(p audit.Place) bool {
				return p.Function != "" &&
					slices.ContainsFunc(derived[c.hash], func(q audit.Place) bool {
						return q.File == p.File && q.Function == p.Function
					})
			}) {
				f.Twin = againWords + short(c.hash)
				break
			}
		}
	}
	return nil
}
