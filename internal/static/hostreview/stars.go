package hostreview

import (
	"regexp"
	"strings"

	"assay/audit"
	"assay/internal/static/lang"
)

var (
	starRE  = regexp.MustCompile(`(?is)\bselect\s+(?:[^()]*?,\s*)?(?:(\w+)\.)?\*|\breturning\s+(?:(\w+)\.)?\*`)
	sealRE  = regexp.MustCompile(`(?i)\b(in no|no (response|answer|page|output)|never|nobody|not|leave|leaves)\b`)
	outward = regexp.MustCompile(`(?i)\b(responses?|answers?|output|server|service|nobody|shown|returned|sent|leaves?)\b`)
)

// stars: a statement that gives every column of a table gives those that stay inside,
// unless the code names them again to take them out.
func stars(v *view, r Requirement) *Breach {
	if v.f.Lang == lang.Go {
		return nil // columns are scanned one by one
	}
	for _, part := range fullStop.Split(r.Text, -1) {
		if !sealRE.MatchString(part) || !outward.MatchString(part) {
			continue
		}
		for _, m := range expr("`(?:(\\w+)\\.)?(\\w+)`").FindAllStringSubmatch(part, -1) {
			for _, s := range v.sql {
				t := starTable(s.text)
				if t == "" || m[1] != "" && m[1] != t || !contains(v.b.tables[t], m[2]) || expr(`\b`+m[2]+`\b`).MatchString(v.outsideSQL()) || !v.whole(s) {
					continue
				}
				return &Breach{Why: "requirement " + itoa(r.Number) + ": every column of " + t + " is given out, " + m[2] + " among them", CWEs: []audit.CWE{200, 359}, Confidence: 0.8}
			}
		}
	}
	return nil
}

// whole: a response holds rows of the statement as they are, or spread out.
func (v *view) whole(s statement) bool {
	some := false
	for _, resp := range v.responses() {
		lang.Walk(resp, func(n *lang.Node) bool {
			switch n.Kind {
			case lang.Member, lang.Index:
				return n.Kind == lang.Member && n.Name == "rows"
			case lang.Ident:
				for _, y := range v.values[n.Name] {
					t := v.f.Text(y)
					own := v.gives(s, n.Name) || v.gives(s, base(y)) || y.Kind == lang.Call && y.X != nil && v.gives(s, base(y.X))
					some = some || own && (!strings.Contains(t, ".map(") || strings.Contains(t, "..."))
				}
			case lang.Call:
				if n != resp && strings.HasPrefix(n.Name, "fetch") && v.fetched(n, s.call) {
					some = true
				}
				if n.Name == "map" && !strings.Contains(v.f.Text(n), "...") {
					return false // what is made of each row is said there
				}
			}
			return !some
		})
	}
	return some
}

// starTable gives the table whose columns a statement gives all of, "" for none.
func starTable(sql string) string {
	low := strings.ToLower(sql)
	m := starRE.FindStringSubmatch(low)
	if m == nil {
		return ""
	}
	alias := m[1] + m[2]
	if alias == "" {
		if x := expr(`^\s*(?:select\s+\*\s+from|update|insert\s+into)\s+(\w+)`).FindStringSubmatch(low); x != nil {
			return x[1]
		}
		return ""
	}
	if x := expr(`\b(?:from|join|update)\s+(\w+)\s+(?:as\s+)?` + alias + `\b`).FindStringSubmatch(low); x != nil {
		return x[1]
	}
	return alias
}
