package proof_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/proof"
)

// parameters asks that the two goods of every family agree on NULL, zero, negative and
// large numbers, empty texts and lists in place of each value of the first benign set,
// and that they break nothing there, nor on values of another type.
func parameters(t *testing.T, c *proof.LanguageRunner, app *audit.App) {
	fams, asked := families(app), 0
	if !wholeProof() {
		fams = fams[hashOfDay(app.App)%uint64(len(fams)):][:1]
	}
	build(t, c, fams)
	for _, fam := range fams {
		base := fam.Sets[slices.IndexFunc(fam.Sets,
			func(s audit.ParamSet) bool { return s.Set == audit.SetBenign && s.Race == nil })]
		var sets []audit.ParamSet
		alike := len(variants(base.Values, bounds))
		for _, replace := range []func(any) []any{bounds, strangers} {
			for _, v := range variants(base.Values, replace) {
				set := base
				set.Set, set.Values = audit.SetAttack, v.(map[string]any)
				sets = append(sets, set)
			}
		}
		asked += len(sets)
		for i, pair := range runGoods(t, c, fam, sets) {
			text, _ := json.Marshal(sets[i].Values)
			if a, b := pair[0], pair[1]; len(a.Violated)+len(b.Violated) > 0 {
				t.Errorf("%s: goods violate on %s: %v %v", fam.Pos, text, a.Violated, b.Violated)
			} else if i < alike && a.Result != b.Result { // what is of no type of the column's, one may refuse alone
				t.Errorf("%s: goods differ on %s:%s", fam.Pos, text,
					proof.Difference(a.Result, b.Result))
			}
		}
	}
	t.Logf("%d families, %d sets", len(fams), asked)
}

// families gives those that ASSAY_QUERY names, or all.
func families(app *audit.App) (all []*audit.Family) {
	for i := range app.Families {
		if strings.Contains(app.Families[i].Query, os.Getenv("ASSAY_QUERY")) {
			all = append(all, &app.Families[i])
		}
	}
	return all
}

func goodCodes(fam *audit.Family) (codes []string) {
	for _, k := range fam.Cases {
		if k.Label == audit.Good {
			codes = append(codes, k.Code)
		}
	}
	return codes
}

func build(t *testing.T, c *proof.LanguageRunner, fams []*audit.Family) {
	t.Helper()
	var codes []string
	for _, fam := range fams {
		codes = append(codes, goodCodes(fam)...)
	}
	require.NoError(t, c.Prepare(context.Background(), codes))
}

// runGoods gives by set what the first two goods of a family do.
func runGoods(t *testing.T, c *proof.LanguageRunner, fam *audit.Family,
	sets []audit.ParamSet) [][2]proof.Effect {
	t.Helper()
	all := make([][2]proof.Effect, len(sets))
	for n, code := range goodCodes(fam)[:2] {
		es, err := c.Run(context.Background(), fam, code, sets)
		require.NoError(t, err, "%s", fam.Pos)
		for i := range es {
			all[i][n] = es[i][0]
		}
	}
	return all
}

// bounds gives what a column of v's type may hold at its edges.
func bounds(v any) []any {
	switch v.(type) {
	case json.Number:
		return []any{nil, json.Number("0"), json.Number("-1"), json.Number("2147483648")}
	case string:
		return []any{nil, ""}
	case []any:
		return []any{nil, []any{}, []any{nil}}
	}
	return []any{nil}
}

// strangers are values of every type.
func strangers(any) []any {
	return []any{json.Number("7"), json.Number("0.5"), "x", true, []any{"x"},
		[]any{map[string]any{}}, map[string]any{"x": json.Number("1")}}
}

// variants gives v with one value at a time replaced, in any depth. What no client chooses
// stays: who calls and by which route, what the server has signed, what the harness alone
// reads. Of a URL the values of its query are replaced.
func variants(v any, replace func(any) []any) (all []any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			inner := variants(v[name], replace)
			switch m, _ := v[name].(map[string]any); {
			case slices.Contains([]string{"user", "as", "to", "sql", "truth", "now", "fail"}, name),
				strings.HasPrefix(name, "$"), m["fields"] != nil && name == "link":
				continue
			case slices.Contains([]string{"calls", "req", "args", "get"}, name):
			default:
				inner = append(inner, replace(v[name])...)
			}
			for _, other := range inner {
				changed := maps.Clone(v)
				changed[name] = other
				all = append(all, changed)
			}
		}
	case []any:
		for i := range v {
			for _, other := range variants(v[i], replace) {
				changed := slices.Clone(v)
				changed[i] = other
				all = append(all, changed)
			}
		}
	case string:
		path, query, _ := strings.Cut(v, "?")
		values, err := url.ParseQuery(query)
		if err != nil || !strings.Contains(path, " /") {
			return nil
		}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			for _, other := range []string{"", "0", "-1", "2147483648", "null"} {
				changed := maps.Clone(values)
				changed[name] = []string{other}
				all = append(all, path+"?"+changed.Encode())
			}
		}
	}
	return all
}

// A field is a column of an application whose cases are code.
type field struct {
	table, column, kind string
	null                bool
}

var (
	createTable = regexp.MustCompile(`(?s)CREATE TABLE (\w+) \((.*?)\);`)
	sqlColumn   = regexp.MustCompile(`\b([a-z_]+) (INTEGER|TEXT)( NOT NULL)?`)
	jsTable     = regexp.MustCompile(`(?m)^  (\w+): table\("([^"]*)"`)
)

// fields reads the schema: SQL of the SPEC, or what the harness of boxoffice says, which
// takes NULL where the data has one.
func fields(app *audit.App) (all []field) {
	for _, m := range createTable.FindAllStringSubmatch(app.Spec.Prompt, -1) {
		for _, c := range sqlColumn.FindAllStringSubmatch(m[2], -1) {
			all = append(all, field{m[1], c[1], strings.ToLower(c[2][:3]), c[3] == ""})
		}
	}
	for _, m := range jsTable.FindAllStringSubmatch(string(app.Harness["harness_data.mjs"]), -1) {
		for _, c := range strings.Fields(m[2]) {
			name, kind, _ := strings.Cut(c, ":")
			all = append(all, field{m[1], name, kind, true})
		}
	}
	// two rows never share an id, a code or an address
	return slices.DeleteFunc(all, func(f field) bool {
		return slices.Contains([]string{"id", "code", "email"}, f.column) || f.kind == "json"
	})
}

var aTime, aReference, aList = regexp.MustCompile(`(_at|_until|_from|^at)$`), regexp.MustCompile(
	`(_id|_by)$`), regexp.MustCompile(`^(status|role|kind)$`)

// values gives what the field may hold: edges of its type, and each word of a list.
func (f field) values() (vs []any) {
	switch {
	case aReference.MatchString(f.column):
	case f.kind == "int":
		vs = []any{0, -1, 2147483647}
	case strings.HasSuffix(f.column, "_on"):
		vs = []any{"2025-06-15", "2025-06-16", "2025-06-17", "9999-12-31"}
	case aTime.MatchString(f.column):
		vs = []any{"2025-06-16T09:29:59Z", proof.Now, "2025-06-16T09:30:01Z",
			"9999-12-31T23:59:59Z"}
	case aList.MatchString(f.column):
		for n := range 8 {
			vs = append(vs, map[string]int{"nth": n})
		}
	default:
		vs = []any{"", map[string]int{"nth": 0}}
	}
	if f.null {
		vs = append(vs, nil)
	}
	return vs
}

// named reports whether the goods of a family name the field and its table.
func (f field) named(fam *audit.Family) bool {
	word := func(w, code string) bool {
		return regexp.MustCompile(
			`\b` + w + `\b`).MatchString(code)
	}
	return slices.ContainsFunc(goodCodes(fam),
		func(code string) bool { return word(f.table, code) && word(f.column, code) })
}

// codeColumns asks that the two goods of every family agree whatever a column may hold.
func codeColumns(t *testing.T, c *proof.LanguageRunner, app *audit.App) {
	fams, all, asked := families(app), fields(app), 0
	if !wholeProof() {
		fams = fams[hashOfDay(app.App)%uint64(len(fams)):][:1]
		all = slices.DeleteFunc(all, func(f field) bool { return !f.named(fams[0]) })
		all = all[hashOfDay(app.App)%uint64(len(all)):][:1]
	}
	build(t, c, fams)
	for _, fam := range fams {
		var lines []any
		var names []string
		sets := slices.DeleteFunc(slices.Clone(fam.Sets),
			func(s audit.ParamSet) bool { return s.Race != nil })
		for _, f := range all {
			if !f.named(fam) || impossible[f.table+"."+f.column] != "" {
				continue
			}
			for _, v := range f.values() {
				for half := range 2 {
					put := map[string]any{"table": f.table, "column": f.column,
						"half": half, "value": v}
					n := len(names) // the first set, which shows the most, and two others in turn
					for _, s := range []audit.ParamSet{sets[0], sets[n%len(sets)],
						sets[(n+1)%len(sets)]} {
						lines = append(lines, map[string]any{"query": fam.Query,
							"set": audit.SetAttack, "now": cmp.Or(s.Now, proof.Now),
							"params": s.Values, "tilt": put})
						names = append(names,
							fmt.Sprintf("%s.%s = %v, half %d, on the set at line %d", f.table,
								f.column, v, half, s.Pos.Line))
					}
				}
			}
		}
		asked += len(lines)
		// a harness answers so many within its deadline
		for chunk := range slices.Chunk(lines, 2000) {
			var both [2][][]proof.Effect
			for n, code := range goodCodes(fam)[:2] {
				var err error
				both[n], err = proof.RunLines(context.Background(), c, code, "", chunk)
				require.NoError(t, err, "%s", fam.Pos)
			}
			told := 0
			for i := range chunk {
				if a, b := both[0][i][0], both[1][i][0]; a.Result != b.Result {
					if told++; told <= 12 {
						t.Errorf("%s: goods differ where %s:%s", fam.Pos, names[i],
							proof.Difference(a.Result, b.Result))
					}
				}
			}
			names = names[len(chunk):]
		}
	}
	t.Logf("%d families, %d runs of each good", len(fams), asked)
}
