package hostreview

import (
	"regexp"
	"strings"

	"assay/internal/static/lang"
	"assay/internal/static/sqlreview"
)

// kindsRead are the demands that statements are held to by the words of the whole
// requirement; rowDemands are held as they are read, and the others are told from the
// code around the statements.
var kindsRead = map[string]bool{"state": true, "separation of duties": true}

// statements holds the fragment's SQL against the SPEC.
func (v *view) statements() []Breach {
	var out []Breach
	seen := map[int]bool{}
	for _, s := range v.sql {
		for _, d := range v.b.rowDemands() {
			for _, x := range sqlreview.InHost(v.b.alone(d.text), s.text, v.session(1)) {
				if x.Kind != d.kind || !d.about(x.Why) || seen[d.req] || v.excused(x, s, d) {
					continue
				}
				seen[d.req] = true
				out = append(out, Breach{Requirement: d.req, Kind: x.Kind, Why: strings.Replace(x.Why, "requirement 1:", "requirement "+itoa(d.req)+":", 1) + " (SQL in the code)", CWEs: x.CWEs, Confidence: min(x.Confidence, 0.75)})
			}
		}
		for _, x := range sqlreview.InHost(v.b.spec, s.text, v.session(v.b.tenancy())) {
			if !kindsRead[x.Kind] || seen[x.Requirement] || v.excused(x, s, rowDemand{req: x.Requirement}) {
				continue
			}
			seen[x.Requirement] = true
			out = append(out, Breach{Requirement: x.Requirement, Kind: x.Kind, Why: x.Why + " (SQL in the code)", CWEs: x.CWEs, Confidence: min(x.Confidence, 0.75)})
		}
	}
	return out
}

// session says which placeholders hold who acts; tenancy is the requirement that keeps
// tenants apart.
func (v *view) session(tenancy int) sqlreview.Session {
	s := sqlreview.Session{Actors: []string{"session_user"}, Tenancy: tenancy, Column: v.b.tenant}
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
	everySQL := regexp.MustCompile(`(every|each|all|any) (sql )?(statement|quer)|statements? (filter|restrict)|queries`).MatchString(req)
	switch x.Kind {
	case "tenant", "soft delete":
		if x.Kind == "tenant" && (uniqueRE.MatchString(s.text) || v.nobody() || byKey(x.Why, s.text)) {
			return true
		}
		return !everySQL && (strings.Contains(s.text, ":seen_") || v.compares(v.b.tenant)) || x.Kind == "soft delete" && v.usedInCondition(d.column)
	case "separation of duties":
		return regexp.MustCompile(`(?i)(` + ownCol.String() + `)\w*["'\])]*\s*(===?|!==?|<>|\.equals)|(===?|!==?|<>)\s*[\w.\[\]"']*(` + ownCol.String() + `)`).MatchString(v.outsideSQL())
	case "limit":
		return regexp.MustCompile(`(?i)fetchone|\bfirst\(|QueryRow|rows\[0\]|fetchmany|\.one\(|slice\(0`).MatchString(v.text)
	case "state":
		if strings.Contains(x.Why, "no transition leads to") || strings.Contains(x.Why, "is read in states other") && writeVerb.MatchString(req) {
			return true // the SPEC was not understood, or it speaks of changes
		}
		for _, l := range regexp.MustCompile("[`'\"]([a-z_]+)[`'\"]").FindAllStringSubmatch(req, -1) {
			if regexp.MustCompile(`(===?|!==?|\bin\b|<>|equals|Equal)[^\n]{0,40}["'` + "`" + `]` + l[1] + `["'` + "`" + `]`).MatchString(v.outsideSQL()) {
				return true
			}
		}
	}
	return false
}

var joinedWhy = regexp.MustCompile(`^requirement \d+: (\w+)(?: \((\w+)\))? is read`)

// byKey: the row that is told of is joined by its key to one that points at it, in a
// statement that holds its rows to the session: it is that row's, whoever's it is.
func byKey(why, sql string) bool {
	m := joinedWhy.FindStringSubmatch(why)
	if m == nil || !strings.Contains(sql, ":session_") {
		return false
	}
	alias := m[1]
	if m[2] != "" {
		alias = m[2]
	}
	key, ref := alias+`\.(id|code)`, `\w+\.\w+_(id|by|code)`
	return regexp.MustCompile(`(?is)\bjoin\s+` + m[1] + `\b(\s+(as\s+)?` + alias + `)?\s+on\s+\(?(` + key + `\s*=\s*` + ref + `|` + ref + `\s*=\s*` + key + `)`).MatchString(sql)
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
	if regexp.MustCompile(`(?i)["']` + p + `["']\]\s*(===?|!==?)|(===?|!==?)\s*[\w.]+(\[|\.get\()["']` + p + `["']`).MatchString(v.text) {
		return true
	}
	return regexp.MustCompile(`(?i)\b` + p + `\b\s*(\(\))?\s*(===?|!==?|<>|\.equals)|(===?|!==?|<>|\.equals\()\s*[\w.\[\]"'()]*\b` + p + `\b`).MatchString(v.bare)
}

// namePattern matches a column's name in any of the spellings of host code.
func namePattern(col string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(col), "_", "_?")
}
