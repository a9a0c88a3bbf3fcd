package hostreview

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
	"assay/internal/static/lang"
)

var fieldsRE = regexp.MustCompile(`(?i)\b(body|fields?|columns?|edits?|edited|taken (over|from)|client|request|writable)\b`)

// fields: a list of names that the code takes from a body holds no column that the
// requirement, which lists others of the table, leaves out.
func fields(v *view, r Requirement) *Breach {
	if !fieldsRE.MatchString(r.Text) {
		return nil
	}
	for _, list := range v.nameLists() {
		for _, t := range slices.Sorted(maps.Keys(v.b.tables)) {
			if !v.updates(t) {
				continue
			}
			var inside, outside []string
			for _, name := range list {
				switch {
				case !contains(v.b.tables[t], name):
					inside = nil
				case strings.Contains(r.Text, "`"+name+"`") || strings.Contains(r.Text, name+"`"):
					inside = append(inside, name)
				default:
					outside = append(outside, name)
				}
			}
			if len(inside) >= 2 && len(inside)+len(outside) == len(list) && len(outside) > 0 {
				return &Breach{Why: "requirement " + itoa(r.Number) + ": " + outside[0] + " is taken over from the client, which is none of the fields that may be", CWEs: []audit.CWE{915}, Confidence: 0.85}
			}
		}
	}
	return nil
}

// nameLists gives the lists of strings, and the maps by name, of the fragment.
func (v *view) nameLists() [][]string {
	var out [][]string
	lang.Walk(v.f.Root, func(n *lang.Node) bool {
		if n.Kind != lang.Array && n.Kind != lang.Dict {
			return true
		}
		var names []string
		for _, x := range n.List {
			switch {
			case x.Kind == lang.String:
				names = append(names, x.Name)
			case x.Kind == lang.Pair && x.Y != nil && x.Y.Kind == lang.Func:
				names = append(names, x.Name)
			default:
				return true
			}
		}
		if len(names) > 1 {
			out = append(out, names)
		}
		return true
	})
	return out
}

// updates: a statement changes rows of the table, with columns that are not all known.
func (v *view) updates(table string) bool {
	return regexp.MustCompile(`(?i)\bupdate\s+` + table + `\b[^;]*?\bset\b[^;]*(\$\{|\{\})`).MatchString(v.allSQL() + v.text)
}

var chainRE = regexp.MustCompile(`(?i)\brole\b["'\])]*\s*!==?\s*["'](\w+)["'](?:\s*(?:&&|and)\s*[\w.\[\]"']*role\b["'\])]*\s*!==?\s*["'](\w+)["'])*`)

// admitted gives the roles that the code lets pass, for each place that refuses others:
// what a gate is given, what a chain of comparisons names.
func (v *view) admitted() [][]string {
	var out [][]string
	roles := func(text string) []string {
		var names []string
		for _, m := range regexp.MustCompile(`["'](\w+)["']`).FindAllStringSubmatch(text, -1) {
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
	for _, m := range regexp.MustCompile(`(?i)\brole\b\s+not in\s*[(\[{]([^)\]}]*)[)\]}]`).FindAllStringSubmatch(code, -1) {
		add(roles(m[1]))
	}
	return out
}

var onlyRolesRE = regexp.MustCompile(`(?i)\b(only|alone|needs?|requires?|reserved)\b`)

// wider: an act that a requirement gives to some roles only is not opened to others as
// well: every place that looks at roles lets one through that it does not name.
func wider(v *view, r Requirement) *Breach {
	var named []string
	for _, part := range sentencesOf(r.Text) {
		for _, clause := range andRE.Split(part, -1) {
			if !onlyRolesRE.MatchString(clause) || ownRE.MatchString(clause) || anyoneRE.MatchString(clause) || !v.says(v.b.verbs(clause)) || !v.touchesAny(v.b.tablesIn(clause)) {
				continue
			}
			for role := range v.b.roles {
				if givenTo(clause, role) {
					named = append(named, role)
				}
			}
		}
	}
	sets := v.admitted()
	if len(named) == 0 || len(sets) == 0 {
		return v.widerThanTable(r)
	}
	more := ""
	for _, set := range sets {
		other := ""
		for _, x := range set {
			if !contains(named, x) {
				other = x
			}
		}
		if other == "" {
			return nil
		}
		more = other
	}
	return &Breach{Why: "requirement " + itoa(r.Number) + ": " + more + " may do it as well, and the requirement gives it to others only", CWEs: []audit.CWE{863, 285}, Confidence: 0.8}
}

// givenTo: the clause gives what it speaks of to the role, and not something else to
// those that the role may see.
func givenTo(clause, role string) bool {
	q := regexp.QuoteMeta(role)
	return regexp.MustCompile(`(?i)\bonly (by |to |for )?(an? |the )?` + "[`'\"]?" + q + `|\b` + q + "s?[`'\"]?" + `( (and|or) \S+)? (only|alone)\b|\b(needs?|requires?|reserved|restricted)\b.*\b` + q + `|\b(and|or) (an? |the )?` + "[`'\"]?" + q).MatchString(clause)
}

var anyoneRE = regexp.MustCompile(`(?i)\b(staff|any|every|everybody|all)\b`)

func (v *view) touchesAny(tables []string) bool {
	if len(tables) == 0 {
		return true
	}
	for _, t := range v.touched() {
		if contains(tables, t) {
			return true
		}
	}
	return false
}

var cellNo = regexp.MustCompile(`(?i)^\W*(no|none|never|-|—|–|x|✗|✘)?\W*$`)

// widerThanTable holds what a gate admits against a table of the requirement whose
// head names roles and whose rows name acts.
func (v *view) widerThanTable(r Requirement) *Breach {
	rows := regexp.MustCompile(`\|([^|\n]*(?:\|[^|\n]*)+)\|`).FindAllString(strings.ReplaceAll(r.Text, "| |", "|\n|"), -1)
	var head []string
	for _, line := range rows {
		cells := strings.Split(strings.Trim(line, "| "), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if head == nil {
			n := 0
			for _, c := range cells {
				if v.b.roles[strings.ToLower(strings.Trim(c, "`"))] {
					n++
				}
			}
			if n >= 2 {
				head = cells
			}
			continue
		}
		if len(cells) != len(head) || strings.HasPrefix(cells[0], "--") || !v.isRow(cells[0]) {
			continue
		}
		for _, set := range v.admitted() {
			for _, x := range set {
				for i, h := range head {
					if strings.EqualFold(strings.Trim(h, "`"), x) && cellNo.MatchString(cells[i]) {
						return &Breach{Why: "requirement " + itoa(r.Number) + ": " + x + " may not do what the table calls " + cells[0], CWEs: []audit.CWE{863, 285}, Confidence: 0.8}
					}
				}
			}
		}
	}
	return nil
}

// isRow: one of the things of a row's first cell is what the fragment's route or
// function is named after, and what it does to it.
func (v *view) isRow(cell string) bool {
	cell = bracketRE.ReplaceAllString(cell, " ")
	read := regexp.MustCompile(`(?i)^(read|see|view|list)\b`).MatchString(cell)
	change := regexp.MustCompile(`(?i)^(change|edit|update|create|delete|write)\b`).MatchString(cell)
	if read && v.change() != nil || change && v.change() == nil {
		return false
	}
	for _, thing := range regexp.MustCompile(`,|\band\b|/`).Split(cell, -1) {
		words := roots(regexp.MustCompile(`(?i)^\s*(read|see|view|list|change|edit|update|create|delete|write|a|the)\b|\bstart\b`).ReplaceAllString(thing, " "))
		if len(words) == 0 {
			continue
		}
		for _, n := range v.names {
			if last := n[strings.LastIndexByte(strings.TrimRight(n, "/"), '/')+1:]; phraseIn(last, strings.Join(words, " ")) {
				return true
			}
		}
	}
	return false
}
