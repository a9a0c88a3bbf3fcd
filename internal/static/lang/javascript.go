package lang

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"

	ts "github.com/odvcencio/gotreesitter"
	"github.com/odvcencio/gotreesitter/grammars"
)

var (
	jsTable  = &table{lang: JS, grammar: grammars.JavascriptLanguage, skip: jsSkip, shapes: jsBase, notes: jsNotes}
	tsTable  = &table{lang: JS, grammar: grammars.TypescriptLanguage, skip: jsSkip, shapes: jsBase, notes: jsNotes}
	tsxTable = &table{lang: JS, grammar: grammars.TsxLanguage, skip: jsSkip, shapes: jsBase, notes: jsNotes}
)

var jsSkip = Words(`comment hash_bang_line type_annotation type_arguments type_parameters implements_clause
	interface_declaration type_alias_declaration predefined_type optional_chain empty_statement
	ambient_declaration accessibility_modifier override_modifier jsx_closing_element jsx_text enum_declaration`)

var jsNotes = Words("decorator")

var jsBase = map[string]shape{
	"program statement_block finally_clause":             {kind: Block, l: "*"},
	"import_statement":                                   {hook: jsImport},
	"class_declaration abstract_class_declaration class": {hook: buildClass},
	"class_body": {hook: jsClassBody},
	"method_definition function_declaration generator_function_declaration generator_function": {kind: Func, name: "name", l: "parameters", body: "body", typ: "return_type"},
	"function_expression function arrow_function":                                              {kind: Func, op: "lambda", name: "name", l: "parameter|parameters", body: "body", typ: "return_type"},
	"required_parameter optional_parameter":                                                    {kind: Param, x: "pattern", typ: "type", y: "value", op: "@accessibility_modifier"},
	"public_field_definition field_definition":                                                 {kind: Assign, op: "=", name: "=field", x: "name|property", y: "value", typ: "type"},
	"decorator":                       {hook: buildNote},
	"variable_declarator":             {kind: Assign, op: "=", x: "name", y: "value", typ: "type"},
	"assignment_expression":           {kind: Assign, x: "left", y: "right", op: "="},
	"augmented_assignment_expression": {kind: Assign, x: "left", y: "right", op: "@op"},
	"call_expression":                 {hook: jsCall},
	"new_expression":                  {kind: Call, op: "new", callee: "constructor", l: "arguments"},
	"member_expression":               {kind: Member, x: "object", name: "property"},
	"subscript_expression":            {kind: Index, x: "object", y: "index"},
	"identifier property_identifier private_property_identifier this super import": {kind: Ident},
	"shorthand_property_identifier shorthand_property_identifier_pattern":          {hook: jsShorthand},
	"undefined null":         {kind: Lit, op: "null"},
	"string template_string": {hook: buildString},
	"number":                 {kind: Lit, op: "number"},
	"true false":             {kind: Lit, op: "bool"},
	"regex":                  {kind: Lit, op: "regex"},
	"binary_expression":      {kind: Binary, x: "left", y: "right", op: "@op"},
	"unary_expression":       {kind: Unary, x: "argument", op: "@op"},
	"update_expression":      {kind: Unary, x: "argument", op: "++"},
	"await_expression":       {kind: Unary, x: "#0", op: "await"},
	"ternary_expression":     {kind: Cond, x: "condition", y: "consequence", z: "alternative"},
	"as_expression satisfies_expression non_null_expression type_assertion": {as: "#0"},
	"sequence_expression":                  {kind: Other, l: "*"},
	"array":                                {kind: Array, l: "*"},
	"array_pattern":                        {kind: Array, op: "tuple", l: "*"},
	"object object_pattern":                {kind: Dict, l: "*"},
	"pair pair_pattern":                    {kind: Pair, name: "key", x: "@computed_property_name", y: "value"},
	"jsx_attribute":                        {kind: Pair, name: "#0", y: "#1"},
	"object_assignment_pattern":            {as: "left"},
	"assignment_pattern":                   {kind: Cond, y: "left", z: "right", op: "default"},
	"rest_pattern spread_element":          {kind: Spread, x: "#0"},
	"if_statement":                         {kind: If, x: "condition", y: "consequence", z: "alternative"},
	"for_in_statement":                     {kind: Loop, x: "right", y: "left", body: "body"},
	"for_statement":                        {kind: Loop, l: "initializer", x: "condition", z: "increment", body: "body"},
	"while_statement do_statement":         {kind: Loop, x: "condition", body: "body"},
	"switch_statement":                     {kind: Switch, x: "value", l: "body"},
	"switch_case switch_default":           {hook: buildCase},
	"try_statement":                        {kind: Try, body: "body", z: "@finally_clause", l: "*"},
	"catch_clause":                         {kind: Catch, y: "parameter", body: "body"},
	"return_statement":                     {kind: Return, x: "#0"},
	"yield_expression":                     {kind: Return, op: "yield", x: "#0"},
	"throw_statement":                      {kind: Throw, x: "#0"},
	"break_statement":                      {kind: Jump, op: "break"},
	"continue_statement":                   {kind: Jump, op: "continue"},
	"jsx_element jsx_self_closing_element": {hook: jsMarkup},
}

// genericCall is a call with type arguments, which the grammar takes for
// comparisons; nobody writes a < B > (c) without blanks and means comparisons.
var genericCall = regexp.MustCompile(`[\w$](<[A-Za-z_{\[][\w\s$.,|&\[\]{}:;'"?<>]{0,120}>)\(`)

// prepareJS gives the text that is parsed: type arguments of calls and all but
// the script of a Vue file are blanked in place, so that positions hold.
func prepareJS(p string, src []byte) []byte {
	if strings.HasSuffix(p, ".vue") {
		return vueScript(src)
	}
	if tableOf(p) == jsTable || !bytes.Contains(src, []byte(">(")) {
		return src
	}
	out := bytes.Clone(src)
	for _, m := range genericCall.FindAllSubmatchIndex(src, -1) {
		if inner := src[m[2]:m[3]]; bytes.Count(inner, []byte("<")) != bytes.Count(inner, []byte(">")) {
			continue
		}
		blank(out[m[2]:m[3]])
	}
	return out
}

func blank(b []byte) {
	for i := range b {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
}

var scriptTag = regexp.MustCompile(`(?s)<script[^>]*>(.*?)</script>`)

func vueScript(src []byte) []byte {
	out := bytes.Clone(src)
	at := 0
	for _, m := range scriptTag.FindAllSubmatchIndex(src, -1) {
		blank(out[at:m[2]])
		at = m[3]
	}
	blank(out[at:])
	return out
}

func jsImport(b *builder, n *ts.Node) *Node {
	o := b.node(Import, n)
	o.Name = b.nameOf(b.at(n, "source"))
	var walk func(c *ts.Node)
	walk = func(c *ts.Node) {
		switch b.kind(c) {
		case "identifier":
			o.bind(b.text(c), o.Name)
		case "import_specifier":
			name := b.text(b.at(c, "name"))
			o.bind(cmp.Or(b.text(b.at(c, "alias")), name), o.Name+"."+name)
		case "string":
		default:
			for k := range children(c) {
				walk(k)
			}
		}
	}
	walk(n)
	return o
}

// jsClassBody hands decorators that stand before a member to that member.
func jsClassBody(b *builder, n *ts.Node) *Node {
	o := b.node(Block, n)
	var notes []*Node
	for _, k := range b.all(n) {
		if k.Kind == Call && k.Op == "note" {
			notes = append(notes, k)
			continue
		}
		k.Notes = append(k.Notes, notes...)
		notes = nil
		o.List = append(o.List, k)
	}
	return o
}

var jsCallShape = &shape{kind: Call, callee: "function", l: "arguments"}

// jsCall reads a["b"](c) as a.b(c).
func jsCall(b *builder, n *ts.Node) *Node {
	o := b.shaped(n, jsCallShape)
	if x := o.X; x != nil && o.Name == "" && x.Kind == Index && x.Y != nil && x.Y.Kind == String {
		o.X, o.Name = x.X, x.Y.Name
	}
	return o
}

func jsShorthand(b *builder, n *ts.Node) *Node {
	return b.of(Pair, n, Node{Name: b.text(n), Y: b.of(Ident, n, Node{Name: b.text(n)})})
}

func jsMarkup(b *builder, n *ts.Node) *Node {
	open := cmp.Or(b.at(n, "open_tag"), n)
	o := b.of(Markup, n, Node{Name: b.text(b.at(open, "name")), Body: b.node(Block, n)})
	for _, k := range b.all(open) {
		if k.Kind == Pair {
			o.List = append(o.List, k)
		}
	}
	if open != n {
		o.Body.List = b.all(n, open)
	}
	return o
}
