package flow

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"assay/audit"
	"assay/internal/static/lang"
	"assay/internal/static/rules"
)

const recvParam = 1000 // the parameter number of the object that a method is called on

// A summary is what a call of a function does with what it is given.
type summary struct {
	ret     value
	reaches []reach
	fields  map[string][]origin // of the object, as the function leaves them
}

// A reach is a sink within a function that one of its parameters arrives at.
type reach struct {
	param int16
	clean rules.Classes
	sel   string // the field of the parameter
	hit   *Hit
	weak  bool // the sink counts for a parameter that nobody fills
}

// A Hit is a place where a rule fired.
type Hit struct {
	Rule       *rules.Rule
	Unit       *Unit
	Func       *lang.Node // innermost function with a name; nil at top level
	Node       *lang.Node
	Trace      []audit.Step // source first; empty for rules without data flow
	Confidence float64
	Weak       bool // the data is a parameter that no call in the project was seen to fill
	weakFn     *Func
}

// A shard analyses some of a project's functions with tables of its own, so that
// shards run at once without locks and give the same result on any machine.
type shard struct {
	p       *Project
	sums    []*summary
	busy    []int  // the depth at which a function is being analysed, from 1
	calls   []bool // functions that some call was resolved to
	depth   int
	cycle   int     // the least depth of a function that was met while it was being analysed
	within  []*Func // analysed since, on the way round
	mute    int
	found   hits
	weaks   []*Hit
	globals map[*Unit]env
	scopes  map[scopeKey]bool // memo of scopeHas
}

// Shards is the number of parts that a project's functions are split into. It is
// fixed: the bounds on recursion would otherwise depend on the machine.
const Shards = 4

// Analyse runs the rules over every function, in Shards parts that run at once,
// and gives what fired, in the order of paths and lines, each rule once a place.
func (p *Project) Analyse(ctx context.Context, workers int) []*Hit {
	units := p.Units
	shards := make([]*shard, Shards)
	var wg sync.WaitGroup
	gate := make(chan struct{}, max(1, workers))
	for i := range shards {
		s := p.shard()
		shards[i] = s
		wg.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			for j := i; j < len(units) && ctx.Err() == nil; j += Shards {
				s.unit(units[j])
			}
		})
	}
	wg.Wait()
	return merge(shards)
}

func (p *Project) shard() *shard {
	return &shard{p: p, sums: make([]*summary, len(p.Funcs)), busy: make([]int, len(p.Funcs)), calls: make([]bool, len(p.Funcs)),
		found: hits{at: map[hitKey]int{}}, globals: map[*Unit]env{}, scopes: map[scopeKey]bool{}}
}

// merge joins what the shards found. Sinks that only a parameter arrives at
// count when no shard saw a call of the function.
func merge(shards []*shard) []*Hit {
	out := hits{at: map[hitKey]int{}}
	for _, s := range shards {
		for _, h := range s.found.list {
			out.add(h)
		}
	}
	for _, s := range shards {
		for _, h := range s.weaks {
			if !slices.ContainsFunc(shards, func(s *shard) bool { return s.calls[h.weakFn.Index] }) {
				out.add(h)
			}
		}
	}
	slices.SortStableFunc(out.list, func(a, b *Hit) int {
		return cmp.Or(strings.Compare(a.Unit.File.Path, b.Unit.File.Path), cmp.Compare(a.Node.Off, b.Node.Off), strings.Compare(a.Rule.ID, b.Rule.ID))
	})
	return out.list
}

// unit analyses a file; what breaks at it is told, and the next one is analysed.
func (s *shard) unit(u *Unit) {
	defer func() {
		if r := recover(); r != nil {
			s.p.warn(u.top, fmt.Sprintf("%s: the analysis broke on this file: %v", u.File.Path, r))
			s.depth, s.mute, s.within = 0, 0, nil
			clear(s.busy)
		}
	}()
	for _, fn := range u.Funcs {
		s.summarize(fn)
	}
	s.notes(u)
}

func (p *Project) warn(fn *Func, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Warnings[fn] = text
}

// summarize analyses a function once. Calls deeper than maxCallDepth give no
// summary. Functions that call each other are worked out from each of them, twice, so
// that it does not matter which of them a caller meets first.
func (s *shard) summarize(fn *Func) *summary {
	if sum := s.sums[fn.Index]; sum != nil {
		return sum
	}
	if d := s.busy[fn.Index]; d > 0 {
		s.cycle = min(s.cycle, d)
		return nil
	}
	if s.depth >= maxCallDepth {
		return nil
	}
	if s.depth == 0 {
		s.cycle = maxCallDepth + 1
	}
	first := len(s.within)
	sum := s.analyse(fn)
	switch depth := s.depth + 1; {
	case s.cycle < depth: // part of a way round that began higher up
		s.within = append(s.within, fn)
	case s.cycle == depth:
		s.cycle = maxCallDepth + 1
		if len(s.within)-first > maxCycle {
			s.within = s.within[:first]
			break
		}
		s.leave(first)
		sum = s.analyse(fn)
		s.cycle = maxCallDepth + 1
		s.leave(first)
	}
	return sum
}

// leave forgets what was worked out on a way round, from first on.
func (s *shard) leave(first int) {
	for _, fn := range s.within[first:] {
		s.sums[fn.Index] = nil
	}
	s.within = s.within[:first]
}

func (s *shard) analyse(fn *Func) *summary {
	s.depth++
	s.busy[fn.Index] = s.depth
	mute := s.mute
	s.mute = 0
	f := &frame{s: s, u: fn.Unit, fn: fn, env: env{}, sum: &summary{}, node: fn.Node}
	if fn.Name == "" {
		f.node = nil
	}
	if fn.Outer != nil && fn.Outer.Name == "" && fn != fn.Unit.top {
		s.globalEnv(fn.Unit)
	}
	for i, p := range fn.Node.List {
		f.bindParam(p, s.param(f, fn, p, i), i)
	}
	if r := fn.Node.X; r != nil && r.Kind == lang.Param && r.Name != "" {
		f.env[r.Name] = value{typ: simple(r.Type), from: []origin{{kind: fromParam, param: recvParam, src: r}}}
	}
	f.bindThis(fn)
	f.stmt(fn.Node.Body)
	if f.step > maxSteps {
		s.p.warn(fn, fmt.Sprintf("%s:%d: %s is too long: its end was not followed", f.file(), fn.Node.Start, cmp.Or(fn.Name, "the code outside of functions")))
	}
	f.sum.ret = f.ret
	f.sum.fields = f.given(fn)
	if fn == fn.Unit.top {
		s.globals[fn.Unit] = f.env
	}
	s.sums[fn.Index] = f.sum
	s.busy[fn.Index] = 0
	s.depth--
	s.mute = mute
	return f.sum
}

// param is what a parameter holds when its function is analysed: data from
// outside where the rules say so, else itself, for the summary.
func (s *shard) param(f *frame, fn *Func, p *lang.Node, i int) value {
	typ := simple(p.Type)
	if s.p.harmless(f.u, p.Type) {
		return value{typ: typ}
	}
	if v, ok := s.paramSource(f.u, p); ok {
		return v
	}
	if v, ok := s.entrySource(f, fn, p); ok {
		return v
	}
	if i == 0 && (p.Name == "self" || p.Name == "cls") {
		return value{typ: "self"}
	}
	v := value{typ: typ, from: outside(p, f.file(), "parameter "+p.Name, 0)}
	v.from[0].kind, v.from[0].param = fromParam, int16(i)
	if s.p.Fragment && fn.Name != "" && !strings.HasPrefix(fn.Name, "_") && !ownThing.MatchString(p.Name) && !ownType.MatchString(p.Type) && !f.u.calls(fn.Name) {
		v.from[0].kind = fromOutside
	}
	if typ == "" || strings.EqualFold(typ, "string") || strings.EqualFold(typ, "str") {
		v.text = bad
	}
	return v
}

var (
	ownThing = regexp.MustCompile(`(?i)^(_|self|cls|this|session|sess|db|conn|connection|cursor|store|repo|repository|\w*repo|\w*service|user|current_?user|account|actor|ctx|context|log|logger|cfg|config|settings|app|w|rw|writer|res|resp|response|next|reply|r|req|request|c|tx|client|pool|clock|now|principal|auth|model|cache)$`)
	ownType  = regexp.MustCompile(`Request|Response|Context|Writer|\bDB\b|Conn|Session|Service|Repository|Store|Logger|User|Account|Principal`)
)

func (u *Unit) calls(name string) bool {
	found := false
	lang.Walk(u.File.Root, func(n *lang.Node) bool {
		found = found || n.Kind == lang.Call && n.Name == name
		return !found
	})
	return found
}

// globalEnv evaluates a file's top level once.
func (s *shard) globalEnv(u *Unit) env {
	if e, ok := s.globals[u]; ok {
		return e
	}
	s.globals[u] = env{}
	s.summarize(u.top)
	return s.globals[u]
}

func (s *shard) fieldType(f *frame, typ, name string) string {
	if typ == "" {
		return ""
	}
	c := s.p.classOf(f.u, typ)
	if typ == "self" {
		c = f.fn.Class
	}
	if d := c.field(name); d != nil {
		return simple(lang.TypeName(d.Type))
	}
	return ""
}

// resultType gives the type that a call results in, by the rules' models or by
// the declared result of the function it means.
func (s *shard) resultType(f *frame, ci *callInfo) string {
	if ms := s.models(f, ci, f.u.Table.Types); len(ms) > 0 {
		return ms[0].Type
	}
	for _, fn := range s.p.resolve(f.fn, ci.n, ci.recv.typ) {
		if t := fn.Node.Type; t != "" {
			return simple(lang.TypeName(t))
		}
	}
	if n := ci.n; n.X == nil && n.Op == "" && n.Name != "" && n.Name[0] >= 'A' && n.Name[0] <= 'Z' && f.u.File.Lang == lang.Python {
		return n.Name
	}
	return ""
}
