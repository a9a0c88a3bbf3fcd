package sqlreview

import (
	"regexp"
	"strings"
)

var (
	clauseRE   = regexp.MustCompile(`[.;]\s+`)
	latinWords = strings.NewReplacer("i.e. ", "that is ", "e.g. ", "such as ", "cf. ", "see ", "resp. ", "or ")
)

// splitClauses cuts a text at its full stops and semicolons.
func splitClauses(text string) []string { return clauseRE.Split(latinWords.Replace(text), -1) }

// sentencesOf takes a requirement apart. A sentence that names no table speaks of those
// of the requirement.
func (s *spec) sentencesOf(r *requirement) []*requirement {
	var out []*requirement
	for _, t := range splitClauses(r.text) {
		c := s.readRequirement(r.n, t)
		if c.kinds = r.kinds; len(c.tables) == 0 {
			c.tables = r.tables
		}
		out = append(out, c)
	}
	return out
}

// clauses gives the sentences of a requirement that name roles ("... needs a, ...
// needs b"), each with those that follow it and name none. What a role itself is said
// to do ("readers see only ...") asks for no role. Without such sentences the
// requirement is one clause.
func (s *spec) clauses(r *requirement) []*requirement {
	if !r.kinds[kPerm] {
		return []*requirement{r}
	}
	var out []*requirement
	var open *requirement
	for _, c := range r.sents {
		if r.kinds[kSecret] && (len(s.secretCols(c)) > 0 && s.keepsBack(c) || givenOutRE.MatchString(c.low)) {
			open = nil // it says who may see columns
			continue
		}
		switch {
		case s.saysRole(c) && !s.roleActs(c):
			open = c
			out = append(out, c)
		case open != nil && !s.saysRole(c):
			joined := s.readRequirement(r.n, open.text+". "+c.text)
			joined.kinds, joined.tables = r.kinds, open.tables
			out[len(out)-1], open = joined, joined
		default:
			open = nil
		}
	}
	if len(out) == 0 && !s.saysRole(r) {
		return []*requirement{r}
	}
	return out
}

var givenOutRE = regexp.MustCompile(`returned|shown|given out|disclosed|displayed|revealed|visible`)

// roleActs: the sentence begins with a role and says what it does.
func (s *spec) roleActs(r *requirement) bool {
	words := wordRE.FindAllString(strings.ToLower(r.text), 4)
	if len(words) > 0 && (words[0] == "only" || words[0] == "no") {
		return false
	}
	for _, w := range words[:min(len(words), 3)] {
		if strings.HasSuffix(w, "ing") { // an act ("refunding needs ...")
			return false
		}
		for _, v := range r.values {
			if stem(w) == stem(v) && s.isRoleValue(v) {
				return true
			}
		}
	}
	return false
}

// isRoleValue: v is a value of a column that holds a role.
func (s *spec) isRoleValue(v string) bool {
	for _, t := range s.sch.order {
		for _, c := range t.cols {
			if contains(c.enum, v) && !isStateCol(c) && (roleNameRE.MatchString(c.name) || len(s.personCols(t)) > 0 || s.isPerson(t)) {
				return true
			}
		}
	}
	return false
}

var allPowerRE = regexp.MustCompile(`everything|anything|all of it|may do all|wherever|whatever|do what|does what|includes? the|in addition|as well as all|every(thing)? .* may`)

// findMasters finds the roles of which the SPEC says that they may do whatever the
// others may.
func (s *spec) findMasters() {
	s.masters = map[string]bool{}
	for _, line := range lineRE.Split(strings.ToLower(s.prompt), -1) {
		if !allPowerRE.MatchString(line) {
			continue
		}
		at := allPowerRE.FindStringIndex(line)
		for _, t := range s.sch.order {
			for _, c := range t.cols {
				for _, v := range c.enum {
					i := strings.Index(line, strings.ToLower(v))
					if s.isRoleValue(v) && i >= 0 && (i < at[0] || strings.HasPrefix(line[at[0]:], "include")) {
						s.masters[v] = true
					}
				}
			}
		}
	}
}
