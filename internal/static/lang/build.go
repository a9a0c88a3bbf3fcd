package lang

import (
	"cmp"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"

	ts "github.com/odvcencio/gotreesitter"
)

// A shape says how a parser's node becomes one of ours: of which kind, and which of
// its children are its parts. A place is a field name of the grammar; "@kind" the first
// child of that kind; "#n" the n-th named child; "a>b" place b of what is at a; "a|b"
// what is at a, else at b.
type shape struct {
	kind                     Kind
	x, y, z, name, body, typ string
	l                        string // "*": all named children that no other place took; what has no shape stands for its children
	op                       string // literal text, or "@op" for the tokens between the children, or the place of a text
	callee                   string // place of the called expression: sets X and Name
	as                       string // the node is nothing but what is at this place, where that is filled
	hook                     func(b *builder, n *ts.Node) *Node
}

// A table maps node kinds, separated by blanks, to the shape that they share; skip
// names kinds that carry no meaning, notes those that are or hold annotations.
type table struct {
	lang    Lang
	grammar func() *ts.Language
	shapes  map[string]shape
	skip    map[string]bool
	notes   map[string]bool
	pool    sync.Pool // of builders, for each holds a parser
}

// maxDepth bounds the tree that we build: deeper nesting is generated code or
// an attack, and every later pass recurses.
const maxDepth = 1000

type builder struct {
	t      *table
	l      *ts.Language
	parser *ts.Parser
	src    []byte
	bySym  []*shape // by symbol of the grammar
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

// at finds what is at a place of a shape.
func (b *builder) at(n *ts.Node, place string) *ts.Node {
	if first, second, ok := strings.Cut(place, "|"); ok {
		return cmp.Or(b.at(n, first), b.at(n, second))
	}
	if outer, inner, ok := strings.Cut(place, ">"); ok {
		if n = b.at(n, outer); n == nil {
			return nil
		}
		return b.at(n, inner)
	}
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
	s := b.shape(n)
	if s.as != "" {
		if c := b.at(n, s.as); c != nil {
			return b.annotate(b.build(c), n)
		}
	}
	switch {
	case s.hook != nil:
		return s.hook(b, n)
	case s.kind != None:
		return b.shaped(n, s)
	}
	return b.other(n)
}

func (b *builder) shape(n *ts.Node) *shape {
	if i := int(n.Symbol()); i < len(b.bySym) {
		return b.bySym[i]
	}
	return noShape
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
		if place == "" {
			return nil
		}
		c := b.at(n, place)
		if c != nil {
			used = append(used, c)
		}
		return c
	}
	callee := b.build(take(s.callee))
	o.X, o.Y, o.Z, o.Body = b.build(take(s.x)), b.build(take(s.y)), b.build(take(s.z)), b.build(take(s.body))
	o.setCallee(callee)
	if name, ok := strings.CutPrefix(s.name, "="); ok {
		o.Name = name
	} else {
		o.Name = cmp.Or(o.Name, b.nameOf(take(s.name)))
	}
	if s.typ != "" {
		o.Type = TypeName(b.text(take(s.typ)))
	}
	b.annotate(o, n)
	switch {
	case s.op == "@op":
		o.Op = b.tokens(n)
	case strings.HasPrefix(s.op, "@"):
		o.Op = b.text(b.at(n, s.op))
	case s.op != "":
		o.Op = s.op
	}
	switch {
	case s.l == "*":
		o.List = b.all(n, used...)
	case s.l != "":
		o.List = b.list(b.at(n, s.l))
	}
	return b.settle(o, n)
}

// list gives the elements of a list; an expression that stands in place of one is its
// only element: x => y, f`text`, ",".join(x for x in y).
func (b *builder) list(n *ts.Node) []*Node {
	if n == nil || b.shape(n) == noShape || b.shape(n).kind == Block {
		return b.all(n)
	}
	if k := b.build(n); k != nil {
		return []*Node{k}
	}
	return nil
}

// settle brings a node whose parts are built to the form that Kind promises.
func (b *builder) settle(o *Node, n *ts.Node) *Node {
	switch o.Kind {
	case Func:
		for i, k := range o.List {
			o.List[i] = asParam(k)
		}
		if o.Op == "lambda" {
			o.Body = exprBody(o.Body)
		}
	case Param:
		asParam(o)
	case Ident:
		if o.Name == "" {
			o.Name = b.bare(b.text(n))
		}
	case Lit:
		o.Name = b.text(n)
	case Pair:
		return pairOf(o)
	case Dict:
		for i, k := range o.List {
			if k.Kind == Func && k.Name != "" { // a method
				o.List[i] = k.Here(Node{Kind: Pair, Name: k.Name, Y: k})
			}
		}
	case If: // further branches, one after the other
		tail := o
		for _, k := range o.List {
			tail.Z = k
			tail = k
		}
		o.List = nil
	case Loop:
		if o.Z != nil && o.Op == "" { // what follows each round
			o.Body, o.Z = o.Here(Node{Kind: Block, List: []*Node{o.Body, o.Z}}), nil
		}
	case Try:
		o.settleTry()
	}
	return o
}

// pairOf takes key and value of a list of them; a value alone is no pair.
func pairOf(o *Node) *Node {
	if len(o.List) > 1 {
		o.X, o.List = o.List[0], o.List[1:]
	}
	if len(o.List) > 0 {
		o.Y, o.List = o.List[0], nil
	}
	nameKey(o)
	if o.X == nil && o.Name == "" {
		return o.Y
	}
	return o
}

// settleTry puts resources before the body, and what follows where nothing was thrown
// (Python's else) behind it; handlers are left.
func (o *Node) settleTry() {
	parts := o.List
	o.List = nil
	for _, k := range parts {
		switch {
		case k.Kind == Catch:
			o.List = append(o.List, k)
		case o.Body == nil:
		case k.Off < o.Body.Off:
			o.Body.List = append([]*Node{k}, o.Body.List...)
		default:
			o.Body.List = append(o.Body.List, k)
		}
	}
}

// asParam makes a parameter of a name, a pattern, a rest or one with a default.
func asParam(k *Node) *Node {
	p := k
	if k.Kind != Param {
		p = k.Here(Node{Kind: Param, X: k})
	}
	if x := p.X; x != nil && x.Kind == Cond && x.Op == "default" {
		p.X, p.Y = x.Y, x.Z
	}
	if x := p.X; x != nil && x.Kind == Spread && x.X != nil && x.X.Kind == Ident {
		p.X, p.Op = x.X, "..."
	}
	if x := p.X; x != nil && x.Kind == Ident {
		p.X, p.Name = nil, x.Name
	}
	return p
}

// exprBody makes a lambda's expression a block that returns it.
func exprBody(n *Node) *Node {
	if n == nil || n.Kind == Block {
		return n
	}
	r := *n
	return n.Here(Node{Kind: Block, List: []*Node{n.Here(Node{Kind: Return, X: &r})}})
}

// nameKey moves a plain key into Name.
func nameKey(o *Node) {
	if o.X != nil && (o.X.Kind == String || o.X.Kind == Lit) {
		o.Name = o.X.Name
	}
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

// nameOf gives a name's text: strings unquoted, generics and sigils cut. A computed
// name is none.
func (b *builder) nameOf(n *ts.Node) string {
	t := b.text(n)
	switch {
	case t == "" || t[0] == '[':
		return ""
	case strings.IndexByte("\"'`", t[0]) >= 0:
		return strings.Trim(t, "\"'`")
	}
	if i := strings.IndexByte(t, '<'); i > 0 {
		t = t[:i]
	}
	return b.bare(strings.TrimSpace(t))
}

// bare cuts the sigils of PHP's variables and its namespaces, and the sigils of
// JavaScript's private members, where $ is part of the name.
func (b *builder) bare(name string) string {
	if b.t.lang == PHP {
		return afterLast(strings.TrimLeft(name, "$&"), '\\')
	}
	return strings.TrimLeft(name, "#&")
}

// tokens are the operators between the operands of n.
func (b *builder) tokens(n *ts.Node) string {
	var ops []string
	for c := range children(n) {
		if t := b.text(c); !c.IsNamed() && t != "(" && t != ")" {
			ops = append(ops, t)
		}
	}
	return strings.Join(ops, " ")
}

// annotate gives a function, class or parameter the annotations among the children of
// n, or within a child that holds them (Java's modifiers), and the modifiers' words
// as Op.
func (b *builder) annotate(o *Node, n *ts.Node) *Node {
	if o == nil || o.Kind != Func && o.Kind != Class && o.Kind != Param && o.Kind != Assign {
		return o
	}
	for c := range children(n) {
		if !b.t.notes[b.kind(c)] {
			continue
		}
		switch k := b.build(c); {
		case k == nil:
		case k.Kind == Call:
			o.Notes = append(o.Notes, k)
		default:
			o.Notes = append(o.Notes, slices.DeleteFunc(k.List, func(m *Node) bool { return m.Kind != Call })...)
		}
		for m := range children(c) {
			if t := b.text(m); !m.IsNamed() && t >= "a" {
				o.Op = strings.TrimSpace(o.Op + " " + t)
			}
		}
	}
	return o
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
