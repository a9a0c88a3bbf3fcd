package lang

import (
	"strings"

	ts "github.com/odvcencio/gotreesitter"
	"github.com/odvcencio/gotreesitter/grammars"
)

var javaMods = Words("modifiers")

var javaTable = &table{
	lang:    Java,
	grammar: grammars.JavaLanguage,
	param:   func(b *builder, n *ts.Node) *Node { return asParam(b.build(n)) },
	skip:    Words("line_comment block_comment dimensions throws asterisk type_parameters"),
	shapes: map[string]shape{
		"program class_body interface_body enum_body enum_body_declarations modifiers inferred_parameters": {kind: Block, l: "*"},
		"package_declaration": {kind: Import, op: "package", name: "#0"},
		"import_declaration":  {hook: javaImport},
		"class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration": {hook: javaClass},
		"method_declaration":                                {kind: Func, name: "name", l: "parameters", body: "body", typ: "type", notes: javaMods},
		"constructor_declaration":                           {kind: Func, name: "name", l: "parameters", body: "body", notes: javaMods},
		"compact_constructor_declaration":                   {kind: Func, name: "name", body: "body", notes: javaMods},
		"annotation":                                        {kind: Call, op: "note", name: "name", l: "arguments"},
		"marker_annotation":                                 {kind: Call, op: "note", name: "name"},
		"element_value_pair":                                {kind: Pair, name: "key", y: "value"},
		"element_value_array_initializer array_initializer": {kind: Array, l: "*"},
		"formal_parameter":                                  {kind: Param, name: "name", typ: "type", notes: javaMods},
		"spread_parameter":                                  {kind: Param, name: "@variable_declarator", typ: "#0", op: "..."},
		"catch_formal_parameter":                            {kind: Ident, name: "name"},
		"field_declaration constant_declaration local_variable_declaration": {hook: javaVars},
		"resource": {kind: Assign, op: "=", x: "name", y: "value", typ: "type"},
		"resource_specification block constructor_body finally_clause": {kind: Block, l: "*"},
		"assignment_expression":           {kind: Assign, x: "left", y: "right", op: "@op"},
		"method_invocation":               {kind: Call, x: "object", name: "name", l: "arguments"},
		"object_creation_expression":      {kind: Call, op: "new", name: "type", l: "arguments", body: "@class_body"},
		"explicit_constructor_invocation": {kind: Call, name: "constructor", l: "arguments"},
		"method_reference":                {hook: javaMethodRef},
		"field_access":                    {kind: Member, x: "object", name: "field"},
		"array_access":                    {kind: Index, x: "array", y: "index"},
		"identifier type_identifier scoped_type_identifier this super": {kind: Ident},
		"string_literal":    {hook: buildString},
		"character_literal": {hook: charLiteral},
		"decimal_integer_literal hex_integer_literal decimal_floating_point_literal": {kind: Lit, op: "number"},
		"true false":                                 {kind: Lit, op: "bool"},
		"null_literal":                               {kind: Lit, op: "null"},
		"class_literal":                              {kind: Member, x: "#0", op: "class"},
		"binary_expression":                          {kind: Binary, x: "left", y: "right", op: "@op"},
		"instanceof_expression":                      {kind: Binary, op: "instanceof", x: "left", y: "right"},
		"unary_expression":                           {kind: Unary, x: "operand", op: "@op"},
		"update_expression":                          {kind: Unary, x: "#0", op: "++"},
		"ternary_expression":                         {kind: Cond, x: "condition", y: "consequence", z: "alternative"},
		"cast_expression":                            {kind: Unary, op: "cast", typ: "type", x: "value"},
		"array_creation_expression":                  {kind: Array, l: "value"},
		"lambda_expression":                          {hook: buildFunc},
		"if_statement":                               {kind: If, x: "condition", y: "consequence", z: "alternative"},
		"enhanced_for_statement":                     {kind: Loop, x: "value", y: "name", body: "body", typ: "type"},
		"for_statement":                              {hook: cFor("init", "update")},
		"while_statement do_statement":               {kind: Loop, x: "condition", body: "body"},
		"switch_expression":                          {kind: Switch, x: "condition", l: "body"},
		"switch_block_statement_group switch_rule":   {hook: javaCase},
		"switch_label":                               {kind: Case, l: "*"},
		"try_statement try_with_resources_statement": {hook: buildTry},
		"catch_clause":                               {kind: Catch, y: "@catch_formal_parameter", body: "body", typ: "@catch_formal_parameter"},
		"return_statement":                           {kind: Return, x: "#0"},
		"yield_statement":                            {kind: Return, op: "yield", x: "#0"},
		"throw_statement":                            {kind: Throw, x: "#0"},
		"break_statement":                            {kind: Jump, op: "break"},
		"continue_statement":                         {kind: Jump, op: "continue"},
		"synchronized_statement":                     {kind: Block, op: "synchronized", l: "*"},
		"enum_constant":                              {kind: Call, op: "new", name: "name", l: "arguments", body: "body"},
	},
}

// Words is the set of the words of a text.
func Words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

func javaImport(b *builder, n *ts.Node) *Node {
	o := b.node(Import, n)
	t := strings.TrimSuffix(strings.TrimSpace(strings.TrimPrefix(b.text(n), "import")), ";")
	o.Name = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(t), "static "))
	o.bind(afterLast(o.Name, '.'), o.Name)
	return o
}

func javaClass(b *builder, n *ts.Node) *Node {
	o := b.node(Class, n)
	o.Name = b.text(b.at(n, "name"))
	b.annotate(o, n, javaMods, nil)
	o.Op = strings.TrimSpace(o.Op + " " + strings.TrimSuffix(b.kind(n), "_declaration"))
	for _, place := range []string{"superclass", "interfaces", "@extends_interfaces"} {
		o.bases(b.text(b.at(n, place)))
	}
	o.Body = b.build(b.at(n, "body"))
	if p := b.at(n, "parameters"); p != nil && o.Body != nil { // a record's components are its fields
		for _, k := range b.all(p) {
			k.Kind, k.X = Assign, &Node{Kind: Ident, Name: k.Name, Start: k.Start, End: k.End}
			k.Name = "field"
			o.Body.List = append(o.Body.List, k)
		}
	}
	return o
}

func cutGenerics(s string) string {
	var out strings.Builder
	depth := 0
	for _, r := range s {
		switch {
		case r == '<':
			depth++
		case r == '>':
			depth--
		case depth == 0:
			out.WriteRune(r)
		}
	}
	return out.String()
}

func javaVars(b *builder, n *ts.Node) *Node {
	out := b.node(Block, n)
	var proto Node
	b.annotate(&proto, n, javaMods, nil)
	typ := TypeName(b.text(b.at(n, "type")))
	for c := range children(n) {
		if b.kind(c) != "variable_declarator" {
			continue
		}
		a := b.node(Assign, n)
		a.X, a.Y = b.build(b.at(c, "name")), b.build(b.at(c, "value"))
		a.Op, a.Type, a.Notes = "=", typ, proto.Notes
		if b.kind(n) != "local_variable_declaration" {
			a.Name = strings.TrimSpace("field " + proto.Op)
		}
		out.List = append(out.List, a)
	}
	if len(out.List) == 1 {
		return out.List[0]
	}
	return out
}

func javaMethodRef(b *builder, n *ts.Node) *Node {
	kids := b.all(n)
	if len(kids) == 0 {
		return nil
	}
	o := b.of(Member, n, Node{Op: "ref", X: kids[0], Name: "new"})
	if len(kids) > 1 {
		o.Name = kids[1].Name
	}
	return o
}

func asParam(k *Node) *Node {
	switch {
	case k == nil || k.Kind == Param:
		return k
	case k.Kind == Ident:
		k.Kind = Param
		return k
	}
	return k.Here(Node{Kind: Param, X: k})
}

func javaCase(b *builder, n *ts.Node) *Node {
	o := b.node(Case, n)
	body := b.node(Block, n)
	for c := range b.kids(n) {
		k := b.build(c)
		switch {
		case k == nil:
		case b.kind(c) == "switch_label":
			o.List = append(o.List, k.List...)
		default:
			body.List = append(body.List, k)
		}
	}
	o.Body = body
	return o
}

// buildTry reads try statements: the body after its resources, with what follows where
// nothing was thrown (Python's else), handlers, a last part.
func buildTry(b *builder, n *ts.Node) *Node {
	o := b.node(Try, n)
	o.Body = b.build(b.at(n, "body"))
	if r := b.build(b.at(n, "resources")); r != nil && o.Body != nil {
		o.Body.List = append([]*Node{r}, o.Body.List...)
	}
	for c := range children(n) {
		switch b.kind(c) {
		case "catch_clause", "except_clause":
			o.List = append(o.List, b.build(c))
		case "finally_clause":
			o.Z = b.build(c)
		case "else_clause":
			if e := b.build(b.at(c, "body")); e != nil && o.Body != nil {
				o.Body.List = append(o.Body.List, e)
			}
		}
	}
	return o
}

func cFor(init, update string) func(*builder, *ts.Node) *Node {
	return func(b *builder, n *ts.Node) *Node {
		o := b.node(Loop, n)
		if i := b.build(b.at(n, init)); i != nil {
			o.List = []*Node{i}
		}
		o.X = b.build(b.at(n, "condition"))
		o.Body = b.build(b.at(n, "body"))
		if u := b.build(b.at(n, update)); u != nil {
			o.Body = b.of(Block, n, Node{List: []*Node{o.Body, u}})
		}
		return o
	}
}

func charLiteral(b *builder, n *ts.Node) *Node {
	return b.of(String, n, Node{Name: strings.Trim(b.text(n), "'")})
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
