package suite

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/proof"
	"assay/internal/seal"
)

// seals holds, for every pinned project, whether a name that its sealed export
// leaves tells where entries of the key lie. What was measured stands in the
// ledger; a project whose key, blanks or renames have changed since is measured
// again where the sources of all projects are at hand, for what is an ordinary
// name is known from the others.
func (v *verify) seals(t T) {
	fsys := v.env.root.holdings()
	if !exists(fsys, "fixtures/projects") {
		return
	}
	names, err := fixture.Projects(fsys, "fixtures/projects")
	if err != nil {
		t.Fatal(err)
	}
	x := &sealing{fsys: fsys, dir: t.TempDir()}
	t.Cleanup(func() { x.remove(t) })
	for _, name := range names {
		p, err := fixture.ReadProject(fsys, path.Join("fixtures/projects", name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		x.projects = append(x.projects, p)
	}
	for _, p := range x.projects {
		if !v.env.cfg.chooses(p.Name) || !v.env.cfg.Shard.has(path.Join(t.Name(), p.Name)) {
			v.partly = true
			continue
		}
		v.run(t, p.Name, func(t T) { v.seal(t, x, p) })
	}
}

// seal holds one project against its entry in the ledger, or measures it.
func (v *verify) seal(t T, x *sealing, p *audit.Project) {
	id := "sealed/" + p.Name
	sum := sha256.Sum256([]byte("2 " + seal.Hash(p) + p.KeyHash))
	content := fmt.Sprintf("%x", sum[:16])
	if before, known := v.ledger[id]; known && before.Content == content && v.mode != "all" {
		v.next[id] = before
		v.known++
		return
	}
	absent, err := x.open(context.Background())
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
	tell := "no name"
	if len(marks.Each) > 0 {
		m := marks.Each[0]
		tell = fmt.Sprintf("%s in %d %s, %d with entries where chance gives %.1f", m.Name, m.Units, m.Where, m.Marked, m.Chance)
	}
	t.Logf("%s: %d names, p %.3f, the strongest %s", p.Name, marks.Names, marks.P, tell)
	v.next[id] = proof.Proved{Content: content, Runtime: fmt.Sprintf("%d names, p %.3f", marks.Names, marks.P), Effects: tell}
	known := v.ledger[id] == v.next[id]
	if marks.P < seal.LeastP {
		for _, m := range marks.Each[:min(10, len(marks.Each))] {
			t.Logf("  p %.1g of its own: %s in %d %s, %d with entries where chance gives %.1f", m.P, m.Name, m.Units, m.Where, m.Marked, m.Chance)
		}
		red := fmt.Sprintf("%s: the sealed export tells where entries lie (p %.4f, expected %.2f or more), the most by %s", p.Pos, marks.P, seal.LeastP, tell)
		if known || v.mode == "update" { // who commits the ledger has read it
			t.Logf("%s: so %s says", red, proof.LedgerFile)
			return
		}
		t.Errorf("%s: rename or blank it in the section \"Sealed Export\"; where that would hide what the code is about, ASSAY_PROOF=update writes the result into %s, where it stands for all to see", red, proof.LedgerFile)
		return
	}
	if v.mode != "update" && v.env.root.strict() && !known {
		t.Errorf("%s: measured, and %s holds another result or none: write it with ASSAY_PROOF=update go test -run Verify", p.Pos, proof.LedgerFile)
	}
}

// A sealing is the sealed exports of all projects.
type sealing struct {
	fsys     fs.FS
	dir      string
	projects []*audit.Project
	exports  map[string]*seal.Sealed
	words    map[string]map[string]bool // by the code that uses them: projects, planted ones, applications of cases
	absent   string                     // the project whose source is not at hand
}

// open exports every project and reads the names that each uses, once. It gives
// the project whose source is not here.
func (x *sealing) open(ctx context.Context) (absent string, err error) {
	if x.exports != nil || x.absent != "" {
		return x.absent, nil
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	mirror := environment("ASSAY_MIRROR")
	for _, p := range x.projects {
		if !seal.AtHand(ctx, p, cache, mirror) {
			x.absent = p.Name
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
