package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/record"
	"assay/internal/run"
	"assay/internal/store"
)

// A gate judges each reviewer with each prompt over the joined rows.
type gate struct {
	cases  map[string]*audit.Case
	goals  audit.Goals
	root   string
	strict bool
}

// A variantRows holds the rows of a reviewer with a prompt.
type variantRows struct {
	reviewer, prompt string
	rows             map[string]map[int]store.Evaluation // by case and trial
	twins            []store.Evaluation
	trials           int
}

func (c *mergeCmd) judge(w io.Writer, whole *store.Run, rows []store.Evaluation) error {
	if len(rows) == 0 {
		return fmt.Errorf("%s: no shard holds an answer, and a run of nothing proves nothing", audit.Invalid)
	}
	g := gate{root: c.Root, strict: c.Strict}
	var err error
	if g.cases, _, err = corpus(c.Root); err != nil {
		return err
	}
	fsys, err := source{Root: c.Root}.fixtures()
	if err != nil {
		return err
	}
	goals, err := fixture.ReadGoals(fsys, "fixtures/goals.md")
	if err != nil {
		return err
	}
	g.goals = goals
	variants, err := g.variants(rows)
	if err != nil {
		return err
	}
	skipped, absent := whole.Outcomes[audit.OutcomeSkipped], 0
	for _, s := range variants {
		absent += len(g.cases)*s.trials - s.asked()
	}
	if skipped > 0 && skipped != absent {
		return fmt.Errorf("%s: %d trials were planned and not asked: to carry on, run the shards again: %s", audit.Invalid, skipped, whole.Command)
	}
	if skipped > 0 {
		fmt.Fprintf(w, "%d of %d trials were not asked; to carry on, run the shards again: %s\n", skipped, whole.Planned, whole.Command)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "reviewer\tprompt\t%s\tverdict\n", strings.Join(score.Names(score.BenchMetrics()), "\t"))
	var errs []error
	for _, s := range variants {
		errs = append(errs, g.one(tw, s, skipped > 0))
	}
	return errors.Join(tw.Flush(), errors.Join(errs...))
}

func (s *variantRows) asked() (n int) {
	for _, trials := range s.rows {
		n += len(trials)
	}
	return n
}

// variants sorts the rows by reviewer and prompt. A row of a case that stands
// otherwise here is an error: the key that judges must be that of the run.
func (g *gate) variants(rows []store.Evaluation) ([]*variantRows, error) {
	var variants []*variantRows
	for _, ev := range rows {
		i := slices.IndexFunc(variants, func(s *variantRows) bool { return s.reviewer == ev.Model && s.prompt == ev.Prompt })
		if i < 0 {
			i = len(variants)
			variants = append(variants, &variantRows{reviewer: ev.Model, prompt: ev.Prompt, rows: map[string]map[int]store.Evaluation{}})
		}
		s := variants[i]
		if ev.Twin != "" {
			s.twins = append(s.twins, ev)
			continue
		}
		id := caseID(ev)
		cs := g.cases[id]
		if cs == nil || run.CaseHash(cs) != ev.CaseHash {
			return nil, fmt.Errorf("%s: the case stands otherwise below %s than where the shard ran: judge with the same commit", ev.TestFile, g.root)
		}
		if s.rows[id] == nil {
			s.rows[id] = map[int]store.Evaluation{}
		}
		s.rows[id][ev.Index] = ev
		s.trials = max(s.trials, ev.Index+1)
	}
	return variants, nil
}

// answers gives what is scored. What was planned and skipped has no row.
func (s *variantRows) answers(cases map[string]*audit.Case, skipped bool) (as []score.Answer, whole bool) {
	ids := make([]string, 0, len(cases))
	for id := range cases {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	whole = true
	for _, id := range ids {
		for i := range s.trials {
			ev, ok := s.rows[id][i]
			switch {
			case ok:
				as = append(as, score.Answer{Case: cases[id], Trial: i, Outcome: ev.Outcome, Violates: ev.Violates})
			case skipped:
				as = append(as, score.Answer{Case: cases[id], Trial: i, Outcome: audit.OutcomeSkipped})
			default:
				whole = false
			}
		}
	}
	return as, whole
}

// one judges one reviewer with one prompt and writes its line.
func (g *gate) one(w io.Writer, s *variantRows, skipped bool) error {
	as, whole := s.answers(g.cases, skipped)
	f, err := score.BenchOf(as)
	if err != nil {
		return fmt.Errorf("%s: %w", s.reviewer, err)
	}
	verdict := "a part of the cases: not judged"
	var notes []string
	var failed error
	if whole {
		verdict, notes, failed = g.hold(s, as)
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.reviewer, s.prompt, strings.Join(score.ShowAll(score.BenchMetrics(), f), "\t"), verdict)
	for _, note := range notes {
		fmt.Fprintf(w, "\t%s\n", note)
	}
	for _, fl := range s.flips() {
		fmt.Fprintf(w, "\t%v of verdicts flip on %s twins (%d of %d)\n", fl.Share, fl.Kind, fl.Flipped, fl.Asked)
	}
	if g.strict && failed == nil && f.Outcomes[audit.OutcomeWrong] > 0 {
		failed = fmt.Errorf("%s: --strict: %d misses", s.reviewer, f.Outcomes[audit.OutcomeWrong])
	}
	return failed
}

// hold holds a whole run against goals and baseline, and tells what changed since.
func (g *gate) hold(s *variantRows, as []score.Answer) (verdict string, notes []string, err error) {
	baselines := filepath.Join(g.root, "fixtures", "baselines")
	base, err := record.ReadBench(os.DirFS(baselines), ".", s.reviewer, s.prompt)
	if err != nil {
		return "", nil, err
	}
	before, notes := base.Compare(s.told(), g.cases, run.CaseHash)
	j, err := score.JudgeBench(as, before, g.goals.Of(s.reviewer).Bench, score.Rules{Deterministic: auditor.Deterministic(s.reviewer), Strict: g.strict})
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", s.reviewer, err)
	}
	if j.Verdict == audit.Fail || j.Verdict == audit.Invalid {
		return string(j.Verdict), notes, fmt.Errorf("fixtures/goals.md: %s: %s: %s", s.reviewer, j.Verdict, j.Reasons[0].Text)
	}
	if j.Verdict == audit.Warn {
		return string(j.Verdict) + ": " + j.Reasons[0].Text, notes, nil
	}
	return string(j.Verdict), notes, nil
}

// told gives what the trials put their question to.
func (s *variantRows) told() (as []record.Asked) {
	for _, trials := range s.rows {
		for _, ev := range trials {
			as = record.AppendAsked(as, record.Asked{PromptHash: ev.PromptHash, SettingsHash: ev.SettingsHash, Model: ev.Served})
		}
	}
	return as
}

// flips compares each case with its twins.
func (s *variantRows) flips() []score.Flip {
	var pairs []score.TwinAnswer
	for _, tw := range s.twins {
		if ev, ok := s.rows[caseID(tw)][0]; ok {
			pairs = append(pairs, score.TwinAnswer{Kind: tw.Twin, Case: ev.Outcome, Twin: tw.Outcome})
		}
	}
	return score.Flips(pairs)
}
