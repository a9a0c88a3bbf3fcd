package sqlreview

import (
	"strings"
)

// An analysis holds what a piece of code does: which rows it reads and writes,
// under which facts, and what it gives out.
type analysis struct {
	sch       *schema
	code      string
	insts     []*inst
	writes    []write
	outputs   []output
	tops      []top
	dynamic   []dynamic
	holes     []hole
	subs      map[*query]*derived
	base      *env // of the statement at hand
	stmtNo    int
	resolving int
	steps     int
	calls     []*expr
	caseVals  map[term][]string // of a CASE with literal branches
	opaque    bool              // something was not understood
	plpgsql   bool
	fn        *function
	locks     []*query
	locked    map[*inst]bool // rows that a statement locks
	stmts     []*query       // the statements, in order
	lockOnly  map[*inst]bool // read for no more than a lock
	tzCasts   []zoned
	notIn     []nullTrap
	raises    int
	guards    []guard // conditions under which PL/pgSQL code refuses
	exprScope []scopedExpr
	evidence  int
	found     *env            // of the last statement of a PL/pgSQL body
	varEnv    map[string]*env // where a variable's value came from
	outVars   map[string]bool
	rowsOf    map[*derived]int
	executes  int              // EXECUTEs whose text was read
	work      int              // facts looked at so far
	spent     bool             // work went over its bound: what came after was not decided
	built     map[string]*expr // texts that PL/pgSQL variables hold, for EXECUTE
}

type scopedExpr struct {
	e  *expr
	sc *scope
}

// A write is one column that a statement sets.
type write struct {
	in   *inst
	col  string
	val  *expr
	sc   *scope
	env  *env
	pos  int
	kind queryKind
	conf bool // by ON CONFLICT DO UPDATE
}

// An output is one expression whose value leaves the code.
type output struct {
	e    *expr
	sc   *scope
	name string
	pos  int
	env  *env
	in   *inst // * of an instance
	src  string
}

// A top is a query whose rows leave the code.
type top struct {
	q   *query
	d   *derived
	env *env
	ret bool // RETURNING of a DML
	one bool // INTO a variable, or RETURN (SELECT ...)
}

type dynamic struct {
	e   *expr
	pos int
	why string
	bad bool
}

type hole struct {
	text string
	pos  int
	in   string // value, identifier, string, splice
}

// A guard is the condition of an IF whose arm leaves.
type guard struct {
	e  *expr
	sc *scope
}

type zoned struct {
	pos  int
	what string
}

type nullTrap struct {
	pos int
	col term
	env *env
}

const maxInsts = 600

func (a *analysis) newInst(alias string, sc *scope, v *env, pos int) *inst {
	in := &inst{id: len(a.insts), alias: alias, env: v, pos: pos, stmt: a.stmtNo, scope: sc, assert: a.evidence > 0}
	a.insts = append(a.insts, in)
	if sc != nil {
		sc.insts = append(sc.insts, in)
	}
	return in
}

func (a *analysis) baseInst(name, alias string, sc *scope, v *env, pos int) *inst {
	if alias == "" {
		alias = name
	}
	in := a.newInst(alias, sc, v, pos)
	in.table, in.tab = name, a.sch.tables[name]
	return in
}

// query analyses q in env v and gives its columns. Correlation sees parent.
func (a *analysis) query(q *query, parent *scope, v *env) *derived {
	sc := newScope(parent)
	d := &derived{q: q, scope: sc, env: v}
	if a.subs == nil {
		a.subs = map[*query]*derived{}
	}
	a.subs[q] = d
	if len(a.insts) > maxInsts {
		a.opaque = true
		return d
	}
	a.declareCTEs(q, sc, v)
	switch q.kind {
	case qSelect:
		a.selectQuery(q, sc, v, d)
	case qValues:
		for i := range first(q.rows) {
			d.cols = append(d.cols, outCol{name: "column" + itoa(i+1), e: q.rows[0][i], scope: sc})
		}
		for _, r := range q.rows {
			for _, e := range r {
				a.visit(e, sc, v)
			}
		}
	case qSetOp:
		a.setOp(q, sc, v, d)
	case qInsert, qUpdate, qDelete, qMerge:
		a.dml(q, sc, v, d)
	case qTable:
		a.opaque = true
	}
	if q.kind != qSelect {
		for _, e := range q.order {
			a.visit(e, sc, v)
		}
	}
	a.visit(q.limit, sc, v)
	a.visit(q.offset, sc, v)
	return d
}

func first(rows [][]*expr) []*expr {
	if len(rows) == 0 {
		return nil
	}
	return rows[0]
}

func (a *analysis) declareCTEs(q *query, sc *scope, v *env) {
	if len(q.with) == 0 {
		return
	}
	sc.ctes = map[string]*cteDef{}
	for _, c := range q.with {
		def := &cteDef{c: c, scope: sc, def: a.base}
		sc.ctes[c.name] = def
		switch c.q.kind {
		case qInsert, qUpdate, qDelete, qMerge:
			w := &env{parent: a.base}
			def.busy++
			def.done = a.query(c.q, sc, w)
			def.busy--
			def.done.env = w
		}
	}
	// A CTE that nothing reads is still shown to the rules.
	for _, c := range q.with {
		if sc.ctes[c.name].done == nil && !a.mentions(q, c.name) {
			a.useCTE(sc.ctes[c.name], &env{parent: a.base})
		}
	}
}

// mentions reports whether the text of q names the table more than once, its
// definition being the first time.
func (a *analysis) mentions(q *query, name string) bool {
	if q.pos < 0 || q.end > len(a.code) || q.end < q.pos {
		return true
	}
	return strings.Count(strings.ToLower(a.code[q.pos:q.end]), strings.ToLower(name)) > 1
}

// useCTE analyses a CTE's body anew for one reference, so that facts about one use
// do not become facts about another.
func (a *analysis) useCTE(def *cteDef, v *env) *derived {
	if def.done != nil {
		v.imports = append(v.imports, def.done.env)
		return def.done
	}
	q := def.c.q
	def.busy++
	defer func() { def.busy-- }()
	if def.busy > 1 { // the recursive reference: it holds what the first arm gives
		if q.kind == qSetOp && def.busy < 4 {
			return a.query(q.l, def.scope, v)
		}
		return &derived{q: q, scope: def.scope, env: v}
	}
	return a.sub(q, def.scope, v)
}

// sub analyses a derived table. Windows see more rows than the outer WHERE lets
// through, so outer facts must not reach below them.
func (a *analysis) sub(q *query, sc *scope, v *env) *derived {
	if hasWindow(q) {
		w := &env{parent: v, block: true}
		if a.base != nil {
			w.imports = append(w.imports, a.base)
		}
		v.imports = append(v.imports, w)
		return a.query(q, sc, w)
	}
	return a.query(q, sc, v)
}

func hasWindow(q *query) bool {
	found := false
	for _, t := range q.targets {
		t.e.walk(func(e *expr) bool {
			if e.over != nil {
				found = true
			}
			return true
		})
	}
	return found
}

func (a *analysis) selectQuery(q *query, sc *scope, v *env, d *derived) {
	for _, f := range q.from {
		a.from(f, sc, v)
	}
	if q.where != nil {
		a.assume(q.where, sc, v, true)
	}
	a.promote(sc, v)
	sc.aliases = map[string]*expr{}
	for _, t := range q.targets {
		a.visit(t.e, sc, v)
		if t.alias != "" {
			sc.aliases[t.alias] = t.e
		}
	}
	if q.having != nil {
		a.assume(q.having, sc, v, true)
	}
	for _, list := range [][]*expr{q.group, q.order, q.distinctOn} {
		for _, e := range list {
			a.visit(e, sc, v)
		}
	}
	if q.lock != "" {
		a.locks = append(a.locks, q)
		if a.locked == nil {
			a.locked = map[*inst]bool{}
		}
		for _, in := range sc.insts {
			a.locked[in] = true
		}
	}
	d.agg = len(q.group) > 0 || hasAggregate(q)
	d.cols, d.stars = a.expand(q.targets, sc)
}

func hasAggregate(q *query) bool {
	found := false
	for _, t := range q.targets {
		t.e.walk(func(e *expr) bool {
			if e.over == nil && isAggregate(e) {
				found = true
			}
			return true
		})
	}
	return found
}

var aggregates = words(`count sum avg min max array_agg string_agg json_agg jsonb_agg json_object_agg
 jsonb_object_agg bool_and bool_or every bit_and bit_or percentile_cont percentile_disc mode stddev
 stddev_pop stddev_samp variance var_pop var_samp xmlagg corr json_arrayagg json_objectagg`)

func isAggregate(e *expr) bool {
	return e.kind == eFunc && len(e.name) > 0 && aggregates[e.name[len(e.name)-1]]
}

// expand gives the output columns of a target list, * taken apart.
func (a *analysis) expand(ts []target, sc *scope) (cols []outCol, stars []*inst) {
	for _, t := range ts {
		e := t.e
		if e.kind != eStar {
			name := t.alias
			if name == "" {
				name = exprName(e)
			}
			cols = append(cols, outCol{name: name, e: e, scope: sc})
			continue
		}
		for _, in := range sc.insts {
			if len(e.name) > 0 && in.alias != e.name[len(e.name)-1] || in.alias == "excluded" {
				continue
			}
			c, s := expandInst(in)
			cols = append(cols, c...)
			stars = append(stars, s...)
		}
	}
	return cols, stars
}

func expandInst(in *inst) (cols []outCol, stars []*inst) {
	switch {
	case in.der != nil:
		for _, c := range in.der.cols {
			cols = append(cols, outCol{name: c.name, in: in, src: c.name})
		}
		if len(in.der.stars) > 0 {
			stars = append(stars, in.der.stars...)
		}
	case in.tab != nil:
		for _, c := range in.tab.cols {
			cols = append(cols, outCol{name: c.name, in: in, src: c.name})
		}
	default:
		stars = append(stars, in)
	}
	return cols, stars
}

func exprName(e *expr) string {
	e = strip(e)
	switch e.kind {
	case eCol, eFunc:
		if len(e.name) > 0 {
			return e.name[len(e.name)-1]
		}
	case eCase:
		return "case"
	case eSub:
		if e.sub != nil && len(e.sub.targets) == 1 {
			if e.sub.targets[0].alias != "" {
				return e.sub.targets[0].alias
			}
			return exprName(e.sub.targets[0].e)
		}
	}
	return "?column?"
}
