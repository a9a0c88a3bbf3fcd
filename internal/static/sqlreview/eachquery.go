package sqlreview

// eachQuery calls f for q and every query inside of it; negated says that it stands below
// NOT EXISTS.
func eachQuery(q *query, f func(q *query, negated bool)) { queries(q, false, 0, f) }

func queries(q *query, neg bool, depth int, f func(*query, bool)) {
	if q == nil || depth > 40 {
		return
	}
	f(q, neg)
	deeper := func(x *query) { queries(x, neg, depth+1, f) }
	for _, c := range q.with {
		deeper(c.q)
	}
	deeper(q.l)
	deeper(q.r)
	deeper(q.source)
	for _, x := range append([]*from{q.table}, q.from...) {
		fromQueries(x, neg, depth+1, f)
	}
	for _, list := range [][]*expr{q.distinctOn, q.group, q.order, {q.where, q.having, q.limit, q.offset, q.on}} {
		for _, e := range list {
			exprQueries(e, neg, depth+1, f)
		}
	}
	for _, ts := range [][]target{q.targets, q.returning} {
		for _, t := range ts {
			exprQueries(t.e, neg, depth+1, f)
		}
	}
	for _, row := range q.rows {
		for _, e := range row {
			exprQueries(e, neg, depth+1, f)
		}
	}
	for _, s := range q.sets {
		exprQueries(s.val, neg, depth+1, f)
	}
}

func fromQueries(x *from, neg bool, depth int, f func(*query, bool)) {
	if x == nil || depth > 60 {
		return
	}
	queries(x.sub, neg, depth+1, f)
	fromQueries(x.l, neg, depth+1, f)
	fromQueries(x.r, neg, depth+1, f)
	exprQueries(x.on, neg, depth+1, f)
}

func exprQueries(e *expr, neg bool, depth int, f func(*query, bool)) {
	if e == nil || depth > 60 {
		return
	}
	if e.kind == eNot {
		for _, x := range e.args {
			exprQueries(x, !neg, depth+1, f)
		}
		return
	}
	queries(e.sub, neg || e.kind == eExists && e.not, depth+1, f)
	for _, x := range e.args {
		exprQueries(x, neg, depth+1, f)
	}
}

// queryInto gives the variables that a query fills.
func queryInto(q *query) []string {
	if q == nil {
		return nil
	}
	return q.into
}
