package sqlreview

import (
	"fmt"
	"os"
	"testing"
)

func TestDebug(t *testing.T) {
	app, line := os.Getenv("APP"), os.Getenv("LINE")
	if app == "" {
		t.Skip()
	}
	spec, list := readSnippets(t, app)
	s := readSpec(spec)
	fmt.Println("tenants", s.tenants, s.root, "actors", s.actors, "scope", s.scopeP, "holes", s.holes)
	for _, q := range s.reqs {
		fmt.Println(q.n, q.kinds, "tables", q.tables, "cols", q.cols, "values", q.values, "perm", s.permTables(q), "life", fmt.Sprintf("%+v", readLife(q.text, q.values)))
	}
	for _, x := range list {
		if fmt.Sprint(x.line) != line {
			continue
		}
		r := Review(spec, x.code)
		fmt.Println(r.Verdict, r.Violates, r.Explanation)
		st, br := parse(x.code)
		a := analyse(s.sch, x.code, st)
		fmt.Println("broken", br)
		for _, in := range a.insts {
			fmt.Printf("inst %d %s %s role %d assert %v outer %v neg %v\n", in.id, in.table, in.alias, in.role, in.assert, in.outer, in.env.isNegated())
			for _, e := range gather(in.env, map[*env]bool{}, nil) {
				fmt.Printf("   env %p ors %d: ", e, len(e.ors))
				for _, f := range e.facts {
					fmt.Print(f.a, " ", f.op, " ", f.b, f.set, "; ")
				}
				fmt.Println()
			}
		}
		for _, d := range a.dynamic {
			fmt.Printf("dyn %+v\n", d)
		}
	}
}
