package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"assay/audit"
	"assay/internal/planted"
	"assay/internal/seal"
)

// plantedDir is where planted projects stand.
const plantedDir = "fixtures/planted"

// plantedAll is the name of the planted projects side by side as one repository.
const plantedAll = "planted-all"

// A target is a project that is audited: its key, and for a planted one the draw
// that gives its source.
type target struct {
	project *audit.Project
	drawn   *planted.Target // nil: a pinned project
	broken  error           // why its key cannot be read; the project has a name alone then
}

// export makes the sealed export for one live trial in a new folder, and gives where
// it is and what removes it.
func (x *target) export(ctx context.Context, dir string, fetch func(context.Context, *audit.Project) (*seal.Clone, error)) (string, func() error, error) {
	if x.drawn != nil {
		return dir, func() error { return nil }, x.drawn.Export(dir)
	}
	clone, err := fetch(ctx, x.project)
	if err != nil {
		return "", nil, err
	}
	sealed, err := clone.Export(ctx, dir)
	if err != nil {
		return "", nil, err
	}
	return sealed.Dir, sealed.Remove, nil
}

// target gives the project of this name, as records and plans hold it.
func (e *env) target(name string) (target, error) {
	base, seed, drawn := strings.Cut(name, "@")
	x := *e
	x.cfg.Filter, x.cfg.Seed, x.cfg.Seeds = base, 0, 1
	if drawn {
		n, err := strconv.ParseUint(seed, 10, 64)
		if err != nil {
			return target{}, fmt.Errorf("%q is no project: expected a number, the seed, after @", name)
		}
		x.cfg.Seed = n
	}
	all, err := x.targets()
	for _, t := range all {
		if t.project.Name == name {
			return t, t.broken
		}
	}
	return target{}, errors.Join(err, fmt.Errorf("there is no project %q below fixtures/projects or %s", name, plantedDir))
}

// plantedNames lists the planted projects; none is no error.
func (e *env) plantedNames() []string { return plantedNames(e.root.holdings()) }

func plantedNames(fsys fs.FS) []string {
	entries, err := fs.ReadDir(fsys, plantedDir)
	if err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	return names
}

// planted gives the draws of the chosen planted projects: of each the seeds that
// -seed and -seeds name. All of them side by side are drawn where -filter names
// planted-all.
func (e *env) planted() ([]target, error) {
	names := []string{plantedAll}
	if e.cfg.Filter != plantedAll {
		names = slices.DeleteFunc(e.plantedNames(), func(name string) bool { return !e.cfg.chooses(name) && e.cfg.Filter != "planted" })
	}
	var targets []target
	for i := range max(1, e.cfg.Seeds) {
		seed := cmp.Or(e.cfg.Seed, planted.DefaultSeed) + uint64(i)
		for _, name := range names {
			drawn, err := Plant(e.root.holdings(), name, seed)
			if err != nil {
				return nil, err
			}
			targets = append(targets, target{project: named(drawn, name, seed), drawn: drawn})
		}
	}
	slices.SortStableFunc(targets, func(a, b target) int { return strings.Compare(a.project.Name, b.project.Name) })
	return targets, nil
}

// Plant draws the planted project of this name, or with planted-all all of them
// side by side; its export and key are those that Regression takes.
func Plant(fsys fs.FS, name string, seed uint64) (*planted.Target, error) {
	if name != plantedAll {
		p, err := planted.Read(fsys, path.Join(plantedDir, name))
		if err != nil {
			return nil, err
		}
		return p.Draw(seed).Render(), nil
	}
	var draws []*planted.Draw
	for _, one := range plantedNames(fsys) {
		p, err := planted.Read(fsys, path.Join(plantedDir, one))
		if err != nil {
			return nil, err
		}
		draws = append(draws, p.Draw(seed))
	}
	return planted.Combine(plantedAll, "The planted projects side by side", draws...)
}

// named gives a draw's key. Another seed than the default one is part of the name:
// its key is another, and so are its records and baselines.
func named(t *planted.Target, name string, seed uint64) *audit.Project {
	p := t.Project()
	p.Name = name
	if seed != planted.DefaultSeed {
		p.Name = fmt.Sprintf("%s@%d", name, seed)
	}
	return p
}
