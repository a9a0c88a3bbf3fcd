package hostreview

import (
	"regexp"
	"strings"

	"assay/internal/static/lang"
)

// A write is one column that a statement sets.
type write struct {
	s     *statement
	verb  string // insert or update
	table string
	col   string
	expr  string
	where string // of an update: what stands behind SET
}

var (
	insertRE = regexp.MustCompile(`(?is)\binsert\s+into\s+(\w+)(?:\s+(?:as\s+)?\w+)?\s*\(([^()]*)\)\s*(values\s*\(|(?:overriding\s+\w+\s+value\s+)?select\s+)`)
	setOfRE  = regexp.MustCompile(`(?is)\bupdate\s+(?:only\s+)?(\w+)(?:\s+(?:as\s+)?\w+)?\s+set\s+`)
	endSetRE = regexp.MustCompile(`(?i)^(where|from|returning)\b`)
)

// writes gives the columns that the fragment's statements set.
func (v *view) writes() []write {
	var out []write
	for i := range v.sql {
		s := &v.sql[i]
		for _, m := range insertRE.FindAllStringSubmatchIndex(s.text, -1) {
			cols := strings.Split(s.text[m[4]:m[5]], ",")
			vals, _ := topLevel(s.text[m[1]:])
			for k, c := range cols {
				if k < len(vals) {
					out = append(out, write{s, "insert", strings.ToLower(s.text[m[2]:m[3]]), strings.ToLower(strings.TrimSpace(c)), vals[k], ""})
				}
			}
		}
		for _, m := range setOfRE.FindAllStringSubmatchIndex(s.text, -1) {
			sets, rest := topLevel(s.text[m[1]:])
			for _, x := range sets {
				if c, e, ok := strings.Cut(x, "="); ok {
					c = strings.Trim(strings.ToLower(c), " \n\t\"")
					out = append(out, write{s, "update", strings.ToLower(s.text[m[2]:m[3]]), c[strings.LastIndexByte(c, '.')+1:], strings.TrimSpace(e), rest})
				}
			}
		}
	}
	return out
}

// topLevel splits a list at its commas, up to the bracket or keyword that ends it,
// and gives what follows.
func topLevel(text string) (items []string, rest string) {
	depth, from, quote := 0, 0, false
	cut := func(i int) { items = append(items, strings.TrimSpace(text[from:i])); from = i + 1 }
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'':
			quote = !quote
		case quote:
		case c == '(':
			depth++
		case c == ')':
			if depth == 0 {
				cut(i)
				return items, text[i:]
			}
			depth--
		case c == ',' && depth == 0:
			cut(i)
		case depth == 0 && (i == 0 || !isLetter(text[i-1])) && isLetter(c) && endSetRE.MatchString(text[i:]):
			cut(i)
			return items, text[i:]
		}
	}
	cut(len(text))
	return items, ""
}

func isLetter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

var placedRE = regexp.MustCompile(`^\(?(:\w+)\)?(::[\w\[\]]+)?$`)

// value gives the expression of the code that a column is set to, nil where the
// statement makes it.
func (w write) value() *lang.Node {
	if m := placedRE.FindStringSubmatch(strings.TrimSpace(w.expr)); m != nil {
		return w.s.by[m[1]]
	}
	return nil
}

// origin gives the source of an expression and of what its variables were given.
func (v *view) origin(n *lang.Node) string {
	var b strings.Builder
	seen := map[string]bool{}
	var add func(*lang.Node, int)
	add = func(n *lang.Node, depth int) {
		b.WriteString(v.f.Text(n) + "\n")
		if depth > 5 {
			return
		}
		lang.Walk(n, func(x *lang.Node) bool {
			if x.Kind == lang.Ident && !seen[x.Name] {
				seen[x.Name] = true
				for _, y := range v.values[x.Name] {
					if !v.sends(y) && !v.ownCall(y) { // a row is not what it was found by
						add(y, depth+1)
					}
				}
				for _, y := range v.plus[x.Name] {
					add(y, depth+1)
				}
			}
			return true
		})
	}
	if n != nil {
		add(n, 0)
	}
	return b.String()
}

// ownCall: the expression is what a function of the fragment gives that sends a
// statement.
func (v *view) ownCall(y *lang.Node) bool {
	for y != nil && y.Kind == lang.Unary {
		y = y.X
	}
	return y != nil && y.Kind == lang.Call && len(v.sql) > 0 && contains(v.names, y.Name) && expr(`(?i)^(find|load|get|fetch|read|row|by)|row$`).MatchString(y.Name)
}
