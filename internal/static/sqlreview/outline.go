package sqlreview

import "sort"

// An Outline is what the parser made of a text of SQL: enough to hold it against
// another parser.
type Outline struct {
	Whole   bool     // every token found its place
	Tables  []string // tables named in FROM, INTO, UPDATE ..., sorted, with repeats
	Columns []string // last parts of column references, sorted, with repeats
	Selects int      // SELECT, VALUES and set operations
}

// Parse gives the outline of a text of SQL. Function bodies are not part of it.
func Parse(src string) Outline {
	stmts, broken := parse(src)
	w := &outliner{}
	for _, s := range stmts {
		if s.kind == sQuery {
			w.query(s.q)
		}
	}
	sort.Strings(w.Tables)
	sort.Strings(w.Columns)
	w.Whole = len(broken) == 0
	return w.Outline
}

type outliner struct{ Outline }

func (w *outliner) query(q *query) {
	if q == nil {
		return
	}
	for _, c := range q.with {
		w.query(c.q)
	}
	switch q.kind {
	case qSelect, qValues, qSetOp:
		w.Selects++
	}
	w.query(q.l)
	w.query(q.r)
	w.query(q.source)
	w.from(q.table)
	for _, f := range q.from {
		w.from(f)
	}
	w.targets(q.targets)
	w.targets(q.returning)
	for _, list := range append([][]*expr{q.distinctOn, q.group, q.order, {q.where, q.having, q.limit, q.offset, q.on}}, q.rows...) {
		w.exprs(list)
	}
	for _, x := range q.windows {
		w.exprs(x.partition)
		w.exprs(x.order)
	}
	w.sets(q.sets)
	if c := q.conflict; c != nil {
		w.sets(c.sets)
		w.exprs([]*expr{c.where})
	}
	for _, m := range q.whens {
		w.sets(m.sets)
		w.exprs(append([]*expr{m.cond}, m.vals...))
	}
}

func (w *outliner) targets(ts []target) {
	for _, t := range ts {
		w.exprs([]*expr{t.e})
	}
}

func (w *outliner) sets(ss []setItem) {
	for _, s := range ss {
		w.exprs([]*expr{s.val})
	}
}

func (w *outliner) from(f *from) {
	if f == nil {
		return
	}
	switch f.kind {
	case fTable:
		w.Tables = append(w.Tables, f.name)
	case fJoin:
		w.from(f.l)
		w.from(f.r)
		w.exprs([]*expr{f.on})
	case fSub:
		w.query(f.sub)
	case fFunc:
		w.exprs([]*expr{f.fn})
	}
}

func (w *outliner) exprs(es []*expr) {
	for _, e := range es {
		e.walk(func(x *expr) bool {
			if x.kind == eCol {
				w.Columns = append(w.Columns, x.name[len(x.name)-1])
			}
			w.query(x.sub)
			return true
		})
	}
}
