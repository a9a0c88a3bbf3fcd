package audittest

import (
	"cmp"

	"assay/audit"
	"assay/audit/fixture"
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
	var rs []audit.Reviewer
	for _, name := range names {
		r, err := e.reviewer(name, models)
		if err != nil {
			t.Fatal(err)
		}
		rs = append(rs, r)
	}
	return rs
}

// db is where results go.
func (e *env) db() string { return cmp.Or(e.cfg.DB, "results.db") }
