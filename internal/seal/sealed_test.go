package seal

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/box"
	"assay/internal/proof"
)

// TestNamesTellNothing holds of every pinned project that no name which its sealed
// export leaves tells where entries of the key lie. What was measured stands in the
// ledger; a key or seal that changed since is measured where the sources of all projects
// are at hand, as an ordinary name is known from the others. ASSAY_PROOF=update writes
// the ledger, and ASSAY_PROOF=all measures all of it again.
func TestNamesTellNothing(t *testing.T) {
	repository, mode := os.DirFS("../.."), os.Getenv("ASSAY_PROOF")
	ledger, err := proof.ReadLedger(repository)
	require.NoError(t, err)
	names, err := fixture.Projects(repository, "fixtures/projects")
	require.NoError(t, err)
	dir, remove, err := box.TempDir("sealed")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, remove()) })
	x := &exports{fsys: repository, dir: dir, words: map[string]map[string]bool{},
		made: map[string]*Export{}}
	for _, name := range names {
		p, err := fixture.ReadProject(repository, "fixtures/projects/"+name+".md")
		require.NoError(t, err)
		x.projects = append(x.projects, p)
	}
	open := sync.OnceValues(x.open)
	for _, p := range x.projects {
		t.Run(p.Name, func(t *testing.T) {
			id := proof.Sealed + p.Name
			sum := sha256.Sum256([]byte("2 " + Hash(p) + p.KeyHash))
			now, content := ledger[id], fmt.Sprintf("%x", sum[:16])
			if mode == "all" || now.Content != content {
				absent, err := open()
				require.NoError(t, err)
				if absent != "" {
					t.Fatalf("%s: its names were not held against this key and this sealed export, and the source of %s is not here: get it with assay fetch, or name a folder of clones in ASSAY_MIRROR, and measure with ASSAY_PROOF=update go test ./internal/seal -run NamesTellNothing", p.Pos, absent)
				}
				before := now
				now = x.measure(t, p)
				now.Content, now.Despite = content, before.Despite
				if mode != "update" && now != before {
					t.Errorf("%s holds otherwise than measured: %+v: write it with ASSAY_PROOF=update", proof.LedgerFile, now)
				}
			}
			t.Logf("%s, the strongest %s", now.Runtime, now.Effects)
			if complaint := judge(p, now); complaint != "" {
				t.Fatal(complaint)
			}
			ledger[id] = now
		})
	}
	if mode == "update" {
		require.NoError(t, os.WriteFile(filepath.Join("../..", proof.LedgerFile),
			[]byte(ledger.Text()), 0o644))
	}
}

// judge gives what is wrong with an entry of the ledger; "" where nothing is.
func judge(p *audit.Project, e proof.Proved) string {
	var names int
	var chance float64
	_, err := fmt.Sscanf(e.Runtime, "%d names, p %f", &names, &chance)
	red := err != nil || chance < LeastP
	switch {
	case red && e.Despite == "":
		return fmt.Sprintf(
			"%s: the sealed export tells where entries lie (%s, expected p %.2f or more), the most by %s: rename or blank it in the section \"Sealed Export\"; where that would hide what the code is about, say why in a fifth column of %s%s in %s", p.Pos, e.Runtime, LeastP, e.Effects, proof.Sealed, p.Name, proof.LedgerFile)
	case !red && e.Despite != "":
		return fmt.Sprintf(
			"%s: %s%s is an exception, and nothing is wrong with it (%s): remove its fifth column",
			proof.LedgerFile, proof.Sealed, p.Name, e.Runtime)
	}
	return ""
}

func TestWhatIsWrongWithASealedEntry(t *testing.T) {
	p := &audit.Project{Name: "demo", Pos: audit.Pos{File: "demo.md", Line: 1}}
	require.Empty(t, judge(p, proof.Proved{Runtime: "3 names, p 0.0100"}))
	require.Empty(t,
		judge(p, proof.Proved{Runtime: "3 names, p 0.0099",
			Despite: "grades are what it is about"}))
	require.Contains(t,
		judge(p, proof.Proved{Runtime: "3 names, p 0.0099", Effects: "grade_book in 30 files"}),
		"demo.md:1: the sealed export tells where entries lie (3 names, p 0.0099, expected p 0.01 or more), the most by grade_book in 30 files")
	require.Contains(t, judge(p, proof.Proved{Runtime: "nothing"}),
		"demo.md:1: the sealed export tells")
	require.Contains(t, judge(p, proof.Proved{Runtime: "3 names, p 0.4000", Despite: "grades"}),
		"sealed/demo is an exception, and nothing is wrong with it")
}

// exports are the sealed exports of all projects.
type exports struct {
	fsys     fs.FS
	dir      string
	projects []*audit.Project
	made     map[string]*Export
	// by the code that uses them: projects, planted ones, applications of cases
	words map[string]map[string]bool
}

// open exports every project, and gives the one whose source is not here.
func (x *exports) open() (absent string, err error) {
	ctx, cache, mirror := context.Background(), os.Getenv("ASSAY_CACHE"), os.Getenv("ASSAY_MIRROR")
	if cache == "" {
		if cache, err = os.UserCacheDir(); err != nil {
			return "", err
		}
		cache = filepath.Join(cache, "assay")
	}
	for _, p := range x.projects {
		if !atHand(ctx, p, cache, mirror) {
			return p.Name, nil
		}
	}
	for _, p := range x.projects {
		clone, err := Fetch(ctx, p, cache, mirror)
		if err != nil {
			return "", err
		}
		s, err := clone.Export(ctx, filepath.Join(x.dir, p.Name))
		if err != nil {
			return "", err
		}
		x.made[p.Name] = s
		if x.words[p.Name], err = Words(os.DirFS(s.Dir)); err != nil {
			return "", err
		}
	}
	for _, pattern := range []string{"fixtures/planted/*", "tests/*"} {
		dirs, err := fs.Glob(x.fsys, pattern)
		if err != nil {
			return "", err
		}
		for _, dir := range dirs {
			sub, err := fs.Sub(x.fsys, dir)
			if err != nil {
				return "", err
			}
			if x.words[dir], err = Words(sub); err != nil {
				return "", err
			}
		}
	}
	return "", nil
}

// atHand reports whether the pinned commit can be had without the network: it was
// fetched before, or the mirror holds it. A mirror that is no folder of this machine
// is taken to.
func atHand(ctx context.Context, p *audit.Project, cache, mirror string) bool {
	if (&Clone{cloneDir(p, cache), p}).holdsPin(ctx) {
		return true
	}
	source, err := source(p.Repository, mirror)
	if err != nil || mirror == "" {
		return false
	}
	return strings.Contains(source, "://") ||
		slices.ContainsFunc([]string{source, filepath.Join(source, ".git")},
			func(dir string) bool { return (&Clone{dir, p}).holdsPin(ctx) })
}

// measure takes a name that two others use for one of ordinary code. It cuts p, so that
// what is red reads so too.
func (x *exports) measure(t *testing.T, p *audit.Project) proof.Proved {
	in := map[string]int{}
	for by, words := range x.words {
		if by == p.Name {
			continue
		}
		for w := range words {
			in[w]++
		}
	}
	marks, err := x.made[p.Name].Marks(p, func(name string) bool { return in[name] >= 2 })
	require.NoError(t, err)
	e := proof.Proved{Runtime: fmt.Sprintf("%d names, p %.4f", marks.Names,
		math.Floor(marks.P*1e4)/1e4), Effects: "no name"}
	var told []string
	for _, m := range marks.Each[:min(10, len(marks.Each))] {
		told = append(told, fmt.Sprintf("%s in %d %s, %d with entries where chance gives %.1f",
			m.Name, m.Units, m.Where, m.Marked, m.Chance))
		t.Logf("p %.1g of its own: %s", m.P, told[len(told)-1])
	}
	if len(told) > 0 {
		e.Effects = told[0]
	}
	return e
}

// TestWhatTheLedgerLacksIsMeasured exports a project and its neighbours and measures it.
func TestWhatTheLedgerLacksIsMeasured(t *testing.T) {
	s, p := lessons(t, "    grade_book = 1")
	x := &exports{words: map[string]map[string]bool{"a": {"show": true}, "b": {"show": true}},
		made: map[string]*Export{p.Name: s}}
	e := x.measure(t, p)
	require.True(t, strings.HasSuffix(e.Runtime, " names, p 0.0004"), e.Runtime)
	require.Contains(t, judge(p, e), "the most by ")
}
