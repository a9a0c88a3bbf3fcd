package audittest

import (
	"cmp"
	"context"
	"path/filepath"

	"assay/audit"
	"assay/audit/auditor"
	"assay/audit/fixture"
	"assay/internal/static"
)

// A prompt is an evaluation prompt with its name.
type prompt struct{ name, text string }

// defaultPrompt is the prompt that is used when nobody names one.
const defaultPrompt = "evaluation-prompt"

// prompts reads the chosen prompts. A corpus that was written elsewhere may have
// its own at the root.
func (e *env) prompts(t T) []prompt {
	t.Helper()
	names := e.cfg.Prompts
	if len(names) == 0 {
		names = []string{defaultPrompt}
	}
	var ps []prompt
	for _, name := range names {
		dir := "fixtures/prompts"
		if name == defaultPrompt && e.root.other != nil && exists(e.root.other, defaultPrompt+".txt") {
			dir = "."
		}
		file := dir + "/" + name + ".txt"
		if dir == "." {
			file = name + ".txt"
		}
		text, err := fixture.ReadPrompt(e.root.pick(file), dir, name)
		if err != nil {
			t.Fatal(err)
		}
		ps = append(ps, prompt{name, text})
	}
	return ps
}

// reviewers gives the chosen reviewers.
func (e *env) reviewers(t T) []audit.Reviewer {
	t.Helper()
	names := e.cfg.Models
	if len(names) == 0 {
		names = []string{"static"}
	}
	models, err := fixture.ReadModels(e.root.pick("fixtures/models.md"), "fixtures/models.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := auditor.Directory{Models: models, Getenv: environment, Static: auditor.StaticReviewer(reviewStatic)}
	for _, entry := range e.auditors(t) {
		dir.Auditors = append(dir.Auditors, entry)
	}
	var rs []audit.Reviewer
	for _, name := range names {
		r, err := dir.Reviewer(name)
		if err != nil {
			t.Fatal(err)
		}
		rs = append(rs, r)
	}
	return rs
}

// db is where results go.
func (s *Suite) db(e *env) string {
	return cmp.Or(e.cfg.DB, filepath.Join(s.own, "results.db"))
}

// reviewStatic is the embedded analyser's review, its errors told as a status.
func reviewStatic(ctx context.Context, task audit.ReviewTask) audit.Review {
	r, err := static.Review(ctx, task)
	if err != nil {
		return audit.Review{Status: audit.Errored, Detail: err.Error()}
	}
	return r
}
