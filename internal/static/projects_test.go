package static

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"assay/audit"
	"assay/internal/cwe"

	"github.com/stretchr/testify/require"
)

// near is how many lines a finding may stand away from the place that an invented
// project's table names.
const near = 5

// A place is a line of an invented project's KEY.tsv (what is wrong) or SAFE.tsv
// (what only looks so): path, lines, CWE.
type place struct {
	file  string
	lines audit.Range
	cwe   audit.CWE
}

// A projectTally counts over one invented project.
type projectTally struct{ found, known, right, safe, other int }

// projectFloors say what of each invented project must at least be found, and how
// many findings may at most stand at safe places and elsewhere. testdata/projects'
// README has the first runs.
var projectFloors = map[string]projectTally{
	"forum": {found: 21}, "logistics": {found: 23, other: 1}, "tickets": {found: 19, other: 1},
	"hr": {found: 11, safe: 1, other: 1}, "lab": {found: 16}, "shop": {found: 16, other: 2},
}

func readPlaces(t *testing.T, name string) []place {
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	var list []place
	for i, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		f := strings.Split(line, "\t")
		require.GreaterOrEqual(t, len(f), 4, "%s:%d: expected path, lines, CWE and a reason, separated by tabs", name, i+1)
		first, last, ok := strings.Cut(f[1], "-")
		if !ok {
			last = first
		}
		number := func(s string) int {
			n, err := strconv.Atoi(s)
			require.NoError(t, err, "%s:%d", name, i+1)
			return n
		}
		list = append(list, place{f[0], audit.Range{Start: number(first), End: number(last)}, audit.CWE(number(f[2]))})
	}
	return list
}

// at gives the places that a finding names: the file, the lines, a related CWE.
func at(list []place, f audit.Finding) (hit []int) {
	for i, p := range list {
		if p.file != f.File || f.Lines.Start > p.lines.End+near || f.Lines.End < p.lines.Start-near {
			continue
		}
		for _, c := range f.CWEs {
			if cwe.Related(int(c), int(p.cwe)) {
				hit = append(hit, i)
				break
			}
		}
	}
	return hit
}

// TestInventedProjects holds the analyser against whole applications that others
// wrote with a table of what is wrong and what only looks so.
func TestInventedProjects(t *testing.T) {
	dirs, err := filepath.Glob("testdata/projects/*/KEY.tsv")
	require.NoError(t, err)
	require.Len(t, dirs, len(projectFloors), "every project has floors")
	for _, key := range dirs {
		dir := filepath.Dir(key)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			known, safe := readPlaces(t, key), readPlaces(t, filepath.Join(dir, "SAFE.tsv"))
			res := judged(t, readTree(t, filepath.Join(dir, "src")))
			got, found := projectTally{known: len(known)}, map[int]bool{}
			for _, f := range res.Findings {
				hit := at(known, f)
				for _, i := range hit {
					found[i] = true
				}
				switch {
				case len(hit) > 0:
					got.right++
				case len(at(safe, f)) > 0:
					got.safe++
					t.Logf("at a safe place: %s %s:%s", f.RuleID, f.File, f.Lines)
				default:
					got.other++
				}
			}
			got.found = len(found)
			floor := projectFloors[filepath.Base(dir)]
			require.GreaterOrEqual(t, got.found, floor.found, "weaknesses found")
			require.LessOrEqual(t, got.safe, floor.safe, "findings at safe places")
			require.LessOrEqual(t, got.other, floor.other, "findings elsewhere")
			t.Logf("%s: found %d of %d; %d findings: %d right, %d at safe places, %d elsewhere", filepath.Base(dir), got.found, got.known, len(res.Findings), got.right, got.safe, got.other)
		})
	}
}
