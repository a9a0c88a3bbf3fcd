package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
)

// A change is what became of an auditor or reviewer since its baseline, in words.
type change struct {
	Badge string // the verdict, or a standing
	Who   string
	Page  string
	Says  string
	worse float64 // by which changes of one verdict are ordered
}

// lostMost is how many lost entries a change names.
const lostMost = 8

// changesOf tells what became of a record's auditor since the baseline: nothing where
// a replay came out as recorded or the auditor is a control.
func changesOf(r row) []change {
	j := &r.Record.Judgement
	if r.Record.Control != "" && r.Verdict != score.Changed || r.Verdict == score.AsRecorded {
		return nil
	}
	c := change{Badge: string(r.Verdict), Who: r.Label() + " on " + clip(r.Record.Project, 60), Page: r.Page, worse: float64(len(j.Lost)) - float64(len(j.Gained))}
	if base := recallBefore(r.Record); base.Defined && r.Recall.Value.Defined {
		c.worse += 1000 * (base.V - r.Recall.Value.V)
	}
	c.Says = saysOf(j, score.MetricRecall, nil)
	if n := len(j.Lost); n > 0 {
		c.Says += fmt.Sprintf("; %d lost", n) + words(j.Lost)
	}
	if n := len(j.Gained); n > 0 {
		c.Says += fmt.Sprintf("; %d gained", n)
	}
	return []change{c}
}

// stays reports whether a live auditor is what it was at its baseline and fails nothing.
func (r row) stays() bool {
	j := &r.Record.Judgement
	return r.kind() == 0 && (r.Verdict == audit.Pass || r.Verdict == audit.Warn) && recallBefore(r.Record).Defined && len(j.Lost)+len(j.Gained) == 0
}

// words names entries that were lost, the first of them.
func words(cs []score.EntryChange) string {
	var ids []string
	for _, c := range cs[:min(lostMost, len(cs))] {
		ids = append(ids, clip(c.ID, 40))
	}
	more := ""
	if n := len(cs) - lostMost; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return " (" + strings.Join(ids, ", ") + more + ")"
}

func worstFirst(a, b change) int {
	return cmp.Or(cmp.Compare(urgency(a.Badge), urgency(b.Badge)), cmp.Compare(b.worse, a.worse))
}

// urgency orders verdicts and standings, the gravest first.
func urgency(badge string) int {
	return slices.Index([]string{string(audit.Invalid), string(audit.Fail), string(score.Changed), string(score.Worse), string(audit.Warn), string(score.NotSettled), string(score.Better), string(audit.Pass)}, badge)
}

// benchChanges holds each reviewer against its baseline, on the cases that both
// answered in the same form.
func (s *site) benchChanges(ls []variantLine) (cs []change, same []string) {
	for _, l := range ls {
		base := s.in.Baselines[l.Variant]
		if base == nil {
			continue
		}
		c := change{Who: l.Short, Page: "bench.html", Badge: string(score.NotSettled)}
		was, now, gone := againstBaseline(l.VariantResults, base)
		made, err := score.CompareReviewers(now, was)
		if err != nil {
			c.Says = "not compared with its baseline: " + err.Error()
		} else {
			c.Badge, c.Says = string(made.Standing), "against its baseline: "+difference(made)
			c.worse = -made.Diff.Center
		}
		if err == nil && gone == 0 && slices.Equal(outcomesOf(was), outcomesOf(now)) {
			same = append(same, l.Short)
			continue
		}
		if gone > 0 {
			c.Says += fmt.Sprintf("; %s of the baseline left out, as they have changed or were not asked", amount(gone, "case"))
		}
		cs = append(cs, c)
	}
	return cs, same
}

// outcomesOf tells answers by what came of each, in one order for both sides.
func outcomesOf(as []score.Answer) (out []string) {
	for _, a := range as {
		out = append(out, a.Case.ID()+" "+string(a.Outcome))
	}
	slices.Sort(out)
	return out
}

// againstBaseline gives the answers of both for the cases that both answered.
func againstBaseline(v *VariantResults, base *record.BenchBaseline) (was, now []score.Answer, gone int) {
	missing := map[string]bool{}
	both := map[string]bool{}
	for _, a := range base.Answers {
		c := v.Cases[a.Case]
		if c == nil || c.Hash != a.Hash {
			missing[a.Case] = true
			continue
		}
		both[a.Case] = true
		was = append(was, score.Answer{Case: c.Case, Trial: a.Trial, Outcome: a.Outcome, Violates: a.Violates})
	}
	for _, id := range sortedKeys(both) {
		now = appendTrials(now, v.Cases[id])
	}
	return was, now, len(missing)
}

// A liveLine is a live auditor on a project, with how it came here.
type liveLine struct {
	row
	Was, Change string
	Took        string // cost and time, where anybody says
	Trend       template.HTML
}

// live gives the rows that are neither replays nor controls.
func (s *site) live(rows []row) (ls []liveLine) {
	for _, r := range rows {
		if r.Record.Replay || r.Record.Control != "" {
			continue
		}
		l := liveLine{row: r, Was: "none", Took: tookOf(r.Record), Trend: spark(recalls(s.in.Records, r.Record))}
		if base := recallBefore(r.Record); base.Defined {
			l.Was = base.String()
			if r.Recall.Value.Defined {
				l.Change = strings.TrimLeft(fmt.Sprintf("%+.1f", 100*(r.Recall.Value.V-base.V)), "+")
			}
		}
		ls = append(ls, l)
	}
	return ls
}

// spark draws shares in the order of their records, from 0 to 1, the newest marked.
func spark(ps []point) template.HTML {
	const most, wide, high = 20, 96.0, 22.0
	ps = ps[max(0, len(ps)-most):]
	if len(ps) < 2 {
		return ""
	}
	var at []string
	var x, y float64
	for i, p := range ps {
		x, y = 3+float64(i)/float64(len(ps)-1)*(wide-6), high-3-p.E.Value.V*(high-6)
		at = append(at, fmt.Sprintf("%.1f,%.1f", x, y))
	}
	return template.HTML(fmt.Sprintf(`<svg class="spark" viewBox="0 0 %g %g" role="img" aria-label="%s to %s over %d records"><polyline points="%s"/><circle cx="%.1f" cy="%.1f" r="2.5"/></svg>`,
		wide, high, ps[0].E.Value, ps[len(ps)-1].E.Value, len(ps), strings.Join(at, " "), x, y))
}
