package proof_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/proof"
)

// invented makes applications of families whose code is the same for both
// labels but for what mark adds.
func invented(apps, families int, mark func(bad bool, f, n int) string) []*audit.App {
	var all []*audit.App
	for a := range apps {
		app := &audit.App{App: fmt.Sprint("app", a)}
		for f := range families {
			fam := audit.Family{App: app.App, Query: fmt.Sprint("q", f)}
			for n := range 6 {
				c := &audit.Case{App: app.App, Query: fam.Query, Number: n + 1, Label: audit.Good,
					Language: "sql"}
				if n >= 2 {
					c.Label = audit.Bad
				}
				c.Code = fmt.Sprintf("SELECT %s FROM t%d WHERE x = %d%s", mark(n >= 2, f, n),
					a*100+f, (f*7+n*5+a)%9, mark(n >= 2, f, n))
				fam.Cases = append(fam.Cases, c)
			}
			app.Families = append(app.Families, fam)
		}
		all = append(all, app)
	}
	return all
}

func TestLeaksFindsAShortcut(t *testing.T) {
	given := invented(3, 10, func(bad bool, _, _ int) string {
		if bad {
			return " -- SAFE: ids are checked\n"
		}
		return " -- ids are looked up\n"
	})
	leak := proof.Leaks(given, 499)
	require.InDelta(t, 1, leak.Balanced, 1e-9)
	require.Equal(t, 1.0, leak.Each["comment says safe"])
	require.InDelta(t, 0.002, leak.P, 1e-9)
}

func TestLeaksFindsNothingWhereThereIsNothing(t *testing.T) {
	given := invented(3, 10, func(_ bool, f, n int) string {
		if (f*5+n*3+f*n)%4 == 0 {
			return " -- only rows of the tenant\n"
		}
		return ""
	})
	leak := proof.Leaks(given, 499)
	require.Greater(t, leak.P, 0.05)
	require.Equal(t, leak, proof.Leaks(given, 499))
}

func TestLeaksOfNothing(t *testing.T) {
	require.Equal(t, 1.0, proof.Leaks(nil, 9).P)
}

// The corpus itself: labels must not be told without understanding the code.
func TestCorpusGivesNothingAway(t *testing.T) {
	n := 9999
	if testing.Short() {
		n = 999
	}
	leak := proof.Leaks(corpora(t), n)
	t.Logf("best shortcut: %s, balanced accuracy %.3f, p = %.4f", leak.Best, leak.Balanced, leak.P)
	require.GreaterOrEqual(t, leak.P, 0.01, "%s tells bads from goods: balanced accuracy %.3f",
		leak.Best, leak.Balanced)
}

func TestCorpusHasNoDuplicates(t *testing.T) {
	for _, p := range proof.Duplicates(corpora(t)) {
		t.Errorf("%s: %s", p.Pos, p.What)
	}
}

func TestDuplicates(t *testing.T) {
	long := "SELECT a.id, a.name FROM accounts a JOIN owners o ON o.id = a.owner_id WHERE a.org_id = :org_id AND o.kind = %d ORDER BY a.id LIMIT 50"
	at := func(query string, n int, code string) *audit.Case {
		return &audit.Case{App: "a", Query: query, Number: n, Label: audit.Good,
			Language: "sql", Code: code}
	}
	apps := []*audit.App{{App: "a", Families: []audit.Family{
		{Query: "p", Cases: []*audit.Case{at("p", 1, fmt.Sprintf(long, 1)),
			at("p", 2, fmt.Sprintf(long, 2))}},
		{Query: "q", Cases: []*audit.Case{at("q", 1, "-- all\n"+fmt.Sprintf(long, 3)),
			at("q", 2, "SELECT 1")}}}}}
	ps := proof.Duplicates(apps)
	require.Len(t, ps, 2) // q-01 against both of p: literals count as one; within p they differ
	require.Contains(t, ps[0].What, "nearly the same")
}
