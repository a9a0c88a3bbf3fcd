package suite

import (
	"cmp"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/auditor"
)

type prompt struct{ name, text string }

const defaultPrompt = "evaluation-prompt"

// promptOf is the prompt that a tier is asked with when nobody names one.
func promptOf(tier string) string {
	if tier == moduleTier {
		return "module-prompt"
	}
	return defaultPrompt
}

func (e *env) prompts() (ps []prompt, err error) {
	names := e.cfg.Prompts
	if len(names) == 0 {
		names = []string{promptOf(e.cfg.Tier)}
	}
	for _, name := range names {
		p, err := e.prompt(name)
		if err != nil {
			return nil, err
		}
		ps = append(ps, p)
	}
	return ps, nil
}

// prompt takes the default one from the root of a corpus that was written elsewhere.
func (e *env) prompt(name string) (prompt, error) {
	dir := "fixtures/prompts"
	if name == defaultPrompt && e.root.other != nil && exists(e.root.other, defaultPrompt+".txt") {
		dir = "."
	}
	text, err := fixture.ReadPrompt(e.root.setting(path.Join(dir, name+".txt")), dir, name)
	return prompt{name, text}, err
}

func (e *env) reviewers() (rs []audit.Reviewer, err error) {
	names := e.cfg.Models
	switch {
	case len(names) > 0:
	case len(e.given.reviewers) > 0:
		return e.given.reviewers, nil
	case e.cfg.Tier == moduleTier:
		names = []string{"patterns", "control-nothing", "control-everything"}
	default:
		names = []string{"patterns", "control-words"}
	}
	dir, readers, err := e.reviewerDirectory()
	if err != nil {
		return nil, err
	}
	if len(e.cfg.Models) == 0 {
		for _, r := range readers {
			if r.Read(promptOf(e.cfg.Tier)) != nil {
				names = append(names, r.Name())
			}
		}
	}
	for _, name := range names {
		r, err := dir.Reviewer(name)
		if err := cmp.Or(e.removedName(name), err); err != nil {
			return nil, err
		}
		rs = append(rs, r)
	}
	return rs, nil
}

// closeAll closes what reviewers hold open, but for those that were handed over.
func (e *env) closeAll(reviewers []audit.Reviewer) {
	for _, r := range reviewers {
		if c, ok := r.(io.Closer); ok && !e.given.reviewer(r.Name()) {
			_ = c.Close() // idle connections
		}
	}
}

// chosenAuditors gives a model once with each prompt that -prompt names.
func (e *env) chosenAuditors() (as []audit.Auditor, err error) {
	dir, err := e.directory()
	if err != nil {
		return nil, err
	}
	for _, name := range e.cfg.Auditors {
		names := []string{name}
		if len(e.cfg.Prompts) > 0 && e.given.auditor(name) == nil {
			names = nil
			for _, prompt := range e.cfg.Prompts {
				names = append(names, dir.WithPrompt(name, prompt))
			}
		}
		for _, name := range slices.Compact(names) { // who is no model has one name with all prompts
			a, err := e.auditor(name)
			if err != nil {
				return nil, err
			}
			as = append(as, a)
		}
	}
	return as, nil
}

// auditor finds a Go value, a section of auditors.md or a model.
func (e *env) auditor(name string) (audit.Auditor, error) {
	if a := e.given.auditor(name); a != nil {
		return a, nil
	}
	dir, err := e.directory()
	if err := cmp.Or(err, e.removedName(name)); err != nil {
		return nil, err
	}
	return dir.Auditor(name)
}

// removedName returns an error for a name that was Assay's own, unless the root has an
// auditor or reviewer of that name.
func (e *env) removedName(name string) error {
	entries, err := e.auditors()
	if _, listed := entries[name]; listed || e.given.reviewer(name) {
		return err
	}
	return cmp.Or(err, Removed(name))
}

// promptHash gives the hash of what an auditor is told, "" where it is told nothing.
func (e *env) promptHash(a audit.Auditor, entry audit.AuditorEntry) (string, error) {
	if model, ok := a.(interface{ PromptHash() string }); ok {
		return model.PromptHash(), nil
	}
	return auditor.PromptHash(e.root.setting("fixtures/auditors.md"), entry)
}

func (e *env) directory() (dir auditor.Directory, err error) {
	text := func(name string) (string, error) { p, err := e.prompt(name); return p.text, err }
	dir = auditor.Directory{Getenv: os.Getenv, Given: e.given.reviewers, Prompt: text, Budget: e.cfg.Budget}
	if dir.Models, err = fixture.ReadModels(e.root.setting("fixtures/models.md"), "fixtures/models.md"); err != nil {
		return dir, err
	}
	dir.Auditors, err = e.sections()
	return dir, err
}

func (e *env) reviewerDirectory() (dir auditor.Directory, readers []*auditor.Reader, err error) {
	if dir, err = e.directory(); err != nil {
		return dir, nil, err
	}
	if readers, err = auditor.Readers(e.root.holdings(), "fixtures/recordings"); err != nil {
		return dir, nil, err
	}
	dir.Given = slices.Clone(dir.Given)
	for _, r := range readers {
		dir.Given = append(dir.Given, r)
	}
	return dir, readers, nil
}

func (s *Suite) db(e *env) string {
	return cmp.Or(e.cfg.DB, filepath.Join(e.root.Dir, "results.db"))
}
