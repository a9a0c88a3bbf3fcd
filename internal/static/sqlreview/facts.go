package sqlreview

import (
	"strings"
)

// A term is a value as the prover sees it, in one canonical spelling:
//
//	c12.name   column name of relation instance 12
//	p:name     a bound parameter, a function's parameter or a setting
//	l:'x'      a literal
//	h:text     text pasted by the host program
//	f:...      anything else, by its canonical text
//	now, today the database's clock
type term string

func (t term) isCol() bool {
	return len(t) > 1 && t[0] == 'c' && t[1] >= '0' && t[1] <= '9' && strings.IndexByte(string(t), '.') > 0
}
func (t term) isParam() bool {
	return strings.HasPrefix(string(t), "p:") || strings.HasPrefix(string(t), "h:")
}
func (t term) isLit() bool { return strings.HasPrefix(string(t), "l:") }
func (t term) colName() string {
	if i := strings.IndexByte(string(t), '.'); i > 0 && t.isCol() {
		return string(t)[i+1:]
	}
	return ""
}

// A fact holds for every row that reaches the env it stands in.
type fact struct {
	op   string // = <> < <= > >= null notnull true false in notin opaque never
	a, b term
	set  []string
	cols []term // of an opaque fact
	pos  int
	text string
}

// An env is a set of facts. A row of an instance in env satisfies the env's facts,
// those of its imports (rows that are known to exist beside it) and of its parents.
type env struct {
	parent  *env
	imports []*env
	facts   []fact
	ors     [][]*env // of each, one branch holds
	negated bool     // below NOT EXISTS, NOT IN, EXCEPT
	block   bool     // facts of the parent do not reach in (windows)
}

func (v *env) add(f fact) { v.facts = append(v.facts, f) }

func (v *env) isNegated() bool {
	n := false
	for e := v; e != nil; e = e.parent {
		if e.negated {
			n = !n
		}
	}
	return n
}

// gather lists the envs whose facts hold in v.
func gather(v *env, seen map[*env]bool, out []*env) []*env {
	for e := v; e != nil; e = e.parent {
		if seen[e] {
			return out
		}
		seen[e] = true
		out = append(out, e)
		for _, im := range e.imports {
			out = gatherDown(im, seen, out)
		}
		if e.block {
			return out
		}
	}
	return out
}

func gatherDown(v *env, seen map[*env]bool, out []*env) []*env {
	if v == nil || seen[v] {
		return out
	}
	seen[v] = true
	out = append(out, v)
	for _, im := range v.imports {
		out = gatherDown(im, seen, out)
	}
	return out
}

// proves reports whether goal holds in v, splitting OR conditions into cases: each
// branch has to prove it.
func (a *analysis) proves(v *env, goal func(*closure) bool) bool {
	a.steps = 400
	return a.split(gather(v, map[*env]bool{}, nil), goal, 3)
}

func (a *analysis) split(envs []*env, goal func(*closure) bool, depth int) bool {
	if a.steps--; a.steps < 0 {
		return false
	}
	if a.work > maxWork { // what is not worked out is not held against the code
		a.opaque, a.spent = true, true
		return true
	}
	c := a.close(envs)
	if c.conflict || goal(c) {
		return true
	}
	if depth == 0 {
		return false
	}
	seen := map[*env]bool{}
	for _, e := range envs {
		seen[e] = true
	}
	for _, e := range envs {
		for _, or := range e.ors {
			if len(or) == 0 || seen[or[0]] || len(or) > 40 {
				continue
			}
			all := true
			for _, b := range or {
				more := append([]*env{}, envs...)
				s := map[*env]bool{}
				for _, x := range envs {
					s[x] = true
				}
				for _, x := range or { // siblings are not taken again
					s[x] = true
				}
				delete(s, b)
				more = gatherDown(b, s, more)
				if !a.split(more, goal, depth-1) {
					all = false
					break
				}
			}
			if all {
				return true
			}
		}
	}
	return false
}
