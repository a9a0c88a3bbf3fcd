package lang

import (
	"bytes"
	"cmp"
	"strings"

	ts "github.com/odvcencio/gotreesitter"
	"github.com/odvcencio/gotreesitter/grammars"
)

var phpTable = &table{
	lang:    PHP,
	grammar: grammars.PhpLanguage,
	skip: Words(`comment php_tag php_end_tag empty_statement text_interpolation text unset_statement global_declaration
		visibility_modifier static_modifier abstract_modifier final_modifier readonly_modifier`),
	shapes: map[string]shape{
		"program declaration_list attribute_list attribute_group compound_statement colon_block finally_clause": {kind: Block, l: "*"},
		"namespace_definition":      {hook: phpNamespace},
		"namespace_use_declaration": {hook: phpUse},
		"class_declaration interface_declaration trait_declaration enum_declaration": {hook: phpClass},
		"property_declaration const_declaration":                                     {hook: phpFields},
		"method_declaration":                                                         {kind: Func, name: "name", l: "parameters", body: "body", typ: "return_type", notes: phpMods},
		"function_definition":                                                        {kind: Func, name: "name", l: "parameters", body: "body", typ: "return_type", notes: phpNotes},
		"anonymous_function arrow_function":                                          {kind: Func, op: "lambda", l: "parameters", body: "body"},
		"simple_parameter":                                                           {kind: Param, name: "name", typ: "type", y: "default_value"},
		"property_promotion_parameter":                                               {kind: Param, op: "property", name: "name", typ: "type", y: "default_value"},
		"variadic_parameter":                                                         {kind: Param, name: "name", typ: "type", op: "..."},
		"attribute":                                                                  {kind: Call, op: "note", name: "#0", l: "parameters"},
		"assignment_expression reference_assignment_expression":                      {kind: Assign, x: "left", y: "right", op: "="},
		"augmented_assignment_expression":                                            {kind: Assign, x: "left", y: "right", op: "@op"},
		"static_variable_declaration":                                                {kind: Assign, x: "name", y: "value", op: "="},
		"function_call_expression":                                                   {kind: Call, callee: "function", l: "arguments"},
		"member_call_expression nullsafe_member_call_expression":                     {kind: Call, x: "object", name: "name", l: "arguments"},
		"scoped_call_expression":                                                     {kind: Call, x: "scope", name: "name", l: "arguments"},
		"object_creation_expression":                                                 {hook: phpNew},
		"argument":                                                                   {hook: phpArgument},
		"member_access_expression nullsafe_member_access_expression":                 {kind: Member, x: "object", name: "name"},
		"scoped_property_access_expression":                                          {kind: Member, x: "scope", name: "name"},
		"class_constant_access_expression":                                           {kind: Member, x: "#0", name: "#1"},
		"subscript_expression":                                                       {kind: Index, x: "#0", y: "#1"},
		"variable_name name relative_scope":                                          {kind: Ident},
		"qualified_name":                                                             {hook: phpQualified},
		"dynamic_variable_name":                                                      {kind: Index, op: "variable", x: "#0", y: "#0"},
		"string encapsed_string":                                                     {hook: buildString},
		"heredoc nowdoc":                                                             {hook: phpHeredoc},
		"shell_command_expression":                                                   {hook: phpBackticks},
		"integer float":                                                              {kind: Lit, op: "number"},
		"boolean":                                                                    {kind: Lit, op: "bool"},
		"null":                                                                       {kind: Lit, op: "null"},
		"binary_expression":                                                          {kind: Binary, x: "left", y: "right", op: "@op"},
		"unary_op_expression":                                                        {kind: Unary, x: "argument", op: "@op"},
		"update_expression":                                                          {kind: Unary, x: "argument", op: "++"},
		"cast_expression":                                                            {kind: Unary, op: "cast", x: "value", typ: "type"},
		"conditional_expression":                                                     {hook: phpCond},
		"array_creation_expression":                                                  {hook: phpArray},
		"list_literal":                                                               {kind: Array, op: "tuple", l: "*"},
		"variadic_unpacking":                                                         {kind: Spread, x: "#0"},
		"include_expression":                                                         {kind: Call, op: "include", name: "@include", l: "*"},
		"include_once_expression":                                                    {kind: Call, op: "include", name: "@include_once", l: "*"},
		"require_expression":                                                         {kind: Call, op: "include", name: "@require", l: "*"},
		"require_once_expression":                                                    {kind: Call, op: "include", name: "@require_once", l: "*"},
		"echo_statement print_intrinsic":                                             {hook: phpEcho},
		"expression_statement":                                                       {hook: phpShortEcho},
		"exit_statement":                                                             {hook: phpExit},
		"if_statement":                                                               {hook: pyIf},
		"foreach_statement":                                                          {hook: phpForeach},
		"for_statement":                                                              {hook: cFor("initialize", "update")},
		"while_statement do_statement":                                               {kind: Loop, x: "condition", body: "body"},
		"switch_statement match_expression":                                          {kind: Switch, x: "condition", l: "body"},
		"case_statement default_statement":                                           {hook: phpCase},
		"match_conditional_expression":                                               {kind: Case, l: "conditional_expressions", body: "return_expression"},
		"match_default_expression":                                                   {kind: Case, body: "return_expression"},
		"try_statement":                                                              {hook: buildTry},
		"catch_clause":                                                               {kind: Catch, y: "name", body: "body", typ: "type"},
		"return_statement":                                                           {kind: Return, x: "#0"},
		"throw_expression":                                                           {kind: Throw, x: "#0"},
		"break_statement":                                                            {kind: Jump, op: "break"},
		"continue_statement":                                                         {kind: Jump, op: "continue"},
	},
}

// The kinds of children that are or hold annotations.
var (
	phpMods  = Words("attribute_list visibility_modifier static_modifier abstract_modifier final_modifier")
	phpNotes = Words("attribute_list")
)

func phpNamespace(b *builder, n *ts.Node) *Node {
	o := b.of(Import, n, Node{Op: "package", Name: b.text(b.at(n, "name"))})
	if body := b.build(b.at(n, "body")); body != nil {
		return b.of(Block, n, Node{List: []*Node{o, body}})
	}
	return o
}

func phpUse(b *builder, n *ts.Node) *Node {
	o := b.node(Import, n)
	for c := range children(n) {
		if b.kind(c) != "namespace_use_clause" {
			continue
		}
		t := strings.ReplaceAll(b.text(c), " AS ", " as ")
		full, local, ok := strings.Cut(t, " as ")
		full = strings.TrimSpace(full)
		if !ok {
			local = afterLast(full, '\\')
		}
		o.Name = full
		o.bind(strings.TrimSpace(local), strings.ReplaceAll(full, `\`, "."))
	}
	return o
}

func phpQualified(b *builder, n *ts.Node) *Node {
	return b.of(Ident, n, Node{Name: afterLast(b.text(n), '\\')})
}

func phpClass(b *builder, n *ts.Node) *Node {
	o := b.of(Class, n, Node{Name: b.text(b.at(n, "name"))})
	b.annotate(o, n, phpNotes, nil)
	o.Op = strings.TrimSuffix(b.kind(n), "_declaration")
	for _, place := range []string{"@base_clause", "@class_interface_clause"} {
		for _, k := range b.all(b.at(n, place)) {
			o.bind(k.Name, "")
		}
	}
	o.Body = b.build(b.at(n, "body"))
	return o
}

func phpFields(b *builder, n *ts.Node) *Node {
	out := b.node(Block, n)
	for c := range b.kids(n) {
		k := b.kind(c)
		if k != "property_element" && k != "const_element" {
			continue
		}
		a := b.node(Assign, n)
		a.X, a.Y, a.Op, a.Name = b.build(b.named(c, 0)), b.build(b.named(c, 1)), "=", "field"
		if k == "const_element" {
			a.Name = "field static const"
		}
		a.Type = TypeName(b.text(b.at(n, "type")))
		out.List = append(out.List, a)
	}
	if len(out.List) == 1 {
		return out.List[0]
	}
	return out
}

func phpNew(b *builder, n *ts.Node) *Node {
	o := b.node(Call, n)
	o.Op = "new"
	for c := range b.kids(n) {
		switch k := b.kind(c); {
		case k == "arguments":
			o.List = b.all(c)
		case k == "declaration_list":
			o.Body = b.build(c)
		case k == "name" || k == "qualified_name":
			o.Name = b.build(c).Name
		case o.Name == "" && o.X == nil:
			o.X = b.build(c)
		}
	}
	return o
}

func phpArgument(b *builder, n *ts.Node) *Node {
	name := b.at(n, "name")
	kids := b.all(n, name)
	if len(kids) == 0 {
		return nil
	}
	if name == nil {
		return kids[0]
	}
	return b.of(Pair, n, Node{Name: b.text(name), Y: kids[0]})
}

func phpHeredoc(b *builder, n *ts.Node) *Node {
	return buildString(b, cmp.Or(b.at(n, "value"), n))
}

func phpBackticks(b *builder, n *ts.Node) *Node {
	return b.of(Call, n, Node{Name: "shell_exec", List: []*Node{buildString(b, n)}})
}

func phpCond(b *builder, n *ts.Node) *Node {
	o := b.of(Cond, n, Node{X: b.build(b.at(n, "condition")), Y: b.build(b.at(n, "body")), Z: b.build(b.at(n, "alternative"))})
	o.Y = cmp.Or(o.Y, o.X) // a ?: b
	return o
}

func phpArray(b *builder, n *ts.Node) *Node {
	o := b.node(Dict, n)
	for c := range b.kids(n) {
		kids := b.all(c)
		if b.kind(c) != "array_element_initializer" {
			kids = []*Node{b.build(c)}
		}
		switch {
		case len(kids) == 2:
			p := b.of(Pair, c, Node{X: kids[0], Y: kids[1]})
			nameKey(p)
			o.List = append(o.List, p)
		case len(kids) == 1 && kids[0] != nil:
			o.List = append(o.List, kids[0])
		}
	}
	return o
}

func phpEcho(b *builder, n *ts.Node) *Node {
	o := b.of(Call, n, Node{Name: "echo", Op: "echo"})
	for _, k := range b.all(n) {
		if k.Kind == Other {
			o.List = append(o.List, k.List...)
			continue
		}
		o.List = append(o.List, k)
	}
	return o
}

func phpExit(b *builder, n *ts.Node) *Node {
	o := b.node(Throw, n)
	if kids := b.all(n); len(kids) > 0 {
		o.X = b.of(Call, n, Node{Name: "exit", List: kids})
	}
	return o
}

func phpForeach(b *builder, n *ts.Node) *Node {
	o := b.of(Loop, n, Node{X: b.build(b.named(n, 0)), Body: b.build(b.at(n, "body"))})
	if t := b.named(n, 1); t != nil && b.kind(t) == "pair" {
		o.Y = b.of(Array, t, Node{Op: "tuple", List: b.all(t)})
	} else {
		o.Y = b.build(t)
	}
	return o
}

func phpCase(b *builder, n *ts.Node) *Node {
	v := b.at(n, "value")
	o := b.of(Case, n, Node{Body: b.of(Block, n, Node{List: b.all(n, v)})})
	if l := b.build(v); l != nil {
		o.List = []*Node{l}
	}
	return o
}

// phpShortEcho reads "<?= x ?>", which the grammar takes for a statement of an
// expression, as echo.
func phpShortEcho(b *builder, n *ts.Node) *Node {
	x := b.other(n)
	before := bytes.TrimRight(b.src[:n.StartByte()], " \t\r\n")
	if x == nil || !bytes.HasSuffix(before, []byte("<?=")) {
		return x
	}
	return b.of(Call, n, Node{Name: "echo", Op: "echo", List: []*Node{x}})
}
