// Package lang parses Java, Python, JavaScript, TypeScript, Go and PHP into one
// small tree, so that the rules and the flow engine know nothing of parsers.
//
// A table per language (java.go, php.go, ...) maps the parser's node kinds to
// the shapes below. What no table names becomes Other with its children: a
// construct that we do not know loses precision, never the code inside it.
package lang

import (
	"strings"
	"unicode"
)

// Kind is the shape of a node.
type Kind uint8

// The shapes. The comment names the fields that a shape uses.
const (
	None     Kind = iota
	Other         // List: children of a construct that has no shape of its own
	Block         // List: statements
	Func          // Name, Params in List, Body, Type (result), Notes, Op (modifiers)
	Class         // Name, List: bases (Ident), Body: members, Notes, Op (class, interface, ...)
	Param         // Name or X (pattern), Type, Y: default, Notes, Op ("..." for a rest parameter)
	Assign        // X target, Y value (nil: declaration alone), Op ("=", "+=", ...), Type, Notes, Mods in Name
	Call          // X receiver (nil: free), Name, List: arguments, Op "new" for construction, Body: anonymous class
	Member        // X, Name
	Index         // X, Y
	Ident         // Name
	String        // Name: the value, unquoted
	Lit           // Op: number, bool, null, regex; Name: text
	Template      // List: String and expressions
	Binary        // Op, X, Y
	Unary         // Op, X
	Cond          // X ? Y : Z
	If            // X condition, Y then, Z else
	Loop          // X iterated or condition, Y target, Body, List: initialisers
	Switch        // X, List: Case
	Case          // List: labels, Body
	Try           // Body, List: Catch, Z finally
	Catch         // Y target, Body, Type
	Return        // X
	Throw         // X
	Jump          // Op: break, continue
	Array         // List: elements
	Dict          // List: Pair or Spread
	Pair          // X key (nil when Name says it), Name, Y value
	Spread        // X
	Import        // Name: module, List: Ident (Name: local name, Op: name in the module)
	Markup        // Name: tag, List: Pair (attributes), Body: content
)

// A Node is a node of the small tree. Which fields a shape uses is said at the
// constants of Kind.
type Node struct {
	Kind       Kind
	Start, End int32 // lines, from 1, both included
	Off, To    int32 // bytes
	Name       string
	Op         string
	Type       string
	X, Y, Z    *Node
	Body       *Node
	List       []*Node
	Notes      []*Node // annotations, decorators, attributes: Call nodes
}

// A Lang is one of the languages, by its name in rules: java, python, js, go, php.
type Lang string

// The languages. TypeScript and JSX are js: rules for both are the same.
const (
	Java   Lang = "java"
	Python Lang = "python"
	JS     Lang = "js"
	Go     Lang = "go"
	PHP    Lang = "php"
)

// A File is one parsed source file.
type File struct {
	Path    string
	Lang    Lang
	Src     []byte
	Package string // Java package, Go package, PHP namespace
	Imports []*Node
	Root    *Node // Block
	Errors  int   // places that the parser could not read
}

// Walk calls f for n and its descendants, in source order; f returns false to
// leave out the descendants of a node.
func Walk(n *Node, f func(*Node) bool) {
	if n == nil || !f(n) {
		return
	}
	for _, c := range n.Notes {
		Walk(c, f)
	}
	Walk(n.X, f)
	Walk(n.Y, f)
	Walk(n.Z, f)
	for _, c := range n.List {
		Walk(c, f)
	}
	Walk(n.Body, f)
}

// Here gives o at the place of n.
func (n *Node) Here(o Node) *Node {
	o.Start, o.End, o.Off, o.To = n.Start, n.End, n.Off, n.To
	return &o
}

// bind adds a name that o brings: what it stands for, or a base of a class.
func (o *Node) bind(local, full string) {
	o.List = append(o.List, &Node{Kind: Ident, Name: local, Op: full})
}

// bases adds the classes that a clause of bases names: "extends A<B> implements p.C",
// "(A, B[T], metaclass=M)".
func (o *Node) bases(clause string) {
	for _, w := range strings.FieldsFunc(cutGenerics(clause), func(r rune) bool { return strings.ContainsRune(",()", r) || unicode.IsSpace(r) }) {
		if w != "extends" && w != "implements" && !strings.Contains(w, "=") {
			o.bind(afterLast(afterLast(w, '.'), '\\'), "")
		}
	}
}

func cutGenerics(s string) string {
	var out strings.Builder
	depth := 0
	for _, r := range s {
		switch {
		case r == '<' || r == '[':
			depth++
		case r == '>' || r == ']':
			depth--
		case depth == 0:
			out.WriteRune(r)
		}
	}
	return out.String()
}

func afterLast(s string, sep byte) string { return s[strings.LastIndexByte(s, sep)+1:] }

// Text gives the source of n.
func (f *File) Text(n *Node) string {
	if n == nil || n.Off < 0 || int(n.To) > len(f.Src) || n.Off > n.To {
		return ""
	}
	return string(f.Src[n.Off:n.To])
}

// Dotted gives "a.b.c" for a chain of members on an identifier, calls within it
// written "a.b()", and "" for anything else.
func Dotted(n *Node) string { return dotted(n, 0) }

func dotted(n *Node, depth int) string {
	if n == nil || depth > 12 {
		return ""
	}
	switch n.Kind {
	case Ident:
		return n.Name
	case Member:
		if x := dotted(n.X, depth+1); x != "" {
			return x + "." + n.Name
		}
	case Call:
		if n.X == nil {
			return n.Name + "()"
		}
		if x := dotted(n.X, depth+1); x != "" {
			return x + "." + n.Name + "()"
		}
	case Index:
		return dotted(n.X, depth+1)
	}
	return ""
}

// Words is the set of the words of a text.
func Words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}
