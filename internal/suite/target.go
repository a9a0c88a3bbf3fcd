package suite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/box"
	"assay/internal/fixes"
	"assay/internal/planted"
	"assay/internal/seal"
)

// A target is what a leaf measures on: a project, the smoke class or a case.
type target struct {
	project *audit.Project
	drawn   *planted.Export // of a planted project or area; else nil
	class   fs.FS           // of Smoke; else nil
	fix     *shownFix       // of a table of fixes; else nil
	hash    string          // of the source that is shown
	subject *audit.Case     // of Bench; else nil
	spec    *audit.Spec     // of subject
}

// pos returns where the target is described.
func (x *target) pos() audit.Pos {
	if x.subject != nil {
		return x.subject.Pos
	}
	return x.project.Pos
}

// export writes the sealed source into a new folder and returns it with what removes it.
func (x *target) export(ctx context.Context, fetch fixes.Fetch) (dir string,
	remove func() error, err error) {
	if x.class == nil {
		return Sealed(ctx, x.project, x.drawn, fetch)
	}
	tmp, remove, err := box.TempDir("smoke")
	if err != nil {
		return "", nil, err
	}
	// The methodology's command line names ./smoke-test-fixture/.
	dir = filepath.Join(tmp, "src")
	if err := os.CopyFS(filepath.Join(dir, smokeDir), x.class); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return dir, remove, nil
}

// audit runs an auditor once on a new export and returns the folder that it saw; "" if
// there was no export.
func (x *target) audit(ctx context.Context, a audit.Auditor, usd float64,
	fetch fixes.Fetch) (audit.AuditRun, string, error) {
	var task audit.AuditTask
	var remove func() error
	var err error
	if x.fix != nil {
		var s *fixes.SealedTarget
		if s, remove, err = x.exportFix(ctx, fetch); err == nil {
			task = s.Task
			x.show(s)
		}
	} else {
		task.Dir, remove, err = x.export(ctx, fetch)
	}
	if err != nil {
		return audit.AuditRun{}, "", err
	}
	task.MaxUSD = usd
	r, err := a.Audit(ctx, task)
	if gone := remove(); gone != nil && err == nil { // what was paid for is kept
		r.Exposed = strings.TrimPrefix(r.Exposed+"; its export cannot be removed: "+gone.Error(),
			"; ")
	}
	return r, task.Dir, err
}

// Sealed writes a project's sealed export into a new folder: of its draw where it is
// planted, else of the clone that fetch returns. It returns the folder and what removes it.
func Sealed(ctx context.Context, p *audit.Project, drawn *planted.Export,
	fetch fixes.Fetch) (dir string, remove func() error, err error) {
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

const (
	plantedDir  = "fixtures/planted"
	projectsDir = "fixtures/projects"
	// plantedAll is the name of all planted projects side by side as one repository.
	plantedAll = "planted-all"
	// allPlanted and allAreas are filters: the planted projects, and all of their areas.
	allPlanted, allAreas = "planted", "areas"
)

// Template returns the key of this name, with the draw where it is planted.
func Project(fsys fs.FS, name string) (*planted.Export, *audit.Project, error) {
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

// Page returns the file that pins the project of this name and holds its key.
func Page(fsys fs.FS, name string) (string, error) {
	page := path.Join(projectsDir, name+".md")
	switch {
	case exists(fsys, page):
		return page, nil
	case exists(fsys, path.Join(plantedDir, name)):
		return "", fmt.Errorf(
			"%s is planted: its files and its key follow from a seed: assay plant writes them",
			name)
	}
	return "", fmt.Errorf("there is no project %q in %s or %s", name, projectsDir, plantedDir)
}

// PlantedNames returns the names of the planted projects; none is no error.
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

// Drawn draws a planted project by name, an area of one ("marina.stays"), or all of them
// side by side ("planted-all"), and returns the draw with its key. A name may end in @
// and a seed, which is part of the key's name unless it is the default one, since the
// draw has records and baselines of its own. It returns nil for a name that no planted
// project has.
func Drawn(fsys fs.FS, name string) (*planted.Export, *audit.Project, error) {
	return drawWith(readPlanted(fsys), fsys, name)
}

// readPlanted returns a function that reads planted projects by name, each once.
func readPlanted(fsys fs.FS) func(name string) (*planted.Template, error) {
	held := map[string]*planted.Template{}
	return func(name string) (*planted.Template, error) {
		if p := held[name]; p != nil {
			return p, nil
		}
		p, err := planted.Read(fsys, path.Join(plantedDir, name))
		held[name] = p
		return p, err
	}
}

// drawWith is Drawn with a function that reads planted projects.
func drawWith(read func(name string) (*planted.Template, error),
	fsys fs.FS, name string) (*planted.Export, *audit.Project, error) {
	base, number, seeded := strings.Cut(name, "@")
	project, area, _ := strings.Cut(base, ".")
	names, err := PlantedNames(fsys)
	if err != nil {
		return nil, nil, err
	}
	if base != plantedAll {
		names = slices.DeleteFunc(names, func(one string) bool { return one != project })
	}
	if len(names) == 0 {
		return nil, nil, nil
	}
	seed := uint64(planted.DefaultSeed)
	if seeded {
		if seed, err = strconv.ParseUint(number, 10, 64); err != nil {
			return nil, nil, fmt.Errorf("%q is no project: expected a number, the seed, after @",
				name)
		}
	}
	var draws []*planted.Draw
	for _, one := range names {
		p, err := read(one)
		if err != nil {
			return nil, nil, err
		}
		d := p.Draw(seed)
		if area != "" {
			if d, err = p.DrawArea(area, seed); err != nil {
				return nil, nil, err
			}
		}
		draws = append(draws, d)
	}
	drawn := draws[0].Render()
	if base == plantedAll {
		if drawn, err = planted.Combine(plantedAll, "The planted projects side by side",
			draws...); err != nil {
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
