package sqlreview

import (
	"strconv"
	"strings"
)

// unbounded is the bound of a result that has none.
const unbounded = 1 << 30

func mul(a, b int) int {
	if a == 0 || b == 0 {
		return 0
	}
	if a >= unbounded/b {
		return unbounded
	}
	return a * b
}

// upper gives the largest value that an expression of a LIMIT can have.
func upper(e *expr, depth int) int {
	e = strip(e)
	if e == nil || depth > 20 {
		return unbounded
	}
	switch e.kind {
	case eLit:
		if n, err := strconv.Atoi(strings.Trim(e.op, "'")); err == nil {
			return min(n, unbounded)
		}
	case eFunc:
		n := -1
		for _, x := range e.args {
			u := upper(x, depth+1)
			switch {
			case n < 0:
				n = u
			case e.isCall("least"): // LEAST passes over NULL
				n = min(n, u)
			case e.isCall("greatest", "coalesce"):
				n = max(n, u)
			}
		}
		if n >= 0 && (e.isCall("least", "greatest", "coalesce") || len(e.args) == 1 && e.isCall("floor", "ceil", "abs", "round")) {
			return n
		}
	case eCase:
		return upperCase(e, depth)
	case eBin:
		if len(e.args) == 2 {
			l, r := upper(e.args[0], depth+1), upper(e.args[1], depth+1)
			switch e.op {
			case "+":
				return min(l+r, unbounded)
			case "*":
				return mul(l, r)
			case "-":
				return l
			case "%":
				return max(r-1, 0)
			}
		}
	case eSub:
		if e.sub != nil && e.sub.kind == qSelect && len(e.sub.targets) == 1 {
			return upper(e.sub.targets[0].e, depth+1)
		}
	}
	return unbounded
}

// upperCase: CASE WHEN :n > 100 THEN 100 ELSE :n END is at most 100.
func upperCase(e *expr, depth int) int {
	top := 0
	args := e.args
	var tests []*expr
	for len(args) >= 2 && e.op != "operand" {
		top = max(top, caseArm(args[1], nil, args[0], depth))
		tests = append(tests, args[0])
		args = args[2:]
	}
	if len(args) == 1 {
		top = max(top, caseArm(args[0], tests, nil, depth))
	} else {
		return unbounded // NULL: no limit
	}
	return top
}

func caseArm(x *expr, not []*expr, when *expr, depth int) int {
	u := upper(x, depth+1)
	s := show(strip(x))
	for _, t := range not {
		if t.kind == eOr {
			not = append(not, t.args...)
		}
	}
	for _, t := range not {
		if t.kind == eBin && len(t.args) == 2 && show(strip(t.args[0])) == s && (t.op == ">" || t.op == ">=") {
			u = min(u, upper(t.args[1], depth+1))
		}
	}
	if when != nil {
		for _, t := range append([]*expr{when}, when.args...) {
			switch {
			case t.kind == eBin && len(t.args) == 2 && show(strip(t.args[0])) == s && (t.op == "<" || t.op == "<=" || t.op == "="):
				u = min(u, upper(t.args[1], depth+1))
			case t.kind == eBetween && !t.not && show(strip(t.args[0])) == s:
				u = min(u, upper(t.args[2], depth+1))
			}
		}
	}
	return u
}
