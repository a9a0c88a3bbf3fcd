package suite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/box"
	"assay/internal/fixes"
	"assay/internal/seal"
)

// A shownFix is a target of a table of fixes. Its files are known after the first export.
type shownFix struct {
	fixes.Target
	once  sync.Once
	err   error
	added map[string][]audit.Range // lines that the change adds, by file
}

// show fills in the files of the target and the lines that its change adds, once.
func (x *target) show(s *fixes.SealedTarget) { x.fix.once.Do(func() { x.fill(s) }) }

// fill adds what is known of a change after its export.
func (x *target) fill(s *fixes.SealedTarget) {
	x.project.Tree, x.project.Others, x.fix.added = s.Tree, s.Others, s.Changed
}

// fixTargets returns the targets of the chosen tables of fixes in the view that -view names,
// and why some tables cannot be used, by name. What a view leaves out is logged.
func (e *env) fixTargets(log func(string, ...any)) (all []target,
	broken map[string]error, err error) {
	broken = map[string]error{}
	view, fsys := fixes.Pool, e.root.fixtures()
	if e.cfg.View != "" {
		view = fixes.View(e.cfg.View)
	}
	dims, err := e.dimensions()
	if err != nil {
		return nil, nil, err
	}
	for _, name := range fixes.Names(fsys) {
		table, advice, err := fixes.Read(fsys, path.Join(fixes.Dir, name+".md"))
		if err != nil {
			if e.cfg.chooses(name) {
				broken[name] = err
				all = append(all, target{project: &audit.Project{Name: name}})
			}
			continue
		}
		targets, left := table.Targets(view)
		chosen := 0
		for i := range targets {
			if e.cfg.chooses(targets[i].Name()) {
				chosen++
				all = append(all, e.fixTarget(&targets[i], dims))
			}
		}
		for _, a := range advice {
			left = append(left, a.What)
		}
		for _, what := range left {
			if chosen > 0 {
				log("%s: -view %s: %s", table.Pos, view, what)
			}
		}
	}
	return all, broken, nil
}

// fixTarget returns the target of a fix.
func (e *env) fixTarget(x *fixes.Target, dims map[audit.CWE]audit.Dimension) target {
	p := x.Project(dims)
	shown := strings.Join(append([]string{seal.Hash(p), x.Base(), x.Head()}, x.Table.Scope...),
		"\n")
	return target{project: p, fix: &shownFix{Target: *x}, hash: hashOf(shown)}
}

// target returns the target of a project's name: planted, pinned, or of a table of fixes.
func (e *env) target(name string) (target, error) {
	fsys := e.root.fixtures()
	stem, _, _ := strings.Cut(name, ".")
	if !slices.Contains(fixes.Names(fsys), stem) {
		drawn, key, err := Project(fsys, name)
		if err != nil {
			return target{}, err
		}
		return target{project: key, drawn: drawn, hash: seal.Hash(key)}, nil
	}
	table, _, err := fixes.Read(fsys, path.Join(fixes.Dir, stem+".md"))
	if err != nil {
		return target{}, err
	}
	dims, err := e.dimensions()
	if err != nil {
		return target{}, err
	}
	for _, view := range []fixes.View{fixes.Pool, fixes.Change} {
		targets, _ := table.Targets(view)
		for i := range targets {
			if targets[i].Name() == name {
				return e.fixTarget(&targets[i], dims), nil
			}
		}
	}
	return target{}, fmt.Errorf("%s has no target %s any more", table.Pos, name)
}

// named returns the target of a project's name with its files.
func (e *env) named(ctx context.Context, name string) (target, error) {
	x, err := e.target(name)
	if err == nil && x.fix != nil {
		err = x.list(ctx, e.fetch)
	}
	return x, err
}

// exportFix writes the sealed export of a tree or a change into a new folder.
func (x *target) exportFix(ctx context.Context, fetch fixes.Fetch) (*fixes.SealedTarget,
	func() error, error) {
	tmp, remove, err := box.TempDir("export")
	if err != nil {
		return nil, nil, err
	}
	s, err := x.fix.Export(ctx, filepath.Join(tmp, "src"), fetch)
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return s, remove, nil
}

// list exports a target of fixes where no audit did so in this run.
func (x *target) list(ctx context.Context, fetch fixes.Fetch) error {
	x.fix.once.Do(func() {
		s, remove, err := x.exportFix(ctx, fetch)
		if err == nil {
			x.fill(s)
			err = remove()
		}
		x.fix.err = err
	})
	return x.fix.err
}

// scoreUnread notes which unread entries the trials report.
func scoreUnread(m *measurement, dims map[audit.CWE]audit.Dimension) error {
	p := m.target.fix.Unread(dims)
	if len(p.Vulnerabilities) == 0 {
		return nil
	}
	p.Tree, p.Others = m.target.project.Tree, m.target.project.Others
	times := map[string]int{}
	for _, x := range m.trials {
		v := x.audited()
		in := score.Input{Project: p, Findings: v.Run.Report.Findings, Dimensions: dims,
			Roots: []string{v.Dir, v.Run.Report.Root}, Rounds: -1}
		r, err := score.Score(in)
		if err != nil {
			return err
		}
		for id := range fixes.Reported(r) {
			times[id]++
		}
	}
	var all []string
	for _, k := range p.Vulnerabilities {
		all = append(all, fmt.Sprintf("%s in %d of %s", k.ID, times[k.ID],
			plural(len(m.trials), "trial")))
	}
	m.record.Notes = append(m.record.Notes, "entries that nobody read, reported and not judged: "+
		strings.Join(all, ", "))
	return nil
}

// fixNotes returns the notes on fixes: how many pairs an auditor tells apart, and how many of
// its findings are unjudged.
func fixNotes(ms []*measurement) (notes []string) {
	strata := map[string]map[bool]*measurement{}
	var order []*measurement
	var beside fixes.Beside
	trials, changes := 0, false
	for _, m := range ms {
		x := m.target.fix
		if x == nil {
			continue
		}
		s := x.Stratum()
		if strata[s] == nil {
			strata[s] = map[bool]*measurement{}
			order = append(order, m)
		}
		strata[s][x.Mended] = m
		changes = changes || x.Fix != nil
		for _, r := range resultsOf(m) {
			if r != nil {
				b := fixes.BesideKey(r, m.target.fix.added)
				beside.Unknown, beside.Inside = beside.Unknown+b.Unknown, beside.Inside+b.Inside
				beside.Judged, beside.Wrong = beside.Judged+b.Judged, beside.Wrong+b.Wrong
				trials++
			}
		}
	}
	var pairs []fixes.FixPair
	for _, m := range order {
		pair := strata[m.target.fix.Stratum()]
		if bad, good := pair[false], pair[true]; bad != nil && good != nil {
			pairs = append(pairs, fixes.Pairs(&bad.target.fix.Target, resultsOf(bad),
				resultsOf(good))...)
		}
	}
	if s, err := fixes.Summarize(pairs); err == nil {
		notes = append(notes, s.String())
	}
	if trials > 0 {
		note := fmt.Sprintf(
			"findings that match no fix: %d in %s, nobody knows whether they are right",
			beside.Unknown, plural(trials, "trial"))
		if changes {
			note += fmt.Sprintf("; in added lines %d", beside.Inside)
		}
		notes = append(notes, fmt.Sprintf("%s; judged %d, at places that are not there %d", note,
			beside.Judged, beside.Wrong))
	}
	return notes
}

// resultsOf returns the results of a measurement's trials; nil of those without one.
func resultsOf(m *measurement) (all []*score.Result) {
	for i := range m.record.Trials {
		all = append(all, m.record.Trials[i].Result)
	}
	return all
}

// aheadOf notes the fixes that a run of an earlier day knew before they were made.
func aheadOf(m *measurement, ran time.Time) (notes []string) {
	if m.target.fix == nil || m.target.fix.Mended {
		return nil
	}
	known := map[string]bool{}
	for _, r := range resultsOf(m) {
		if r == nil {
			continue
		}
		for _, id := range m.target.fix.Table.Ahead(r, ran) {
			known[id] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(known)) {
		notes = append(notes, id+" was reported ahead of the fix")
	}
	return notes
}
