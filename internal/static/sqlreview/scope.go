package sqlreview

import "strconv"

// A role says what a statement does to an instance's rows.
type role uint8

const (
	roleRead role = iota
	roleInsert
	roleUpdate
	roleDelete
	roleConflict // the row that ON CONFLICT DO UPDATE changes
)

// An inst is one use of a table or derived table in a FROM list or as a target.
type inst struct {
	id     int
	alias  string
	table  string // base table; empty for a derived one
	tab    *table // nil when the schema does not have it
	der    *derived
	env    *env
	role   role
	pos    int
	outer  bool // on the side of an outer join that may be missing
	stmt   int
	scope  *scope
	assert bool // used only as evidence: below EXISTS, IN, a guard
	src    *inst
}

func (in *inst) col(name string) term {
	return term("c" + strconv.Itoa(in.id) + "." + name)
}

// A derived is what a subquery gives: its columns as expressions of its scope.
type derived struct {
	q     *query
	cols  []outCol
	scope *scope
	env   *env
	stars []*inst    // sources of * whose columns are not known
	arms  []*derived // of a set operation
	agg   bool       // aggregated
}

type outCol struct {
	name  string
	e     *expr
	scope *scope
	in    *inst // set for a column that came by *: in.name
	src   string
}

type scope struct {
	parent  *scope
	insts   []*inst
	ctes    map[string]*cteDef
	vars    map[string]term // PL/pgSQL variables and parameters
	rows    map[string]*derived
	aliases map[string]*expr // output names, for ORDER BY and GROUP BY
}

type cteDef struct {
	c     *cte
	scope *scope
	done  *derived // of a data-modifying CTE, analysed once
	busy  int
	def   *env
}

func newScope(parent *scope) *scope { return &scope{parent: parent} }

func (s *scope) cte(name string) *cteDef {
	for ; s != nil; s = s.parent {
		if d := s.ctes[name]; d != nil {
			return d
		}
	}
	return nil
}

func (s *scope) variable(name string) (term, bool) {
	for ; s != nil; s = s.parent {
		if t, ok := s.vars[name]; ok {
			return t, true
		}
	}
	return "", false
}

func (s *scope) row(name string) *derived {
	for ; s != nil; s = s.parent {
		if d := s.rows[name]; d != nil {
			return d
		}
	}
	return nil
}

func (s *scope) byAlias(alias string) *inst {
	for ; s != nil; s = s.parent {
		for _, in := range s.insts {
			if in.alias == alias {
				return in
			}
		}
	}
	return nil
}

// has reports whether in has a column of this name: 1 yes, 0 no, -1 not known.
func (in *inst) has(name string) int {
	if in.der != nil {
		if _, ok := in.der.lookup(name); ok {
			return 1
		}
		if len(in.der.stars) > 0 {
			return -1
		}
		return 0
	}
	if in.tab == nil {
		return -1
	}
	if in.tab.column(name) != nil {
		return 1
	}
	return 0
}

func (d *derived) lookup(name string) (outCol, bool) {
	for _, c := range d.cols {
		if c.name == name {
			return c, true
		}
	}
	return outCol{}, false
}

// owner finds the instance that an unqualified name belongs to.
func (s *scope) owner(name string) *inst {
	for ; s != nil; s = s.parent {
		var maybe *inst
		for _, in := range s.insts {
			switch in.has(name) {
			case 1:
				return in
			case -1:
				if maybe == nil {
					maybe = in
				}
			}
		}
		if maybe != nil {
			if _, ok := s.variable(name); !ok {
				return maybe
			}
		}
	}
	return nil
}

// resolve gives what a column name means: a term, and the instance and column when
// it is one.
func (a *analysis) resolve(e *expr, sc *scope) (term, *inst, string) {
	n := e.name
	if len(n) >= 2 {
		alias, name := n[len(n)-2], n[len(n)-1]
		if in := sc.byAlias(alias); in != nil {
			t, i, c := a.colTerm(in, name)
			return t, i, c
		}
		if d := sc.row(alias); d != nil {
			if c, ok := d.lookup(name); ok {
				return a.outTerm(c)
			}
			if len(d.stars) > 0 {
				return a.colTerm(d.stars[0], name)
			}
		}
		if t, ok := sc.variable(alias + "." + name); ok {
			return t, nil, ""
		}
		return term("p:" + alias + "." + name), nil, ""
	}
	name := n[0]
	if in := sc.owner(name); in != nil {
		return a.colTerm(in, name)
	}
	if t, ok := sc.variable(name); ok {
		return t, nil, ""
	}
	return term("p:" + name), nil, ""
}

func (a *analysis) outTerm(c outCol) (term, *inst, string) {
	if c.in != nil {
		return a.colTerm(c.in, c.src)
	}
	if a.resolving > 60 {
		return "f:deep", nil, ""
	}
	a.resolving++
	defer func() { a.resolving-- }()
	e := strip(c.e)
	if e != nil && e.kind == eCol {
		return a.resolve(e, c.scope)
	}
	return a.term(c.e, c.scope), nil, ""
}

// colTerm sees through derived tables to the base column where there is one.
func (a *analysis) colTerm(in *inst, name string) (term, *inst, string) {
	if in.der != nil && len(in.der.arms) == 0 {
		if c, ok := in.der.lookup(name); ok {
			return a.outTerm(c)
		}
		if len(in.der.stars) > 0 {
			return a.colTerm(in.der.stars[0], name)
		}
	}
	return in.col(name), in, name
}

func (a *analysis) instOf(t term) *inst {
	if !t.isCol() {
		return nil
	}
	n := 0
	for i := 1; i < len(t) && t[i] != '.'; i++ {
		if t[i] < '0' || t[i] > '9' {
			return nil
		}
		n = n*10 + int(t[i]-'0')
		if n > len(a.insts) {
			return nil
		}
	}
	if n < len(a.insts) {
		return a.insts[n]
	}
	return nil
}
