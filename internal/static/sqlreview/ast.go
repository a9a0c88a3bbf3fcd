package sqlreview

import "strings"

// An exprKind says what an expression is.
type exprKind uint8

const (
	eUnknown exprKind = iota // text that was skipped
	eCol                     // name[, name[, name]]
	eStar                    // * or alias.*
	eLit                     // 'text', number, true, false; op holds its class
	eNull
	eDefault
	eParam
	eHole
	eFunc // name(args)
	eBin  // args[0] op args[1]
	eUn   // op args[0]
	eAnd
	eOr
	eNot
	eIn     // args[0] IN args[1:], or sub
	eIs     // args[0] IS op (null, true, false, unknown)
	eIsDist // args[0] IS DISTINCT FROM args[1]
	eBetween
	eCase // args: [operand?], when, then, ..., else
	eCast // args[0] :: op
	eSub  // (SELECT ...)
	eExists
	eArray // ARRAY[...] or ARRAY(SELECT)
	eRow   // (a, b)
	eQuant // args[0] op ANY/ALL (args[1] or sub); name holds any or all
	eIndex
	eZone // args[0] AT TIME ZONE args[1]
)

type expr struct {
	kind     exprKind
	op       string
	name     []string
	args     []*expr
	sub      *query
	not      bool // NOT IN, NOT LIKE, NOT BETWEEN, IS NOT
	distinct bool // count(DISTINCT x)
	holed    bool // a literal with a hole inside
	over     *window
	filter   *expr
	order    []*expr // ORDER BY inside an aggregate
	pos, end int
	hasElse  bool
	paren    bool // written in parentheses of its own
}

type window struct {
	name      string
	partition []*expr
	order     []*expr
}

type queryKind uint8

const (
	qSelect queryKind = iota
	qValues
	qSetOp
	qInsert
	qUpdate
	qDelete
	qMerge
	qTable
)

type query struct {
	kind      queryKind
	pos, end  int
	with      []*cte
	recursive bool

	distinct   bool
	distinctOn []*expr
	targets    []target
	into       []string
	strict     bool
	from       []*from
	where      *expr
	group      []*expr
	having     *expr
	windows    []*window
	order      []*expr
	limit      *expr
	offset     *expr
	ties       bool
	lock       string

	op   string // set operation
	all  bool
	l, r *query

	rows [][]*expr

	table     *from // of a DML statement
	cols      []string
	source    *query
	conflict  *conflict
	sets      []setItem
	returning []target
	whens     []mergeWhen
	on        *expr // of MERGE
}

type cte struct {
	name string
	cols []string
	q    *query
	pos  int
}

type target struct {
	e     *expr
	alias string
}

type setItem struct {
	cols []string
	val  *expr
	pos  int
}

type conflict struct {
	pos    int
	cols   []string
	name   string
	update bool
	sets   []setItem
	where  *expr
}

type mergeWhen struct {
	matched bool
	cond    *expr
	act     string // update, delete, insert, nothing
	cols    []string
	sets    []setItem
	vals    []*expr
	pos     int
}

type fromKind uint8

const (
	fTable fromKind = iota
	fSub
	fFunc
	fJoin
)

type from struct {
	kind    fromKind
	name    string // last part of the table's name
	alias   string
	cols    []string
	sub     *query
	fn      *expr
	lateral bool
	join    string // inner, left, right, full, cross
	natural bool
	l, r    *from
	on      *expr
	using   []string
	pos     int
	hole    bool
}

// A stmtKind says what a statement of a function body or script is.
type stmtKind uint8

const (
	sQuery stmtKind = iota
	sIf
	sLoop
	sReturn
	sReturnQuery
	sRaise
	sExecute
	sAssign
	sBlock
	sFunction
	sOther
)

type stmt struct {
	kind   stmtKind
	pos    int
	q      *query
	e      *expr
	name   string
	body   []*stmt
	arms   []ifArm // IF: conditions in order, then else with a nil condition
	args   []*expr // USING
	fn     *function
	perf   bool
	text   string
	level  string // RAISE: exception, notice
	into   []string
	handle []*stmt // EXCEPTION part
}

type ifArm struct {
	cond *expr
	body []*stmt
}

type function struct {
	name     string
	params   []string
	vars     []string
	lang     string
	definer  bool
	path     bool // SET search_path
	returns  string
	body     []*stmt
	vartypes map[string]string
}

func (e *expr) isCall(names ...string) bool {
	if e == nil || e.kind != eFunc || len(e.name) == 0 {
		return false
	}
	last := e.name[len(e.name)-1]
	for _, n := range names {
		if last == n {
			return true
		}
	}
	return false
}

// walk visits e and what is below it, without entering subqueries.
func (e *expr) walk(f func(*expr) bool) {
	if e == nil || !f(e) {
		return
	}
	for _, a := range e.args {
		a.walk(f)
	}
	e.filter.walk(f)
	for _, a := range e.order {
		a.walk(f)
	}
	if e.over != nil {
		for _, a := range e.over.partition {
			a.walk(f)
		}
		for _, a := range e.over.order {
			a.walk(f)
		}
	}
}

// strip takes casts, COLLATE and redundant parentheses off.
func strip(e *expr) *expr {
	for e != nil && (e.kind == eCast || e.kind == eUn && e.op == "+") {
		e = e.args[0]
	}
	return e
}

// show writes an expression in one canonical form.
func show(e *expr) string {
	var b strings.Builder
	showTo(&b, e, 0)
	return b.String()
}

func showTo(b *strings.Builder, e *expr, depth int) {
	if e == nil {
		return
	}
	if depth > 40 || b.Len() > 2000 {
		b.WriteString("…")
		return
	}
	switch e.kind {
	case eParam:
		b.WriteString(":" + e.op)
	case eHole:
		b.WriteString("${" + e.op + "}")
	case eLit:
		b.WriteString(e.op)
	case eNull:
		b.WriteString("null")
	case eCol:
		b.WriteString(strings.Join(e.name, "."))
	case eStar:
		b.WriteString("*")
	case eCast:
		showTo(b, e.args[0], depth+1)
		b.WriteString("::" + e.op)
	default:
		b.WriteString(strings.Join(e.name, ".") + e.op + "(")
		for i, a := range e.args {
			if i > 0 {
				b.WriteString(", ")
			}
			showTo(b, a, depth+1)
		}
		b.WriteString(")")
		if e.sub != nil {
			b.WriteString("(query)")
		}
	}
}
