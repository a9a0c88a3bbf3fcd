package report

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
)

// Held is what a run is held against. Without Fixtures nothing is.
type Held struct {
	Fixtures      fs.FS // with fixtures/baselines
	Goals         audit.Goals
	Deterministic func(reviewer string) bool
}

// A Moved is an auditor on a project, or a reviewer, with its change since the baseline.
type Moved struct {
	Who     string        // "my-agent on dvja"
	Verdict audit.Verdict // of a reviewer that was not asked every case its score.Standing
	// how the headline figure stands to the baseline, or why the verdict is what it is
	Says   string
	Took   string // cost and time, where anybody says
	Lost   []LostEntry
	Gained int
	Pos    audit.Pos // of the key or the goals
	Page   string    // in the report
	stays  bool      // as at the baseline, and fails nothing
	worse  float64   // by which those of one verdict are ordered
}

// A LostEntry is an entry or a case that earns less than at the baseline.
type LostEntry struct {
	ID, Title string
	Pos       audit.Pos // of the key's entry, or the case
}

// lost returns links to the first of the entries or cases that were lost, and one to all.
func (m Moved) lost() (ps []pointer) {
	page, _, _ := strings.Cut(m.Page, "#")
	all, one := page+"#known?since+the+baseline=lost", page+"#"
	if page == "reviewers.html" {
		all, one = "cases.html", "cases.html#"
	}
	const most = 5
	for i, l := range m.Lost {
		if i == most {
			return append(ps, pointer{What: fmt.Sprintf("%d more", len(m.Lost)-most), Page: all})
		}
		ps = append(ps, pointer{What: clip(l.ID, 40), Page: one + url.PathEscape(l.ID)})
	}
	return ps
}

// quiet settles whether what did not move needs anybody's eye.
func (m *Moved) quiet(same bool) {
	m.stays = same && len(m.Lost)+m.Gained == 0 && m.Verdict != audit.Fail &&
		m.Verdict != audit.Invalid && m.Verdict != score.Changed
}

// worstFirst orders by verdict, then size of the change, then name.
func worstFirst(a, b Moved) int {
	return cmp.Or(cmp.Compare(urgency(string(a.Verdict)), urgency(string(b.Verdict))),
		cmp.Compare(b.worse, a.worse), cmp.Compare(a.Who, b.Who))
}

// urgency orders verdicts and standings, the gravest first.
func urgency(badge string) int {
	return slices.Index([]string{string(audit.Invalid), string(audit.Fail), string(score.Changed),
		string(score.Worse), string(audit.Warn), string(score.Inconclusive), string(score.Better),
		string(audit.Pass)}, badge)
}

// aside reports whether a record is left out of verdicts and changes: a replay that came out as
// recorded, a variant that ran beside another one, and a control, unless it changed.
func (r row) aside() bool {
	return r.Verdict == score.AsRecorded || r.Record.SideOf != "" || r.Record.Control != "" &&
		r.Verdict != score.Changed
}

// audited returns the change of a record, by the judgement of its run.
func (in *SiteInput) audited(w row) (Moved, error) {
	r, j := w.Record, &w.Record.Judgement
	m := Moved{Who: w.Label() + " on " + clip(r.Project, 60), Verdict: j.Verdict, Took: tookOf(r),
		Gained: len(j.Gained), Page: w.Page, worse: float64(len(j.Lost)) - float64(len(j.Gained))}
	if r.Suite == "Smoke" {
		m.Who, m.Pos = w.Label()+" on the smoke test", audit.Pos{File: "fixtures/smoke.md", Line: 1}
	}
	base := r.Beside
	if base == nil && r.Suite == "Regression" && in.Held.Fixtures != nil {
		var err error
		if base, err = record.Baseline(in.Held.Fixtures, "fixtures/baselines",
			r.Auditor, r.Project); err != nil {
			return m, err
		}
	}
	diff := (*score.Difference)(nil)
	if base != nil && len(base.Counting())*len(r.Counting()) > 0 {
		// else the judgement says why
		if c, err := score.CompareAuditors(score.AuditedByTwo{A: r.Counting(),
			B: base.Counting()}); err == nil {
			diff = &c.Diff
			m.worse -= 10 * diff.Center
		}
	}
	m.Says = saysOf(j, score.MetricRecall, diff)
	key := in.Projects[r.Project]
	if key != nil {
		m.Pos = key.Pos
	}
	at := entries(key)
	for _, l := range j.Lost {
		k := cmp.Or(at[l.ID], &audit.Vulnerability{Pos: m.Pos})
		m.Lost = append(m.Lost, LostEntry{l.ID, k.Title, k.Pos})
	}
	m.quiet(base != nil || r.Suite == "Smoke")
	return m, nil
}

// entries returns the vulnerabilities of a key by ID; none if the key is not available.
func entries(key *audit.Project) map[string]*audit.Vulnerability {
	of := map[string]*audit.Vulnerability{}
	if key != nil {
		for i := range key.Vulnerabilities {
			of[key.Vulnerabilities[i].ID] = &key.Vulnerabilities[i]
		}
	}
	return of
}

// moved returns the changes of all records that are not aside, and the errors of their
// baselines.
func (in *SiteInput) moved(rows []row) (ms []Moved, errs []error) {
	for _, r := range rows {
		if !r.aside() {
			m, err := in.audited(r)
			if ms = append(ms, m); err != nil {
				errs = append(errs, err)
			}
		}
	}
	return ms, errs
}

// reviewed returns the change of a reviewer's newest answers: by the judgement of Bench if it
// was asked every case, else by comparison with its baseline on the common cases. all is the
// corpus. told is false if nothing can be said.
func (in *SiteInput) reviewed(v *VariantResults, all map[string]*audit.Case) (m Moved,
	told bool, err error) {
	m = Moved{Who: v.Short + " on the cases", Took: took(v.consumed()),
		Pos: audit.Pos{File: "fixtures/goals.md", Line: 1}, Page: "reviewers.html"}
	if in.Held.Fixtures == nil {
		return m, false, nil
	}
	base, err := record.ReadBench(in.Held.Fixtures, "fixtures/baselines", v.Model, v.Prompt)
	if err != nil {
		return m, false, err
	}
	old, gone := &VariantResults{}, 0
	if base != nil {
		old, gone = baselineOf(v, base)
	}
	_, was, now := common(old, v)
	made, notCompared := score.CompareReviewers(now, was)
	var asked []*CaseResults // of the cases that there are
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if c := v.Cases[id]; c != nil {
			asked = append(asked, c)
		}
	}
	planned := max(v.planned, len(asked))
	switch {
	case len(all) > 0 && planned == len(all):
		diff := (*score.Difference)(nil)
		if notCompared == nil {
			diff = &made.Diff
		}
		j, err := score.JudgeBench(append(answers(asked), v.notBegun()...), was,
			in.Held.Goals.BenchOf(v.Model),
			score.Rules{Deterministic: in.Held.Deterministic(v.Model)})
		if err != nil {
			return m, false, fmt.Errorf("%s: %w", m.Who, err)
		}
		m.Verdict, m.Says, m.Gained = j.Verdict, saysOf(&j,
			score.MetricBalanced, diff), len(j.Gained)
		for _, l := range j.Lost {
			if c := all[l.ID]; c != nil {
				m.Lost = append(m.Lost, LostEntry{l.ID, "", c.Pos})
			}
		}
	case base == nil:
		m.Who += fmt.Sprintf(" (asked %d of %d: not judged)", planned, len(all))
		return m, false, nil
	case notCompared != nil:
		m.Verdict, m.Says = audit.Verdict(score.Inconclusive), "not compared with its baseline: "+
			notCompared.Error()
	default:
		m.Verdict, m.Says = audit.Verdict(made.Standing), standing("it", "balanced accuracy", made,
			need(made.Need))+", against its baseline"
	}
	m.worse = -made.Diff.Center
	if gone > 0 {
		m.Says += fmt.Sprintf(
			"; %s of the baseline left out, as they have changed or were not asked",
			amount(gone, "case"))
	}
	m.quiet(base != nil && gone == 0 && maps.Equal(shares(was), shares(now)))
	return m, true, nil
}

type came struct {
	id      string
	outcome audit.Outcome
}

// shares returns the share of a case's answers by outcome, so that more trials with the same
// answers are no change.
func shares(as []score.Answer) map[came]float64 {
	of, asked := map[came]float64{}, map[string]float64{}
	for _, a := range as {
		asked[a.Case.ID()]++
		of[came{a.Case.ID(), a.Outcome}]++
	}
	for c := range of {
		of[c] /= asked[c.id]
	}
	return of
}

// baselineOf returns the baseline's answers to the cases that v answered in the same form, and
// the number of its other cases.
func baselineOf(v *VariantResults, base *record.BenchBaseline) (*VariantResults, int) {
	cases := map[string]*audit.Case{}
	for id, c := range v.Cases {
		cases[id] = c.Case
	}
	was, gone := base.Of(cases, func(c *audit.Case) string { return v.Cases[c.ID()].Hash })
	slices.Sort(gone)
	return v.Variant.of(was), len(slices.Compact(gone))
}

// saysOf returns the change of the headline figure since the baseline with its 95 % interval,
// followed by the reason of the verdict if that is another one.
func saysOf(j *score.Judgement, metric string, diff *score.Difference) string {
	for i := range j.Reasons {
		g := &j.Reasons[i]
		if g.Metric != metric || !g.Compares() || !g.Baseline.Defined || !g.Now.Defined {
			continue
		}
		by := 100 * (g.Baseline.V - g.Now.V)
		s := fmt.Sprintf("%s %v, was %v", metric, g.Now, g.Baseline)
		switch {
		case diff != nil:
			s += ": " + lead(*diff, "")
		case by < -0.05:
			s += fmt.Sprintf(": %.1f points more", -by)
		case by > 0.05:
			s += fmt.Sprintf(": %.1f points less", by)
		}
		switch {
		case g.MoreTrials() > 0:
			s += fmt.Sprintf(", inconclusive: %d more trials", g.MoreTrials())
		case g.Inconclusive():
			s += ", inconclusive"
		case g.Verdict == audit.Fail:
			s += ", significant"
		}
		if first := j.Reasons[0]; first.Verdict != audit.Pass && i != 0 {
			s += "; " + first.Text
		}
		return s
	}
	if len(j.Reasons) == 0 {
		return "no reason is given"
	}
	return j.Reasons[0].Text
}

// tookOf returns the cost and time of a record.
func tookOf(r *record.Record) string {
	sum, seconds, _ := r.Consumed()
	return took(score.Used(len(r.Trials), sum, seconds))
}

// took returns cost and time, as far as they are known: "$1.25, 3m2s".
func took(c score.Consumed) string {
	var parts []string
	if c.USD > 0 {
		parts = append(parts, c.Cost())
	}
	to := time.Second
	if c.Seconds < 1 {
		to = 100 * time.Millisecond
	}
	if took := time.Duration(c.Seconds * float64(time.Second)).Round(to); took > 0 {
		parts = append(parts, took.String())
	}
	return strings.Join(parts, ", ")
}

// of returns the results of a variant that gave these answers.
func (v Variant) of(as []score.Answer) *VariantResults {
	out := &VariantResults{Variant: v, Cases: map[string]*CaseResults{}}
	for _, a := range as {
		id := a.Case.ID()
		c := out.Cases[id]
		if c == nil {
			c = &CaseResults{Case: a.Case}
			out.Cases[id] = c
		}
		c.Trials = append(c.Trials, &ReviewAnswer{Index: a.Trial, Outcome: a.Outcome, Violate: a.Violates})
	}
	return out
}
