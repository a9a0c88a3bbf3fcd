package hostreview

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/audit"
	"assay/internal/static/lang"
	"assay/internal/static/sqlreview"
)

func itoa(n int) string { return strconv.Itoa(n) }

// secrets: columns that a requirement keeps inside do not leave in a response, by
// name, with a whole row, or with a whole object.
func secrets(v *view, r Requirement) *Breach {
	cols := v.keptInside(r)
	if len(cols) == 0 {
		return nil
	}
	why := ""
	cols = v.notShownOnce(r, cols)
	responses := v.responses()
	if v.b.asks(listOnly, r) {
		responses = v.lists()
	}
	for _, resp := range responses {
		lang.Walk(resp, func(n *lang.Node) bool {
			if why == "" {
				why = v.leak(n, cols, resp)
			}
			return why == "" && n.Kind != lang.Func
		})
	}
	if why == "" {
		return nil
	}
	return &Breach{Why: "requirement " + itoa(r.Number) + ": " + why, CWEs: []audit.CWE{200, 359}, Confidence: 0.75}
}

var (
	givenRE  = regexp.MustCompile(`(?i)return|\bsho[wn]|leav|leak|expos|\bsen[dt]|appear|disclos|reveal|respon|output|answer|visible|\bsee|\bpart of|\bstay|inside|secret|confidential|sensitive|\bfor \w+ only|contain|giv|read|private|nobody|out of|client|redact|mask`)
	savedRE  = regexp.MustCompile(`(?i)\bexcept\b|\bunless\b|\bonly\b|other than|\bbut\b|save (for|to)|apart from`)
	insideRE = regexp.MustCompile(`(?i)\b(never|must not|may not|nobody|not)\b[^.;]*\b(appear|return|list|leave|shown?|expos|sent|includ|reveal|contain|part of)`)
	listOnly = regexp.MustCompile(`(?i)\bin (any )?(list|listing|overview)s?\b`)
	plainCol = map[string]bool{"id": true, "name": true, "title": true, "status": true, "state": true, "role": true, "version": true, "date": true, "time": true, "kind": true, "type": true}
)

// keptInside gives the columns that a requirement keeps from who asks, sentence by
// sentence: one that makes an exception for a role does not hold where the code looks
// at that role, and one that speaks of amounts and not of giving out holds nothing back.
func (v *view) keptInside(r Requirement) []string {
	cols := sqlreview.Secrets(v.b.spec)[r.Number]
	if len(cols) == 0 {
		cols = v.wordCols(r)
	}
	var out []string
	for _, c := range cols {
		if owners := ownersOf(r.Text, c); len(owners) > 0 && !v.touchesAny(owners) {
			continue // `users.email` says nothing of the address of others
		}
		name := expr(`(?i)\b` + strings.ReplaceAll(regexp.QuoteMeta(c), "_", "[ _]"))
		said, held := false, false
		for _, part := range sentenceRE.Split(r.Text, -1) {
			if !name.MatchString(part) {
				continue
			}
			said = true
			held = held || givenRE.MatchString(part) && !(savedRE.MatchString(part) && v.excepted(part))
		}
		if held || !said && givenRE.MatchString(r.Text) {
			out = append(out, c)
		}
	}
	return out
}

var onceShown = regexp.MustCompile(`(?i)\b(exception|once|except|creat\w+|issu\w+)\b`)

// notShownOnce leaves out what a sentence lets the answer show that makes it.
func (v *view) notShownOnce(r Requirement, cols []string) []string {
	var out []string
	for _, c := range cols {
		shown := false
		for _, part := range sentencesOf(r.Text) {
			if !onceShown.MatchString(part) || !hasWord(part, c) || !hasWord(part, "creates") && !hasWord(part, "once") {
				continue
			}
			for _, w := range v.writes() {
				shown = shown || w.verb == "insert" && w.col == c && contains(v.b.tablesIn(part), w.table)
			}
		}
		if !shown {
			out = append(out, c)
		}
	}
	return out
}

var sentenceRE = regexp.MustCompile(`[.;]\s+`)

// ownersOf gives the tables that a text names a column with, none where it names the
// column alone.
func ownersOf(text, col string) []string {
	var out []string
	for _, m := range expr("`(?:(\\w+)\\.)?"+regexp.QuoteMeta(col)+"`").FindAllStringSubmatch(text, -1) {
		if m[1] == "" {
			return nil
		}
		out = append(out, m[1])
	}
	return out
}

// excepted: the code looks at a role that a sentence makes an exception for, or keeps
// to the rows of one.
func (v *view) excepted(part string) bool {
	var named []string
	for role := range v.b.roles {
		if expr(`(?i)\b` + regexp.QuoteMeta(role) + `s?\b`).MatchString(part) {
			named = append(named, role)
		}
	}
	return len(named) > 0 && v.looksAt(named) || ownRE.MatchString(part) && strings.Contains(v.allSQL(), ":session_user")
}

// wordCols gives the columns that a requirement about what stays inside names by
// their words ("the PIN and the phone number").
func (v *view) wordCols(r Requirement) []string {
	if !insideRE.MatchString(r.Text) {
		return nil
	}
	var out []string
	for _, t := range slices.Sorted(maps.Keys(v.b.tables)) {
		for _, c := range v.b.tables[t] {
			if plainCol[c] || strings.HasSuffix(c, "_id") || contains(out, c) {
				continue
			}
			if expr(`(?i)\b` + strings.ReplaceAll(regexp.QuoteMeta(c), "_", "[ _]") + `s?(?:[^\w'’]|$)`).MatchString(r.Text) {
				out = append(out, c)
			}
		}
	}
	return out
}

// lists gives what goes into a list that leaves: what is appended to a variable that
// is returned, and what a comprehension makes.
func (v *view) lists() []*lang.Node {
	var out []*lang.Node
	for _, c := range v.calls {
		if (c.Name == "append" || c.Name == "push") && c.X != nil {
			out = append(out, c)
		}
	}
	lang.Walk(v.f.Root, func(n *lang.Node) bool {
		if n.Kind == lang.Loop && n.Op == "comprehension" && n.Body != nil {
			out = append(out, n.Body)
		}
		if n.Kind == lang.Call && n.Name == "map" && len(n.List) > 0 {
			out = append(out, n.List[0])
		}
		return true
	})
	return out
}

var wholeRE = regexp.MustCompile(`^(vars|asdict|to_dict|toJSON|model_to_dict|toArray|dict|__dict__|model_dump|as_dict|attributes)$`)

func (v *view) leak(n *lang.Node, cols []string, resp *lang.Node) string {
	named := func(name string) string {
		for _, c := range cols {
			if expr(`(?i)^` + namePattern(c) + `$`).MatchString(name) {
				return c
			}
		}
		return ""
	}
	switch n.Kind {
	case lang.Pair:
		if c := named(n.Name); c != "" {
			return c + " is a field of the response"
		}
	case lang.Member:
		if c := named(n.Name); c != "" {
			return c + " is put into the response"
		}
		if wholeRE.MatchString(n.Name) && n.X != nil {
			return "the whole object goes into the response"
		}
	case lang.Call:
		if wholeRE.MatchString(n.Name) && (n != resp || !responseRE.MatchString(n.Name)) && (len(n.List) == 1 && n.List[0].Kind == lang.Ident || n.X != nil && len(n.List) == 0) {
			if n.Name != "dict" || v.rowsWith(cols, n) {
				return "the whole object goes into the response"
			}
		}
	case lang.Ident:
		return v.leakIdent(n, cols, resp)
	}
	return ""
}

// leakIdent: a variable that is handed over as it is holds rows of a query, a thing
// that a helper brought, or a struct that a secret was scanned into.
func (v *view) leakIdent(n *lang.Node, cols []string, resp *lang.Node) string {
	if n.Name == "err" || n.Name == "error" {
		return ""
	}
	direct := false
	for _, a := range resp.List {
		for _, p := range a.List {
			direct = direct || a.Kind == lang.Dict && p.Kind == lang.Pair && p.Y == n
		}
		direct = direct || a == n || a.Kind == lang.Call && len(a.List) == 1 && a.List[0] == n && v.b.helpers[a.Name] == nil && a.X == nil
	}
	if !direct && resp != n {
		return ""
	}
	for _, y := range v.values[n.Name] {
		if v.rowsWith(cols, y) {
			return n.Name + " goes into the response with every column that was selected"
		}
		for y != nil && y.Kind == lang.Unary {
			y = y.X
		}
		if y != nil && y.Kind == lang.Call && v.b.helpers[y.Name] != nil && v.b.helpers[y.Name].load && v.helperBrings(y.Name, cols) {
			return "the whole object goes into the response"
		}
	}
	for _, c := range cols {
		if expr(`(?i)&`+regexp.QuoteMeta(n.Name)+`\.`+namePattern(c)+`\b`).MatchString(v.bare) && !strings.Contains(v.text, `json:"-"`) {
			return c + " is read into " + n.Name + ", which goes into the response"
		}
	}
	return ""
}

// helperBrings: the SPEC does not say that the helper leaves the columns out.
func (v *view) helperBrings(name string, cols []string) bool {
	if !v.bringsTable(name, cols) {
		return false
	}
	return !expr(`(?i)public|safe|without|view|dto`).MatchString(name + " " + v.b.helpers[name].doc)
}

// bringsTable: the helper's name or description speaks of things that have one of the
// columns; so does one that nothing is said of.
func (v *view) bringsTable(name string, cols []string) bool {
	said := roots(name + " " + v.b.helpers[name].doc)
	known := false
	for t, all := range v.b.tables {
		some := false
		for _, c := range cols {
			some = some || contains(all, c)
		}
		known = known || some
		if last := roots(t); some && len(last) > 0 {
			for _, w := range said {
				if meet(w, last[len(last)-1]) {
					return true
				}
			}
		}
	}
	return !known
}

// rowsWith: y holds rows of a statement that selects one of the columns.
func (v *view) rowsWith(cols []string, y *lang.Node) bool {
	if y == nil {
		return false
	}
	for _, s := range v.sql {
		if !holds(y, s.call) {
			continue
		}
		head, _, _ := strings.Cut(strings.ToLower(s.text), " from ")
		if i := strings.Index(strings.ToLower(s.text), "returning"); i >= 0 {
			head = strings.ToLower(s.text[i:])
		}
		for _, c := range cols {
			if expr(`\b`+c+`\b`).MatchString(head) || s.star && v.tableHas(s.text, c) {
				return true
			}
		}
	}
	return false
}

func (v *view) tableHas(sql, col string) bool {
	for t, cols := range v.b.tables {
		if contains(cols, col) && expr(`(?i)\b`+t+`\b`).MatchString(sql) {
			return true
		}
	}
	return false
}

var (
	ignoreRE  = regexp.MustCompile(`(?i)(from|by|of) the (client|browser|caller|request)[^.;]{0,30}\b(ignored|never|not)\b|computed (on|by) the server|server-side|never (trusted|taken|accepted)|calculated (on|by) the server|client[- ]supplied`)
	bodyField = regexp.MustCompile(`(?i)\b(body|form|json|args|query|payload|data|input|params|get_json\(\)|in)\b(\.get\(|\[|\.|\()\s*["']?(\w+)`)
)

// computed: what the server computes or knows is not read from the body of a request
// and kept. A sentence says it, and is about the column that is written.
func computed(v *view, r Requirement) *Breach {
	for _, part := range sentencesOf(r.Text) {
		if !ignoreRE.MatchString(part) {
			continue
		}
		var things []string
		for _, w := range roots(spanRE.ReplaceAllString(part, " ")) {
			if !common[w] && v.b.nouns[w] || w == "pric" || w == "total" || w == "amount" || w == "discount" {
				things = append(things, w)
			}
		}
		for _, m := range bodyField.FindAllStringSubmatch(v.text, -1) {
			if pathPart.MatchString(m[1]) || !v.kept(m[3], r) {
				continue
			}
			for _, w := range roots(m[3]) {
				for _, x := range things {
					if meet(w, x) {
						return &Breach{Why: "requirement " + itoa(r.Number) + ": " + m[3] + " is taken from the request", CWEs: []audit.CWE{472, 602, 840}, Confidence: 0.65}
					}
				}
			}
		}
	}
	return nil
}

var pathPart = regexp.MustCompile(`(?i)^(params|args|query|in)$`)

// kept: in a long requirement, a field counts where a statement writes it to a column
// named like it.
func (v *view) kept(field string, r Requirement) bool {
	if len(sentencesOf(r.Text)) < 3 {
		return true
	}
	for _, w := range v.writes() {
		if n := w.value(); n != nil && phraseIn(w.col, field) && expr(`\b`+regexp.QuoteMeta(field)+`\b`).MatchString(v.origin(n)) {
			return true
		}
	}
	return false
}

var (
	atomicRE = regexp.MustCompile(`(?i)\batomic\w*|one statement|single statement|\btransaction\b|\block(s|ed|ing)?\b|\brac(e|es|ing)\b|concurren\w*|overdraw\w*|at the same time|simultaneous\w*|in parallel|(never|not) (falls?|becomes?|goes?|drops?) (below|negative)|(above|below) zero|oversell|overbook\w*|double[- ]spend\w*|twice`)
	lessRE   = regexp.MustCompile(`(?is)\bset\b[^;]*?\b(\w+)\s*=\s*(?:\w+\.)?(\w+)\s*-\s*`)
	lockRE   = regexp.MustCompile(`(?i)for update|lock|serializable|mutex|synchronized|atomic|select_for_update|compareandset|advisory`)
)

// unlocked: a column that is lowered is held in the same statement not to fall too
// low, or its row is locked.
func unlocked(v *view, r Requirement) *Breach {
	if !v.b.asks(atomicRE, r) || lockRE.MatchString(v.text) {
		return nil
	}
	for _, s := range v.sql {
		m := lessRE.FindStringSubmatch(s.text)
		if m == nil || !strings.EqualFold(m[1], m[2]) {
			continue
		}
		_, where, _ := strings.Cut(strings.ToLower(s.text), "where")
		if !expr(`\b`+strings.ToLower(m[1])+`\b\s*(-[^=<>]*)?(>|>=)|[<>]=?\s*\b`+strings.ToLower(m[1])+`\b`).MatchString(where) && v.b.aboutCol(r, m[1]) {
			return &Breach{Why: "requirement " + itoa(r.Number) + ": " + m[1] + " is lowered without holding it, in the same statement, to what is left", CWEs: []audit.CWE{362, 367, 841}, Confidence: 0.7}
		}
	}
	return nil
}
