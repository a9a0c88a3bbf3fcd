package suite

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"assay/audit"
	"assay/audit/findings"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/fixes"
	"assay/internal/patterns"
	"assay/internal/planted"
	"assay/internal/record"
	"assay/internal/seal"
)

// A variant is an auditor or a reviewer as a run measures it.
type variant struct {
	name     string // of the auditor or reviewer
	prompt   prompt // of a reviewer
	auditor  audit.Auditor
	reviewer audit.Reviewer
	entry    audit.AuditorEntry   // its section; a name alone where it has none
	replay   []*auditor.Recording // of a recorded auditor, one a trial
	recorded map[string]bool      // of a recorded reviewer: the cases that it was shown
	env      *env                 // whose registry and files it comes from
}

// A measurement is a leaf of a suite's subtests: one variant on one target.
type measurement struct {
	path    []string // of subtests below the suite's
	variant *variant
	target  target
	beside  *measurement // the variant that runs beside this one; nil without -beside
	err     error        // why it cannot be measured; fails its subtest

	trials []*trial // made by plan.go, completed by run.go
	scored bool     // score.go has compared the results with the key

	// Of an auditor alone.
	record      record.Record       // the test record, completed stage by stage
	transcripts []record.Transcript // what the trials wrote
	baseline    *record.Record      // that the record is compared with; may be nil
	goals       score.ProjectGoals
	smoke       *score.SmokeJudgement // of Smoke
	passed      int                   // of its five checks
	written     string                // name of the record that was written
}

// sides returns the measurement and its -beside counterpart, if it has one.
func (m *measurement) sides() iter.Seq[*measurement] {
	return func(yield func(*measurement) bool) {
		for ; m != nil && yield(m); m = m.beside {
		}
	}
}

// replayed reports whether the measurement scores recordings.
func (m *measurement) replayed() bool { return len(m.variant.replay) > 0 }

// published reports whether others have published the recordings that are replayed.
func (m *measurement) published() bool { return m.replayed() && m.variant.replay[0].Source != "" }

// inProcess reports whether the trials are made in their subtest, without cost: replays
// and the embedded auditor.
func (m *measurement) inProcess() bool {
	return m.replayed() || m.variant.entry.Kind == patternsKind && m.variant.reviewer == nil
}

// asksOthers reports whether a trial of the measurement or of its counterpart is a job.
func (m *measurement) asksOthers() bool {
	return !m.inProcess() || m.beside != nil && m.beside.asksOthers()
}

const patternsKind = "patterns"

// collectSmoke returns the smoke class with each chosen auditor.
func collectSmoke(e *env, _ func(string, ...any)) ([]*measurement, error) {
	class, hash, key, err := e.smoke()
	if err != nil {
		return nil, err
	}
	variants, err := e.chosenAuditors()
	if err != nil {
		return nil, err
	}
	if len(variants) == 0 {
		variants = e.provided()
	}
	if len(variants) == 0 {
		variants = []*variant{e.patterns()}
	}
	var all []*measurement
	for _, v := range variants {
		if v.entry.Kind == patternsKind { // the checks are about the text report
			v.auditor = patterns.Auditor{Format: findings.Text}
		}
		all = append(all, &measurement{path: []string{v.name}, variant: v,
			target: target{project: key.Project, class: class, hash: hash + " in " + smokeDir}})
	}
	return all, nil
}

const smokeDir = "smoke-test-fixture"

// smoke returns the class that Smoke audits, the hash of its files and its key.
func (e *env) smoke() (class fs.FS, hash string, key *fixture.Smoke, err error) {
	if class, err = fs.Sub(e.root.setting(smokeDir), smokeDir); err != nil {
		return nil, "", nil, err
	}
	tree, hash, err := manifest(class)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf(
			"%w: expected the class that Smoke audits: name a folder that holds it with --root",
			err)
	}
	if err != nil {
		return nil, "", nil, fmt.Errorf("%s: %w", smokeDir, err)
	}
	key, err = fixture.ReadSmoke(e.root.setting("fixtures/smoke.md"), "fixtures/smoke.md", tree)
	return class, hash, key, err
}

// manifest returns the files of a folder without their hashes, and one hash of all names
// and contents. No file is an error.
func manifest(fsys fs.FS) (audit.Tree, string, error) {
	tree, sum := audit.Tree{}, sha256.New()
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(fsys, name)
		fmt.Fprintf(sum, "%d %s %d\n%s", len(name), name, len(b), b)
		tree[path.Clean(name)] = audit.TreeFile{Path: name, Lines: audit.CountLines(b)}
		return err
	})
	if err == nil && len(tree) == 0 {
		err = errors.New("the folder is empty: expected the class with the planted flaws")
	}
	return tree, hex.EncodeToString(sum.Sum(nil)), err
}

// collectRegression returns each project with the auditors that -auditor names; without
// it with every recording of the project, with the provided auditors, and with patterns
// on planted projects and on those of the user that have neither.
func collectRegression(e *env, log func(string, ...any)) ([]*measurement, error) {
	targets, broken, err := e.targets(log)
	if err != nil {
		return nil, err
	}
	dims, err := e.dimensions()
	if err != nil {
		return nil, err
	}
	if _, err := e.goals(); err != nil {
		return nil, err
	}
	chosen, err := e.chosenAuditors()
	if err != nil {
		return nil, err
	}
	recordings, err := e.recordings()
	if err != nil {
		return nil, err
	}
	var all []*measurement
	for i := range targets {
		x := &targets[i]
		p := x.project
		err := broken[p.Name]
		if err == nil {
			err = fixture.MissingDimensions(p, dims)
		}
		variants := chosen
		if len(e.cfg.Auditors) == 0 {
			variants = slices.Clone(recordings[p.Name])
			// the user has its source at hand
			if e.root.user != nil && exists(e.root.user, p.Pos.File) {
				variants = append(variants, e.provided()...)
			}
			if x.drawn != nil || len(variants) == 0 && !e.root.strict() {
				variants = append(variants, e.patterns())
			}
		}
		if err == nil && len(variants) == 0 {
			err = fmt.Errorf(
				"%s: %s: no recording of an auditor on this project: make one with assay capture, or name an auditor with -auditor", p.Pos, audit.Invalid)
		}
		if err != nil {
			all = append(all, &measurement{path: []string{p.Name}, target: *x, err: err,
				variant: &variant{}})
			continue
		}
		for _, v := range variants {
			all = append(all, &measurement{path: []string{p.Name, v.name}, variant: v, target: *x})
		}
	}
	return all, nil
}

// targets returns the chosen projects, and why some of them cannot be used, by name.
func (e *env) targets(log func(string, ...any)) (all []target, broken map[string]error, err error) {
	ofFixes, broken, err := e.fixTargets(log)
	if err != nil || e.cfg.View != "" {
		return ofFixes, broken, err
	}
	if all, err = e.drawnTargets(); err != nil {
		return nil, nil, err
	}
	all = append(all, ofFixes...)
	fsys := e.root.fixtures()
	if !exists(fsys, projectsDir) && (exists(fsys, plantedDir) || exists(fsys, fixes.Dir)) {
		return all, broken, nil
	}
	names, err := fixture.Projects(fsys, projectsDir)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		if !e.cfg.chooses(name) {
			continue
		}
		p, err := fixture.ReadProject(fsys, path.Join(projectsDir, name+".md"))
		if err != nil {
			p, broken[name] = &audit.Project{Name: name}, err
		}
		all = append(all, target{project: p, hash: seal.Hash(p)})
	}
	return all, broken, nil
}

// drawnTargets returns the draws that -filter, -seed and -seeds name: of planted projects
// by default, of one draw for "marina@5", of areas for "areas", "marina." or
// "marina.stays", and of all projects side by side for "planted-all".
func (e *env) drawnTargets() ([]target, error) {
	filter, seeds, first := e.cfg.Filter, max(1, e.cfg.Seeds), cmp.Or(e.cfg.Seed,
		planted.DefaultSeed)
	if name, number, _ := strings.Cut(filter, "@"); number != "" {
		if seed, err := strconv.ParseUint(number, 10, 64); err == nil {
			filter, seeds, first = name, 1, seed
		}
	}
	fsys := e.root.fixtures()
	projects, err := PlantedNames(fsys)
	if err != nil {
		return nil, err
	}
	read := readPlanted(fsys)
	var names []string
	for _, name := range projects {
		one := e.cfg
		one.Filter = filter
		if filter == allPlanted || filter != allAreas && one.chooses(name) {
			names = append(names, name)
		}
		if filter != allAreas && !strings.Contains(filter, ".") {
			continue
		}
		p, err := read(name)
		if err != nil {
			return nil, err
		}
		for _, m := range p.Modules {
			if area := name + "." + m.Name; filter == allAreas || one.chooses(area) {
				names = append(names, area)
			}
		}
	}
	if filter == plantedAll {
		names = []string{plantedAll}
	}
	var all []target
	for _, name := range names {
		for i := range seeds {
			drawn, key, err := drawWith(read, fsys, fmt.Sprintf("%s@%d", name, first+uint64(i)))
			if err != nil {
				return nil, err
			}
			all = append(all, target{project: key, drawn: drawn, hash: seal.Hash(key)})
		}
	}
	return all, nil
}

// recordings returns the recorded auditors of each project.
func (e *env) recordings() (map[string][]*variant, error) {
	recs, err := auditor.Recordings(e.root.fixtures(), "fixtures/recordings")
	if err != nil {
		return nil, err
	}
	registry, err := e.registry()
	if err != nil {
		return nil, err
	}
	entries := map[string]audit.AuditorEntry{}
	for _, a := range registry.Auditors {
		entries[a.Name] = a
	}
	by := map[string][]*variant{}
	for _, rec := range recs {
		vs := by[rec.Project]
		if n := len(vs); n == 0 || vs[n-1].name != rec.Auditor {
			entry := entries[rec.Auditor]
			entry.Name = rec.Auditor
			vs = append(vs, &variant{name: rec.Auditor, entry: entry, env: e})
		}
		v := vs[len(vs)-1]
		v.replay = append(v.replay, rec)
		by[rec.Project] = vs
	}
	return by, nil
}

// patterns returns the embedded auditor.
func (e *env) patterns() *variant {
	return &variant{name: patterns.Name, auditor: patterns.Auditor{Format: findings.SARIF}, env: e,
		entry: audit.AuditorEntry{Name: patterns.Name, Kind: patternsKind}}
}

// provided returns the auditors that are provided as Go values.
func (e *env) provided() (vs []*variant) {
	for _, a := range e.auditors {
		vs = append(vs, &variant{name: a.Name(), auditor: a,
			entry: audit.AuditorEntry{Name: a.Name()}, env: e})
	}
	return vs
}

// chosenAuditors returns the auditors that -auditor names, models once with each prompt
// of -prompt.
func (e *env) chosenAuditors() (vs []*variant, err error) {
	registry, err := e.registry()
	if err != nil {
		return nil, err
	}
	for _, name := range e.cfg.Auditors {
		names := []string{name}
		if len(e.cfg.Prompts) > 0 && e.auditor(name) == nil {
			names = nil
			for _, prompt := range e.cfg.Prompts {
				names = append(names, registry.WithPrompt(name, prompt))
			}
		}
		for _, name := range slices.Compact(names) { // only models have a name for each prompt
			v, err := e.auditorVariant(name)
			if err != nil {
				return nil, err
			}
			vs = append(vs, v)
		}
	}
	return vs, nil
}

// auditorVariant finds an auditor: a Go value, a section of auditors.md or a model.
func (e *env) auditorVariant(name string) (*variant, error) {
	entry, err := e.entry(name)
	if err != nil {
		return nil, err
	}
	v := &variant{name: name, auditor: e.auditor(name), entry: entry, env: e}
	if v.auditor == nil {
		if err := e.removed(name); err != nil {
			return nil, err
		}
		registry, err := e.registry()
		if err != nil {
			return nil, err
		}
		if v.auditor, err = registry.Auditor(name); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// collectBench returns each case with each reviewer and prompt.
func collectBench(e *env, log func(string, ...any)) ([]*measurement, error) {
	corpus, err := e.corpus(log)
	if err != nil {
		return nil, err
	}
	if _, err := e.goals(); err != nil {
		return nil, err
	}
	variants, err := e.reviewerVariants()
	if err != nil {
		return nil, err
	}
	var all []*measurement
	for _, v := range variants {
		for _, app := range corpus.Apps {
			for _, family := range app.Families {
				for _, c := range family.Cases {
					if !e.cfg.chooses(c.ID()) || v.recorded != nil && !v.recorded[c.ID()] {
						continue
					}
					all = append(all, &measurement{path: []string{v.name, v.prompt.name, app.App,
						path.Base(c.ID())}, variant: v,
						target: target{subject: c, spec: app.Spec}})
				}
			}
		}
	}
	return all, nil
}

// reviewerVariants returns the chosen reviewers with each prompt: those of -model, else
// the provided ones, else patterns, a control and every recorded one.
func (e *env) reviewerVariants() (vs []*variant, err error) {
	var prompts []prompt
	names := e.cfg.Prompts
	if len(names) == 0 {
		names = []string{defaultPrompt}
	}
	for _, name := range names {
		p, err := e.prompt(name)
		if err != nil {
			return nil, err
		}
		prompts = append(prompts, p)
	}
	reviewers := e.reviewers
	if len(e.cfg.Models) > 0 || len(reviewers) == 0 {
		if reviewers, err = e.namedReviewers(); err != nil {
			return nil, err
		}
	}
	for _, r := range reviewers {
		for _, p := range prompts {
			v, err := e.reviewerVariant(r, p)
			if err != nil {
				return nil, err
			}
			vs = append(vs, v)
		}
	}
	return vs, nil
}

// namedReviewers returns the reviewers that -model names, or the default ones.
func (e *env) namedReviewers() (rs []audit.Reviewer, err error) {
	registry, err := e.registry()
	if err != nil {
		return nil, err
	}
	readers, err := auditor.RecordedReviewers(e.root.fixtures(), "fixtures/recordings")
	if err != nil {
		return nil, err
	}
	names := e.cfg.Models
	if len(names) == 0 {
		names = []string{patterns.Name, "control-words"}
		for _, r := range readers {
			if r.Read(defaultPrompt) != nil {
				names = append(names, r.Name())
			}
		}
	}
	for _, r := range readers {
		registry.Provided = append(slices.Clip(registry.Provided), r)
	}
	for _, name := range names {
		r, err := registry.Reviewer(name)
		if err := cmp.Or(e.removed(name), err); err != nil {
			return nil, err
		}
		rs = append(rs, r)
	}
	return rs, nil
}

// reviewerVariant returns a reviewer with a prompt. A recorded reviewer whose requests
// have changed since is an error.
func (e *env) reviewerVariant(r audit.Reviewer, p prompt) (*variant, error) {
	v := &variant{name: r.Name(), prompt: p, reviewer: r, env: e}
	entry, err := e.entry(r.Name())
	if err != nil {
		return nil, err
	}
	v.entry = entry
	reader, ok := r.(*auditor.RecordedReviewer)
	if !ok {
		return v, nil
	}
	kept := reader.Read(p.name)
	if kept == nil {
		return nil, fmt.Errorf("%s is a recorded reviewer and was never asked with the prompt %s",
			r.Name(), p.name)
	}
	corpus, err := e.cases()
	if err != nil {
		return nil, err
	}
	requests := map[string]string{}
	for _, app := range corpus.Apps {
		for _, family := range app.Families {
			for _, c := range family.Cases {
				task := audit.ReviewTask{Spec: app.Spec.Prompt, Prompt: p.text,
					Language: c.Language, Code: c.Code}
				requests[c.ID()] = auditor.RequestHash(task)
			}
		}
	}
	v.recorded = map[string]bool{}
	for _, one := range kept.Readings {
		if requests[one.About] != one.Request {
			return nil, fmt.Errorf(
				"fixtures/recordings/bench/%s/%s.jsonl: %s: the request for this case has changed since it was recorded: remove the line", r.Name(), p.name, one.About)
		}
		v.recorded[one.About] = true
	}
	return v, nil
}

// addBeside adds the variant that -beside names to each measurement.
func (e *env) addBeside(all []*measurement) error {
	cached := map[*variant]*variant{}
	for _, m := range all {
		if m.err != nil {
			continue
		}
		v := cached[m.variant]
		if v == nil {
			var err error
			if v, err = e.besideVariant(m.variant); err != nil {
				return err
			}
			cached[m.variant] = v
		}
		m.beside = &measurement{path: m.path, variant: v, target: m.target}
	}
	return nil
}

// chooses reports whether -filter lets an ID such as "shop/list-03-bad" through: it is
// part of the ID, or a glob for all of it or its last element.
func (c *Settings) chooses(id string) bool {
	if c.Filter == "" || strings.Contains(id, c.Filter) {
		return true
	}
	whole, _ := doublestar.Match(c.Filter, id)
	last, _ := doublestar.Match(c.Filter, path.Base(id))
	return whole || last
}
