package lang

import (
	"strings"

	ts "github.com/odvcencio/gotreesitter"
)

// basePlaces are where the grammars keep what a class is made of.
var basePlaces = []string{"superclass", "interfaces", "@extends_interfaces", "@base_clause", "@class_interface_clause", "superclasses", "@class_heritage"}

// buildClass reads classes, interfaces, enumerations, records and traits.
func buildClass(b *builder, n *ts.Node) *Node {
	o := b.of(Class, n, Node{Name: b.text(b.at(n, "name")), Body: b.build(b.at(n, "body"))})
	b.annotate(o, n)
	sort, _, _ := strings.Cut(b.kind(n), "_")
	o.Op = strings.TrimSpace(o.Op + " " + sort)
	for _, place := range basePlaces {
		o.bases(b.text(b.at(n, place)))
	}
	if o.Body == nil {
		return o
	}
	for _, m := range o.Body.List {
		if m.Kind == Assign && m.Name == "" { // Python
			m.Name = "field static"
		}
	}
	for _, k := range b.all(b.at(n, "parameters")) { // a record's components
		k.Kind, k.X = Assign, &Node{Kind: Ident, Name: k.Name, Start: k.Start, End: k.End}
		k.Name = "field"
		o.Body.List = append(o.Body.List, k)
	}
	return o
}

// buildVars reads a declaration of one or more variables or fields. Which of them are
// static, final or constant stands in Name.
func buildVars(b *builder, n *ts.Node) *Node {
	var proto Node
	proto.Kind = Assign
	b.annotate(&proto, n)
	typ := TypeName(b.text(b.at(n, "type")))
	out := b.node(Block, n)
	for c := range b.kids(n) {
		mods := ""
		switch b.kind(c) {
		case "variable_declarator":
			if b.kind(n) != "local_variable_declaration" {
				mods = strings.TrimSpace("field " + proto.Op)
			}
		case "property_element":
			mods = "field"
		case "const_element":
			mods = "field static const"
		default:
			continue
		}
		out.List = append(out.List, b.of(Assign, n, Node{Name: mods, Op: "=", Type: typ, Notes: proto.Notes, X: b.build(b.named(c, 0)), Y: b.build(b.named(c, 1))}))
	}
	if len(out.List) == 1 {
		return out.List[0]
	}
	return out
}

// buildCase reads a branch of a switch: its labels, and a body of all that follows.
func buildCase(b *builder, n *ts.Node) *Node {
	value := b.at(n, "value")
	o := b.of(Case, n, Node{Body: b.node(Block, n)})
	if l := b.build(value); l != nil {
		o.List = []*Node{l}
	}
	for _, k := range b.all(n, value) {
		if k.Kind == Case { // Java's labels
			o.List = append(o.List, k.List...)
		} else {
			o.Body.List = append(o.Body.List, k)
		}
	}
	return o
}

// buildNote makes an annotation of a decorator, nil of one that has no name.
func buildNote(b *builder, n *ts.Node) *Node {
	k := b.build(b.named(n, 0))
	if k == nil || k.Kind != Ident && k.Kind != Member && k.Kind != Call {
		return nil
	}
	k.Kind, k.Op = Call, "note"
	return k
}

// literalParts are the kinds that hold a string's plain text.
var literalParts = Words("string_content string_fragment multiline_string_fragment escape_sequence nowdoc_string")

// buildString gives a String, or a Template where expressions stand inside.
func buildString(b *builder, n *ts.Node) *Node {
	o := b.node(String, n)
	var parts []*Node
	var lit strings.Builder
	named := 0
	flush := func(at *ts.Node) {
		if lit.Len() > 0 {
			parts = append(parts, b.of(String, at, Node{Name: lit.String()}))
			lit.Reset()
		}
	}
	for c := range b.kids(n) {
		named++
		switch k := b.kind(c); {
		case k == "string_start" || k == "string_end" || k == "heredoc_start" || k == "heredoc_end":
		case literalParts[k]:
			t := b.text(c)
			if k == "escape_sequence" {
				t = escapes.Replace(t)
			}
			lit.WriteString(t)
		case k == "interpolation" || k == "template_substitution":
			flush(c)
			if e := b.build(b.named(c, 0)); e != nil {
				parts = append(parts, e)
			}
		default:
			flush(c)
			if e := b.build(c); e != nil {
				parts = append(parts, e)
			}
		}
	}
	flush(n)
	switch {
	case named == 0:
		o.Name = strings.Trim(b.text(n), "\"'`")
	case len(parts) == 1 && parts[0].Kind == String:
		o.Name = parts[0].Name
	case len(parts) > 0:
		o.Kind, o.List = Template, parts
	}
	return o
}

// escapes are the escape sequences that are read; others stay as they are.
var escapes = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\'`, `'`, `\\`, `\`)
