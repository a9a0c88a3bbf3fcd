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
	notes:   Words("attribute_list visibility_modifier static_modifier abstract_modifier final_modifier"),
	skip: Words(`comment php_tag php_end_tag empty_statement text_interpolation text unset_statement global_declaration
		visibility_modifier static_modifier abstract_modifier final_modifier readonly_modifier`),
	shapes: map[string]shape{
		"program declaration_list attribute_list attribute_group compound_statement colon_block finally_clause": {kind: Block, l: "*"},
		"namespace_definition":      {hook: phpNamespace},
		"namespace_use_declaration": {hook: phpUse},
		"class_declaration interface_declaration trait_declaration enum_declaration": {hook: buildClass},
		"property_declaration const_declaration":                                     {hook: buildVars},
		"method_declaration":                                                         {kind: Func, name: "name", l: "parameters", body: "body", typ: "return_type"},
		"function_definition":                                                        {kind: Func, name: "name", l: "parameters", body: "body", typ: "return_type"},
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
		"object_creation_expression":                                                 {kind: Call, op: "new", callee: "@name|@qualified_name|@relative_scope|@variable_name|@parenthesized_expression", l: "@arguments", body: "@declaration_list"},
		"argument":                                                                   {kind: Pair, name: "name", l: "*"},
		"member_access_expression nullsafe_member_access_expression":                 {kind: Member, x: "object", name: "name"},
		"scoped_property_access_expression":                                          {kind: Member, x: "scope", name: "name"},
		"class_constant_access_expression":                                           {kind: Member, x: "#0", name: "#1"},
		"subscript_expression":                                                       {kind: Index, x: "#0", y: "#1"},
		"variable_name name qualified_name relative_scope":                           {kind: Ident},
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
		"conditional_expression":                                                     {kind: Cond, x: "condition", y: "body|condition", z: "alternative"},
		"array_creation_expression":                                                  {kind: Dict, l: "*"},
		"array_element_initializer":                                                  {kind: Pair, l: "*"},
		"pair":                                                                       {kind: Array, op: "tuple", l: "*"},
		"list_literal":                                                               {kind: Array, op: "tuple", l: "*"},
		"variadic_unpacking":                                                         {kind: Spread, x: "#0"},
		"include_expression include_once_expression require_expression require_once_expression": {kind: Call, op: "include", name: "@include|@include_once|@require|@require_once", l: "*"},
		"echo_statement print_intrinsic":    {hook: phpEcho},
		"expression_statement":              {hook: phpShortEcho},
		"exit_statement":                    {hook: phpExit},
		"if_statement":                      {kind: If, x: "condition", y: "body", l: "*"},
		"else_if_clause":                    {kind: If, x: "condition", y: "body"},
		"else_clause":                       {as: "body"},
		"foreach_statement":                 {kind: Loop, x: "#0", y: "#1", body: "body"},
		"for_statement":                     {kind: Loop, l: "initialize", x: "condition", z: "update", body: "body"},
		"while_statement do_statement":      {kind: Loop, x: "condition", body: "body"},
		"switch_statement match_expression": {kind: Switch, x: "condition", l: "body"},
		"case_statement default_statement":  {hook: buildCase},
		"match_conditional_expression":      {kind: Case, l: "conditional_expressions", body: "return_expression"},
		"match_default_expression":          {kind: Case, body: "return_expression"},
		"try_statement":                     {kind: Try, body: "body", z: "@finally_clause", l: "*"},
		"catch_clause":                      {kind: Catch, y: "name", body: "body", typ: "type"},
		"return_statement":                  {kind: Return, x: "#0"},
		"throw_expression":                  {kind: Throw, x: "#0"},
		"break_statement":                   {kind: Jump, op: "break"},
		"continue_statement":                {kind: Jump, op: "continue"},
	},
}

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

func phpHeredoc(b *builder, n *ts.Node) *Node {
	return buildString(b, cmp.Or(b.at(n, "value"), n))
}

func phpBackticks(b *builder, n *ts.Node) *Node {
	return b.of(Call, n, Node{Name: "shell_exec", List: []*Node{buildString(b, n)}})
}

func phpEcho(b *builder, n *ts.Node) *Node {
	o := b.of(Call, n, Node{Name: "echo", Op: "echo", List: b.all(n)})
	if len(o.List) == 1 && o.List[0].Kind == Other { // several
		o.List = o.List[0].List
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
