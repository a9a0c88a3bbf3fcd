package sqlreview

import (
	"strconv"

	"assay/audit"
)

var aggList = words(`json_agg jsonb_agg array_agg string_agg json_object_agg jsonb_object_agg xmlagg`)

// limits: no result is longer than the requirement allows.
func (r *reviewer) limits(q *requirement) {
	most := unbounded - 1
	for _, n := range q.nums {
		if n >= 2 && (most == unbounded-1 || n > most) {
			most = n
		}
	}
	for _, t := range r.a.tops {
		if t.ret || t.q.kind == qInsert || t.q.kind == qUpdate || t.q.kind == qDelete {
			continue
		}
		n := r.a.rows(t.d, 0)
		if n <= most {
			if t.d.agg && len(t.q.group) == 0 {
				r.collected(q, t, most)
			}
			continue
		}
		pos, why := t.q.pos, "the result has no LIMIT at its outer level"
		conf := 0.85
		if t.q.limit != nil {
			pos = t.q.limit.pos
			why = "the LIMIT does not hold the result to " + strconv.Itoa(most) + " rows"
			if most == unbounded-1 {
				why = "the LIMIT is not bounded: it takes a parameter as it is"
			}
			if t.q.ties {
				why = "WITH TIES gives more rows than the limit"
			}
		} else if t.d.agg {
			conf = 0.55
		}
		r.add(q.n, conf, pos, []audit.CWE{770, 400}, "%s", why)
	}
}

// collected: rows that are gathered into one JSON or array are a list all the same.
func (r *reviewer) collected(q *requirement, t top, most int) {
	for _, tg := range t.q.targets {
		tg.e.walk(func(e *expr) bool {
			if e.kind == eFunc && len(e.name) > 0 && aggList[e.name[len(e.name)-1]] && e.over == nil {
				if n := r.a.joined(t.d, 0); n > most {
					r.add(q.n, 0.75, e.pos, []audit.CWE{770, 400}, "%s gathers rows without a limit: a LIMIT outside of it counts the one row it gives", e.name[len(e.name)-1])
				}
			}
			return true
		})
	}
}
