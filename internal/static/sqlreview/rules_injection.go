package sqlreview

import (
	"regexp"
	"strings"

	"assay/audit"
)

var (
	noDynamicRE = regexp.MustCompile(`no dynamic sql|(never|not|no) [^.;]{0,40}(dynamic|execute\b)|dynamic sql is (not|never|forbidden|banned)|only static`)
	constantRE  = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$|^[A-Z_]+\[|allow|ALLOWED|whitelist|safe[A-Z]`)
)

// injection: no value becomes part of the statement's text.
func (r *reviewer) injection() {
	n, conf := 0, 0.7
	noDynamic := false
	for _, q := range r.s.reqs {
		if q.kinds[kInjection] {
			n, conf = q.n, 0.9
			noDynamic = noDynamic || noDynamicRE.MatchString(q.low)
			break
		}
	}
	if r.s.holes == holesUnsaid {
		conf -= 0.15
	}
	cwe := []audit.CWE{89}
	if r.s.holes != holesBound {
		for _, t := range lex(r.a.code) {
			switch {
			case t.kind == tHole && r.s.safeHoles[strings.TrimSpace(strings.Trim(t.text, "${}"))]:
			case t.kind == tHole:
				k := conf
				if constantRE.MatchString(t.text) {
					k = 0.4
				}
				r.add(n, k, t.pos, cwe, "${%s} is pasted into the statement's text", strings.Trim(t.text, "$"))
			case t.holed:
				r.add(n, conf, t.pos, cwe, "a string literal is put together from pasted text")
			}
		}
	}
	for _, d := range r.a.dynamic {
		switch {
		case d.bad:
			r.add(n, 0.9, d.pos, cwe, "EXECUTE runs text that %s was put into unquoted", d.why)
		case noDynamic && strip(d.e).kind != eLit:
			r.add(n, 0.6, d.pos, cwe, "the statement is dynamic SQL, which the requirement rules out")
		}
	}
	r.definer(n)
}

// definer: SECURITY DEFINER without a fixed search_path runs what the caller put in
// the way.
func (r *reviewer) definer(n int) {
	if r.a.fn != nil && r.a.fn.definer && !r.a.fn.path {
		for _, q := range r.s.reqs {
			if strings.Contains(q.low, "search_path") {
				r.add(q.n, 0.85, 0, []audit.CWE{426}, "the function is SECURITY DEFINER and sets no search_path")
			}
		}
	}
	_ = n
}
