package record

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/score"
)

// A BenchBaseline is what a reviewer with a prompt answered, trial by trial.
type BenchBaseline struct {
	Reviewer string    `json:"reviewer"`
	Prompt   string    `json:"prompt"`
	Date     time.Time `json:"date"`
	Score    string    `json:"score"` // version of the judge
	Run      string    `json:"run"`   // the run in results.db
	// what was asked, and who answered; one, unless it changed within the run
	Asked   []Asked       `json:"asked"`
	Notes   []string      `json:"notes,omitempty"`
	Answers []BenchAnswer `json:"answers"`
}

// An Asked identifies the prompt, settings and model of a trial of a reviewer.
type Asked struct {
	PromptHash   string `json:"prompt_hash,omitempty"`
	SettingsHash string `json:"settings_hash,omitempty"` // of the reviewer's settings
	Model        string `json:"model,omitempty"`         // as served
}

// AppendAsked appends a unless the list has it. It ignores an a without a prompt.
func AppendAsked(as []Asked, a Asked) []Asked {
	if a.PromptHash == "" || slices.Contains(as, a) {
		return as
	}
	return append(as, a)
}

// Changed says in words what of a baseline's prompt, settings and model the run
// of now shares no longer; nil when nothing changed or the baseline does not say.
func (b *BenchBaseline) Changed(now []Asked) []string {
	if len(b.Asked) == 0 || len(now) == 0 {
		return nil
	}
	var changed []string
	for _, part := range []struct {
		name string
		of   func(Asked) string
	}{
		{"prompt", func(a Asked) string { return a.PromptHash }},
		{"settings", func(a Asked) string { return a.SettingsHash }},
		{"model as served", func(a Asked) string { return a.Model }},
	} {
		was, is := distinct(b.Asked, part.of), distinct(now, part.of)
		if !slices.Equal(was, is) {
			changed = append(changed,
				fmt.Sprintf("the %s changed since the baseline: %s, and was %s", part.name,
					short(is), short(was)))
		}
	}
	return changed
}

// distinct returns the different values of a property, sorted.
func distinct(as []Asked, of func(Asked) string) []string {
	var out []string
	for _, a := range as {
		out = append(out, of(a))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// short returns the names, shortened and separated by commas.
func short(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = shown(n)
	}
	return strings.Join(out, ", ")
}

// A BenchAnswer is the outcome of one trial of one case.
type BenchAnswer struct {
	Case     string        `json:"case"` // audit.Case.ID
	Hash     string        `json:"hash"` // of the case as it was asked
	Trial    int           `json:"trial,omitempty"`
	Outcome  audit.Outcome `json:"outcome"`
	Violates []int         `json:"violates,omitempty"`
}

// benchPath returns the file of the baseline of a reviewer with a prompt.
func benchPath(dir, reviewer, prompt string) string {
	return path.Join(dir, "bench", clean(reviewer), clean(prompt)+".json")
}

// ReadBench reads the baseline of a reviewer with a prompt; nil where there is
// none.
func ReadBench(fsys fs.FS, dir, reviewer, prompt string) (*BenchBaseline, error) {
	base, err := readBench(fsys, dir, reviewer, prompt)
	if base != nil && base.Score != score.Version {
		return nil, fmt.Errorf(
			"%s: made by score version %s, and this is %s: ask again and make a new baseline",
			benchPath(dir, reviewer, prompt), base.Score, score.Version)
	}
	return base, err
}

// readBench takes the baseline of any judge: a new one replaces it.
func readBench(fsys fs.FS, dir, reviewer, prompt string) (*BenchBaseline, error) {
	name := benchPath(dir, reviewer, prompt)
	base := &BenchBaseline{}
	err := readJSON(fsys, name, base, "a baseline as assay baseline writes it")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case base.Reviewer != reviewer || base.Prompt != prompt:
		return nil, fmt.Errorf(
			"%s:1: the baseline is of %s with the prompt %s: expected %s with %s; remove the file, or, where both names give it, rename one of the two", name, base.Reviewer, base.Prompt, reviewer, prompt)
	}
	return base, nil
}

// Of returns the answers for the cases that have not changed, and the names of those that have
// changed or are missing.
func (b *BenchBaseline) Of(cases map[string]*audit.Case,
	hash func(*audit.Case) string) (answers []score.Answer, gone []string) {
	for i := range b.Answers {
		a := &b.Answers[i]
		if c := cases[a.Case]; c != nil && hash(c) == a.Hash {
			answers = append(answers, score.Answer{Case: c, Trial: a.Trial, Outcome: a.Outcome,
				Violates: a.Violates})
		} else {
			gone = append(gone, a.Case)
		}
	}
	return answers, gone
}

// Compare returns the answers that a run is compared with, and notes: what has changed in
// prompt, settings or model, and which cases have changed or are missing. Without a baseline it
// returns neither.
func (b *BenchBaseline) Compare(now []Asked, cases map[string]*audit.Case,
	hash func(*audit.Case) string) (answers []score.Answer, notes []string) {
	if b == nil {
		return nil, nil
	}
	notes = b.Changed(now)
	answers, gone := b.Of(cases, hash)
	if len(gone) > 0 {
		notes = append(notes,
			fmt.Sprintf(
				"%d answers of the baseline are for cases that have changed or gone since, like %s",
				len(gone), gone[0]))
	}
	return answers, notes
}

// Write stores the baseline, its answers in the order of their cases.
func (b *BenchBaseline) Write(dir string) error {
	if len(b.Answers) == 0 {
		return fmt.Errorf("%s: no answers: a run of nothing is no baseline", b.Reviewer)
	}
	if _, err := readBench(audit.PlainFiles(os.DirFS(dir)), ".", b.Reviewer, b.Prompt); err != nil {
		return err
	}
	slices.SortFunc(b.Answers, func(x, y BenchAnswer) int {
		return cmp.Or(cmp.Compare(x.Case, y.Case), cmp.Compare(x.Trial, y.Trial))
	})
	return writeLines(benchPath(dir, b.Reviewer, b.Prompt), b, 2)
}
