package sqlreview

import (
	"regexp"
	"strings"

	"assay/audit"
)

var (
	zonedRE   = regexp.MustCompile(`time ?zone|\btz\b|_tz\b|\bzone\b|local_today|local (day|date|time)`)
	zoneColRE = regexp.MustCompile(`^(tz|time_?zone|zone)$`)
	dayRE     = regexp.MustCompile(`today|\bdays?\b|\bdate|month`)
)

// zoneRequirement gives the requirement that a day is to be taken in a zone that is not
// the server's, 0 where the SPEC has no such zone.
func (s *spec) zoneRequirement() int {
	zone := false
	for _, t := range s.sch.order {
		for _, c := range t.cols {
			zone = zone || zoneColRE.MatchString(c.name)
		}
	}
	if !zone {
		return 0
	}
	best, at := 0, 0
	for _, r := range s.reqs {
		n := 0
		if zonedRE.MatchString(r.low) {
			n += 3
		}
		if strings.Contains(r.low, "today") {
			n += 2
		}
		if n > 0 && dayRE.MatchString(r.low) {
			n++
		}
		if n > best {
			best, at = n, r.n
		}
	}
	return at
}

// days: a calendar day is that of the place, not that of the server.
func (r *reviewer) days() {
	r.kind = kDay
	n := r.s.zoneRequirement()
	if n == 0 {
		return
	}
	for _, x := range r.a.exprScope {
		x.e.walk(func(e *expr) bool {
			if what := r.serverDay(e, x.sc); what != "" {
				r.add(n, 0.75, e.pos, []audit.CWE{682}, "%s is a day of the server's clock, not of the zone that the SPEC keeps", what)
				return false
			}
			return true
		})
	}
}

// serverDay says what makes a day of an instant without a zone, "" where nothing does.
func (r *reviewer) serverDay(e *expr, sc *scope) string {
	switch {
	case e.isCall("current_date"):
		return "current_date"
	case e.kind == eCol && len(e.name) == 1 && e.name[0] == "current_date":
		return "current_date"
	case e.kind == eCast && e.op == "date" && len(e.args) > 0 && r.instant(e.args[0], sc):
		return "the cast of an instant to date"
	case e.isCall("date") && len(e.args) == 1 && r.instant(e.args[0], sc):
		return "date() of an instant"
	case e.isCall("date_trunc") && len(e.args) == 2 && r.instant(e.args[1], sc):
		if u := strip(e.args[0]); u.kind == eLit && dayRE.MatchString(strings.Trim(u.op, "'")) {
			return "date_trunc of an instant"
		}
	}
	return ""
}

// instant: e is the clock or a column with a time zone, taken as it is.
func (r *reviewer) instant(e *expr, sc *scope) bool {
	x := strip(e)
	if e.kind == eCast && e.op == "date" {
		return false // the cast itself is told
	}
	if x.isCall("now", "clock_timestamp", "current_timestamp", "statement_timestamp", "transaction_timestamp") {
		return true
	}
	if x.kind != eCol {
		return false
	}
	t := r.a.term(x, sc)
	if t == "now" {
		return true
	}
	in := r.a.instOf(t)
	if in == nil || in.tab == nil {
		return false
	}
	c := in.tab.column(t.colName())
	return c != nil && strings.HasPrefix(c.typ, "timestamptz")
}
