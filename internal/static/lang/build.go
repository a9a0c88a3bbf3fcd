package lang

import (
	"cmp"
	"iter"
	"regexp"
	"strings"
	"sync"

	ts "github.com/odvcencio/gotreesitter"
)

// A shape says how a parser's node becomes one of ours. A place is a field name
// of the grammar; "@kind" the first child of that kind; "#n" the n-th named
// child; in list, "*" all named children that no other place took.
type shape struct {
	kind                        Kind
	x, y, z, name, body, typ, l string
	op                          string          // literal text, or "@op" for the first child that is a plain token
	callee                      string          // place of the called expression: sets X and Name
	notes                       map[string]bool // kinds of children that are or hold annotations
	hook                        func(b *builder, n *ts.Node) *Node
}

// A table maps node kinds, separated by blanks, to the shape that they share; skip
// names kinds that carry no meaning.
type table struct {
	lang    Lang
	grammar func() *ts.Language
	shapes  map[string]shape
	skip    map[string]bool
	param   func(b *builder, n *ts.Node) *Node // what buildFunc makes of a parameter; nil for what is none
	pool    sync.Pool                          // of builders, for each holds a parser
}

// maxDepth bounds the tree that we build: deeper nesting is generated code or
// an attack, and every later pass recurses.
const maxDepth = 1000

type builder struct {
	t      *table
	l      *ts.Language
	parser *ts.Parser
	src    []byte
	bySym  []*shape // by symbol, nil: not yet looked up
	skip   []bool
	depth  int
	errors int
}

var noShape = &shape{}

func newBuilder(t *table) *builder {
	l := t.grammar()
	b := &builder{t: t, l: l, parser: ts.NewParser(l)}
	shapes := map[string]*shape{}
	for kinds, s := range t.shapes {
		for _, kind := range strings.Fields(kinds) {
			shapes[kind] = &s
		}
	}
	b.bySym = make([]*shape, len(l.SymbolNames))
	b.skip = make([]bool, len(l.SymbolNames))
	for i, name := range l.SymbolNames {
		b.bySym[i], b.skip[i] = cmp.Or(shapes[name], noShape), t.skip[name]
	}
	return b
}

func (b *builder) kind(n *ts.Node) string { return n.Type(b.l) }
func (b *builder) text(n *ts.Node) string {
	if n == nil || int(n.EndByte()) > len(b.src) || n.StartByte() > n.EndByte() {
		return ""
	}
	return string(b.src[n.StartByte():n.EndByte()])
}

func (b *builder) node(k Kind, n *ts.Node) *Node { return b.of(k, n, Node{}) }

// of is a node of a kind at n with the fields of o.
func (b *builder) of(k Kind, n *ts.Node, o Node) *Node {
	o.Kind, o.Start, o.End = k, int32(n.StartPoint().Row)+1, int32(n.EndPoint().Row)+1
	o.Off, o.To = int32(n.StartByte()), int32(n.EndByte())
	return &o
}

// at finds the child at a place of a shape.
func (b *builder) at(n *ts.Node, place string) *ts.Node {
	switch place[0] {
	case '@':
		for i := 0; i < n.ChildCount(); i++ {
			if c := n.Child(i); b.kind(c) == place[1:] {
				return c
			}
		}
		return nil
	case '#':
		return b.named(n, int(place[1]-'0'))
	}
	return n.ChildByFieldName(place, b.l)
}

// children are those of n, tokens too.
func children(n *ts.Node) iter.Seq[*ts.Node] {
	return func(yield func(*ts.Node) bool) {
		for i := 0; i < n.ChildCount() && yield(n.Child(i)); i++ {
		}
	}
}

// kids gives the named children of n that mean something.
func (b *builder) kids(n *ts.Node) iter.Seq[*ts.Node] {
	return func(yield func(*ts.Node) bool) {
		for c := range children(n) {
			if c.IsNamed() && !b.skips(c) && !yield(c) {
				return
			}
		}
	}
}

// named gives the i-th of them, from 0; nil where there are fewer.
func (b *builder) named(n *ts.Node, i int) *ts.Node {
	for c := range b.kids(n) {
		if i == 0 {
			return c
		}
		i--
	}
	return nil
}

func (b *builder) decorators(n *ts.Node) (out []*Node) {
	for c := range children(n) {
		if b.kind(c) == "decorator" {
			if k := b.build(c); k != nil {
				out = append(out, k)
			}
		}
	}
	return out
}

func (b *builder) skips(n *ts.Node) bool {
	s := int(n.Symbol())
	return s < len(b.skip) && b.skip[s]
}

// build gives nil for what carries no meaning.
func (b *builder) build(n *ts.Node) *Node {
	if n == nil || b.skips(n) {
		return nil
	}
	if b.depth++; b.depth > maxDepth {
		b.depth--
		b.errors++
		return nil
	}
	defer func() { b.depth-- }()
	if n.IsError() {
		b.errors++
		return b.other(n)
	}
	s := noShape
	if i := int(n.Symbol()); i < len(b.bySym) {
		s = b.bySym[i]
	}
	switch {
	case s.hook != nil:
		return s.hook(b, n)
	case s.kind != None:
		return b.shaped(n, s)
	}
	return b.other(n)
}

func (b *builder) other(n *ts.Node) *Node {
	kids := b.all(n)
	switch len(kids) {
	case 0:
		if n.IsNamed() && n.ChildCount() == 0 {
			return b.node(Other, n)
		}
		return nil
	case 1:
		return kids[0]
	}
	return b.of(Other, n, Node{List: kids})
}

// all builds the named children of n, leaving out the given ones.
func (b *builder) all(n *ts.Node, except ...*ts.Node) []*Node {
	if n == nil {
		return nil
	}
	var out []*Node
next:
	for i := 0; i < n.ChildCount(); i++ { // the hottest loop: no iterator
		c := n.Child(i)
		if !c.IsNamed() {
			continue
		}
		for _, e := range except {
			if e != nil && e.StartByte() == c.StartByte() && e.EndByte() == c.EndByte() && e.Symbol() == c.Symbol() {
				continue next
			}
		}
		if k := b.build(c); k != nil {
			out = append(out, k)
		}
	}
	return out
}

func (b *builder) shaped(n *ts.Node, s *shape) *Node {
	o := b.node(s.kind, n)
	var used []*ts.Node
	take := func(place string) *ts.Node {
		c := b.at(n, place)
		if c != nil {
			used = append(used, c)
		}
		return c
	}
	if s.callee != "" {
		o.setCallee(b.build(take(s.callee)))
	}
	for _, k := range []struct {
		to    **Node
		place string
	}{{&o.X, s.x}, {&o.Y, s.y}, {&o.Z, s.z}, {&o.Body, s.body}} {
		if k.place != "" {
			*k.to = b.build(take(k.place))
		}
	}
	if s.name != "" {
		o.Name = b.nameOf(take(s.name))
	}
	if s.typ != "" {
		o.Type = TypeName(b.text(take(s.typ)))
	}
	switch {
	case s.op == "@op":
		o.Op = b.token(n)
	case s.op != "":
		o.Op = s.op
	}
	if s.notes != nil {
		used = b.annotate(o, n, s.notes, used)
	}
	switch {
	case s.l == "*":
		o.List = b.all(n, used...)
	case s.l != "":
		if c := b.at(n, s.l); c != nil && b.kind(c) == "generator_expression" { // ",".join(x for x in y)
			o.List = []*Node{b.build(c)}
			break
		}
		o.List = b.all(b.at(n, s.l))
	}
	if o.Kind == Func && o.Op == "lambda" {
		o.Body = exprBody(o.Body)
	}
	if o.Kind == Ident && s.name == "" {
		o.Name = b.bare(b.text(n))
	}
	if (o.Kind == Lit || o.Kind == String) && o.Name == "" {
		o.Name = b.text(n)
	}
	return o
}

var lambdas = Words("lambda lambda_expression arrow_function function_expression function")

// buildFunc reads functions and lambdas; the parameters of a lambda may be one bare name.
func buildFunc(b *builder, n *ts.Node) *Node {
	o := b.of(Func, n, Node{Name: b.nameOf(b.at(n, "name")), Type: TypeName(b.text(b.at(n, "return_type")))})
	if lambdas[b.kind(n)] {
		o.Op = "lambda"
	}
	switch ps := cmp.Or(b.at(n, "parameter"), b.at(n, "parameters")); {
	case ps == nil:
	case b.kind(ps) == "identifier":
		o.List = []*Node{b.of(Param, ps, Node{Name: strings.TrimLeft(b.text(ps), "$&.")})}
	default:
		for c := range b.kids(ps) {
			if p := b.t.param(b, c); p != nil {
				o.List = append(o.List, p)
			}
		}
	}
	o.Body = exprBody(b.build(b.at(n, "body")))
	return o
}

// exprBody makes a lambda's expression a block that returns it.
func exprBody(n *Node) *Node {
	if n == nil || n.Kind == Block {
		return n
	}
	r := *n
	return n.Here(Node{Kind: Block, List: []*Node{n.Here(Node{Kind: Return, X: &r})}})
}

func (o *Node) setCallee(f *Node) {
	switch {
	case f == nil:
	case f.Kind == Ident:
		o.Name = f.Name
	case f.Kind == Member:
		o.X, o.Name = f.X, f.Name
	default:
		o.X = f
	}
}

// nameOf gives a name's text: strings unquoted, generics and sigils cut.
func (b *builder) nameOf(n *ts.Node) string {
	if n == nil {
		return ""
	}
	t := b.text(n)
	if len(t) > 0 && (t[0] == '"' || t[0] == '\'' || t[0] == '`') {
		return strings.Trim(t, "\"'`")
	}
	if i := strings.IndexByte(t, '<'); i > 0 {
		t = t[:i]
	}
	return b.bare(strings.TrimSpace(t))
}

// bare cuts the sigils of PHP's variables and of JavaScript's private members; in
// JavaScript $ is part of the name.
func (b *builder) bare(name string) string {
	if b.t.lang == PHP {
		return strings.TrimLeft(name, "$&")
	}
	return strings.TrimLeft(name, "#&")
}

// token is the operator: the first unnamed child.
func (b *builder) token(n *ts.Node) string {
	for c := range children(n) {
		if !c.IsNamed() {
			if t := b.text(c); t != "(" && t != ")" {
				return t
			}
		}
	}
	return ""
}

// annotate collects annotations among the children of n, or within a child that
// holds them (Java's modifiers), and the modifiers' words into Op.
func (b *builder) annotate(o *Node, n *ts.Node, kinds map[string]bool, used []*ts.Node) []*ts.Node {
	for c := range children(n) {
		if !kinds[b.kind(c)] {
			continue
		}
		used = append(used, c)
		b.collectNotes(o, c)
	}
	return used
}

func (b *builder) collectNotes(o *Node, c *ts.Node) {
	if k := b.build(c); k != nil {
		for _, m := range k.List {
			if m.Kind == Call {
				o.Notes = append(o.Notes, m)
			}
		}
	}
	for m := range children(c) {
		if !m.IsNamed() {
			o.Op = strings.TrimSpace(o.Op + " " + b.text(m))
		}
	}
}

// plainItems are collections of numbers, truths and identifiers.
var plainItems = regexp.MustCompile(`^(?:[a-z.]*\.)?(?:List|Set|Collection|Iterable|Optional|ArrayList|HashSet|Stream|Flux|Mono|Array|ReadonlyArray|Sequence|list|set|tuple|frozenset)\s*[<\[]\s*(?:[a-z.]*\.)?(Long|Integer|Short|Double|Float|Boolean|BigDecimal|UUID|LocalDate|Instant|number|boolean|int|float|bool|Decimal|date|datetime)(?:\s*,\s*\.\.\.)?\s*[>\]]$`)

// TypeName reduces the text of a type to its simple name: package, generics,
// pointer and optional marks are cut ("*sql.DB" stays "sql.DB").
func TypeName(t string) string {
	t = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(t), ":?*&->"))
	t = strings.Trim(t, "\"'")                           // a type named ahead of its declaration
	if m := plainItems.FindStringSubmatch(t); m != nil { // a collection of numbers holds no text
		return m[1]
	}
	if i := strings.IndexAny(t, "<{"); i > 0 {
		t = t[:i]
	}
	if i := strings.IndexByte(t, '['); i > 0 && !strings.HasPrefix(t[i:], "[]") {
		t = t[:i] // byte[] is no byte
	}
	t = strings.TrimSpace(t)
	if i := strings.LastIndexByte(t, '\\'); i >= 0 {
		t = t[i+1:]
	}
	return t
}
