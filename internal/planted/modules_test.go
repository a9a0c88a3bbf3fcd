package planted_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/internal/planted"
)

var shippedProjects = []string{"club", "grants", "marina", "workshop"}

// Two draws of the shipped areas are thirty targets within the bounds, in which every site
// is in one key a draw, and many sites are bad in one draw alone.
func TestShippedAreas(t *testing.T) {
	areas, judged, turned := 0, 0, 0
	for _, name := range shippedProjects {
		p, err := planted.Read(os.DirFS("../../fixtures/planted"), name)
		require.NoError(t, err)
		bad := map[string]int{}
		for seed := uint64(1); seed <= 2; seed++ {
			seen := map[string]bool{}
			for _, m := range p.Modules {
				d, err := p.DrawArea(m.Name, seed)
				require.NoError(t, err)
				areas++
				target := d.Render()
				key := target.Project()
				require.LessOrEqual(t, len(key.Vulnerabilities), 10)
				for _, e := range key.Entries() {
					require.False(t, seen[e.ID], "%s is in two keys", e.ID)
					seen[e.ID] = true
					require.False(t, e.Lines.IsZero(), e.ID)
					require.Contains(t, key.Tree, e.File, "%s: its file is not in the export", e.ID)
					judged++
					if !e.Decoy {
						bad[e.ID]++
					}
				}
				for _, f := range target.Files {
					require.NotRegexp(t, regexp.MustCompile(`site:[A-Z]+-\d|\bgroup: `),
						string(f.Content), "%s shows a marker", f.Path)
				}
			}
			require.Len(t, seen, len(p.Sites), "%s: every site is in a key", name)
		}
		for _, n := range bad {
			if n == 1 {
				turned++
			}
		}
	}
	require.GreaterOrEqual(t, areas, 30)
	require.GreaterOrEqual(t, judged, 450)
	require.Greater(t, turned, 60, "sites that are bad in one draw and good in the other")
}

// A seed draws the same area always; the sites of other areas are good in it.
func TestAreasAreDrawnBySeed(t *testing.T) {
	p, err := planted.Read(os.DirFS("../../fixtures/planted"), "workshop")
	require.NoError(t, err)
	draw := func(area string, seed uint64) map[string]string {
		d, err := p.DrawArea(area, seed)
		require.NoError(t, err)
		files := map[string]string{}
		for _, f := range d.Render().Files {
			files[f.Path] = string(f.Content)
		}
		return files
	}
	require.Equal(t, draw("orders", 3), draw("orders", 3))
	require.NotEqual(t, draw("orders", 3), draw("orders", 4))
	orders, stock := draw("orders", 3), draw("stock", 3)
	file := ""
	for name := range stock { // in both exports: its sites belong to the first area
		if _, both := orders[name]; both && strings.Contains(name, "vehicle") {
			file = name
		}
	}
	require.NotEmpty(t, file)
	for _, f := range p.WithSeed(3).Render().Files {
		if f.Path == file {
			require.Equal(t, string(f.Content), orders[file],
				"its sites are good where they are not judged")
		}
	}
	_, err = p.DrawArea("kitchen", 3)
	require.ErrorContains(t, err, `workshop has no area "kitchen": expected one of workshop.`)
}

// A table of modules that leaves a site out, or names no file, is refused by line.
func TestTableOfModules(t *testing.T) {
	for _, tt := range []struct{ name, table, want string }{
		{"too few sites", "| shop | `**` |", "the module shop has 4 sites: expected at least 15"},
		{"a site in none", "| shop | `docs/*.md` |", "lies in no module"},
		{"no such file", "| shop | `**`, `lib/*.go` |", "\"lib/*.go\" fits no file"},
		{"a name twice", "| shop | `**` |\n| shop | `**` |",
			"a name of one word that no other row has"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := desk(t)
			edit(t, fsys, "project.md", "# Sites\n", "# Modules\n\n| Module | Files |\n|---|---|\n"+
				tt.table+"\n\n# Sites\n")
			_, err := planted.Read(fsys, "desk")
			require.ErrorContains(t, err, tt.want)
			require.Regexp(t, `project\.md:\d+: `, err.Error())
		})
	}
}
