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
func (e *env) plantedNames() []string {
	entries, err := fs.ReadDir(e.root.holdings(), plantedDir)
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
	var targets []target
	names := e.plantedNames()
	for i := range max(1, e.cfg.Seeds) {
		seed := cmp.Or(e.cfg.Seed, planted.DefaultSeed) + uint64(i)
		var draws []*planted.Draw
		for _, name := range names {
			all := e.cfg.Filter == plantedAll
			if !all && !e.cfg.chooses(name) && e.cfg.Filter != "planted" {
				continue
			}
			p, err := planted.Read(e.root.holdings(), path.Join(plantedDir, name))
			if err != nil {
				return nil, err
			}
			draw := p.Draw(seed)
			if all {
				draws = append(draws, draw)
				continue
			}
			t := draw.Render()
			targets = append(targets, target{project: named(t, name, seed), drawn: t})
		}
		if len(draws) > 0 {
			t, err := planted.Combine(plantedAll, "The planted projects side by side", draws...)
			if err != nil {
				return nil, err
			}
			targets = append(targets, target{project: named(t, plantedAll, seed), drawn: t})
		}
	}
	slices.SortStableFunc(targets, func(a, b target) int { return strings.Compare(a.project.Name, b.project.Name) })
	return targets, nil
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
