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

// readProse takes lines like "- `orders` (`id` PK, `shop_id` -> shops.id, `state`)".
func (s *schema) readProse(spec string) {
	for _, m := range proseTableRE.FindAllStringSubmatch(spec, -1) {
		items := splitTop(strings.Trim(m[2], " |)."))
		if len(items) < 2 {
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
		if len(cols) < 2 || len(cols)*2 < len(items) {
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
				c.enum = s.enums[c.typ]
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
