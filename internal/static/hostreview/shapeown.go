package hostreview

import (
	"regexp"
	"strings"

	"assay/internal/static/lang"
)

var (
	overBody = regexp.MustCompile(`(?i)(Object\.(entries|keys|assign)\(|\.\.\.)\s*[^\n;]{0,20}\b(req|request)\.body\b|\bfor\s+\w+\s*(,\s*\w+)?\s+in\s+(body\(\)|request\.(json|form|get_json\(\))|data|payload|body)(\.items\(\)|\.keys\(\))?\s*:`)
	denied   = regexp.MustCompile(`(?i)(\]|\}|\)|[A-Z_]{3,})\.(includes|has)\(\s*\w+\s*\)\s*\)\s*(continue|delete)|\bif\s+\w+\s+in\s+[^\n]{1,80}:\s*\n?\s*continue`)
)

// openFields: the fields of a body are gone through, and only some names are left out.
func openFields(v *view) string {
	if m := overBody.FindString(v.text); m != "" && denied.MatchString(v.text) {
		return "all fields of the body are taken but those of a list: " + m
	}
	return ""
}

// tabled gives the tables of a statement that have a column.
func (v *view) tabled(text, col string) []string {
	var out []string
	for t, cols := range v.b.tables {
		if contains(cols, col) && expr(`(?i)\b(from|join|update|into)\s+(only\s+)?`+t+`\b`).MatchString(text) {
			out = append(out, t)
		}
	}
	return out
}

var byClient = regexp.MustCompile(`(?i)\b(\w+\.)?id\s*=\s*(any\s*\(\s*)?(:arg|\d+)\w*`)

// tenantMissing: a row of a tenant's table is taken by a key of the client in a
// statement that names neither the tenant nor who acts, and no other statement has
// looked at that key before.
func tenantMissing(v *view) string {
	t := v.b.tenant
	if t == "" || v.nobody() {
		return ""
	}
	named := expr(`(?i)\b` + t + `\b`)
	for i, s := range v.sql {
		if named.MatchString(s.text) || strings.Contains(s.text, ":session_") || len(v.tabled(s.text, t)) == 0 || expr(`(?is)\bwhere\b.*\$\{`).MatchString(s.text) {
			continue
		}
		key := expr(`:?\w+$`).FindString(byClient.FindString(s.text))
		n := s.by[key]
		if key == "" || n == nil || v.held.rows[base(n)] || v.seen(n) {
			continue
		}
		before := false
		for _, x := range v.sql[:i] {
			for _, y := range x.by {
				before = before || v.f.Text(y) == v.f.Text(n) || base(y) == base(n) && base(n) != ""
			}
		}
		for _, c := range v.calls {
			for _, a := range c.List {
				before = before || c.Off < s.call.Off && v.b.helpers[c.Name] != nil && v.b.helpers[c.Name].gate && v.f.Text(a) == v.f.Text(n)
			}
		}
		if !before {
			return "a row is taken by " + v.f.Text(n) + " and nothing names the " + t + ": " + s.text
		}
	}
	return ""
}

// goneUneven: the row that the client's key names is not asked whether it is gone, while
// other rows of the fragment are.
func goneUneven(v *view) string {
	for _, col := range []string{"deleted_at", "removed_at", "left_at", "archived_at", "is_deleted", "deleted"} {
		named := expr(`(?i)\b` + col + `\b`)
		for i, s := range v.sql {
			if named.MatchString(s.text) || strings.Contains(s.text, "${") || !byClient.MatchString(s.text) || anyLockBefore(v, i) {
				continue
			}
			f := expr(`(?is)^\s*(?:select\b.*?\bfrom|update)\s+(\w+)`).FindStringSubmatch(s.text)
			if f == nil || !contains(v.b.tables[strings.ToLower(f[1])], col) || strings.Contains(s.text, ":found_") || strings.Contains(s.text, ":seen_") {
				continue
			}
			earlier := false
			for _, x := range v.sql {
				earlier = earlier || x.call.Off < s.call.Off && named.MatchString(x.text) && expr(`(?i)\b`+f[1]+`\b`).MatchString(x.text)
			}
			if !earlier {
				return f[1] + " is taken whether or not " + col + " is set: " + s.text
			}
		}
	}
	return ""
}

func anyLockBefore(v *view, i int) bool {
	for _, x := range v.sql[:i] {
		if anyLock.MatchString(x.text) {
			return true
		}
	}
	return false
}

// awaitRE: the SPEC shows that a helper is waited for.
var awaitRE = regexp.MustCompile(`\b(?:await|async(?: function)?) (\w+)\(`)

// notAwaited: a check that answers with a promise is not waited for.
func notAwaited(v *view) string {
	if v.f.Lang != lang.JS {
		return ""
	}
	for _, h := range awaitRE.FindAllStringSubmatch(v.b.spec, -1) {
		name := h[1]
		if m := expr(`(?m)^\s*` + regexp.QuoteMeta(name) + `\([^\n]*\);\s*$`).FindString(v.bare); m != "" {
			return "nothing waits for " + name
		}
	}
	return ""
}

var termCols = regexp.MustCompile(`^(revoked_at|withdrawn_at|suspended|suspended_at|valid_(from|until|to)|starts_on|ends_on|from_at|until_at)$`)

// halfTerm: a row that lets somebody in is held to one end of its term, or to the term
// and not to its withdrawal; the other column stands beside it in the schema.
func halfTerm(v *view) string {
	for _, s := range v.sql {
		if !strings.Contains(s.text, ":session_user") {
			continue
		}
		low := strings.ToLower(s.text)
		for t, cols := range v.b.tables {
			a := expr(`(?:from|join)\s+` + t + `(?:\s+(?:as\s+)?(\w+))?\b`).FindStringSubmatch(low)
			if a == nil {
				continue
			}
			if a[1] == "" || a[1] == "where" || a[1] == "on" || a[1] == "join" || a[1] == "cross" {
				a[1] = t
			}
			var tested, missing []string
			who := false
			for _, c := range cols {
				q := expr(`\b(` + a[1] + `\.)` + c + `\b`)
				bare := a[1] == t && expr(`\b`+c+`\b`).MatchString(low)
				here := q.MatchString(low) || bare
				who = who || expr(`\b(`+a[1]+`\.)?`+c+`\s*=\s*:session_user`).MatchString(low) && here
				if !termCols.MatchString(c) {
					continue
				}
				if here {
					tested = append(tested, c)
				} else {
					missing = append(missing, c)
				}
			}
			if who && len(tested) > 0 && len(missing) > 0 {
				return "of " + t + " only " + strings.Join(tested, " and ") + " is tested, " + missing[0] + " is not"
			}
		}
	}
	return ""
}

var (
	zonedRE  = regexp.MustCompile(`(?i)time ?zone`)
	serverRE = regexp.MustCompile(`(?i)\bcurrent_date\b|\bnow\(\)::date|date_trunc\(\s*'(day|week|month|year)'\s*,\s*(now\(\)|current_timestamp)\s*\)|\bdate\.today\(\)|at time zone 'utc'`)
)

// serversDay: days are counted where the tenant lives, and the fragment takes those of
// the server.
func serversDay(v *view) string {
	if !zonedRE.MatchString(v.b.spec) || zonedRE.FindString(v.b.spec) == "" {
		return ""
	}
	m := serverRE.FindString(v.text)
	if m == "" || strings.Contains(strings.ToLower(m), "utc") && expr(`(?i)\bUTC\b`).MatchString(v.b.spec) {
		return ""
	}
	return "the day is the server's: " + m
}

var caseOnly = regexp.MustCompile(`(?i)\.(toUpperCase|toLowerCase|upper|lower|trim|strip)\(|strings\.(ToUpper|ToLower|TrimSpace)\(|ContainsAny\(`)

// openOrder: a word of the client that was only put into capitals stands in a statement.
func openOrder(v *view) string {
	why := ""
	lang.Walk(v.f.Root, func(n *lang.Node) bool {
		if n.Kind != lang.Template && n.Kind != lang.Binary {
			return true
		}
		t := v.f.Text(n)
		if !expr(`(?i)\border\s+by\b`).MatchString(t) || why != "" {
			return true
		}
		lang.Walk(n, func(h *lang.Node) bool {
			if h.Kind == lang.Ident && len(v.values[h.Name]) > 0 {
				for _, y := range v.values[h.Name] {
					o := v.f.Text(y)
					if (outsideRE.MatchString(o)) && caseOnly.MatchString(o) && y.Kind == lang.Call && !v.allowed(h.Name) {
						why = h.Name + " stands in the statement as the client wrote it"
					}
				}
			}
			return why == ""
		})
		return true
	})
	return why
}

// allowed: the code looks the word up among those that it knows.
func (v *view) allowed(name string) bool {
	q := regexp.QuoteMeta(name)
	return expr(`(?i)(includes|has|contains|get|hasOwn)\([^\n)]*\b` + q + `\b|\b` + q + `\s*(not\s+)?in\b|\b` + q + `\b\s*[!=]==?`).MatchString(v.bare)
}
