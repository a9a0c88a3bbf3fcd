package seal

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

// lessons is a project of sixty handlers alike, of which thirty hold entries, and
// these thirty hold besides what gradeIn says.
func lessons(t *testing.T, gradeIn string) (*Export, *audit.Project) {
	files := map[string]string{}
	var known []audit.Vulnerability
	for i := range 60 {
		name := fmt.Sprintf("src/part%02d/handler.py", i)
		text := fmt.Sprintf("def show(request):\n    value = %d\n", i) + strings.Repeat(
			"    next_step = value\n", 30)
		if i%2 == 0 {
			text += gradeIn + "\n"
			known = append(known, audit.Vulnerability{ID: fmt.Sprint("K", i), File: name,
				Lines: audit.Range{Start: 1, End: 2}})
		} else {
			text += "    value = value\n" // as long as the others
		}
		files[name] = text
	}
	dir, commit, tree := repository(t, files)
	p := &audit.Project{Name: "p", Repository: "https://git.example/owner/name.git", Commit: commit,
		Tree: tree, Vulnerabilities: known}
	return export(t, p, filepath.Dir(filepath.Dir(dir))), p
}

func TestMarksFindTheNameThatTells(t *testing.T) {
	// stands at the top of each file, as the entries do
	nothing := func(name string) bool { return name == "show" }
	s, p := lessons(t, "    grade_book = 1")
	m, err := s.Marks(p, nothing)
	require.NoError(t, err)
	require.Less(t, m.P, LeastP)
	require.Contains(t, []string{"grade_book", "~grade", "~book"}, m.Each[0].Name)
	require.Equal(t, 30, m.Each[0].Units)
	require.Equal(t, 30, m.Each[0].Marked)
	require.InDelta(t, 15, m.Each[0].Chance, 0.1)

	m, err = s.Marks(p, func(name string) bool {
		return name == "show" || name == "grade_book" || name == "grade" || name == "book"
	})
	require.NoError(t, err)
	require.GreaterOrEqual(t, m.P, LeastP, "a name that ordinary code uses is no mark: %v", m.Each)

	p.Renames = []audit.Rename{{From: "answer", To: "grade_book"}}
	m, err = s.Marks(p, nothing)
	require.NoError(t, err)
	require.GreaterOrEqual(t, m.P, LeastP, "a name that the table gave says nothing: %v", m.Each)

	s, p = lessons(t, "    run(grade_book)")
	m, err = s.Marks(p, nothing)
	require.NoError(t, err)
	require.GreaterOrEqual(t, m.P, LeastP,
		"a name that the project does not declare is a library's: %v", m.Each)
}

func TestMarksLookIntoFilesAndPaths(t *testing.T) {
	files := map[string]string{}
	var known []audit.Vulnerability
	for i := range 8 {
		var b strings.Builder
		for block := range 12 {
			for range blockLines {
				if block%3 == 0 {
					b.WriteString("flag_here = 1\n")
				} else {
					b.WriteString("plain_text = 1\n")
				}
			}
		}
		name := fmt.Sprintf("src/answers%d/a.py", i%2)
		name = strings.ReplaceAll(name, "a.py", fmt.Sprintf("a%d.py", i))
		files[name] = b.String()
		for block := 0; block < 12; block += 3 {
			known = append(known, audit.Vulnerability{ID: fmt.Sprint(i, block), File: name,
				Lines: audit.Range{Start: block*blockLines + 2, End: block*blockLines + 3}})
		}
	}
	dir, commit, tree := repository(t, files)
	p := &audit.Project{Name: "p", Repository: "https://git.example/owner/name.git", Commit: commit,
		Tree: tree, Vulnerabilities: known}
	s := export(t, p, filepath.Dir(filepath.Dir(dir)))
	m, err := s.Marks(p, func(string) bool { return false })
	require.NoError(t, err)
	require.Less(t, m.P, LeastP)
	require.Equal(t, "blocks", m.Each[0].Where)
}

func TestWhatASealWouldLose(t *testing.T) {
	p, mirror := project(t)
	p.Vulnerabilities = []audit.Vulnerability{{ID: "K1", File: "src/a.go", Lines: audit.Range{Start: 3, End: 3},
		Pos: audit.Pos{File: "p.md", Line: 7}},
		// K3: the whole file
		{ID: "K2", File: "src/a.go", Lines: audit.Range{Start: 3, End: 4}}, {ID: "K3",
			File: "src/a.go"}}
	p.Decoys = []audit.Decoy{{ID: "D1", File: "docs/solution/one.md",
		Lines: audit.Range{Start: 1, End: 2}}}
	clone, err := Fetch(context.Background(), p, t.TempDir(), mirror)
	require.NoError(t, err)
	_, err = clone.Export(context.Background(), filepath.Join(t.TempDir(), "export"))
	require.ErrorContains(t, err, "p.md:7: K1: the sealed export leaves nothing of src/a.go:3")
	require.ErrorContains(t, err, "D1")
	require.NotContains(t, err.Error(), "K2")
	require.NotContains(t, err.Error(), "K3")
}

func TestAtHand(t *testing.T) {
	p, mirror := project(t)
	cache := t.TempDir()
	require.False(t, atHand(context.Background(), p, cache, ""))
	require.True(t, atHand(context.Background(), p, cache, mirror))
	_, err := Fetch(context.Background(), p, cache, mirror)
	require.NoError(t, err)
	require.True(t, atHand(context.Background(), p, cache, ""))
}

// TestChanceOfAName: the exact distribution against one counted by hand, and against
// itself turned around.
func TestChanceOfAName(t *testing.T) {
	// Two of four are labelled and two drawn (1, 4, 1 of 6), beside one of two (1, 1 of 2).
	b := &battery{strata: [][]int{{0, 1, 2, 3}, {4, 5}}, labels: []bool{true, false, true,
		false, true, false}, at: []int{0, 0, 0, 0, 1, 1}}
	f := &feature{units: []int{0, 1, 4}}
	require.True(t, b.expect(f))
	require.InDelta(t, 1.5, f.mark.Chance, 1e-9)
	require.Len(t, f.likely, 4)
	for n, want := range []float64{2. / 12, 1, 1, 2. / 12} {
		require.InDelta(t, want, f.likely[n], 1e-9, n)
	}
	f = &feature{units: []int{0, 1, 2, 3}}
	require.False(t, b.expect(f), "a name that stands everywhere cannot tell")
}
