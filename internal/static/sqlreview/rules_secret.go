package sqlreview

import (
	"regexp"
	"strings"

	"assay/audit"
)

// wholeRow says that nobody named the column: it went out with the others.
const wholeRow = "is given out as part of the whole row"

// A flow is one column whose value reaches an output.
type flow struct {
	in    *inst
	col   string // * when the whole row of an unknown table
	via   []string
	pos   int
	whole bool // as part of a row or a *
}

// flows finds the base columns whose values reach the value of e.
func (a *analysis) flows(e *expr, sc *scope, via []string, depth int, emit func(flow)) {
	if e == nil || depth > 25 || sc == nil {
		return
	}
	switch e.kind {
	case eCol:
		a.colFlows(e, sc, via, depth, emit)
	case eStar:
		for _, in := range sc.insts {
			if len(e.name) == 0 || in.alias == e.name[len(e.name)-1] {
				a.instFlows(in, via, depth, e.pos, nil, emit)
			}
		}
	case eIs, eExists, eIn, eIsDist, eBetween, eAnd, eOr, eNot, eQuant:
		return
	case eFunc:
		n := ""
		if len(e.name) > 0 {
			n = e.name[len(e.name)-1]
		}
		if n == "count" || n == "length" && false || n == "exists" || n == "row_number" {
			return
		}
		for i, x := range e.args {
			if n == "coalesce" || n == "json_build_object" || n == "jsonb_build_object" {
				a.flows(x, sc, via, depth+1, emit)
				continue
			}
			_ = i
			a.flows(x, sc, append(append([]string{}, via...), n), depth+1, emit)
		}
	case eBin:
		switch e.op {
		case "=", "<>", "!=", "<", ">", "<=", ">=", "like", "ilike", "~", "@>", "<@":
			return
		case "-": // to_jsonb(t) - 'secret'
			a.minusFlows(e, sc, via, depth, emit)
			return
		}
		for _, x := range e.args {
			a.flows(x, sc, via, depth+1, emit)
		}
	case eCase:
		args := e.args
		if e.op == "operand" && len(args) > 0 {
			args = args[1:]
		}
		for i, x := range args {
			if i%2 == 1 || e.hasElse && i == len(args)-1 {
				a.flows(x, sc, append(append([]string{}, via...), "case"), depth+1, emit)
			}
		}
	case eSub, eArray:
		if e.sub != nil {
			if d := a.subs[e.sub]; d != nil {
				a.derFlows(d, via, depth, emit)
			}
		}
		for _, x := range e.args {
			a.flows(x, sc, via, depth+1, emit)
		}
	default:
		for _, x := range e.args {
			a.flows(x, sc, via, depth+1, emit)
		}
	}
}

func (a *analysis) derFlows(d *derived, via []string, depth int, emit func(flow)) {
	for _, arm := range flatArms(d) {
		for _, c := range arm.cols {
			a.outFlows(c, via, depth+1, emit)
		}
		for _, in := range arm.stars {
			a.instFlows(in, via, depth+1, d.q.pos, nil, emit)
		}
	}
}

func (a *analysis) outFlows(c outCol, via []string, depth int, emit func(flow)) {
	if c.in != nil {
		a.instColFlows(c.in, c.src, via, depth, c.in.pos, emit)
		return
	}
	a.flows(c.e, c.scope, via, depth, emit)
}

func (a *analysis) instColFlows(in *inst, col string, via []string, depth int, pos int, emit func(flow)) {
	if depth > 25 {
		return
	}
	if in.der == nil {
		emit(flow{in: in, col: col, via: via, pos: pos})
		return
	}
	for _, arm := range flatArms(in.der) {
		for i, c := range in.der.cols {
			if c.name == col && i < len(arm.cols) {
				a.outFlows(arm.cols[i], via, depth+1, emit)
			}
		}
	}
	for _, s := range in.der.stars {
		a.instColFlows(s, col, via, depth+1, pos, emit)
	}
}

func (a *analysis) colFlows(e *expr, sc *scope, via []string, depth int, emit func(flow)) {
	n := e.name
	if len(n) >= 2 {
		if in := sc.byAlias(n[len(n)-2]); in != nil {
			a.instColFlows(in, n[len(n)-1], via, depth, e.pos, emit)
			return
		}
		if d := sc.row(n[len(n)-2]); d != nil {
			if c, ok := d.lookup(n[len(n)-1]); ok {
				a.outFlows(c, via, depth+1, emit)
			}
		}
		return
	}
	if in := sc.owner(n[0]); in != nil && in.has(n[0]) == 1 {
		a.instColFlows(in, n[0], via, depth, e.pos, emit)
		return
	}
	if in := sc.byAlias(n[0]); in != nil { // the whole row
		a.instFlows(in, via, depth, e.pos, nil, emit)
		return
	}
	if d := sc.row(n[0]); d != nil {
		a.derFlows(d, via, depth, emit)
		return
	}
	if in := sc.owner(n[0]); in != nil {
		a.instColFlows(in, n[0], via, depth, e.pos, emit)
		return
	}
	if t, ok := sc.variable(n[0]); ok && t.isCol() {
		if in := a.instOf(t); in != nil {
			emit(flow{in: in, col: t.colName(), via: via, pos: e.pos})
		}
	}
}

// instFlows emits every column of in, save those in without.
func (a *analysis) instFlows(in *inst, via []string, depth int, pos int, without []string, emit func(flow)) {
	if depth > 25 {
		return
	}
	keep := func(f flow) {
		f.whole, f.pos = true, pos
		emit(f)
	}
	switch {
	case in.der != nil:
		for _, c := range in.der.cols {
			if !contains(without, c.name) {
				a.instColFlows(in, c.name, via, depth+1, pos, keep)
			}
		}
		for _, s := range in.der.stars {
			a.instFlows(s, via, depth+1, pos, without, emit)
		}
	case in.tab != nil:
		for _, c := range in.tab.cols {
			if !contains(without, c.name) {
				emit(flow{in: in, col: c.name, via: via, pos: pos, whole: true})
			}
		}
	}
}

func (a *analysis) minusFlows(e *expr, sc *scope, via []string, depth int, emit func(flow)) {
	var no []string
	l := e
	for l.kind == eBin && l.op == "-" && len(l.args) == 2 {
		r := strip(l.args[1])
		if r.kind == eLit {
			if s := strings.Trim(r.op, "'"); strings.HasPrefix(s, "{") {
				no = append(no, strings.Split(strings.Trim(s, "{}"), ",")...)
			} else {
				no = append(no, s)
			}
		}
		if r.kind == eArray {
			no = append(no, literals(r.args)...)
		}
		l = strip(l.args[0])
	}
	for i := range no {
		no[i] = strings.TrimSpace(no[i])
	}
	if l.isCall("to_jsonb", "row_to_json", "to_json") && len(no) > 0 && len(l.args) > 0 {
		a.flows(l.args[0], sc, via, depth+1, func(f flow) {
			if !contains(no, f.col) {
				emit(f)
			}
		})
		return
	}
	for _, x := range e.args {
		a.flows(x, sc, via, depth+1, emit)
	}
}

var (
	maskWordRE = regexp.MustCompile(`mask|last (four|4|two|2|three|3)|hash|redact|truncat|partial|digest|aggregat|averag|derived|only as`)
	maskFuncRE = regexp.MustCompile(`^(right|left|substr|substring|md5|sha\d*|digest|crypt|hmac|regexp_replace|overlay|encode|mask.*|redact.*|anonymi.*|avg|sum|min|max|percentile.*|stddev.*|date_part|date_trunc|extract|age|length|char_length|octet_length)$`)
	toWhomRE   = regexp.MustCompile("`[^.;]{0,40}\\b(goes|go|is for|are for|may be (returned|shown|given)|(is|are) (shown|returned|given|visible|disclosed|revealed)) (only )?(to|for)?\\b")
	selfWordRE = regexp.MustCompile(`\b(own|owner|owns|self|itself|author|themsel\w*|concerned|whom|his|her|their)\b`)
	exceptRE   = regexp.MustCompile(`goes? to|to nobody else|nobody else|(is|are) for |except|unless|only (to|for|by|when|if|a|an|the|holders|someone|people|staff|members)|only (be )?(shown|visible|returned|revealed|given|readable|disclosed) (to|for|by|if|when)|other than|save (for|to)|apart from|may (see|read|receive)`)
)

// secrets: sensitive columns do not reach an output.
func (r *reviewer) secrets(q *requirement) {
	var parts []*requirement
	for _, t := range splitClauses(q.text) {
		if c := r.s.readRequirement(q.n, t); len(r.s.secretCols(c)) > 0 {
			parts = append(parts, c)
		} else if n := len(parts); n > 0 && !allPowerRE.MatchString(c.low) {
			parts[n-1] = r.s.readRequirement(q.n, parts[n-1].text+". "+t)
		}
	}
	if len(parts) < 2 {
		parts = []*requirement{q}
	}
	for _, p := range parts {
		if len(parts) == 1 || r.s.keepsBack(p) {
			r.secretsOf(p)
		}
	}
}

// keepsBack: the text says that the columns it names are not given out, or to whom.
func (s *spec) keepsBack(r *requirement) bool {
	return secretRE.MatchString(r.low) || toWhomRE.MatchString(r.low) || negativeRE.MatchString(r.low) && s.plainOnly(r)
}

func (r *reviewer) secretsOf(q *requirement) {
	cols := r.s.secretCols(q)
	masked := maskWordRE.MatchString(q.low)
	excepted := exceptRE.MatchString(q.low)
	for _, o := range r.a.outputs {
		emit := func(f flow) {
			if f.in.table == "" || f.in.tab == nil || !secretOf(cols, f.in.table, f.col) {
				return
			}
			conf := 0.88
			for _, v := range f.via {
				if masked && maskFuncRE.MatchString(v) || v == "length" || v == "char_length" || v == "count" {
					return
				}
				if v == "case" && excepted {
					return
				}
				if maskFuncRE.MatchString(v) {
					conf = 0.7
				}
			}
			if excepted {
				conf = 0.6
				if r.exempt(q, o.env) {
					return
				}
			}
			pos := f.pos
			if pos == 0 {
				pos = o.pos
			}
			how := "is given out"
			if f.whole {
				how = wholeRow
			}
			r.add(q.n, conf, pos, []audit.CWE{200, 359}, "the sensitive column %s.%s %s", f.in.table, f.col, how)
		}
		switch {
		case o.in != nil && o.src == "*":
			r.a.instFlows(o.in, nil, 0, o.pos, nil, emit)
		case o.in != nil:
			r.a.instColFlows(o.in, o.src, nil, 0, o.in.pos, func(f flow) { f.whole = true; emit(f) })
		default:
			r.a.flows(o.e, o.sc, nil, 0, emit)
		}
	}
}

func secretOf(cols []colRef, table, col string) bool {
	for _, c := range cols {
		if c.col == col && (c.table == "" || c.table == table) {
			return true
		}
	}
	return false
}

// exempt: the requirement has an exception and the code checks a role or owner that
// it names.
func (r *reviewer) exempt(q *requirement, v *env) bool {
	return r.a.proves(v, func(c *closure) bool {
		for _, p := range r.permits(c) {
			acts, wide := false, false
			for _, t := range p.args {
				acts = acts || c.actor(r, t)
				wide = wide || t.isLit() && r.foreignRole(q, foldLit(t))
			}
			if acts && !wide {
				return true
			}
		}
		if r.belongs(q, c) {
			return true
		}
		for _, f := range c.facts {
			if in := r.a.instOf(f.a); in != nil && in.tab != nil && len(f.set) > 0 {
				if col := in.tab.column(f.a.colName()); col != nil && within(f.set, r.s.withMasters(q.valuesOf(col.enum), col.enum)) {
					return true
				}
			}
			if f.b.isLit() && contains(q.values, foldLit(f.b)) {
				return true
			}
			if f.op == "=" && (f.a.isParam() && r.s.isActor(f.a) || f.b.isParam() && r.s.isActor(f.b)) && selfWordRE.MatchString(q.low) {
				return true
			}
		}
		return false
	})
}

// belongs: who acts has a row in a table that the requirement names as those who may
// ("goes to staff"), with a role that it allows.
func (r *reviewer) belongs(q *requirement, c *closure) bool {
	for _, x := range r.a.insts {
		if x.tab == nil || !q.tables[x.table] || x.role == roleInsert || !r.s.hasRole(x.tab) || x.env.isNegated() {
			continue
		}
		for _, p := range r.s.personCols(x.tab) {
			if c.actor(r, x.col(p)) && r.roleFits(q, c, x) {
				return true
			}
		}
	}
	return false
}
