package lang

import (
	"strings"

	ts "github.com/odvcencio/gotreesitter"
	"github.com/odvcencio/gotreesitter/grammars"
)

var javaTable = &table{
	lang:    Java,
	grammar: grammars.JavaLanguage,
	notes:   Words("modifiers"),
	skip:    Words("line_comment block_comment dimensions throws asterisk type_parameters"),
	shapes: map[string]shape{
		"program class_body interface_body enum_body enum_body_declarations modifiers": {kind: Block, l: "*"},
		"package_declaration": {kind: Import, op: "package", name: "#0"},
		"import_declaration":  {hook: javaImport},
		"class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration": {hook: buildClass},
		"method_declaration":                                {kind: Func, name: "name", l: "parameters", body: "body", typ: "type"},
		"constructor_declaration":                           {kind: Func, name: "name", l: "parameters", body: "body"},
		"compact_constructor_declaration":                   {kind: Func, name: "name", body: "body"},
		"annotation":                                        {kind: Call, op: "note", name: "name", l: "arguments"},
		"marker_annotation":                                 {kind: Call, op: "note", name: "name"},
		"element_value_pair":                                {kind: Pair, name: "key", y: "value"},
		"element_value_array_initializer array_initializer": {kind: Array, l: "*"},
		"formal_parameter":                                  {kind: Param, name: "name", typ: "type"},
		"spread_parameter":                                  {kind: Param, name: "@variable_declarator", typ: "#0", op: "..."},
		"catch_formal_parameter":                            {kind: Ident, name: "name"},
		"field_declaration constant_declaration local_variable_declaration": {hook: buildVars},
		"resource": {kind: Assign, op: "=", x: "name", y: "value", typ: "type"},
		"resource_specification block constructor_body finally_clause": {kind: Block, l: "*"},
		"assignment_expression":           {kind: Assign, x: "left", y: "right", op: "@op"},
		"method_invocation":               {kind: Call, x: "object", name: "name", l: "arguments"},
		"object_creation_expression":      {kind: Call, op: "new", name: "type", l: "arguments", body: "@class_body"},
		"explicit_constructor_invocation": {kind: Call, name: "constructor", l: "arguments"},
		"method_reference":                {kind: Member, op: "ref", x: "#0", name: "#1"},
		"field_access":                    {kind: Member, x: "object", name: "field"},
		"array_access":                    {kind: Index, x: "array", y: "index"},
		"identifier type_identifier scoped_type_identifier this super":               {kind: Ident},
		"string_literal character_literal":                                           {hook: buildString},
		"decimal_integer_literal hex_integer_literal decimal_floating_point_literal": {kind: Lit, op: "number"},
		"true false":                                 {kind: Lit, op: "bool"},
		"null_literal":                               {kind: Lit, op: "null"},
		"class_literal":                              {kind: Member, x: "#0", op: "class"},
		"binary_expression":                          {kind: Binary, x: "left", y: "right", op: "@op"},
		"instanceof_expression":                      {hook: javaInstanceof},
		"type_pattern record_pattern_component":      {kind: Assign, op: "=", x: "#1", typ: "#0"},
		"unary_expression":                           {kind: Unary, x: "operand", op: "@op"},
		"update_expression":                          {kind: Unary, x: "#0", op: "++"},
		"ternary_expression":                         {kind: Cond, x: "condition", y: "consequence", z: "alternative"},
		"cast_expression":                            {kind: Unary, op: "cast", typ: "type", x: "value"},
		"array_creation_expression":                  {as: "value", kind: Array},
		"lambda_expression":                          {kind: Func, op: "lambda", l: "parameters", body: "body"},
		"if_statement":                               {kind: If, x: "condition", y: "consequence", z: "alternative"},
		"enhanced_for_statement":                     {kind: Loop, x: "value", y: "name", body: "body", typ: "type"},
		"for_statement":                              {kind: Loop, l: "init", x: "condition", z: "update", body: "body"},
		"while_statement do_statement":               {kind: Loop, x: "condition", body: "body"},
		"switch_expression":                          {kind: Switch, x: "condition", l: "body"},
		"switch_block_statement_group switch_rule":   {hook: buildCase},
		"switch_label":                               {kind: Case, l: "*"},
		"try_statement try_with_resources_statement": {kind: Try, body: "body", z: "@finally_clause", l: "*"},
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

func javaImport(b *builder, n *ts.Node) *Node {
	o := b.node(Import, n)
	t := strings.TrimSuffix(strings.TrimSpace(strings.TrimPrefix(b.text(n), "import")), ";")
	o.Name = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(t), "static "))
	o.bind(afterLast(o.Name, '.'), o.Name)
	return o
}

// javaInstanceof reads a test of a type, which may bind a name.
func javaInstanceof(b *builder, n *ts.Node) *Node {
	left, right, name := b.build(b.at(n, "left")), b.at(n, "right"), b.at(n, "name")
	if name != nil {
		return b.of(Assign, n, Node{Op: "=", X: b.build(name), Y: left, Type: TypeName(b.text(right))})
	}
	return b.of(Binary, n, Node{Op: "instanceof", X: left, Y: b.build(right)})
}
