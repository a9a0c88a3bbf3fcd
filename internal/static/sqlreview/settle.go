package sqlreview

import (
	"regexp"
	"strings"
)

var boldHeadRE = regexp.MustCompile(`^\*\*(.+?)\*\*`)

// head gives what a requirement begins with in bold type, in lower case.
func (r *requirement) head() string {
	if m := boldHeadRE.FindStringSubmatch(r.text); m != nil {
		return strings.ToLower(m[1])
	}
	return ""
}

var (
	apartRE  = regexp.MustCompile(`tenan|isolat|segregat|separat|partition|cross-|kept apart|\bwall\b|boundar`)
	boundTo  = regexp.MustCompile(`bound (values?|parameters?)|injection|concatenat|part of (a|the) (statement|sql|query)|(statement|query)'s text|dynamic|\$\{|\{\{|spliced?|pasted|execute`)
	headInRE = regexp.MustCompile(`inject|bound|parameter|text|dynamic|splic|client|input|data`)
)

// settle decides which requirements make a demand that a SPEC makes in one place: the
// others only mention the tenant, what is deleted, or what the client sends.
func (s *spec) settle() {
	s.keepBest(kTenant, 4, func(r *requirement) int {
		n := 0
		stems, head := stemsOf(r.text), r.head()
		if apartRE.MatchString(r.low) {
			n += 2
		}
		if apartRE.MatchString(head) {
			n += 3
		}
		for _, c := range r.cols {
			if contains(s.tenants, c.col) {
				n += 2
				break
			}
		}
		if s.root != "" && hasRun(stemsOf(head), s.root) {
			n += 3
		}
		if othersRE.MatchString(r.low) || s.root != "" && hasRun(stems, s.root) && strings.Contains(r.low, "belong") {
			n++
		}
		if s.namesScope(r) {
			n += 2
		}
		return n
	})
	s.keepBest(kInjection, 3, func(r *requirement) int {
		n := len(boundTo.FindAllString(r.low, 4))
		if headInRE.MatchString(r.head()) {
			n += 2
		}
		return n
	})
	s.keepBest(kSoft, 2, func(r *requirement) int {
		n := 0
		if softRE.MatchString(r.head()) || goneRE.MatchString(r.head()) {
			n += 3
		}
		for _, c := range s.softCols(r) {
			if namesCol(r, "", c) || r.namesAny(c) {
				n += 2
				break
			}
		}
		if goneRE.MatchString(r.low) {
			n++
		}
		return n
	})
}

// namesAny: the requirement names column col, of whatever table.
func (r *requirement) namesAny(col string) bool {
	for _, c := range r.cols {
		if c.col == col {
			return true
		}
	}
	return false
}

// keepBest takes kind k from the requirements that score less than enough and less
// than the best one.
func (s *spec) keepBest(k kindOf, enough int, score func(*requirement) int) {
	best := 0
	for _, r := range s.reqs {
		if r.kinds[k] {
			best = max(best, score(r))
		}
	}
	for _, r := range s.reqs {
		if n := score(r); r.kinds[k] && n < best && n < enough {
			delete(r.kinds, k)
		}
	}
}
