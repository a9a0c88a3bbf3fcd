package hostreview

import (
	"regexp"
	"strconv"
	"strings"

	"assay/internal/static/lang"
)

var (
	sessionRE = regexp.MustCompile(`(?i)^\(?(\w+\.)?(req|request|ctx|c|g|s|self|this)?\.?_?(current_?)?(user|account|acc|principal|session|claims|identity|actor|caller|me|auth|viewer|agent|ident|subject|who)\b(\(\))?[.\[]|^\$?_SESSION\[|(?i)^[\w.]*(current|session|auth\w*|logged\w*)_?(user|account|member)?_?id?\(|^[\w.]*(user|account|member)(_?id|From\w*)\(`)
	outsideRE = regexp.MustCompile(`(?i)\b(body|query|params|args|form|json|files|headers|get_json|payload|FormValue|PathValue|getParameter|PathVariable|_GET|_POST|_REQUEST)\b`)
	idRE      = regexp.MustCompile(`(?i)(^|[._\["'])(user|account)_?id\(|(^|[._\["'])(id|uid|sub|user_?id|account_?id|member_?id|employee_?id|staff_?id|agent_?id|person_?id)["'\]]*(\(\))?$`)
)

// placeholder names what is bound.
func (v *view) placeholder(name string, arg *lang.Node) string {
	if arg == nil {
		return ":" + name
	}
	x := v.resolve(arg)
	text := v.f.Text(x)
	key := lastName(x)
	if k := v.field[arg.Name]; k != "" && arg.Kind == lang.Ident && x != arg {
		text, key = text+"."+k, k
	}
	if v.pathTenant(text) || v.pathTenant(v.f.Text(arg)) {
		return ":session_" + v.b.tenant
	}
	if bound, ok := v.below(arg); ok {
		return strconv.Itoa(bound)
	}
	first, _, member := strings.Cut(text, ".")
	if sessionRE.MatchString(text) && !outsideRE.MatchString(text) || member && v.fromSession(first) {
		last := strings.ToLower(strings.Join(humps(key), "_"))
		switch {
		case v.b.tenant != "" && (last == v.b.tenant || last == strings.TrimSuffix(v.b.tenant, "_id")):
			return ":session_" + v.b.tenant
		case idRE.MatchString(text):
			return ":session_user"
		}
		return ":session_" + strings.Trim(nonWord.ReplaceAllString(last, "_"), "_")
	}
	if arg.Kind == lang.Ident && expr(`(?i)(session|user|operator|account|acc|principal)\w*\.\w*id\s*(!==?|===?)\s*`+regexp.QuoteMeta(arg.Name)+`\b|\b`+regexp.QuoteMeta(arg.Name)+`\s*(!==?|===?)\s*[\w.]*(session|user|operator|account|acc|principal)\w*\.\w*id\b`).MatchString(v.bare) {
		return ":session_user"
	}
	if r, _, _ := strings.Cut(text, "."); v.checked(r) || v.seen(arg) { // looked at before
		return ":seen_" + name
	}
	if v.held.found[base(arg)] || v.held.found[v.f.Text(arg)] {
		return ":found_" + name
	}
	return ":" + name
}

// pathTenant: the SPEC says that the tenant is the one in the path (`:clubId`), and the
// value is that part of it.
func (v *view) pathTenant(text string) bool {
	if v.b.tenant == "" {
		return false
	}
	if v.b.inPath == "" {
		v.b.inPath = "-"
		noun := namePattern(strings.TrimSuffix(v.b.tenant, "_id"))
		for _, part := range sentencesOf(v.b.text(v.b.tenancy())) {
			if m := expr("(?i)`[:{]?(" + noun + "_?id)}?`").FindStringSubmatch(part); m != nil && m[1] != v.b.tenant {
				v.b.inPath = m[1]
			}
		}
	}
	return v.b.inPath != "-" && expr(`(?i)(^|\bparams?\.|\bparams\[["'])`+v.b.inPath+`(["']\])?$`).MatchString(text)
}

var sessionCall = regexp.MustCompile(`(?i)principal|account|user|session|claims|identity|caller|actor|current|viewer|auth`)

// fromSession: the variable holds who acts, as a function of that name gave it.
func (v *view) fromSession(name string) bool {
	if t := v.types[name]; t != "" && expr(`(?i)^\W*(\w+\.)?(caller|account|user|session|principal|actor|identity|viewer|claims)$`).MatchString(t) {
		return true
	}
	for _, y := range v.values[name] {
		for y != nil && y.Kind == lang.Unary {
			y = y.X
		}
		if y != nil && y.Kind == lang.Call && sessionCall.MatchString(y.Name) && (v.b.helpers[y.Name] == nil || !v.b.helpers[y.Name].load || !idArg(y)) {
			return true
		}
	}
	return false
}

// idArg: the call is given an identifier: it brings any thing, not who acts.
func idArg(c *lang.Node) bool {
	for _, a := range c.List {
		if idRE.MatchString(lastName(a)) {
			return true
		}
	}
	return false
}

var nonWord = regexp.MustCompile(`\W+`)

func lastName(n *lang.Node) string {
	switch n.Kind {
	case lang.Member, lang.Ident, lang.Call:
		return n.Name
	case lang.Index:
		if n.Y != nil {
			return n.Y.Name
		}
	}
	return ""
}

// checked: a gate of the SPEC was asked about the variable.
func (v *view) checked(name string) bool {
	for _, c := range v.calls {
		if h := v.b.helpers[c.Name]; h != nil && h.gate && !asker(name) {
			for _, a := range c.List {
				if a.Kind == lang.Ident && a.Name == name {
					return true
				}
			}
		}
	}
	return false
}

var clampDoc = regexp.MustCompile("(?i)`?(\\w+)`?[^.`]{0,20}\\bclamp\\w*[^.]*?(?:\\.\\.|to |and )(\\d+)|(?:clamp\\w*|at most|capped)[^.]*?(\\d+)")

// clamped gives the bound to which a helper of the SPEC holds what it gives.
func (v *view) clamped(arg *lang.Node) int {
	for _, y := range append([]*lang.Node{arg}, v.values[base(arg)]...) {
		if y == nil || y.Kind != lang.Call || v.b.helpers[y.Name] == nil {
			continue
		}
		if m := clampDoc.FindStringSubmatch(v.b.helpers[y.Name].doc); m != nil {
			n, _ := strconv.Atoi(m[2] + m[3])
			return n
		}
	}
	return 0
}

var heldTo = regexp.MustCompile(`[<>]=?\s*(\d+)\b[\s\S]*(\?|\belse\b)`)

var numberRE = regexp.MustCompile(`\b\d+\b`)

// below gives a number that the code keeps an argument at or below: min(n, 100), or a
// comparison with a number before.
func (v *view) below(arg *lang.Node) (int, bool) {
	texts := []string{v.f.Text(arg)}
	if x := v.resolve(arg); x.Kind == lang.Lit && x.Op == "number" && len(v.values[base(arg)]) < 2 {
		if n, err := strconv.Atoi(strings.ReplaceAll(v.f.Text(x), "_", "")); err == nil {
			return n, true
		}
	}
	if n := v.clamped(arg); n > 0 {
		return n, true
	}
	name := ""
	if arg.Kind == lang.Ident {
		name = arg.Name
		for _, y := range v.values[name] {
			texts = append(texts, v.f.Text(y))
		}
	}
	for _, t := range texts {
		if m := expr(`(?i)\b(min|clamp)\w*\s*\(`).FindStringIndex(t); m != nil {
			top := 0
			for _, d := range numberRE.FindAllString(t[m[0]:], -1) {
				if n, err := strconv.Atoi(d); err == nil {
					top = max(top, n)
				}
			}
			return max(top, 1), true
		}
		if m := heldTo.FindStringSubmatch(t); m != nil { // n <= 200 ? n : 50
			n, err := strconv.Atoi(m[1])
			return max(n, 1), err == nil
		}
	}
	if name == "" {
		return 0, false
	}
	q := regexp.QuoteMeta(name)
	if m := expr(`\b` + q + `\s*>=?\s*(\d+|[A-Z][A-Z0-9_]+|max\w+)|<=?\s*` + q + `\s*<=?\s*(\d+|[A-Z][A-Z0-9_]+|max\w+)`).FindStringSubmatch(v.bare); m != nil {
		n, err := strconv.Atoi(m[1] + m[2])
		if err != nil {
			n = 1
		}
		return n, true
	}
	return 0, false
}
