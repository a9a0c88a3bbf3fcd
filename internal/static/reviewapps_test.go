package static

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/audit"

	"github.com/stretchr/testify/require"
)

// reviewApps are invented applications with annotated fragments:
// testdata/review/<app>/SPEC.md and cases.*, where "### name good" or
// "### name bad 2,5" begins each.
var reviewApps = map[string]string{"documents": "py", "bookings": "js", "wallet": "go", "lockers": "py", "tickets": "go", "depot": "js", "grants": "go", "fees": "py", "rooms": "ts",
	"letters": "js", "parking": "go", "instruments": "py", "choir": "js", "harvest": "go", "kitchen": "py", "grove": "js", "ferry": "go"}

// reviewFloors say how many bad ones, good ones and reasons of an application must be
// right; an application without floors must be right throughout.
var reviewFloors = map[string][3]int{"depot": {20, 15, 20}, "grants": {21, 15, 19}, "fees": {25, 19, 24}, "rooms": {13, 11, 12},
	"letters": {19, 21, 15}, "parking": {13, 22, 11}, "instruments": {13, 22, 12},
	"choir": {16, 23, 13}, "harvest": {11, 22, 10}, "kitchen": {13, 22, 11},
	"grove": {16, 22, 13}, "ferry": {8, 24, 7}}

type fragment struct {
	name     string
	line     int
	want     audit.Label
	violates []int
	code     string
}

var fragmentMark = regexp.MustCompile(`^### ([a-z0-9-]+) (good|bad)(?: ([0-9,]+))?$`)

func readFragments(t testing.TB, app string) (spec string, list []fragment, file string) {
	b, err := os.ReadFile(filepath.Join("testdata", "review", app, "SPEC.md"))
	require.NoError(t, err)
	names, err := filepath.Glob(filepath.Join("testdata", "review", app, "cases.*"))
	require.NoError(t, err)
	require.Len(t, names, 1)
	src, err := os.ReadFile(names[0])
	require.NoError(t, err)
	for i, line := range strings.Split(string(src), "\n") {
		if m := fragmentMark.FindStringSubmatch(line); m != nil {
			f := fragment{name: m[1], line: i + 1, want: audit.Label(m[2])}
			for _, n := range strings.Split(m[3], ",") {
				if v, err := strconv.Atoi(n); err == nil {
					f.violates = append(f.violates, v)
				}
			}
			list = append(list, f)
			continue
		}
		if len(list) > 0 {
			list[len(list)-1].code += line + "\n"
		}
	}
	require.NotEmpty(t, list)
	return string(b), list, names[0]
}

// TestReviewApplications judges the invented fragments: verdict and reason.
func TestReviewApplications(t *testing.T) {
	for app, language := range reviewApps {
		t.Run(app, func(t *testing.T) {
			spec, list, file := readFragments(t, app)
			var bad, badRight, good, goodRight, reason int
			floors, some := reviewFloors[app]
			tell := t.Errorf
			if some {
				tell = t.Logf
			}
			for _, f := range list {
				rev, err := New(Options{}).ReviewCode(context.Background(), audit.ReviewTask{Spec: spec, Language: language, Code: f.code})
				require.NoError(t, err)
				right := rev.Verdict == f.want
				hit := slices.ContainsFunc(f.violates, func(n int) bool { return slices.Contains(rev.Violates, n) })
				if f.want == audit.Bad {
					bad++
					if right {
						badRight++
					}
					if hit {
						reason++
					}
				} else {
					good++
					if right {
						goodRight++
					}
				}
				if !right || f.want == audit.Bad && !hit {
					tell("%s:%d: %s: want %s %v, got %s %v: %s", file, f.line, f.name, f.want, f.violates, rev.Verdict, rev.Violates, rev.Explanation)
				}
			}
			require.GreaterOrEqual(t, badRight, floors[0], "bad ones found")
			require.GreaterOrEqual(t, goodRight, floors[1], "good ones kept")
			require.GreaterOrEqual(t, reason, floors[2], "right reasons")
			t.Logf("%s: bad %d/%d, good %d/%d, right reason %d/%d", app, badRight, bad, goodRight, good, reason, bad)
		})
	}
}

// FuzzFragment: no fragment, SPEC or language makes the reviewer panic.
func FuzzFragment(f *testing.F) {
	for app, language := range reviewApps {
		spec, list, _ := readFragments(f, app)
		for _, x := range list {
			f.Add(spec, language, x.code)
		}
	}
	f.Fuzz(func(t *testing.T, spec, language, code string) {
		if len(spec)+len(code) > 1<<14 {
			return
		}
		rev, err := New(Options{Workers: 1}).ReviewCode(context.Background(), audit.ReviewTask{Spec: spec, Language: language, Code: code})
		if err != nil {
			t.Fatal(err)
		}
		if rev.Status == audit.Answered && rev.Verdict == "" {
			t.Fatal("answered without a verdict")
		}
	})
}
