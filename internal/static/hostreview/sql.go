package hostreview

import (
	"regexp"
	"strconv"
	"strings"

	"assay/internal/static/lang"
)

// A statement is SQL that the fragment sends, its placeholders renamed after what is
// bound to them.
type statement struct {
	call *lang.Node
	text string
	args []*lang.Node
	star bool
	by   map[string]*lang.Node // what stands behind a placeholder
	vars []string              // that hold the values
}

var sqlRE = regexp.MustCompile(`(?is)^\s*(--[^\n]*\n\s*)*\(?(select\s|with\s+(recursive\s+)?\w+\s*(\([^)]*\)\s*)?as\b|insert\s+(or\s+\w+\s+)?into|update\s+\S+\s+(as\s+)?(\w+\s+)?set\b|delete\s+from|merge\s+into)`)

// findSQL finds the calls whose argument is SQL, in place or through a variable.
func (v *view) findSQL() []statement {
	var out []statement
	for _, c := range v.calls {
		v.learn(c, nil)
		for i, a := range c.List {
			t := v.sqlText(a, 0)
			if !sqlRE.MatchString(t) {
				continue
			}
			s := statement{call: c, args: v.bound(c.List[i+1:])}
			if len(s.args) == 0 {
				s.args = v.boundLater(c)
			}
			s.by = map[string]*lang.Node{}
			for _, x := range c.List[i+1:] {
				if x.Kind == lang.Ident {
					s.vars = append(s.vars, x.Name)
				}
			}
			s.text = v.named(t, &s)
			s.star = expr(`(?i)select\s+(\w+\.)?\*`).MatchString(t)
			v.learn(c, &s)
			out = append(out, s)
			break
		}
	}
	return out
}

// boundLater gives what a prepared statement is executed with, or what is set on it.
func (v *view) boundLater(prepared *lang.Node) []*lang.Node {
	var set []*lang.Node
	for _, c := range v.calls {
		if c.Off <= prepared.Off || c.X == nil {
			continue
		}
		switch {
		case (c.Name == "execute" || c.Name == "query" || c.Name == "executeQuery") && len(c.List) > 0:
			return flat(c.List)
		case setterRE.MatchString(c.Name) && len(c.List) == 2:
			set = append(set, c.List[1])
		case (c.Name == "prepareStatement" || c.Name == "prepare") && len(set) > 0:
			return set
		}
	}
	return set
}

var setterRE = regexp.MustCompile(`^set(String|Int|Long|Object|Date|Timestamp|BigDecimal|Boolean|Double)$|^bind(Value|Param)$`)

// flat gives the values that a driver binds: a list, a tuple, or the arguments.
func flat(args []*lang.Node) []*lang.Node {
	if len(args) >= 1 && (args[0].Kind == lang.Array || args[0].Kind == lang.Dict) {
		return args[0].List
	}
	return args
}

// sqlText gives the text of an expression, ${...} for what is pasted into it.
func (v *view) sqlText(n *lang.Node, depth int) string {
	if n == nil || depth > 8 {
		return ""
	}
	switch n.Kind {
	case lang.String:
		return n.Name
	case lang.Template:
		s := ""
		for _, k := range n.List {
			if k.Kind == lang.String {
				s += k.Name
				continue
			}
			if t, ok := v.piece(k, depth); ok {
				s += t
				continue
			}
			s += "${" + wordsOf(v.f.Text(k)) + "}"
		}
		return s
	case lang.Binary:
		if n.Op == "+" || n.Op == "." {
			return v.sqlText(n.X, depth+1) + v.sqlText(n.Y, depth+1)
		}
		if n.Op == "%" {
			return v.sqlText(n.X, depth+1)
		}
	case lang.Cond: // wide ? 'AND x' : ''
		y, z := v.sqlText(n.Y, depth+1), v.sqlText(n.Z, depth+1)
		if len(y) < len(z) {
			y = z
		}
		return y
	case lang.Ident:
		if vs := v.values[n.Name]; len(vs) > 0 && vs[0] != n {
			s := v.sqlText(vs[0], depth+1)
			for _, p := range v.plus[n.Name] {
				s += v.sqlText(p, depth+1)
			}
			return s
		}
		if depth > 0 {
			return "${" + n.Name + "}"
		}
	case lang.Call:
		if t, ok := v.joined(n, depth); ok {
			return t
		}
		if n.Name == "SQL" && len(n.List) == 1 || n.Name == "format" && n.X != nil && n.X.Kind == lang.Call && n.X.Name == "SQL" { // psycopg.sql
			return v.sqlText(first1(n), depth+1)
		}
		if n.Name == "text" && len(n.List) == 1 || n.Name == "Sprintf" && len(n.List) > 0 {
			return v.sqlText(n.List[0], depth+1)
		}
		if depth > 0 {
			return "${" + wordsOf(v.f.Text(n)) + "}"
		}
	case lang.Member, lang.Index:
		if depth > 0 {
			return "${" + wordsOf(v.f.Text(n)) + "}"
		}
	}
	return ""
}

// piece gives the text that a variable adds to a statement: the longest that it is
// given, so that a condition that is added on some path stands in it.
func (v *view) piece(k *lang.Node, depth int) (string, bool) {
	if k.Kind == lang.Call {
		return v.joined(k, depth)
	}
	if k.Kind != lang.Ident || len(v.values[k.Name]) == 0 {
		return "", false
	}
	longest := ""
	for _, y := range v.values[k.Name] {
		if y.Kind != lang.String && y.Kind != lang.Template && y.Kind != lang.Binary && y.Kind != lang.Cond && y.Kind != lang.Call {
			return "", false
		}
		if t := v.sqlText(y, depth+1); len(t) > len(longest) {
			longest = t
		}
	}
	for _, p := range v.plus[k.Name] {
		longest += v.sqlText(p, depth+1)
	}
	return longest, true
}

// first1 gives the text that a call of psycopg.sql is made on.
func first1(n *lang.Node) *lang.Node {
	if n.Name == "format" {
		n = n.X
	}
	if len(n.List) == 0 {
		return nil
	}
	return n.List[0]
}

func wordsOf(s string) string { return strings.Join(wordRE.FindAllString(s, 6), "_") }

var placeRE = regexp.MustCompile(`\$\$\{\w+\}|\?|\$\d+|%s|%\((\w+)\)s|:([a-zA-Z_]\w*)|@([a-zA-Z_]\w*)`)

// named writes the placeholders as :session_x, :user, :argN, or a number where the
// code holds the value below one.
func (v *view) named(text string, s *statement) string {
	var b strings.Builder
	args := s.args
	from, next := 0, 0
	for _, m := range placeRE.FindAllStringSubmatchIndex(text, -1) {
		tok := text[m[0]:m[1]]
		if quoted(text, m[0]) || strings.HasPrefix(tok, ":") && m[0] > 0 && text[m[0]-1] == ':' {
			continue
		}
		var arg *lang.Node
		name := ""
		switch {
		case tok == "?" || tok == "%s":
			if next < len(args) {
				arg = args[next]
			}
			next++
			name = "arg" + strconv.Itoa(next)
		case tok[0] == '$':
			n, _ := strconv.Atoi(tok[1:])
			if n >= 1 && n <= len(args) {
				arg = args[n-1]
			}
			name = "arg" + strconv.Itoa(n)
		default:
			key := strings.Trim(strings.TrimSuffix(tok, ")s"), ":@%(")
			for _, a := range args {
				if a.Kind == lang.Pair && a.Name == key {
					arg = a.Y
				}
				if arg != nil {
					break
				}
				if a.Kind == lang.Ident {
					if arg = v.parts[a.Name][key]; arg == nil && v.held.rows[a.Name] {
						arg = a // a row that was looked at is bound as a whole
					}
				}
			}
			for _, n := range s.vars {
				if y := v.parts[n][key]; y != nil && arg == nil {
					arg = y
				}
			}
			name = "arg_" + strings.ToLower(key)
		}
		b.WriteString(text[from:m[0]])
		place := v.placeholder(name, arg)
		if s.by[place] == nil && arg != nil {
			s.by[place] = arg
		}
		b.WriteString(place)
		from = m[1]
	}
	b.WriteString(text[from:])
	return b.String()
}

func quoted(text string, at int) bool { return strings.Count(text[:at], "'")%2 == 1 }
