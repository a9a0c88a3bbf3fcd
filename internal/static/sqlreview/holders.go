package sqlreview

import (
	"regexp"
	"strings"
)

// aloneRE finds texts that let one person act and no other.
var aloneRE = regexp.MustCompile(`\bonly (the|its|a|an|by)\b|(nobody|no one|no-one) (else|but)|\balone\b|and nobody|no other person`)

// saysHolder: the text calls the person of a column of t by its name (owner_id: the
// owner), the column telling whose the row is.
func (s *spec) saysHolder(r *requirement, t *table) bool {
	for _, p := range s.personCols(t) {
		base := strings.TrimSuffix(p, "_id")
		if base != p && !makerRE.MatchString(p) && s.sch.tables[base] == nil && r.plain[stem(base)] {
			return true
		}
	}
	return false
}

// saysOwner: the text lets the person of a row act, and nobody else.
func (s *spec) saysOwner(r *requirement) bool {
	if !aloneRE.MatchString(r.low) {
		return false
	}
	for t := range r.tables {
		if s.saysHolder(r, s.sch.tables[t]) {
			return true
		}
	}
	return false
}

// onlyPeople: what the requirement names of permissions are people's own records, and
// no flag of theirs.
func (s *spec) onlyPeople(q *requirement) bool {
	tables := s.permTables(q)
	for _, t := range tables {
		if tab := s.sch.tables[t]; !s.isPerson(tab) || s.namesFlag(q, tab) {
			return false
		}
	}
	return len(tables) > 0
}

// byHolder: the requirement tells who may act by such words alone, and by no role and no
// column: then only code that asks nothing about who acts is sure to break it.
func (s *spec) byHolder(q *requirement) bool {
	if s.saysRole(q) || !s.saysOwner(q) && !s.onlyPeople(q) {
		return false
	}
	for _, t := range s.sch.order {
		for _, p := range s.personCols(t) {
			if namesCol(q, t.name, p) {
				return false
			}
		}
	}
	return true
}
