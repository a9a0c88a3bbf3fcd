package planted_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/planted"
)

var shippedProjects = []string{"club", "grants", "marina", "workshop"}

// Two draws of what is shipped are a run: thirty modules within the bounds, in which
// every site is judged once a draw, and many sites are bad in one draw alone.
func TestShippedModules(t *testing.T) {
	modules, judged, turned := 0, 0, 0
	for _, name := range shippedProjects {
		p, err := planted.Read(os.DirFS("../../fixtures/planted"), name)
		require.NoError(t, err)
		bad := map[string]int{}
		for seed := uint64(1); seed <= 2; seed++ {
			ms, err := p.DrawModules(seed)
			require.NoError(t, err)
			seen := map[string]bool{}
			for _, m := range ms {
				modules++
				flaws := 0
				for _, s := range m.Sites {
					require.False(t, seen[s.ID], "%s is judged in two modules", s.ID)
					seen[s.ID] = true
					require.False(t, s.Lines.IsZero(), s.ID)
					require.True(t, shown(m, s.File), "%s: %s is not shown", s.ID, s.File)
					if s.Bad {
						flaws++
						bad[s.ID]++
					}
				}
				judged += len(m.Sites)
				require.LessOrEqual(t, flaws, 10)
				require.NotRegexp(t, regexp.MustCompile(`site:[A-Z]+-\d|\bgroup: `), m.Task("").Files, "%s shows a marker", m.ID())
			}
			require.Len(t, seen, len(p.Sites), "%s: every site is judged", name)
		}
		for _, n := range bad {
			if n == 1 {
				turned++
			}
		}
	}
	require.GreaterOrEqual(t, modules, 30)
	require.GreaterOrEqual(t, judged, 450)
	require.Greater(t, turned, 60, "sites that are bad in one draw and good in the other")
}

func shown(m *audit.Module, file string) bool {
	for _, f := range m.Files {
		if f.Path == file {
			return true
		}
	}
	return false
}

// A seed gives the same module always; the sites of other modules are good in it.
func TestModulesAreDrawnBySeed(t *testing.T) {
	p, err := planted.Read(os.DirFS("../../fixtures/planted"), "workshop")
	require.NoError(t, err)
	a, err := p.DrawModules(3)
	require.NoError(t, err)
	b, err := p.DrawModules(3)
	require.NoError(t, err)
	require.Equal(t, a, b)
	c, err := p.DrawModules(4)
	require.NoError(t, err)
	require.NotEqual(t, a[0].Files, c[0].Files)

	var orders, stock *audit.Module
	for _, m := range a {
		switch m.Name {
		case "orders":
			orders = m
		case "stock":
			stock = m
		}
	}
	file := ""
	for _, f := range stock.Files { // shown in both: its sites belong to the first
		if shown(orders, f.Path) && strings.Contains(f.Path, "vehicle") {
			file = f.Path
		}
	}
	require.NotEmpty(t, file)
	good := p.WithSeed(3)
	for _, f := range good.Render().Files {
		if f.Path == file {
			require.Equal(t, string(f.Content), content(orders, file), "its sites are good where they are not judged")
		}
	}
}

func content(m *audit.Module, file string) string {
	for _, f := range m.Files {
		if f.Path == file {
			return f.Code
		}
	}
	return ""
}

// A table of modules that leaves a site out, or names no file, is refused by line.
func TestTableOfModules(t *testing.T) {
	for _, tt := range []struct{ name, table, want string }{
		{"too few sites", "| shop | `**` |", "the module shop has 4 sites: expected at least 15"},
		{"a site in none", "| shop | `docs/*.md` |", "lies in no module"},
		{"no such file", "| shop | `**`, `lib/*.go` |", "\"lib/*.go\" fits no file"},
		{"a name twice", "| shop | `**` |\n| shop | `**` |", "a name of one word that no other row has"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := desk(t)
			edit(t, fsys, "project.md", "# Sites\n", "# Modules\n\n| Module | Files |\n|---|---|\n"+tt.table+"\n\n# Sites\n")
			_, err := planted.Read(fsys, "desk")
			require.ErrorContains(t, err, tt.want)
			require.Regexp(t, `project\.md:\d+: `, err.Error())
		})
	}
}
