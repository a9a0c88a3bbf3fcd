package hostreview

import (
	"regexp"
	"strings"

	"assay/internal/static/lang"
	"assay/internal/static/sqlreview"
)

// statements holds the fragment's SQL against the SPEC.
func (v *view) statements() []Breach {
	var out []Breach
	seen := map[int]bool{}
	demands := v.b.rowDemands()
	for _, s := range v.sql {
		for _, d := range demands {
			for _, x := range sqlreview.InHost(v.b.alone(d.text), s.text, v.session()) {
				if x.Kind != d.kind || !d.about(x.Why) || seen[d.req] || v.excused(x, s, d) {
					continue
				}
				seen[d.req] = true
				out = append(out, Breach{Requirement: d.req, Kind: x.Kind, Why: strings.Replace(x.Why, "requirement 1:", "requirement "+itoa(d.req)+":", 1) + " (SQL in the code)", CWEs: x.CWEs, Confidence: min(x.Confidence, 0.75)})
			}
		}
	}
	return out
}

// session says which placeholders hold who acts, for a SPEC with one requirement.
func (v *view) session() sqlreview.Session {
	s := sqlreview.Session{Actors: []string{"session_user"}, Tenancy: 1, Column: v.b.tenant}
	if v.b.tenant != "" {
		s.Scopes = []string{"session_" + v.b.tenant}
	}
	return s
}

var whyTable = regexp.MustCompile(`^requirement \d+: (\w+)`)

// about: what is told of is a row of a table that the demand is about.
func (d rowDemand) about(why string) bool {
	if len(d.tables) == 0 {
		return true
	}
	m := whyTable.FindStringSubmatch(why)
	return m == nil || contains(d.tables, m[1])
}

// excused: the code around a statement does what the statement leaves out.
func (v *view) excused(x sqlreview.Breach, s statement, d rowDemand) bool {
	req := strings.ToLower(v.b.text(d.req))
	everySQL := expr(`(every|each|all|any) (sql )?(statement|quer)|statements? (filter|restrict)|queries`).MatchString(req)
	switch x.Kind {
	case "tenant", "soft delete":
		if x.Kind == "tenant" && (uniqueRE.MatchString(s.text) || v.nobody() || byKey(x.Why, s.text) || strings.Contains(x.Why, "takes a parameter") && !v.clientKey(x.Why, s)) {
			return true
		}
		if strings.Contains(s.text, "${") && v.elsewhere(d.column, s) {
			return true // a part of the statement is made elsewhere in the code
		}
		return !everySQL && (strings.Contains(s.text, ":seen_") || v.compares(v.b.tenant)) || x.Kind == "soft delete" && (v.usedInCondition(d.column) || foundKey.MatchString(s.text) || ownRoot(x.Why, v.b.tenant, s.text))
	case "limit":
		if strings.Contains(s.text, "${") && limitRE.MatchString(v.text) {
			return true
		}
		return expr(`(?i)fetchone|\bfirst\(|QueryRow|rows\[0\]|fetchmany|\.one\(|slice\(0`).MatchString(v.text)
	}
	return false
}

var joinedWhy = regexp.MustCompile(`^requirement \d+: (?:the statement \w+ rows of )?(\w+)(?: \((\w+)\))? (?:is read|without)`)

// byKey: the row that is told of is tied to another of the statement by a key, or to who
// acts, in a statement that holds its rows to the session: it is that row's, whoever's
// it is.
func byKey(why, sql string) bool {
	m := joinedWhy.FindStringSubmatch(why)
	if m == nil || !strings.Contains(sql, ":session_") {
		return false
	}
	alias := m[1]
	if m[2] != "" {
		alias = m[2]
	}
	own, other := `\b`+alias+`\.\w+`, `\b\w+\.\w+`
	for _, e := range expr(`(?i)(`+own+`)\s*=\s*(`+other+`)|(`+other+`)\s*=\s*(`+own+`)`).FindAllStringSubmatch(sql, -1) {
		if x, y := e[1]+e[4], e[2]+e[3]; !strings.HasPrefix(strings.ToLower(y), strings.ToLower(alias)+".") && keyName.MatchString(x) && keyName.MatchString(y) {
			return true
		}
	}
	return expr(`(?i)` + own + `\s*=\s*:session_user\b|:session_user\s*=\s*` + own).MatchString(sql)
}

// foundKey: the row is one that an earlier statement found, which is judged itself.
var foundKey = regexp.MustCompile(`(?i)\bid\s*=\s*:(found|seen)_`)

// ownRoot: the row is the tenant's own, which the session stands for.
func ownRoot(why, tenant, sql string) bool {
	m := whyTable.FindStringSubmatch(why)
	return m != nil && tenant != "" && expr(`(?is)\b`+m[1]+`\b.*\bid\s*=\s*:session_`+tenant+`\b`).MatchString(sql) && strings.HasPrefix(m[1], strings.TrimSuffix(tenant, "_id"))
}

var (
	keyName  = regexp.MustCompile(`(?i)\.(id|code|\w+_(id|by|code))$`)
	takesWhy = regexp.MustCompile(`(\w+)\.(\w+) takes a parameter`)
)

// clientKey: what is stored as a key comes from the client, as far as the code shows.
func (v *view) clientKey(why string, s statement) bool {
	m := takesWhy.FindStringSubmatch(why)
	if m == nil {
		return true
	}
	for _, w := range v.writes() {
		if w.table == m[1] && w.col == m[2] && w.s.text == s.text {
			n := w.value()
			return n != nil && outsideRE.MatchString(v.origin(n)) && !v.seen(n) && !strings.HasPrefix(w.expr, ":session_")
		}
	}
	return false
}

// elsewhere: text of SQL outside of the statement names the column.
func (v *view) elsewhere(col string, s statement) bool {
	if col == "" {
		return false
	}
	found := false
	re := expr(`(?i)\b` + col + `\b`)
	lang.Walk(v.f.Root, func(n *lang.Node) bool {
		if n.Kind == lang.String && re.MatchString(n.Name) && !strings.Contains(n.Name, " FROM ") {
			found = true
		}
		return !found
	})
	return found
}

// outsideSQL is the code without its statements.
func (v *view) outsideSQL() string {
	b := []byte(v.f.Src)
	lang.Walk(v.f.Root, func(n *lang.Node) bool {
		if n.Kind == lang.String && sqlRE.MatchString(n.Name) || n.Kind == lang.Template && sqlRE.MatchString(v.sqlText(n, 0)) || n.Kind == lang.Binary && sqlRE.MatchString(v.sqlText(n, 0)) {
			for i := n.Off; i < n.To && int(i) < len(b); i++ {
				b[i] = ' '
			}
			return false
		}
		return true
	})
	return WithoutComments(v.f.Path, string(b))
}

// compares: the code compares a member named after a column with something.
func (v *view) compares(col string) bool {
	if col == "" {
		return false
	}
	p := namePattern(col)
	if expr(`(?i)["']` + p + `["']\]\s*(===?|!==?)|(===?|!==?)\s*[\w.]+(\[|\.get\()["']` + p + `["']`).MatchString(v.text) {
		return true
	}
	return expr(`(?i)\b` + p + `\b\s*(\(\))?\s*(===?|!==?|<>|\.equals)|(===?|!==?|<>|\.equals\()\s*[\w.\[\]"'()]*\b` + p + `\b`).MatchString(v.bare)
}

// namePattern matches a column's name in any of the spellings of host code.
func namePattern(col string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(col), "_", "_?")
}
