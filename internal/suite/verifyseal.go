package suite

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"sync"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/proof"
	"assay/internal/seal"
)

// seals holds of every pinned project that no name that its sealed export leaves tells where
// entries of the key lie. What has changed since the ledger was written is measured again where
// the sources of all projects are at hand: an ordinary name is known from the others.
func (v *verify) seals(t T) {
	fsys := v.env.root.holdings()
	if !exists(fsys, "fixtures/projects") {
		return
	}
	names, err := fixture.Projects(fsys, "fixtures/projects")
	if err != nil {
		t.Fatal(err)
	}
	x := newSealing(fsys, t.TempDir())
	t.Cleanup(func() { x.remove(t) })
	for _, name := range names {
		p, err := fixture.ReadProject(fsys, path.Join("fixtures/projects", name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		x.projects = append(x.projects, p)
	}
	for _, p := range x.projects {
		chosen := v.env.cfg.chooses(p.Name)
		v.selected = v.selected || chosen
		if !chosen || !v.env.cfg.Shard.has(path.Join(t.Name(), p.Name)) {
			v.partly = true
			continue
		}
		v.run(t, p.Name, func(t T) { v.seal(t, x, p) })
	}
}

// seal lets an entry that says red stand with a reason only, which every run tells.
func (v *verify) seal(t T, x *sealing, p *audit.Project) {
	id := "sealed/" + p.Name
	sum := sha256.Sum256([]byte("2 " + seal.Hash(p) + p.KeyHash))
	content := fmt.Sprintf("%x", sum[:16])
	before := v.ledger[id]
	if v.mode != "all" && v.stands(id, content) {
		v.sealed(t, p, before)
		return
	}
	absent, err := x.open()
	if err != nil {
		t.Fatal(err)
	}
	if absent != "" {
		v.partly = true
		stale := fmt.Sprintf("%s: its names were not held against this key and this sealed export, and the source of %s is not here: get it with assay fetch, or name a folder of clones in ASSAY_MIRROR, and measure with ASSAY_PROOF=update go test -run Verify/sealed", p.Pos, absent)
		if v.env.root.strict() {
			t.Fatal(stale)
		}
		t.Skip(stale)
	}
	marks, err := x.exports[p.Name].Marks(p, x.common(p.Name))
	if err := errors.Join(append(x.exports[p.Name].Lost(p), err)...); err != nil {
		t.Fatal(err)
	}
	v.proven++
	now := proof.Proved{Content: content, Runtime: measured(marks.Names, marks.P), Effects: "no name"}
	for i, m := range marks.Each[:min(10, len(marks.Each))] {
		tell := fmt.Sprintf("%s in %d %s, %d with entries where chance gives %.1f", m.Name, m.Units, m.Where, m.Marked, m.Chance)
		t.Logf("%s: p %.1g of its own: %s", p.Name, m.P, tell)
		if i == 0 {
			now.Effects = tell
		}
	}
	if red(now) {
		now.Despite = before.Despite
	}
	v.sealed(t, p, now)
	if red(now) && now.Despite == "" {
		return // it has no place in the ledger
	}
	v.keep(t, p.Pos, id, now, before == now)
}

func (v *verify) sealed(t T, p *audit.Project, e proof.Proved) {
	t.Logf("%s: %s, the strongest %s", p.Name, e.Runtime, e.Effects)
	switch {
	case red(e) && e.Despite == "":
		t.Errorf("%s: the sealed export tells where entries lie (%s, expected p %.2f or more), the most by %s: rename or blank it in the section \"Sealed Export\"; where that would hide what the code is about, say why in a fifth column of sealed/%s in %s, and every run will tell it", p.Pos, e.Runtime, seal.LeastP, e.Effects, p.Name, proof.LedgerFile)
	case red(e):
		v.suite.summary.note("Verify: the sealed export of %s tells where entries lie (%s, the most by %s): %s", p.Name, e.Runtime, e.Effects, e.Despite)
	case e.Despite != "":
		t.Errorf("%s: sealed/%s is an exception, and nothing is wrong with it (%s): remove its fifth column", proof.LedgerFile, p.Name, e.Runtime)
	}
}

// measured cuts p, so that what is red reads so too.
func measured(names int, p float64) string {
	return fmt.Sprintf("%d names, p %.4f", names, math.Floor(p*1e4)/1e4)
}

// red reports whether a seal gives its key away, or an entry says nothing.
func red(e proof.Proved) bool {
	var names int
	var p float64
	_, err := fmt.Sscanf(e.Runtime, "%d names, p %f", &names, &p)
	return err != nil || p < seal.LeastP
}

// A sealing is the sealed exports of all projects.
type sealing struct {
	fsys     fs.FS
	dir      string
	projects []*audit.Project
	exports  map[string]*seal.Sealed
	words    map[string]map[string]bool // by the code that uses them: projects, planted ones, applications of cases

	// open exports every project once, and gives the one whose source is not here.
	open func() (absent string, err error)
}

func newSealing(fsys fs.FS, dir string, projects ...*audit.Project) *sealing {
	x := &sealing{fsys: fsys, dir: dir, projects: projects}
	x.open = sync.OnceValues(func() (string, error) { return x.export(context.Background()) })
	return x
}

func (x *sealing) export(ctx context.Context) (absent string, err error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	mirror := os.Getenv("ASSAY_MIRROR")
	for _, p := range x.projects {
		if !seal.AtHand(ctx, p, cache, mirror) {
			return p.Name, nil
		}
	}
	x.exports, x.words = map[string]*seal.Sealed{}, map[string]map[string]bool{}
	for _, p := range x.projects {
		clone, err := seal.Fetch(ctx, p, cache, mirror)
		if err != nil {
			return "", err
		}
		if x.exports[p.Name], err = clone.Export(ctx, filepath.Join(x.dir, p.Name)); err != nil {
			return "", err
		}
		if x.words[p.Name], err = seal.Words(os.DirFS(x.exports[p.Name].Dir)); err != nil {
			return "", err
		}
	}
	for _, pattern := range []string{plantedDir + "/*", "tests/*"} {
		dirs, err := fs.Glob(x.fsys, pattern)
		if err != nil {
			return "", err
		}
		for _, dir := range dirs {
			sub, err := fs.Sub(x.fsys, dir)
			if err != nil {
				return "", err
			}
			if x.words[dir], err = seal.Words(sub); err != nil {
				return "", err
			}
		}
	}
	return "", nil
}

// common tells the names of ordinary code: two others use them.
func (x *sealing) common(project string) func(string) bool {
	in := map[string]int{}
	for by, words := range x.words {
		if by == project {
			continue
		}
		for w := range words {
			in[w]++
		}
	}
	return func(name string) bool { return in[name] >= 2 }
}

func (x *sealing) remove(t T) {
	for _, s := range x.exports {
		if err := s.Remove(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the export cannot be removed: %v", err)
		}
	}
}
