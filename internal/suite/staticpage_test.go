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
// static's baselines on the projects say, to the letter.
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
			if f.Fate == score.Matched || f.Fate == score.Half || f.Fate == score.Duplicate {
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

// A share is a part of a number of cases.
type share struct{ right, of int }

// TestStaticPageShowsEachWeaknessOfCases: docs/static.md shows, by the language of
// the code and the first CWE of a bad case, how many static called bad, and of the
// good ones how many it called good.
func TestStaticPageShowsEachWeaknessOfCases(t *testing.T) {
	fsys := os.DirFS("../..")
	corpus, err := fixture.ReadCorpus(fsys, "tests", true)
	require.NoError(t, err)
	base, err := record.ReadBench(fsys, "fixtures/baselines", "static", "evaluation-prompt")
	require.NoError(t, err)
	require.NotNil(t, base)
	right := map[string]bool{}
	for _, a := range base.Answers {
		right[a.Case] = a.Outcome == audit.OutcomeCorrect
	}
	cells := map[string]map[string]share{}
	for _, c := range corpus.Cases() {
		answer, ok := right[c.ID()]
		require.True(t, ok, "%s: the baseline has no answer", c.ID())
		name := "good cases"
		if c.Label == audit.Bad {
			require.NotEmpty(t, c.CWEs, c.ID())
			name = c.CWEs[0].String()
		}
		if cells[name] == nil {
			cells[name] = map[string]share{}
		}
		s := cells[name][c.Language]
		s.of++
		if answer {
			s.right++
		}
		cells[name][c.Language] = s
	}
	page, err := os.ReadFile("../../docs/static.md")
	require.NoError(t, err)
	if table := shareTable(cells); !strings.Contains(string(page), table) {
		t.Errorf("docs/static.md: the table of the cases is another one: expected\n%s", table)
	}
}

// shareTable shows a row for each name, most cases first, with a column for each
// language.
func shareTable(cells map[string]map[string]share) string {
	langs, of := map[string]bool{}, map[string]int{}
	for name, row := range cells {
		for l, s := range row {
			langs[l] = true
			of[name] += s.of
		}
	}
	columns := slices.Sorted(maps.Keys(langs))
	var b strings.Builder
	b.WriteString("| First CWE | " + strings.Join(columns, " | ") + " |\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, name := range slices.SortedFunc(maps.Keys(cells), func(a, b string) int {
		return cmp.Or(of[b]-of[a], strings.Compare(a, b))
	}) {
		b.WriteString("| " + name + " |")
		for _, l := range columns {
			if s := cells[name][l]; s.of > 0 {
				fmt.Fprintf(&b, " %d of %d", s.right, s.of)
			}
			b.WriteString(" |")
		}
		b.WriteString("\n")
	}
	return b.String()
}
