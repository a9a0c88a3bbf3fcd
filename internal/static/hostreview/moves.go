package hostreview

import (
	"regexp"
	"slices"
	"strings"

	"assay/audit"
)

var (
	stateCol  = regexp.MustCompile(`(?i)^(\w+_)?(status|state|stage|phase)$`)
	movesRE   = regexp.MustCompile(`(?i)\btransitions?\b|\bstat(us|us's|uses|e|es)\b|\bmoves?\b|→|->|\bfrom\b|\bonly\b|\border\b|\bthen\b`)
	bracketRE = regexp.MustCompile(`\([^()]*\)`)
	stepRE    = regexp.MustCompile("[a-z][a-z0-9_]*|→|->|,")
)

// moves gives, for each state, those that a text lets lead to it: "requested to
// approved or refused, approved to handed_out", "`draft`, then `booked`".
func (b *brief) moves(text string) map[string][]string {
	out := map[string][]string{}
	known := b.states()
	for _, part := range sentencesOf(bracketRE.ReplaceAllString(text, " ")) {
		toks := stepRE.FindAllString(strings.ToLower(part), -1)
		for i, t := range toks {
			if t != "to" && t != "then" && t != "→" && t != "->" && t != "into" {
				continue
			}
			var from []string
			for k := i - 1; k >= 0 && (known[toks[k]] || toks[k] == "or" || toks[k] == "and" || toks[k] == "," && t == "then"); k-- {
				if known[toks[k]] {
					from = append(from, toks[k])
					if t == "then" || k > 0 && toks[k-1] != "or" && toks[k-1] != "and" {
						break
					}
				}
			}
			for k := i + 1; k < len(toks) && (known[toks[k]] || toks[k] == "or" || toks[k] == "," || toks[k] == "and"); k++ {
				next := k+1 < len(toks) && (toks[k+1] == "to" || toks[k+1] == "→" || toks[k+1] == "->")
				if known[toks[k]] && !next {
					out[toks[k]] = append(out[toks[k]], from...)
				}
				if next || t == "then" && known[toks[k]] && k+1 < len(toks) && toks[k+1] == "," {
					break
				}
			}
		}
	}
	return out
}

var enumRE = regexp.MustCompile(`(?is)(?:\bas\s+enum|\bin)\s*\(([^()]*)\)`)

// states are the words that the SPEC lists as the values of a column.
func (b *brief) states() map[string]bool {
	if b.known != nil {
		return b.known
	}
	b.known = map[string]bool{}
	for _, m := range enumRE.FindAllStringSubmatch(b.spec, -1) {
		for _, x := range regexp.MustCompile(`'(\w+)'`).FindAllStringSubmatch(m[1], -1) {
			b.known[strings.ToLower(x[1])] = true
		}
	}
	for _, line := range strings.Split(b.spec, "\n") {
		if regexp.MustCompile(`(?i)\b(status|state|stage|phase|is|one of)\b`).MatchString(line) {
			for _, m := range litRE.FindAllStringSubmatch(line, -1) {
				if !b.column(m[1]) && b.helpers[m[1]] == nil {
					b.known[m[1]] = true
				}
			}
		}
	}
	return b.known
}

// moved: a statement that sets a state looks at the one that is left, and only at
// those that lead to the new one.
func moved(v *view, r Requirement) *Breach {
	if !movesRE.MatchString(r.Text) {
		return nil
	}
	leads := v.b.moves(r.Text)
	for _, w := range v.writes() {
		if w.verb != "update" || !stateCol.MatchString(w.col) {
			continue
		}
		to := v.literalOf(w)
		from := leads[to]
		if to == "" || len(from) == 0 {
			continue
		}
		left, looks := statesIn(w, leads)
		switch {
		case !looks && !v.looksAtState(w.col):
			return &Breach{Why: "requirement " + itoa(r.Number) + ": " + w.table + " becomes " + to + " whatever its " + w.col + " was", CWEs: []audit.CWE{841, 840}, Confidence: 0.8}
		case looks && !v.looksAtState(w.col):
			for _, x := range left {
				if !slices.Contains(from, x) && v.b.states()[x] {
					return &Breach{Why: "requirement " + itoa(r.Number) + ": " + w.table + " may become " + to + " from " + x, CWEs: []audit.CWE{841, 840}, Confidence: 0.7}
				}
			}
		}
	}
	return nil
}

// statesIn gives the states that an update's own conditions admit, of those that the
// requirement speaks of, and whether the statement looks at the column at all.
func statesIn(w write, leads map[string][]string) (states []string, looks bool) {
	c := regexp.QuoteMeta(w.col)
	rest := setRE.ReplaceAllString(strings.ToLower(w.s.text), " $2")
	looks = regexp.MustCompile(`\b` + c + `\b`).MatchString(rest)
	_, where, _ := strings.Cut(strings.ToLower(w.where), "where")
	if strings.Contains(where, "select") || strings.Contains(strings.ToLower(w.where), "from ") {
		return nil, looks // other rows have states too
	}
	named := map[string]bool{}
	for to, from := range leads {
		named[to] = true
		for _, x := range from {
			named[x] = true
		}
	}
	for _, m := range regexp.MustCompile(`(?s)\b`+c+`\b(?:::\w+)?\s*(?:=\s*'(\w+)'|(?:=\s*any|in)\s*\(([^()]*)\))`).FindAllStringSubmatch(where, -1) {
		for _, x := range regexp.MustCompile(`\w+`).FindAllString(m[1]+" "+m[2], -1) {
			if named[x] {
				states = append(states, x)
			}
		}
	}
	return states, looks
}

// looksAtState: the code, or a statement that reads, asks for the column's value.
func (v *view) looksAtState(col string) bool {
	if v.usedInCondition(col) || regexp.MustCompile(`(?i)\bswitch\b[^\n]*`+namePattern(col)+`|`+namePattern(col)+`\w*["'\])]*\s*(===?|!==?|in\b|not in\b)|\b(includes|has|Contains|get)\([^\n)]*`+namePattern(col)+`|\[[^\]\n]*`+namePattern(col)+`["'\]]*\]`).MatchString(v.outsideSQL()) {
		return true
	}
	for _, s := range v.sql {
		if writeRE.MatchString(s.text) {
			continue
		}
		if regexp.MustCompile(`(?is)\b(where|on|when)\b.*\b` + col + `\b`).MatchString(s.text) {
			return true
		}
	}
	for _, c := range v.calls {
		if h := v.b.helpers[c.Name]; h != nil && h.load && strings.Contains(strings.ToLower(h.doc), col) {
			return true
		}
	}
	return false
}
