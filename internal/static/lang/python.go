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
	notes:   Words("decorator"),
	skip:    Words("comment line_continuation type_conversion format_specifier future_import_statement global_statement nonlocal_statement keyword_separator positional_separator"),
	shapes: map[string]shape{
		"module block finally_clause":               {kind: Block, l: "*"},
		"import_statement import_from_statement":    {hook: pyImport},
		"decorated_definition":                      {as: "definition"},
		"decorator":                                 {hook: buildNote},
		"function_definition":                       {kind: Func, name: "name", l: "parameters", body: "body", typ: "return_type"},
		"lambda":                                    {kind: Func, op: "lambda", l: "parameters", body: "body"},
		"typed_parameter":                           {kind: Param, x: "#0", typ: "type"},
		"default_parameter typed_default_parameter": {kind: Param, x: "name", y: "value", typ: "type"},
		"class_definition":                          {hook: buildClass},
		"assignment":                                {kind: Assign, x: "left", y: "right", op: "=", typ: "type"},
		"augmented_assignment":                      {kind: Assign, x: "left", y: "right", op: "+="},
		"named_expression":                          {kind: Assign, x: "name", y: "value", op: "="},
		"call":                                      {kind: Call, callee: "function", l: "arguments"},
		"keyword_argument":                          {kind: Pair, name: "name", y: "value"},
		"attribute":                                 {kind: Member, x: "object", name: "attribute"},
		"subscript":                                 {kind: Index, x: "value", y: "subscript"},
		"identifier dotted_name":                    {kind: Ident},
		"string":                                    {hook: buildString},
		"concatenated_string":                       {kind: Template, l: "*"},
		"integer float":                             {kind: Lit, op: "number"},
		"true false":                                {kind: Lit, op: "bool"},
		"none":                                      {kind: Lit, op: "null"},
		"binary_operator boolean_operator":          {kind: Binary, x: "left", y: "right", op: "@op"},
		"comparison_operator":                       {kind: Binary, x: "#0", y: "#1", op: "@op"},
		"not_operator":                              {kind: Unary, op: "!", x: "argument"},
		"unary_operator":                            {kind: Unary, op: "@op", x: "argument"},
		"conditional_expression":                    {kind: Cond, y: "#0", x: "#1", z: "#2"},
		"list set":                                  {kind: Array, l: "*"},
		"tuple expression_list pattern_list tuple_pattern": {kind: Array, op: "tuple", l: "*"},
		"dictionary": {kind: Dict, l: "*"},
		"pair":       {kind: Pair, x: "key", y: "value"},
		"dictionary_splat list_splat dictionary_splat_pattern list_splat_pattern":            {kind: Spread, x: "#0"},
		"list_comprehension set_comprehension generator_expression dictionary_comprehension": {kind: Loop, op: "comprehension", x: "@for_in_clause>right", y: "@for_in_clause>left", z: "@if_clause", body: "body"},
		"if_statement":       {kind: If, x: "condition", y: "consequence", l: "*"},
		"elif_clause":        {kind: If, x: "condition", y: "consequence"},
		"else_clause":        {as: "body"},
		"match_statement":    {kind: Switch, x: "subject", l: "body"},
		"case_clause":        {kind: Case, body: "consequence", l: "*"},
		"case_pattern":       {hook: pyPattern},
		"for_statement":      {kind: Loop, x: "right", y: "left", body: "body"},
		"while_statement":    {kind: Loop, x: "condition", body: "body"},
		"with_statement":     {kind: Block, l: "*"},
		"as_pattern":         {kind: Assign, op: "=", y: "#0", x: "alias>#0|#1"},
		"try_statement":      {kind: Try, body: "body", z: "@finally_clause", l: "*"},
		"except_clause":      {kind: Catch, y: "value>alias>#0", typ: "value", body: "@block"},
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

// pyPattern is a pattern of match: a bare name captures.
func pyPattern(b *builder, n *ts.Node) *Node {
	k := b.other(n)
	if k != nil && k.Kind == Ident && !strings.Contains(k.Name, ".") {
		return b.of(Assign, n, Node{Op: "=", X: k})
	}
	return k
}

func pyImport(b *builder, n *ts.Node) *Node {
	from := b.text(b.at(n, "module_name"))
	o := b.of(Import, n, Node{Name: from})
	for i := range n.ChildCount() {
		if n.FieldNameForChild(i, b.l) != "name" {
			continue
		}
		c := n.Child(i)
		name, alias := b.text(cmp.Or(b.at(c, "name"), c)), b.text(b.at(c, "alias"))
		o.Name = cmp.Or(o.Name, name)
		switch top, _, _ := strings.Cut(name, "."); {
		case from != "":
			o.bind(cmp.Or(alias, name), from+"."+name)
		case alias != "":
			o.bind(alias, name)
		default: // "import a.b" binds a
			o.bind(top, top)
		}
	}
	return o
}
