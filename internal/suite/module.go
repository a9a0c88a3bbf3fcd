package suite

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/planted"
	"assay/internal/run"
	"assay/internal/store"
)

const (
	plainTier  = "plain"  // cases
	moduleTier = "module" // modules of the planted projects
)

// moduleDraws of every project: thirty modules of the four that are shipped.
const moduleDraws = 2

func (e *env) drawModules() (ms []*audit.Module, err error) {
	names, err := PlantedNames(e.root.holdings())
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		p, err := planted.Read(e.root.holdings(), path.Join(plantedDir, name))
		if err != nil {
			return nil, err
		}
		for i := range cmp.Or(e.cfg.Seeds, moduleDraws) {
			drawn, err := p.DrawModules(cmp.Or(e.cfg.Seed, planted.DefaultSeed) + uint64(i))
			if err != nil {
				return nil, err
			}
			ms = append(ms, drawn...)
		}
	}
	return ms, nil
}

// Modules gives a function that finds modules by their IDs, with the hash by which an
// answer knows what it was asked. Each draw is made once; the function is not for
// concurrent use.
func Modules(fsys fs.FS) func(id string) (*audit.Module, string, error) {
	draws := map[string][]*audit.Module{}
	return func(id string) (*audit.Module, string, error) {
		app := path.Dir(id)
		if _, made := draws[app]; !made {
			project, number, _ := strings.Cut(app, "@")
			seed, err := strconv.ParseUint(number, 10, 64)
			if err != nil || !fs.ValidPath(project) {
				return nil, "", fmt.Errorf("%q is no module: expected <project>@<seed>/<module>", id)
			}
			p, err := planted.Read(fsys, path.Join(plantedDir, project))
			if err != nil {
				return nil, "", err
			}
			if draws[app], err = p.DrawModules(seed); err != nil {
				return nil, "", err
			}
		}
		for _, m := range draws[app] {
			if m.ID() == id {
				return m, run.ModuleHash(m), nil
			}
		}
		return nil, "", fmt.Errorf("%s: no project of %s has this module", id, plantedDir)
	}
}

func missed(m *audit.Module, ev *store.Evaluation) string {
	vs, err := audit.ParseViolations(ev.Explanation)
	if err != nil {
		return fmt.Sprintf("%s: %v", m.Pos, err)
	}
	s := score.ScoreModule(m, vs)
	lines := []string{fmt.Sprintf("%s: %s", m.Pos, m.ID())}
	for i := range m.Sites {
		site, place := &m.Sites[i], m.Sites[i].File+":"+m.Sites[i].Lines.String()
		switch by := s.Sites[i]; {
		case site.Bad && len(by) == 0:
			lines = append(lines, fmt.Sprintf("%s: %s (%s) is not named: %s: %s", site.Pos, site.ID, place, site.Title, site.Why))
		case !site.Bad && len(by) > 0:
			lines = append(lines, fmt.Sprintf("%s: %s (%s) is right, and is named (%s): %s", site.Pos, site.ID, place, audit.OneLine(vs[by[0]].String(), 300), site.Why))
		}
	}
	for _, i := range s.Elsewhere {
		lines = append(lines, "off all sites: "+audit.OneLine(vs[i].String(), 300))
	}
	if n := len(lines); n > maxMissLines {
		lines = append(lines[:maxMissLines], fmt.Sprintf("and %d more, in the answer as it is stored", n-maxMissLines))
	}
	return strings.Join(lines, "\n")
}

// maxMissLines bounds what a subtest prints of one answer.
const maxMissLines = 40

func (b *bench) moduleAnswers(s variant, project string) (as []score.ModuleAnswer) {
	for _, l := range b.of(s, project) {
		for i, r := range l.results {
			a := score.ModuleAnswer{Module: l.ask.Module, Trial: i, Outcome: r.Outcome}
			a.Read(r.Evaluation.Explanation)
			as = append(as, a)
		}
	}
	return as
}

func (b *bench) tellModules(s variant, name string) {
	f, err := score.ModulesOf(b.moduleAnswers(s, ""))
	if err != nil {
		b.suite.summary.note("%s: %v", name, err)
		return
	}
	sites := 0
	for _, l := range b.of(s, "") {
		sites += len(l.ask.Module.Sites)
	}
	var parts []string
	for _, m := range score.ModuleMetrics() {
		parts = append(parts, m.Name+" "+m.Show(f))
	}
	b.suite.summary.note("%s: %d sites in %d modules: %s", name, sites, f.Reviews, strings.Join(parts, ", "))
}
