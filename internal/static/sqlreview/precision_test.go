package sqlreview

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"assay/audit"
)

// TestPrecision prints, for the applications that APPS names (comma-separated), how
// often each kind of remark was right: on a bad fragment with the requirement right,
// and on a good one.
func TestPrecision(t *testing.T) {
	apps := os.Getenv("APPS")
	if apps == "" {
		t.Skip("set APPS=name,name to see the precision of each kind of remark")
	}
	type count struct{ right, other, good int }
	kinds := map[kindOf]*count{}
	for _, app := range strings.Split(apps, ",") {
		spec, list := readSnippets(t, app)
		for _, s := range list {
			r, _ := inspect(specOf(spec), s.code)
			seen := map[string]bool{}
			for _, v := range r.found {
				key := fmt.Sprint(v.kind, v.req, formOf(v))
				if v.conf < 0.5 || seen[key] {
					continue
				}
				seen[key] = true
				for _, k := range []kindOf{v.kind, kindOf(string(v.kind) + ": " + formOf(v))} {
					if kinds[k] == nil {
						kinds[k] = &count{}
					}
					switch c := kinds[k]; {
					case s.want == audit.Good:
						c.good++
					case slices.Contains(s.violates, v.req):
						c.right++
					default:
						c.other++
					}
				}
			}
		}
	}
	t.Logf("| Remark | Right | On a bad fragment, another requirement | On a good fragment |")
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("| %s | %d | %d | %d |", k, kinds[k].right, kinds[k].other, kinds[k].good)
	}
}

// formOf gives a remark's text without its names.
func formOf(v violation) string {
	if v.form == "%s" {
		return v.why
	}
	return strings.ReplaceAll(v.form, "%s", "_")
}
