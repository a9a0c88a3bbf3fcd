package hostreview

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// touched gives the tables that the fragment's statements name.
func (v *view) touched() []string {
	all := strings.ToLower(v.allSQL())
	var out []string
	for _, t := range slices.Sorted(maps.Keys(v.b.tables)) {
		if expr(`\b` + t + `\b`).MatchString(all) {
			out = append(out, t)
		}
	}
	return out
}

// mentions: the code, or what a statement reads or asks, names the column; that it is
// written does not count.
func (v *view) mentions(col string) bool {
	re := expr(`(?i)\b` + namePattern(col) + `\b`)
	for _, s := range v.sql {
		if re.MatchString(insertRE.ReplaceAllString(setRE.ReplaceAllString(s.text, " $2"), " ")) {
			return true
		}
	}
	return re.MatchString(v.outsideSQL())
}

var chainRE = regexp.MustCompile(`(?i)\brole\b["'\])]*\s*!==?\s*["'](\w+)["'](?:\s*(?:&&|and)\s*[\w.\[\]"']*role\b["'\])]*\s*!==?\s*["'](\w+)["'])*`)

// admitted gives the roles that the code lets pass, for each place that refuses others:
// what a gate is given, what a chain of comparisons names.
func (v *view) admitted() [][]string {
	var out [][]string
	roles := func(text string) []string {
		var names []string
		for _, m := range expr(`["'](\w+)["']`).FindAllStringSubmatch(text, -1) {
			if v.b.roles[m[1]] {
				names = append(names, m[1])
			}
		}
		return names
	}
	add := func(names []string) {
		if len(names) > 0 {
			out = append(out, names)
		}
	}
	for _, c := range v.calls {
		if h := v.b.helpers[c.Name]; h != nil && h.gate {
			text := ""
			for _, a := range c.List {
				text += v.origin(a) + " "
			}
			add(roles(text))
		}
	}
	code := v.outsideSQL()
	for _, m := range chainRE.FindAllString(code, -1) {
		add(roles(m))
	}
	for _, m := range expr(`(?i)\brole\b\s+not in\s*[(\[{]([^)\]}]*)[)\]}]`).FindAllStringSubmatch(code, -1) {
		add(roles(m[1]))
	}
	return out
}

var anyoneRE = regexp.MustCompile(`(?i)\b(staff|any|every|everybody|all)\b`)

var stateCol = regexp.MustCompile(`(?i)^(\w+_)?(status|state|stage|phase)$`)
