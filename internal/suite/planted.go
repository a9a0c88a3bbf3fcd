package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/box"
	"assay/internal/planted"
	"assay/internal/seal"
)

const plantedDir = "fixtures/planted"

// plantedAll is the name of the planted projects side by side as one repository.
const plantedAll = "planted-all"

type target struct {
	project *audit.Project
	drawn   *planted.Target // nil: a pinned project
	broken  error           // why its key cannot be read; the project has a name alone then
}

// Sealed makes a project's sealed export in a new folder, of its draw where it is
// planted and otherwise of what fetch gives, and says where it is and what removes
// it.
func Sealed(ctx context.Context, p *audit.Project, drawn *planted.Target,
	fetch func(context.Context, *audit.Project) (*seal.Clone, error)) (dir string, remove func() error, err error) {
	tmp, remove, err := box.TempDir("export")
	if err != nil {
		return "", nil, err
	}
	dir = filepath.Join(tmp, "src")
	if drawn != nil {
		err = drawn.Export(dir)
	} else {
		var clone *seal.Clone
		if clone, err = fetch(ctx, p); err == nil {
			_, err = clone.Export(ctx, dir)
		}
	}
	if err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return dir, remove, nil
}

// audit gives the folder that the auditor saw; "" where there is no export.
func (x *target) audit(ctx context.Context, who audit.Auditor, usd float64,
	fetch func(context.Context, *audit.Project) (*seal.Clone, error)) (audit.AuditRun, string, error) {
	dir, remove, err := Sealed(ctx, x.project, x.drawn, fetch)
	if err != nil {
		return audit.AuditRun{}, "", err
	}
	r, err := who.Audit(ctx, audit.AuditTask{Dir: dir, MaxUSD: usd})
	if gone := remove(); gone != nil && err == nil { // what was paid for is kept
		r.Exposed = strings.TrimPrefix(r.Exposed+"; its export cannot be removed: "+gone.Error(), "; ")
	}
	return r, dir, err
}

// Project gives the key of this name, with the draw where it is a planted project's.
func Project(fsys fs.FS, name string) (*planted.Target, *audit.Project, error) {
	drawn, key, err := Drawn(fsys, name)
	if drawn != nil || err != nil {
		return drawn, key, err
	}
	page, err := Page(fsys, name)
	if err != nil {
		return nil, nil, err
	}
	key, err = fixture.ReadProject(fsys, page)
	return nil, key, err
}

// Page gives the file that pins the project of this name and holds its key.
func Page(fsys fs.FS, name string) (string, error) {
	page := path.Join("fixtures/projects", name+".md")
	switch {
	case exists(fsys, page):
		return page, nil
	case exists(fsys, path.Join(plantedDir, name)):
		return "", fmt.Errorf("%s is planted: its files and its key follow from a seed, as assay plant writes them", name)
	}
	return "", fmt.Errorf("there is no project %q below fixtures/projects or %s", name, plantedDir)
}

// PlantedNames lists the planted projects; none is no error.
func PlantedNames(fsys fs.FS) (names []string, err error) {
	entries, err := fs.ReadDir(fsys, plantedDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the planted projects: %w", err)
	}
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// planted gives of each chosen project the draws that -seed and -seeds name; with -filter
// planted-all those of all side by side, and with marina@5 that draw alone.
func (e *env) planted() ([]target, error) {
	cfg, names := e.cfg, []string{plantedAll}
	first := cmp.Or(cfg.Seed, planted.DefaultSeed)
	if name, number, _ := strings.Cut(cfg.Filter, "@"); number != "" {
		if seed, err := strconv.ParseUint(number, 10, 64); err == nil {
			cfg.Filter, cfg.Seeds, first = name, 1, seed
		}
	}
	if cfg.Filter != plantedAll {
		all, err := PlantedNames(e.root.holdings())
		if err != nil {
			return nil, err
		}
		names = slices.DeleteFunc(all, func(name string) bool { return !cfg.chooses(name) && cfg.Filter != "planted" })
	}
	var targets []target
	for i := range max(1, cfg.Seeds) {
		seed := first + uint64(i)
		for _, name := range names {
			drawn, key, err := Drawn(e.root.holdings(), fmt.Sprintf("%s@%d", name, seed))
			if err != nil {
				return nil, err
			}
			targets = append(targets, target{project: key, drawn: drawn})
		}
	}
	slices.SortStableFunc(targets, func(a, b target) int { return strings.Compare(a.project.Name, b.project.Name) })
	return targets, nil
}

// Drawn draws the planted project of this name, or with planted-all all of them side
// by side, and gives its key as Regression takes it. A name may end with @ and the
// seed: another than the default one stays part of the name, as the key is another,
// and so are its records and baselines. Both are nil where no planted project has
// the name.
func Drawn(fsys fs.FS, name string) (*planted.Target, *audit.Project, error) {
	base, number, seeded := strings.Cut(name, "@")
	names, err := PlantedNames(fsys)
	if err != nil {
		return nil, nil, err
	}
	if base != plantedAll {
		names = slices.DeleteFunc(names, func(one string) bool { return one != base })
	}
	if len(names) == 0 {
		return nil, nil, nil
	}
	seed := uint64(planted.DefaultSeed)
	if seeded {
		if seed, err = strconv.ParseUint(number, 10, 64); err != nil {
			return nil, nil, fmt.Errorf("%q is no project: expected a number, the seed, after @", name)
		}
	}
	var draws []*planted.Draw
	for _, one := range names {
		p, err := planted.Read(fsys, path.Join(plantedDir, one))
		if err != nil {
			return nil, nil, err
		}
		draws = append(draws, p.Draw(seed))
	}
	drawn := draws[0].Render()
	if base == plantedAll {
		var err error
		if drawn, err = planted.Combine(plantedAll, "The planted projects side by side", draws...); err != nil {
			return nil, nil, err
		}
	}
	key := drawn.Project()
	key.Name = base
	if seed != planted.DefaultSeed {
		key.Name = fmt.Sprintf("%s@%d", base, seed)
	}
	return drawn, key, nil
}
