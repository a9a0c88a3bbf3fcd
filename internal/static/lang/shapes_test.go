package lang

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// outline writes a tree as shapes: kind, name, operator, and the children in order.
func outline(n *Node) string {
	if n == nil {
		return "-"
	}
	var kids []string
	add := func(label string, k *Node) {
		if k != nil {
			kids = append(kids, label+outline(k))
		}
	}
	add("x=", n.X)
	add("y=", n.Y)
	add("z=", n.Z)
	for _, k := range n.List {
		add("", k)
	}
	add("body=", n.Body)
	s := shapeNames[n.Kind]
	if n.Name != "" {
		s += ":" + n.Name
	}
	if n.Op != "" {
		s += "[" + n.Op + "]"
	}
	if len(kids) > 0 {
		s += "(" + strings.Join(kids, " ") + ")"
	}
	return s
}

var shapeNames = map[Kind]string{None: "none", Other: "other", Block: "block", Func: "func", Class: "class", Param: "param", Assign: "assign", Call: "call",
	Member: "member", Index: "index", Ident: "ident", String: "string", Lit: "lit", Template: "template", Binary: "binary", Unary: "unary", Cond: "cond", If: "if",
	Loop: "loop", Switch: "switch", Case: "case", Try: "try", Catch: "catch", Return: "return", Throw: "throw", Jump: "jump", Array: "array", Dict: "dict",
	Pair: "pair", Spread: "spread", Import: "import", Markup: "markup"}

// TestShapes holds each language's table: a snippet and what it becomes.
func TestShapes(t *testing.T) {
	tests := []struct{ file, code, want string }{
		{"a.js", "const { a, b: c } = req.body;",
			"block(assign[=](x=dict(pair:a(y=ident:a) pair:b(y=ident:c)) y=member:body(x=ident:req)))"},
		{"a.js", "f(`x${y}z`, ...rest);",
			"block(call:f(template(string:x ident:y string:z) spread(x=ident:rest)))"},
		{"a.js", "if (!u) { return res.send(e); }",
			"block(if(x=unary[!](x=ident:u) y=block(return(x=call:send(x=ident:res ident:e)))))"},
		{"a.js", "db.find({ $where: q });",
			"block(call:find(x=ident:db dict(pair:$where(y=ident:q))))"},
		{"a.js", "const g = async (x) => { await h(x); };",
			"block(assign[=](x=ident:g y=func:g[lambda](param:x body=block(unary[await](x=call:h(ident:x))))))"},
		{"a.ts", "this.http.get<User>(url);",
			"block(call:get(x=member:http(x=ident:this) ident:url))"},
		{"a.ts", "function f(a: string, b?: number): void {}",
			"block(func:f(param:a param:b body=block))"},
		{"a.ts", "const x = <User>y;", "block(assign[=](x=ident:x y=ident:y))"},
		{"a.php", "<?php $a = <<<E\nE;\n", "block(assign[=](x=ident:a y=string))"},
		{"a.py", "with open(p) as f:\n    d = f.read()\n",
			"block(block(assign[=](x=ident:f y=call:open(ident:p)) block(assign[=](x=ident:d y=call:read(x=ident:f)))))"},
		{"a.py", "@app.route('/x')\ndef v(id, *, q='a'):\n    return f'<b>{q}</b>'\n",
			"block(func:v(param:id param:q(y=string:a) body=block(return(x=template(string:<b> ident:q string:</b>)))))"},
		{"a.py", "try:\n    g()\nexcept E as e:\n    raise\n",
			"block(try(catch(y=ident:e body=block(throw)) body=block(call:g)))"},
		{"a.py", "x = [i for i in y if i]\n",
			"block(assign[=](x=ident:x y=loop[comprehension](x=ident:y y=ident:i z=ident:i body=ident:i)))"},
		{"a.php", "<?php echo $_GET['q'];",
			"block(call:echo[echo](index(x=ident:_GET y=string:q)))"},
		{"a.php", "<p><?= $x ?></p>",
			"block(call:echo[echo](ident:x))"},
		{"a.php", "<?php $this->db->query(\"a {$b}\");",
			"block(call:query(x=member:db(x=ident:this) template(string:a  ident:b)))"},
		{"a.php", "<?php foreach ($rows as $r) { f($r); }",
			"block(loop(x=ident:rows y=ident:r body=block(call:f(ident:r))))"},
		{"A.java", "class A { String f(@RequestParam String q) { return \"a\" + q; } }",
			"block(class:A[class](body=block(func:f(param:q body=block(return(x=binary[+](x=string:a y=ident:q)))))))"},
		{"A.java", "class A { void f() { new B(x).run(c -> c.go()); } }",
			"block(class:A[class](body=block(func:f(body=block(call:run(x=call:B[new](ident:x) func[lambda](param:c body=block(return(x=call:go(x=ident:c))))))))))"},
		{"A.java", "class A { int f(int k) { return switch (k) { case 1 -> 2; default -> 3; }; } }",
			"block(class:A[class](body=block(func:f(param:k body=block(return(x=switch(x=ident:k case(lit:1[number] body=block(lit:2[number])) case(body=block(lit:3[number])))))))))"},
		{"a.go", "package p\nfunc (s *S) f(w W, r *R) { v, err := g(&r); if err != nil { return } }",
			"block(func:f(x=param:s param:w param:r body=block(assign[=](x=array[tuple](ident:v ident:err) y=call:g(ident:r)) if(x=binary[!=](x=ident:err y=lit:nil[null]) y=block(return)))))"},
		{"a.go", "package p\nvar x = map[string]int{\"a\": 1}",
			"block(block(assign:field static[=](x=ident:x y=dict(pair:a(x=string:a y=lit:1[number])))))"},
	}
	for i, tt := range tests {
		t.Run(fmt.Sprint(tt.file, i), func(t *testing.T) {
			f, err := Parse(tt.file, []byte(tt.code))
			if err != nil {
				t.Fatal(err)
			}
			if f.Errors > 0 {
				t.Errorf("%d places could not be read", f.Errors)
			}
			if d := cmp.Diff(tt.want, outline(f.Root)); d != "" {
				t.Errorf("%s (-want +got)\n%s", tt.code, d)
			}
		})
	}
}

// TestTables: a row names kinds of its grammar, and no kind stands in two rows.
func TestTables(t *testing.T) {
	for _, tables := range [][]*table{{javaTable}, {pythonTable}, {phpTable}, {jsTable, tsTable, tsxTable}} {
		known, rows := map[string]bool{}, map[string]int{}
		for _, t := range tables {
			for _, name := range t.grammar().SymbolNames {
				known[name] = true
			}
		}
		for kinds := range tables[0].shapes {
			for _, kind := range strings.Fields(kinds) {
				rows[kind]++
			}
		}
		for kind := range tables[0].skip {
			rows[kind]++
		}
		for kind, n := range rows {
			if n != 1 || !known[kind] {
				t.Errorf("%s: %q: expected a kind of the grammar, in one row", tables[0].lang, kind)
			}
		}
	}
}
