package proof

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/audit"
)

// A Twin is a case's code changed by machine so that its label stays.
type Twin struct {
	Kind string // one of TwinKinds
	Code string
}

// TwinKinds are the ways of making a twin: comments stripped, aliases or locals
// renamed, the comments of a case of the other label put on top instead of its
// own, literals written differently.
var TwinKinds = []string{"stripped", "renamed", "misled", "literals"}

// Twins gives the twins of a case of fam. A kind that would change nothing is
// left out; a change to several files has none.
func Twins(app *audit.App, fam *audit.Family, c *audit.Case) []Twin {
	if audit.SplitBlocks(c.Language, c.Code) != nil {
		return nil
	}
	d := dialectOf(c.Language)
	bare := d.strip(c.Code)
	candidates := []Twin{
		{"stripped", bare},
		{"renamed", d.rename(c.Code, app.Schema)},
		{"misled", d.remark(bare, otherComments(d, fam, c))},
		{"literals", d.literals(c.Code)},
	}
	return slices.DeleteFunc(candidates, func(t Twin) bool {
		return strings.TrimSpace(t.Code) == strings.TrimSpace(c.Code) ||
			strings.TrimSpace(t.Code) == ""
	})
}

// otherComments gives the comments of the first case of the other label, going
// round from c, that has any.
func otherComments(d dialect, fam *audit.Family, c *audit.Case) []string {
	at := slices.Index(fam.Cases, c)
	for i := range fam.Cases {
		o := fam.Cases[(at+i+1)%len(fam.Cases)]
		if o.Label != c.Label {
			if cs := d.comments(o.Code); len(cs) > 0 {
				return cs
			}
		}
	}
	return nil
}

// A dialect cuts code into tokens as far as twins need it.
type dialect struct {
	lexer
	line string // how a comment of one line begins
}

func dialectOf(language string) dialect {
	switch strings.ToLower(language) {
	case "", "sql", "postgresql", "pgsql", "plpgsql":
		return dialect{postgreSQL, "-- "}
	case "python", "py":
		return dialect{python, "# "}
	case "ruby", "rb":
		return dialect{ruby, "# "}
	case "php":
		return dialect{php, "// "}
	case "go", "golang":
		return dialect{goLike, "// "}
	case "javascript", "js", "jsx", "mjs", "typescript", "ts", "tsx":
		return dialect{javaScript, "// "}
	}
	return dialect{cLike, "// "}
}

func (d dialect) sql() bool { return d.line == "-- " }

func (d dialect) comments(code string) []string {
	var out []string
	for _, t := range d.cut(code) {
		if t.kind == comment {
			text := strings.Trim(t.text, "-/*# \t\n")
			out = append(out, strings.Join(strings.Fields(text), " "))
		}
	}
	return out
}

func (d dialect) strip(code string) string {
	ts := slices.Clone(d.cut(code))
	whole := false // lines that held nothing but a comment go with it
	for i, t := range ts {
		if t.kind == comment && !directive(t.text) {
			ts[i].text = "\x00"
			whole = true
		}
	}
	if !whole {
		return code
	}
	var lines []string
	for _, l := range strings.Split(join(ts), "\n") {
		if strings.Contains(l, "\x00") && strings.Trim(l, " \t\x00") == "" {
			continue
		}
		lines = append(lines, strings.TrimRight(strings.ReplaceAll(l, "\x00", ""), " \t"))
	}
	return strings.Join(lines, "\n")
}

// A directive is a comment for the machine.
func directive(c string) bool { return strings.HasPrefix(c, "//go:") || strings.HasPrefix(c, "#!") }

func (d dialect) remark(bare string, comments []string) string {
	if len(comments) == 0 {
		return bare
	}
	var b strings.Builder
	for _, c := range comments {
		b.WriteString(d.line + c + "\n")
	}
	if strings.HasPrefix(bare, "<?php") {
		return "<?php\n" + b.String() + strings.TrimPrefix(bare, "<?php")
	}
	return b.String() + bare
}

// literals writes numbers of two digits and more as sums, and in SQL texts as
// E'...'.
func (d dialect) literals(code string) string {
	ts := slices.Clone(d.cut(code))
	for i, t := range ts {
		switch {
		case t.kind == number && sum(ts, i):
			n, err := strconv.Atoi(t.text)
			// 0600 is octal where it is code
			if err == nil && n >= 10 && n < 1_000_000 && t.text[0] != '0' {
				ts[i].text = fmt.Sprintf("(%d + %d)", n-n/3, n/3)
			}
		case d.sql() && t.kind == str && t.text[0] == '\'' && !strings.Contains(t.text, `\`):
			ts[i].text = "E" + t.text
		}
	}
	return join(ts)
}

// sum reports whether a number may be written as a sum: not after a sign or a
// dot, and not as a type's modifier.
func sum(ts []token, i int) bool {
	before := codeBefore(ts, i)
	if before < 0 {
		return false
	}
	b := ts[before]
	if b.is("(") {
		if w := codeBefore(ts, before); w >= 0 &&
			slices.Contains([]string{"numeric", "decimal", "varchar", "char", "character",
				"bit", "timestamp", "timestamptz", "time", "interval", "varying"},
				strings.ToLower(ts[w].text)) {
			return false
		}
		return true
	}
	return b.is(",") || b.is("=") || b.is("<") || b.is(">") || b.is("<=") || b.is(">=") ||
		b.is("limit") || b.is("return") || b.is("==") || b.is("===")
}

// rename gives SQL's aliases and names of CTEs, and the locals of code, new names.
func (d dialect) rename(code, schema string) string {
	ts := slices.Clone(d.cut(code))
	old := localNames(ts)
	if d.sql() {
		old = sqlNames(ts, schema)
	}
	for n, name := range old {
		for i, t := range ts {
			if t.kind != word || t.text != name && !(d.sql() && strings.EqualFold(t.text, name)) {
				continue
			}
			if b := codeBefore(ts, i); b >= 0 && (ts[b].is(".") || ts[b].is("?.")) &&
				!spread(ts, b) {
				continue
			}
			ts[i].text = fmt.Sprintf("x%d", n+1)
		}
	}
	return join(ts)
}

// spread reports whether the dot at b is the last of "...".
func spread(ts []token, b int) bool { return b >= 2 && ts[b-1].is(".") && ts[b-2].is(".") }

// sqlNames gives the aliases of tables and the names of CTEs that occur in no
// other meaning.
func sqlNames(ts []token, schema string) []string {
	taken := map[string]bool{}
	for _, t := range lex(schema) {
		if t.kind == word {
			taken[strings.ToLower(t.text)] = true
		}
	}
	code := codeOf(ts)
	at := func(i int) token { return tokenAt(code, i) }
	var names []string
	for i, t := range code {
		if t.kind != word {
			continue
		}
		name := strings.ToLower(t.text)
		cte := at(i+1).is("as") && (at(i+2).is("(") || at(i+2).is("materialized") ||
			at(i+3).is("materialized")) &&
			(at(i-1).is("with") || at(i-1).is(",") || at(i-1).is("recursive"))
		if at(i-1).is("as") && !at(i+1).is("(") {
			taken[name] = true // a column's name
		}
		table := func(j int) bool {
			return at(j-1).is("from") || at(j-1).is("join") || at(j-1).is("update") ||
				at(j-1).is("into")
		}
		alias := at(i-1).kind == word && table(i-1) && !slices.Contains(reserved, name) &&
			!slices.Contains(reserved, strings.ToLower(at(i-1).text))
		if (cte || alias) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return slices.DeleteFunc(names, func(n string) bool { return taken[n] })
}

func codeOf(ts []token) []token {
	return slices.DeleteFunc(slices.Clone(ts), func(t token) bool { return !t.code() })
}

// tokenAt gives a token, or none beyond both ends.
func tokenAt(ts []token, i int) token {
	if i < 0 || i >= len(ts) {
		return token{}
	}
	return ts[i]
}

// clauseWords end a boolean expression or a list at the same depth.
var clauseWords = []string{"where", "group", "having", "order", "limit", "offset", "fetch", "for",
	"window", "union",
	"intersect", "except", "returning", "join", "left", "right", "inner", "cross", "full",
	"natural", "on", "from",
	"set", "when", "then", "else", "end", "rows", "range", ";"}

// reserved are the words that may stand where an alias would.
var reserved = append([]string{"as", "using", "select", "values", "lateral", "only", "default",
	"tablesample", "and", "or"}, clauseWords...)

// localNames gives the names that a function of code declares for itself and
// that occur as nothing else.
func localNames(ts []token) []string {
	code := codeOf(ts)
	bad := map[string]bool{}
	var names []string
	for i, t := range code {
		if t.kind != word {
			continue
		}
		prev, next := tokenAt(code, i-1), tokenAt(code, i+1)
		declares := prev.is("const") || prev.is("let") || next.is(":=") && !prev.is(",") &&
			!prev.is(".")
		if declares && !slices.Contains(names, t.text) {
			names = append(names, t.text)
		}
		// A key of an object, a member, a label, a shorthand: not ours to rename.
		if next.is(":") || prev.is(".") || prev.is("{") || prev.is("export") ||
			prev.is("function") || prev.is("func") ||
			prev.is(",") && (next.is(",") || next.is("}")) {
			bad[t.text] = true
		}
	}
	return slices.DeleteFunc(names, func(n string) bool { return bad[n] || len(n) < 2 })
}
