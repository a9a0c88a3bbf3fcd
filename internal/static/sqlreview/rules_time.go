package sqlreview

import (
	"regexp"
	"strconv"
	"strings"

	"assay/audit"
)

var (
	lowerNameRE  = regexp.MustCompile(`start|from|begin|open|since|effective|publish|not_before|live|embargo|release|lock.*until|lock.*to|available_at|goes`)
	upperNameRE  = regexp.MustCompile(`until|laps|end|expir|clos|due|through|deadline|not_after|valid_to|_to$|last`)
	pastUntilRE  = regexp.MustCompile(`embargo|lock|hold|ban|quarantin|cool|suspend|block|snooz|freeze`)
	strictEndRE  = regexp.MustCompile(`exclusive|half-open|not including|up to but|excluding|before|no longer|in the future|has passed|is past|strictly|after .* (it|they|is|are)|the moment`)
	inclusiveRE  = regexp.MustCompile(`(until|to|end\w*|expir\w*)[^.;,]{0,30}inclusive|inclusive[^.;,]{0,8} of both|both (ends|bounds) inclusive|last (day|moment) (included|inclusive)`)
	clockRE      = regexp.MustCompile(`clock|now\(\)|current_timestamp|server|database('s)? time|by the database`)
	durationRE   = regexp.MustCompile(`(\d+|one|two|three|five|six|seven|ten|twelve|fourteen|thirty)[ -](second|minute|hour|day|week|month|year)s?`)
	timeTableRE  = regexp.MustCompile(`member|grant|role|assign|permission|access|share|mandate|delegat|contract|subscription|licen[cs]e|coverage|polic|consent|token|session|invit|membership|entitle|enrol|shift|rota|tariff|price|rate`)
	zoneWordRE   = regexp.MustCompile(`time ?zone|local (time|day|date)|calendar day|civil`)
	wordNumber   = map[string]int{"one": 1, "two": 2, "three": 3, "five": 5, "six": 6, "seven": 7, "ten": 10, "twelve": 12, "fourteen": 14, "thirty": 30}
	unitSeconds  = map[string]int{"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 7 * 86400, "month": 30 * 86400, "year": 365 * 86400}
	litInterval  = regexp.MustCompile(`l:'(\d+) (second|minute|hour|day|week|month|year)s?'`)
	intervalFunc = regexp.MustCompile(`(\d+) (second|minute|hour|day|week|month|year)s?`)
)

// times: what is in force only for a time is used only in that time.
func (r *reviewer) times(q *requirement) {
	for _, c := range q.sents {
		if timeRE.MatchString(c.low) {
			r.timesOf(c)
		}
	}
}

func (r *reviewer) timesOf(q *requirement) {
	cols := r.s.timeCols(q)
	done := map[*inst]bool{}
	for _, in := range r.a.insts {
		if in.tab == nil || in.der != nil || done[in] || in.role == roleInsert || in.env.isNegated() || r.a.anti(in) || r.a.lockOnly[in] {
			continue
		}
		conf := r.timed(q, in)
		if conf < 0.6 {
			continue
		}
		for _, ref := range cols {
			c := in.tab.column(ref.col)
			if c == nil || ref.table != "" && ref.table != in.table || r.setsColumn(in, ref.col) || r.s.isPerson(in.tab) && pastUntilRE.MatchString(c.name) && !r.ofCaller(in) {
				continue
			}
			r.bound(q, in, c, conf)
		}
		done[in] = true
	}
}

func (r *reviewer) setsColumn(in *inst, col string) bool {
	for _, w := range r.a.writes {
		if w.in == in && w.col == col {
			return true
		}
	}
	return false
}

// timed says how surely a use of a table has to respect its times: always for what
// carries a permission, otherwise where the requirement speaks of the action.
func (r *reviewer) timed(q *requirement, in *inst) float64 {
	perm := timeTableRE.MatchString(in.table) || r.s.hasRole(in.tab) && len(r.s.personCols(in.tab)) > 0
	if perm && (in.role == roleRead) {
		if in.assert || q.tables[in.table] || q.touches(in.table) || len(q.tables) == 0 {
			return 0.8
		}
	}
	best := 0.0
	for _, act := range r.actions() {
		if act.in == in || act.kind != "read" && in.role == roleRead {
			if how := r.applies(q, act, nil); act.kind != "read" || how >= 0.7 {
				best = max(best, how)
			}
		}
	}
	return best
}

// lastingRE finds sentences that say what time is written into a row, not when it is used.
var lastingRE = regexp.MustCompile(`\b(lasts?|falls due|fall due|is due|are due|runs for|expires? (after|in))\b|(due|expiry|end) (date|time) is`)

// bound demands that column c of in lies on the right side of the clock.
func (r *reviewer) bound(q *requirement, in *inst, c *column, conf float64) {
	if lastingRE.MatchString(q.low) {
		return
	}
	if durationRE.MatchString(q.low) {
		r.duration(q, in, c, conf)
		return
	}
	upper := upperNameRE.MatchString(c.name) && !pastUntilRE.MatchString(c.name)
	lower := !upper && (lowerNameRE.MatchString(c.name) || pastUntilRE.MatchString(c.name))
	if !upper && !lower {
		return
	}
	strict := upper && strictEndRE.MatchString(q.low) && !inclusiveRE.MatchString(q.low)
	if upper && !strict && strings.Contains(q.low, "expired") {
		strict = false
	}
	clock := clockRE.MatchString(q.low)
	state := 0
	nullable := !c.notNull
	ok := r.a.proves(in.env, func(cl *closure) bool {
		for _, f := range cl.about(in.col(c.name)) {
			if f.op == "null" && nullable {
				return true
			}
			s := r.onSide(cl, f, upper, strict, clock, c)
			state = max(state, s)
			if s == 4 {
				return true
			}
		}
		return !r.s.hasRole(in.tab) && !timeTableRE.MatchString(in.table) && r.owner(q, cl, action{in: in})
	})
	if ok {
		return
	}
	cwe := []audit.CWE{672, 613}
	side := "has begun"
	if upper {
		side = "has not ended"
	} else if pastUntilRE.MatchString(c.name) {
		side = "is over"
	}
	switch state {
	case 3:
		r.add(q.n, min(0.8, conf+0.1), in.pos, cwe, "%s.%s is compared so that the very end still counts, which the requirement excludes", in.table, c.name)
	case 2:
		r.add(q.n, min(0.7, conf), in.pos, cwe, "%s.%s is compared with a value from outside or a shifted or truncated clock, not with the database's clock", in.table, c.name)
	default:
		r.add(q.n, min(0.8, conf), in.pos, cwe, "%s is used without a condition, on every path, that it %s by %s", name(in), side, c.name)
	}
}

// onSide grades a fact on a time column: 4 right, 3 off by the end point, 2 right side
// but of the wrong clock, 0 nothing.
func (r *reviewer) onSide(c *closure, f fact, upper, strict, clock bool, col *column) int {
	switch f.op {
	case "<", "<=":
		if upper {
			return 0
		}
	case ">", ">=":
		if !upper {
			return 0
		}
	default:
		return 0
	}
	kind := r.clockKind(c, f.b, col)
	switch {
	case kind == "":
		return 0
	case kind == "param" && clock, kind == "shifted", kind == "today" && !strings.HasPrefix(col.typ, "date"):
		return 2
	}
	if strict && f.op == ">=" && !strings.HasPrefix(col.typ, "date") {
		return 3
	}
	return 4
}

// clockKind says what a column is compared with.
func (r *reviewer) clockKind(c *closure, t term, col *column) string {
	for _, m := range c.class(t) {
		switch {
		case m == "now":
			return "now"
		case m == "today":
			return "today"
		}
	}
	for _, m := range c.class(t) {
		s := string(m)
		switch {
		case m.isParam():
			return "param"
		case strings.Contains(s, "at time zone") && (strings.Contains(s, "now") || strings.Contains(s, "p:")):
			return "now"
		case strings.Contains(s, "now") || strings.Contains(s, "today"):
			return "shifted"
		case strings.HasPrefix(s, "f:") && strings.Contains(s, "p:"):
			return "param"
		case m.isCol():
			return "now" // another row's time: as of that moment
		}
	}
	return ""
}

// duration: the requirement names a span of time; a comparison with that span is due.
func (r *reviewer) duration(q *requirement, in *inst, c *column, conf float64) {
	var want []int
	for _, m := range durationRE.FindAllStringSubmatch(q.low, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			n = wordNumber[m[1]]
		}
		want = append(want, n*unitSeconds[m[2]])
	}
	got := 0
	ok := r.a.proves(in.env, func(cl *closure) bool {
		for _, f := range cl.about(in.col(c.name)) {
			if f.op == "null" && !c.notNull {
				return true
			}
			if f.op != "<" && f.op != "<=" && f.op != ">" && f.op != ">=" {
				continue
			}
			for _, m := range intervalFunc.FindAllStringSubmatch(string(f.b), -1) {
				n, _ := strconv.Atoi(m[1])
				got = n * unitSeconds[m[2]]
				for _, w := range want {
					if w == got {
						return true
					}
				}
			}
		}
		return false
	})
	if ok || got == 0 && conf < 0.8 {
		return
	}
	if got == 0 {
		r.add(q.n, 0.6, in.pos, []audit.CWE{672, 613}, "%s is used without the time that the requirement sets on %s", name(in), c.name)
		return
	}
	r.add(q.n, 0.65, in.pos, []audit.CWE{672, 613}, "%s.%s is compared with another span of time than the requirement names", in.table, c.name)
}
