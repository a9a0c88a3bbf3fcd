package suite

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/record"
)

// languages of the table's columns, by what a file's name ends in.
var languages = []struct{ name, ends string }{
	{"Java", ".java .jsp"}, {"Python", ".py"}, {"JavaScript, TypeScript", ".js .ts .mjs .cjs .tsx .jsx .vue"}, {"Go", ".go"}, {"PHP", ".php"}, {"other files", ""},
}

func languageOf(file string) int {
	end := path.Ext(file)
	for i, l := range languages {
		if l.ends == "" || end != "" && slices.Contains(strings.Fields(l.ends), end) {
			return i
		}
	}
	return len(languages) - 1
}

// A weaknessRow is what static's baselines say of one CWE, by language.
type weaknessRow struct {
	entries         []int
	credit          []float64
	reported, right int
}

// TestStaticPageShowsEachWeakness: docs/static.md shows, by language and CWE, what
// static's baselines on the projects say, to the literal.
func TestStaticPageShowsEachWeakness(t *testing.T) {
	fsys := os.DirFS("../..")
	rows := map[audit.CWE]*weaknessRow{}
	row := func(cwes []audit.CWE) *weaknessRow {
		require.NotEmpty(t, cwes)
		if rows[cwes[0]] == nil {
			rows[cwes[0]] = &weaknessRow{entries: make([]int, len(languages)), credit: make([]float64, len(languages))}
		}
		return rows[cwes[0]]
	}
	for _, name := range []string{"dataease", "dvja", "dvwa", "go-test-bench", "juice-shop", "pygoat", "webgoat"} {
		p, err := fixture.ReadProject(fsys, "fixtures/projects/"+name+".md")
		require.NoError(t, err)
		base, err := record.Baseline(fsys, "fixtures/baselines", "static", name)
		require.NoError(t, err)
		require.NotNil(t, base)
		require.Equal(t, p.KeyHash, base.Key, "%s: the baseline is of another key", name)
		result := base.Trials[0].Result
		for i, k := range result.Known {
			require.Equal(t, p.Known[i].ID, k.ID)
			r, at := row(p.Known[i].CWEs), languageOf(p.Known[i].File)
			r.entries[at]++
			r.credit[at] += k.Credit
		}
		for i := range result.Findings {
			f := &result.Findings[i]
			r := row(f.Finding.CWEs)
			r.reported++
			if f.Disposition == score.Matched || f.Disposition == score.Half || f.Disposition == score.Duplicate {
				r.right++
			}
		}
	}
	page, err := os.ReadFile("../../docs/static.md")
	require.NoError(t, err)
	if table := weaknessTable(rows); !strings.Contains(string(page), table) {
		t.Errorf("docs/static.md: the table of weaknesses is another one: expected\n%s", table)
	}
}

// weaknessTable shows a row for each CWE that four entries or findings have, most
// entries first, and sums the others up.
func weaknessTable(rows map[audit.CWE]*weaknessRow) string {
	sum := func(ns []int) (s int) {
		for _, n := range ns {
			s += n
		}
		return s
	}
	var b strings.Builder
	b.WriteString("| CWE |")
	for _, l := range languages {
		b.WriteString(" " + l.name + " |")
	}
	b.WriteString(" Reported | In the key |\n|---|" + strings.Repeat("---|", len(languages)+2) + "\n")
	write := func(name string, r *weaknessRow) {
		fmt.Fprintf(&b, "| %s |", name)
		for i, n := range r.entries {
			if n == 0 {
				b.WriteString(" |")
				continue
			}
			fmt.Fprintf(&b, " %g of %d |", r.credit[i], n)
		}
		fmt.Fprintf(&b, " %d | %d |\n", r.reported, r.right)
	}
	rest := &weaknessRow{entries: make([]int, len(languages)), credit: make([]float64, len(languages))}
	kinds := 0
	for _, c := range slices.SortedFunc(maps.Keys(rows), func(a, b audit.CWE) int {
		return cmp.Or(sum(rows[b].entries)-sum(rows[a].entries), int(a)-int(b))
	}) {
		r := rows[c]
		if sum(r.entries) >= 4 || r.reported >= 4 {
			write(c.String(), r)
			continue
		}
		kinds++
		for i := range languages {
			rest.entries[i] += r.entries[i]
			rest.credit[i] += r.credit[i]
		}
		rest.reported, rest.right = rest.reported+r.reported, rest.right+r.right
	}
	write(fmt.Sprintf("%d others", kinds), rest)
	return b.String()
}
