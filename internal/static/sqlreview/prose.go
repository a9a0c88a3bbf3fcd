package sqlreview

import (
	"regexp"
	"slices"
	"strings"
)

var (
	proseTableRE = regexp.MustCompile("(?m)^[ \t]*(?:[-*+|#]+[ \t]*)?(?:\\*\\*)?`?([a-z][a-z0-9_]*)`?(?:\\*\\*)?[ \t]*(?:\\(|:|\\||–|—|-)[ \t]*([^\n]*)$")
	wordRE       = regexp.MustCompile("[A-Za-z_][A-Za-z0-9_]*")
	refRE        = regexp.MustCompile("(?i)(?:→|->|fk|references|refers to)[ :(]*`?([a-z_][a-z0-9_]*)(?:[.(]`?([a-z_][a-z0-9_]*))?")
)

// helperRE: what follows the parenthesis describes a function, and no table.
var helperRE = regexp.MustCompile(`^\)` + "`?" + `\s*(->|:|=>)?\s*(returns?|gives?|brings?|throws?|aborts?|raises?|is true|sends?|writes?|adds?|loads?|checks?)\b`)

// readProse takes lines like "- `orders` (`id` PK, `shop_id` -> shops.id, `state`)".
func (s *schema) readProse(spec string) {
	for _, m := range proseTableRE.FindAllStringSubmatch(spec, -1) {
		items := splitTop(strings.Trim(closed(m[2]), " |)."))
		if len(items) < 2 || hostWords[m[1]] || helperRE.MatchString(m[2][len(closed(m[2])):]) {
			continue
		}
		var cols []*column
		var fks []foreignKey
		var pk []string
		for _, it := range items {
			it = strings.TrimSpace(it)
			w := wordRE.FindString(strings.Trim(it, "`* "))
			if w == "" || w != strings.ToLower(w) || len(strings.Fields(it)) > 8 {
				continue
			}
			c := &column{name: w, comment: it}
			if f := strings.Fields(strings.Trim(it, "`")); len(f) > 1 {
				c.typ = strings.ToLower(strings.Trim(f[1], "`,()"))
			}
			if r := refRE.FindStringSubmatch(it); r != nil {
				fk := foreignKey{cols: []string{w}, ref: r[1]}
				if r[2] != "" {
					fk.refs = []string{r[2]}
				}
				fks = append(fks, fk)
			}
			if low := strings.ToLower(it); strings.Contains(low, "pk") || strings.Contains(low, "primary key") || w == "id" {
				pk = append(pk, w)
			}
			cols = append(cols, c)
		}
		keyed := false
		for _, c := range cols {
			keyed = keyed || c.name == "id" || strings.HasSuffix(c.name, "_id") || c.typ != "" && len(strings.Fields(c.comment)) > 1
		}
		if len(cols) < 2 || len(cols)*2 < len(items) || !keyed {
			continue
		}
		t := s.table(m[1])
		for _, c := range cols {
			t.add(c)
		}
		t.fks = append(t.fks, fks...)
		if len(pk) > 0 {
			t.keys, t.hasPK = append(t.keys, pk), true
		}
	}
}

var (
	inlineTableRE = regexp.MustCompile("`?\\b([a-z][a-z0-9_]{2,})`?\\(([a-z_][a-z0-9_]*(?:[ ,\n]+[a-z_][a-z0-9_]*){2,60})\\)")
	classRE       = regexp.MustCompile(`(?m)^[ \t]*class\s+([A-Z]\w+)[^#\n]*#\s*(\w+\s*,[^\n]*)$`)
	proseClassRE  = regexp.MustCompile("`([A-Z]\\w+)` \\(((?:`\\w+`(?:, ?)?){3,40})\\)")
	stateListRE   = regexp.MustCompile("(?i)\\b`?(status|state|stage|phase)`?(?: one of|:| is| is one of| in)?[\\s:]+((?:[`'\"]?[a-z_]+[`'\"]?(?:, | \\| | or |,\n| and )){1,12}[`'\"]?[a-z_]+[`'\"]?)")
)

// readInline takes tables that prose or comments of host code name: "Tables:
// users(id, name, ...)", "class Document: # id, owner_id, ...".
func (s *schema) readInline(spec string) {
	add := func(name string, items []string) {
		if len(items) < 3 || hostWords[name] {
			return
		}
		t := s.table(name)
		for _, it := range items {
			if w := wordRE.FindString(strings.Trim(it, "` \n")); w != "" {
				t.add(&column{name: strings.ToLower(w), comment: it})
			}
		}
	}
	for _, m := range inlineTableRE.FindAllStringSubmatchIndex(spec, -1) {
		before := strings.Fields(spec[max(0, m[0]-40):m[0]])
		if n := len(before); n > 0 && (hostWords[before[n-1]] || strings.HasSuffix(before[n-1], ".")) {
			continue // the signature of a function
		}
		if items := strings.Split(spec[m[4]:m[5]], ","); len(items) >= 3 && strings.Contains(spec[m[4]:m[5]], "id") {
			add(spec[m[2]:m[3]], items)
		}
	}
	for _, m := range proseClassRE.FindAllStringSubmatch(spec, -1) {
		add(plural(strings.ToLower(m[1])), strings.Split(m[2], ","))
	}
	for _, m := range classRE.FindAllStringSubmatch(spec, -1) {
		add(plural(strings.ToLower(m[1])), splitTop(m[2]))
	}
	for _, m := range stateListRE.FindAllStringSubmatch(spec, -1) {
		var vals []string
		for _, w := range wordRE.FindAllString(m[2], -1) {
			if w != "or" && w != "and" {
				vals = append(vals, w)
			}
		}
		if len(vals) == 0 || typeRE.MatchString(vals[0]) || s.anyNamed(vals) {
			continue
		}
		for _, t := range s.order {
			if c := t.column(strings.ToLower(m[1])); c != nil && len(c.enum) == 0 && len(vals) > 1 {
				c.enum = vals
			}
		}
	}
}

// hostWords begin lines of other languages that look like a table with its columns.
var hostWords = words(`def func function async class type return if for while const let var import from struct new await throw else case with public private static`)

func plural(w string) string {
	switch {
	case strings.HasSuffix(w, "y"):
		return w[:len(w)-1] + "ies"
	case strings.HasSuffix(w, "s"):
		return w + "es"
	}
	return w + "s"
}

// closed cuts a list of columns at the parenthesis that ends it.
func closed(s string) string {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return s[:i]
			}
		}
	}
	return s
}

func splitTop(s string) []string {
	var out []string
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth <= 0 {
				out = append(out, s[from:i])
				from = i + 1
			}
		}
	}
	return append(out, s[from:])
}

// finish resolves enum types that were declared after their use, gives tables
// without a stated key their id, and guesses foreign keys by name (order_id ->
// orders.id) where the schema states none at all.
func (s *schema) finish() {
	stated := false
	for _, t := range s.order {
		stated = stated || len(t.fks) > 0
	}
	for _, t := range s.order {
		t.keys = slices.DeleteFunc(t.keys, func(k []string) bool { return len(k) == 0 })
		if !t.hasPK && t.column("id") != nil {
			t.keys = append([][]string{{"id"}}, t.keys...)
		}
		for _, c := range t.cols {
			if c.enum == nil {
				c.enum = s.enums[strings.TrimSuffix(c.typ, "[]")]
			}
			if stated || !strings.HasSuffix(c.name, "_id") {
				continue
			}
			for _, r := range s.order {
				if stem(r.name) == stem(strings.TrimSuffix(c.name, "_id")) {
					t.fks = append(t.fks, foreignKey{cols: []string{c.name}, ref: r.name})
				}
			}
		}
		for i := range t.fks {
			if r := s.tables[t.fks[i].ref]; len(t.fks[i].refs) == 0 && r != nil && len(r.keys) > 0 {
				t.fks[i].refs = r.keys[0]
			}
		}
	}
}
