package lang

import (
	"cmp"
	"strings"

	ts "github.com/odvcencio/gotreesitter"
	"github.com/odvcencio/gotreesitter/grammars"
)

var pythonTable = &table{
	lang:    Python,
	grammar: grammars.PythonLanguage,
	param:   pyParam,
	skip:    Words("comment line_continuation type_conversion format_specifier future_import_statement global_statement nonlocal_statement"),
	shapes: map[string]shape{
		"module block finally_clause":            {kind: Block, l: "*"},
		"import_statement import_from_statement": {hook: pyImport},
		"decorated_definition":                   {hook: pyDecorated},
		"decorator":                              {hook: jsDecorator},
		"function_definition lambda":             {hook: buildFunc},
		"class_definition":                       {hook: pyClass},
		"assignment":                             {kind: Assign, x: "left", y: "right", op: "=", typ: "type"},
		"augmented_assignment":                   {kind: Assign, x: "left", y: "right", op: "+="},
		"named_expression":                       {kind: Assign, x: "name", y: "value", op: "="},
		"call":                                   {kind: Call, callee: "function", l: "arguments"},
		"keyword_argument":                       {kind: Pair, name: "name", y: "value"},
		"attribute":                              {kind: Member, x: "object", name: "attribute"},
		"subscript":                              {kind: Index, x: "value", y: "subscript"},
		"identifier dotted_name":                 {kind: Ident},
		"string":                                 {hook: buildString},
		"concatenated_string":                    {kind: Template, l: "*"},
		"integer float":                          {kind: Lit, op: "number"},
		"true false":                             {kind: Lit, op: "bool"},
		"none":                                   {kind: Lit, op: "null"},
		"binary_operator boolean_operator":       {kind: Binary, x: "left", y: "right", op: "@op"},
		"comparison_operator":                    {hook: pyCompare},
		"not_operator":                           {kind: Unary, op: "!", x: "argument"},
		"unary_operator":                         {kind: Unary, op: "@op", x: "argument"},
		"conditional_expression":                 {kind: Cond, y: "#0", x: "#1", z: "#2"},
		"list set":                               {kind: Array, l: "*"},
		"tuple expression_list pattern_list tuple_pattern": {kind: Array, op: "tuple", l: "*"},
		"dictionary":                  {kind: Dict, l: "*"},
		"pair":                        {hook: buildPair},
		"dictionary_splat list_splat": {kind: Spread, x: "#0"},
		"list_comprehension set_comprehension generator_expression dictionary_comprehension": {hook: pyComprehension},
		"if_statement":       {hook: pyIf},
		"for_statement":      {kind: Loop, x: "right", y: "left", body: "body"},
		"while_statement":    {kind: Loop, x: "condition", body: "body"},
		"with_statement":     {hook: pyWith},
		"as_pattern":         {hook: pyAs},
		"try_statement":      {hook: buildTry},
		"except_clause":      {hook: pyExcept},
		"return_statement":   {kind: Return, x: "#0"},
		"yield":              {kind: Return, op: "yield", x: "#0"},
		"raise_statement":    {kind: Throw, x: "#0"},
		"break_statement":    {kind: Jump, op: "break"},
		"continue_statement": {kind: Jump, op: "continue"},
		"print_statement":    {kind: Call, name: "@print", l: "*"},
		"exec_statement":     {kind: Call, name: "@exec", l: "*"},
		"assert_statement":   {kind: Call, op: "assert", name: "@assert", l: "*"},
	},
}

func pyImport(b *builder, n *ts.Node) *Node {
	from := b.text(b.at(n, "module_name"))
	o := b.of(Import, n, Node{Name: from})
	for i := 0; i < n.ChildCount(); i++ {
		if n.FieldNameForChild(i, b.l) != "name" {
			continue
		}
		c := n.Child(i)
		name, local := b.text(c), ""
		if b.kind(c) == "aliased_import" {
			name, local = b.text(b.at(c, "name")), b.text(b.at(c, "alias"))
		}
		full := name
		if from != "" {
			full = from + "." + name
		}
		if local == "" {
			local = name
			if from == "" { // "import a.b" binds a
				local, _, _ = strings.Cut(name, ".")
				full = local
			}
		}
		o.bind(local, full)
		if o.Name == "" {
			o.Name = name
		}
	}
	return o
}

func pyParam(b *builder, c *ts.Node) *Node {
	p := b.node(Param, c)
	switch b.kind(c) {
	case "identifier":
		p.Name = b.text(c)
	case "typed_parameter", "typed_default_parameter", "default_parameter":
		p.Name = strings.TrimLeft(b.text(cmp.Or(b.at(c, "name"), b.named(c, 0))), "*")
		p.Type = strings.TrimSpace(b.text(b.at(c, "type")))
		p.Y = b.build(b.at(c, "value"))
	case "list_splat_pattern", "dictionary_splat_pattern":
		p.Name, p.Op = strings.TrimLeft(b.text(c), "*"), "..."
	default:
		return nil
	}
	return p
}

func pyDecorated(b *builder, n *ts.Node) *Node {
	o := b.build(b.at(n, "definition"))
	if o == nil {
		return nil
	}
	o.Notes = append(o.Notes, b.decorators(n)...)
	return o
}

// asNote makes an annotation of a decorator's expression, nil of one that has no name.
func asNote(k *Node) *Node {
	if k == nil || k.Kind != Ident && k.Kind != Member && k.Kind != Call {
		return nil
	}
	k.Kind, k.Op = Call, "note"
	return k
}

func pyClass(b *builder, n *ts.Node) *Node {
	o := b.of(Class, n, Node{Op: "class", Name: b.text(b.at(n, "name"))})
	for _, k := range b.all(b.at(n, "superclasses")) {
		o.bases(Dotted(k))
	}
	o.Body = b.build(b.at(n, "body"))
	if o.Body != nil {
		for _, m := range o.Body.List {
			if m.Kind == Assign {
				m.Name = "field static"
			}
		}
	}
	return o
}

func pyCompare(b *builder, n *ts.Node) *Node {
	o := b.node(Binary, n)
	var ops []string
	for c := range children(n) {
		if !c.IsNamed() {
			ops = append(ops, b.text(c))
		}
	}
	o.Op = strings.Join(ops, " ")
	o.X, o.Y = b.build(b.named(n, 0)), b.build(b.named(n, 1))
	return o
}

func buildPair(b *builder, n *ts.Node) *Node {
	o := b.of(Pair, n, Node{X: b.build(b.at(n, "key")), Y: b.build(b.at(n, "value"))})
	nameKey(o)
	return o
}

// nameKey moves a plain key into Name.
func nameKey(o *Node) {
	if o.X != nil && (o.X.Kind == String || o.X.Kind == Lit) {
		o.Name = o.X.Name
	}
}

func pyComprehension(b *builder, n *ts.Node) *Node {
	o := b.node(Loop, n)
	o.Op = "comprehension"
	for c := range children(n) {
		switch b.kind(c) {
		case "for_in_clause":
			if o.X == nil {
				o.X, o.Y = b.build(b.at(c, "right")), b.build(b.at(c, "left"))
			}
		case "if_clause":
			o.Z = b.build(c)
		}
	}
	o.Body = b.build(b.at(n, "body"))
	return o
}

// pyIf chains elif clauses into nested Ifs.
func pyIf(b *builder, n *ts.Node) *Node {
	branch := func(n *ts.Node) *Node {
		return b.of(If, n, Node{X: b.build(b.at(n, "condition")), Y: b.build(cmp.Or(b.at(n, "consequence"), b.at(n, "body")))})
	}
	o := branch(n)
	tail := o
	for c := range children(n) {
		switch b.kind(c) {
		case "elif_clause", "else_if_clause":
			tail.Z = branch(c)
			tail = tail.Z
		case "else_clause":
			tail.Z = b.build(b.at(c, "body"))
		}
	}
	return o
}

func pyWith(b *builder, n *ts.Node) *Node {
	o := b.node(Block, n)
	o.List = b.all(b.at(n, "@with_clause"))
	if body := b.build(b.at(n, "body")); body != nil {
		o.List = append(o.List, body)
	}
	return o
}

func pyAs(b *builder, n *ts.Node) *Node {
	o := b.of(Assign, n, Node{Op: "=", Y: b.build(b.named(n, 0))})
	if a := b.at(n, "alias"); a != nil {
		o.X = b.build(b.named(a, 0))
	}
	return o
}

func pyExcept(b *builder, n *ts.Node) *Node {
	value := b.at(n, "value")
	o := b.of(Catch, n, Node{Type: b.text(value), Body: b.build(b.at(n, "@block"))})
	if v := b.build(value); v != nil && v.Kind == Assign {
		o.Y = v.X
	}
	return o
}
