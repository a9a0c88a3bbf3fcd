package fixes_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/fixes"
)

var entries = [][]string{ // commit, cwe, place
	{"guard", "CWE-840"}, {"query", "89"}, {"traversal", "CWE-22"}, {"export", "CWE-862"}, {"xss",
		"CWE-79"}, {"owner", "CWE-639"},
	{"template", "CWE-79"}, {"login", "CWE-306"}, {"header", "CWE-93"}, {"coupon", "CWE-639"},
	{"again", "CWE-840"},
	{"basket", "CWE-20", "orders.js:add"},
}

// tsv writes a table of candidates.
func (s *shop) tsv(rows [][]string) string {
	var b strings.Builder
	b.WriteString("commit\tcwe\tplace\tadvisory\n")
	for _, r := range rows {
		cells := append([]string{}, r...)
		if whole := s.commits[r[0]]; whole != "" {
			cells[0] = whole[:10]
		}
		b.WriteString(strings.Join(cells, "\t") + "\n")
	}
	return b.String()
}

func (s *shop) add(t *testing.T, table *fixes.Benchmark, rows [][]string) (notes, refused []string) {
	r, err := fixes.Open(context.Background(), s.dir)
	require.NoError(t, err)
	r.Name = "../shop"
	read, err := fixes.ReadRows("fixes.tsv", s.tsv(rows))
	require.NoError(t, err)
	_, said, err := fixes.Add(context.Background(), table, r, read, "",
		fixes.Advisories{{IDs: []string{"GHSA-2222-3333-4444"}, CWEs: []audit.CWE{862}}})
	if err != nil {
		refused = strings.Split(err.Error(), "\n")
	}
	for _, n := range said {
		notes = append(notes, n.Error())
	}
	return notes, refused
}

// TestEachRuleOnce derives twelve fixes: each rule of docs/fixes.md decides one of them.
func TestEachRuleOnce(t *testing.T) {
	s := theShop(t)
	table := s.table(t)
	require.Len(t, table.Fixes, 12)
	want := map[string][]string{
		"guard": {"pay.go:charge:6-7"}, "query": {"users.py:find:6"},
		"traversal": {"pay.go:load:28-29"},
		"export":    {"users.py:remove:8-9"}, "xss": {"users.py:profile:39"},
		"owner": {"orders.js:show:9-10", "orders.js:list:4"}, "template": {"view.php:3"},
		"login":  {"users.py:admin:32-33"},
		"header": {"Mail.java:send:7"}, "coupon": {"coupon.go:apply:3-4"},
		"again": {"pay.go:charge:13-14"}, "basket": {"orders.js:add:18"},
	}
	for i, f := range table.Fixes {
		name := entries[i][0]
		var got []string
		for _, p := range f.Places[fixes.AtParent] {
			got = append(got, p.String())
		}
		require.Equal(t, s.commits[name], f.Commit)
		require.Equal(t, want[name], got, name)
	}
	require.Equal(t, s.commits["plain"], table.Pin, "the parent of the first fix")
	require.Equal(t, s.commits["basket"], table.Fixed)
	f := func(name string) fixes.Fix {
		f, err := table.ByID(s.commits[name])
		require.NoError(t, err)
		return *f
	}
	require.Equal(t, "mended again by "+s.commits["again"][:9], f("guard").Twin)
	require.Empty(t, f("query").Twin)
	require.Equal(t, s.commits["coupons"], f("coupon").Introduced)
	require.Equal(t, "coupon.go:apply:3-4", f("coupon").Places[fixes.AtChange][0].String())
	require.Empty(t, f("query").Introduced, "the first commit is no change")
	require.Equal(t, "pay.go:load:22-23", f("traversal").Places[fixes.AtPin][0].String())
	require.Equal(t, "pay.go:load:31-32", f("traversal").Places[fixes.AtFixed][0].String())
	require.Empty(t, f("again").Places[fixes.AtPin], "its function is another one at the pin")

	file := filepath.Join(t.TempDir(), fixes.Dir, "shop.md")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(table.Format()), 0o644))
	again, advice, err := fixes.Read(os.DirFS(filepath.Dir(filepath.Dir(filepath.Dir(file)))),
		fixes.Dir+"/shop.md")
	require.NoError(t, err)
	require.Equal(t, table.Hash, again.Hash)
	require.Len(t, advice, 1)
	require.Equal(t, "fixtures/fixes/shop.md:13: F01 mended again by "+s.commits["again"][:9]+
		": twin not counted", advice[0].Error())
	_, refused := s.add(t, again, entries)
	require.Empty(t, refused, "what the table holds stays")
	require.Equal(t, table.Format(), again.Format())
}

// TestMessages has add complain of everything that it can complain of.
func TestMessages(t *testing.T) {
	s := theShop(t)
	table := &fixes.Benchmark{Name: "shop", Repository: "shop"}
	notes, refused := s.add(t, table, [][]string{
		{"query", "CWE-89"},
		{"1a2b3c4", "CWE-89"},
		{"root", "CWE-89"},
		{"traversal", "", "", "GHSA-2222-3333-4444"},
		{"tests", "CWE-20"},
		{"component", "CWE-20"},
		{"backport", "CWE-89"},
		{"wrong", "CWE-20"},
		{"many", "CWE-79"},
		{"coupon", "CWE-639", "pay.go:spend"},
		{"guard", "CWE-99999"},
		{"owner", "CWE-639", "orders.js"},
		{"header", "CWE-93", "Mail.java:400-404"},
	})
	short := func(name string) string { return s.commits[name][:10] }
	require.Equal(t, []string{
		"fixes.tsv:3: 1a2b3c4 is not in ../shop: fetch it, or unshallow",
		"fixes.tsv:4: " + short("root") + " has no parent",
		"fixes.tsv:5: no CWE: write one (GHSA-2222-3333-4444 says CWE-862)",
		"fixes.tsv:6: only tests and documents change: no place",
		"fixes.tsv:7: only a component's version changes: use a component entry",
		"fixes.tsv:8: same change as line 2: keep one",
		"fixes.tsv:9: reverted by " + s.commits["revert"][:9],
		"fixes.tsv:11: pay.go at the parent has no function spend",
		"fixes.tsv:12: CWE-99999 is no weakness of the CWE list: expected a number that it holds",
		"fixes.tsv:13: the place is \"orders.js\": expected file:function or file:40-44",
		"fixes.tsv:14: Mail.java at the parent has 13 lines, and the place ends at 404",
	}, refused)
	require.Equal(t, []string{
		"fixes.tsv:2: blame names " + s.commits["root"][:9] +
			", which has no parent: fill introduced for -view change",
		"fixes.tsv:10: 15 places in 3 files: read `assay fixes show`, fill place",
	}, notes)
	require.Len(t, table.Fixes, 2)
	require.False(t, table.Fixes[1].Read(), "an entry that nobody read")
}

// TestFind proposes what the messages of the default branch speak of.
func TestFind(t *testing.T) {
	s := theShop(t)
	r, err := fixes.Open(context.Background(), s.dir)
	require.NoError(t, err)
	rows, looked, err := r.Find(context.Background(), "", nil)
	require.NoError(t, err)
	require.Equal(t, 21, looked)
	var titles []string
	for _, row := range rows {
		titles = append(titles, row.Get("title"))
		require.Len(t, row.Get("commit"), 40)
	}
	require.NotContains(t, titles, "Add coupons")
	require.NotContains(t, titles, "Security test", "no source file")
	require.Contains(t, titles, "Fix SQL injection in find (CWE-89)")
	text := fixes.FormatRows(rows)
	require.Contains(t, text, "\tCWE-89\t\tFix SQL injection")
	require.Contains(t, text, "GHSA-2222-3333-4444")
	read, err := fixes.ReadRows("fixes.tsv", text)
	require.NoError(t, err)
	require.Len(t, read, len(rows))
}

// TestAdvisoriesNameFixes: commits that an advisory names are proposed whatever their messages
// say, by a link or by the end of a range; its CWE is a suggestion alone.
func TestAdvisoriesNameFixes(t *testing.T) {
	s := theShop(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		return file
	}
	write("GHSA-5555-6666-7777.json", `{"id":"GHSA-5555-6666-7777","aliases":["CVE-2026-12345"],"summary":"Coupons leak",
		"references":[{"type":"WEB","url":"https://github.com/x/shop/commit/`+s.commits["coupons"]+`"}],
		"database_specific":{"cwe_ids":["CWE-639","CWE-862"],"severity":"MODERATE"}}`)
	write("GO-2026-0001.json",
		`{"id":"GO-2026-0001","affected":[{"ranges":[{"type":"GIT","events":[{"introduced":"0"},{"fixed":"`+s.commits["helpers"]+`"}]}]}]}`)
	write("elsewhere.json",
		`{"id":"GHSA-8888-9999-cccc","references":[{"type":"FIX","url":"https://github.com/x/y/commit/0123456789abcdef"}]}`)
	write("old.json",
		`{"id":"GHSA-cccc-ffff-gggg","withdrawn":"2026-01-01T00:00:00Z","references":[{"type":"FIX","url":"https://github.com/x/shop/commit/`+s.commits["plain"]+`"}]}`)
	advisories, err := fixes.ReadAdvisories(dir)
	require.NoError(t, err)
	require.Len(t, advisories, 4)

	r, err := fixes.Open(context.Background(), s.dir)
	require.NoError(t, err)
	before, _, err := r.Find(context.Background(), "", nil)
	require.NoError(t, err)
	rows, _, err := r.Find(context.Background(), "", advisories)
	require.NoError(t, err)
	require.Len(t, rows, len(before)+2)
	text := fixes.FormatRows(rows)
	require.Contains(t, text, s.commits["coupons"]+
		"\t\t\tCoupons leak\tMEDIUM\tGHSA-5555-6666-7777, CVE-2026-12345\t")
	require.Contains(t, text, s.commits["helpers"]+"\t\t\tHelpers\t\tGO-2026-0001\t")
	read, err := fixes.ReadRows("fixes.tsv", text)
	require.NoError(t, err)
	_, _, err = fixes.Add(context.Background(), &fixes.Benchmark{Name: "shop", Repository: "shop"}, r,
		read, "", advisories)
	require.ErrorContains(t, err, "no CWE: write one (GHSA-5555-6666-7777 says CWE-639)")

	_, err = fixes.ReadAdvisories(t.TempDir())
	require.ErrorContains(t, err, "holds no advisory: expected OSV JSON, a file each")
	_, err = fixes.ReadAdvisories(write("bad.json", "[]"))
	require.ErrorContains(t, err, "bad.json: ")
	require.ErrorContains(t, err, "expected an advisory in the format of OSV")
}
