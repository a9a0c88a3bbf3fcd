package record

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/score"
)

// Text gives the record in the methodology's template, word for word and line for
// line (its appendix). Where a figure is an interval its low end stands; a figure
// that there is none of is "none". The verdict line knows PASS and FAIL alone: it is
// a projection of the real verdict (WARN and "as recorded" are written PASS,
// INVALID and "changed" FAIL), and Notes begin with that one.
func (r *Record) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Date: %s\n", r.Date.UTC().Format(time.DateOnly))
	fmt.Fprintf(&b, "Change: %s\n", audit.OneLine(cmp.Or(r.Change, notStated), 0))
	fmt.Fprintf(&b, "Trigger: %s\n", audit.OneLine(cmp.Or(r.Trigger, "manual"), 0))
	fmt.Fprintf(&b, "Test: %s\n", map[string]string{"Smoke": "smoke", "Regression": "full suite"}[r.Suite])
	b.WriteString("Results:\n")
	now, base := r.figures()
	for i, f := range templateLines {
		fmt.Fprintf(&b, "  %-10s %s (baseline: %s)%s[%s]\n", f.name+":", now[i], base[i], f.gap, r.verdictOf(f.metric))
	}
	fmt.Fprintf(&b, "Verdict: %s\n", projected(r.Judgement.Verdict))
	fmt.Fprintf(&b, "Notes: %s\n", audit.OneLine(strings.Join(r.notes(), "; "), 0))
	return b.String()
}

const notStated = "not stated"

// templateLines are the template's four figures, with the gap before the verdict.
var templateLines = []struct{ name, metric, gap string }{
	{"Recall", score.MetricRecall, "  "}, {"Precision", score.MetricPrecision, "  "}, {"F1", score.MetricF1, "  "}, {"Coverage", score.MetricCoverage, " "},
}

// figures gives the four figures of the run and of its baseline, each the mean over
// its trials, as the template writes them: "71%", "8/10".
func (r *Record) figures() (now, base [4]string) {
	now, base = [4]string{"none", "none", "none", "none"}, [4]string{"none", "none", "none", "none"}
	if m := r.Figures(); m != nil {
		now = [4]string{percent(m.Recall), percent(m.Precision.Low), percent(m.F1.Low), ofTen(m.Coverage.V * float64(len(m.Held)))}
	}
	for _, g := range r.Judgement.Reasons {
		for i, f := range templateLines {
			if g.Metric == f.metric && g.About == "" && g.Baseline.Defined && base[i] == "none" {
				base[i] = percent(g.Baseline)
				if f.metric == score.MetricCoverage {
					base[i] = ofTen(g.Baseline.V)
				}
			}
		}
	}
	return now, base
}

// ofTen gives "8/10", "7.5/10" where trials differ.
func ofTen(covered float64) string { return fmt.Sprintf("%.3g/10", covered) }

func percent(v score.Value) string {
	if !v.Defined {
		return "none"
	}
	return fmt.Sprintf("%.0f%%", 100*v.V)
}

// verdictOf is the gravest verdict that speaks of a figure; of a figure that
// nothing speaks of, the whole's.
func (r *Record) verdictOf(metric string) audit.Verdict {
	var vs []audit.Verdict
	for _, g := range r.Judgement.Reasons {
		if g.Metric == metric && g.About == "" {
			vs = append(vs, g.Verdict)
		}
	}
	if len(vs) == 0 {
		return projected(r.Judgement.Verdict)
	}
	if v := audit.Worst(vs...); v != audit.Invalid {
		return v
	}
	return audit.Fail
}

func projected(v audit.Verdict) audit.Verdict {
	switch v {
	case audit.Pass, audit.Warn, score.AsRecorded:
		return audit.Pass
	}
	return audit.Fail
}

// notes gives what a reader must know beside the figures: the real verdict where
// the template has no word for it, everything that does not pass, and the trials
// that prove nothing.
func (r *Record) notes() []string {
	notes := []string{string(r.Judgement.Verdict) + ": " + r.subject()}
	if m := r.Judgement.Methodology; m != "" {
		notes = append(notes, "by the methodology's own rule "+string(m))
	}
	for _, g := range r.Judgement.Reasons {
		if g.Verdict != audit.Pass {
			notes = append(notes, fmt.Sprintf("%s: %s", g.Verdict, g.Text))
		}
	}
	if counting := r.Counting(); len(counting) > 0 {
		m, which := &counting[0].Metrics, ""
		if len(counting) > 1 {
			which = "the first trial: "
		}
		notes = append(notes, which+defined(m), "by the literal score "+defined(counting[0].Literal.Metrics()))
		if c := m.Corroborated; c.Known > 0 {
			notes = append(notes, fmt.Sprintf("of the %d entries that something beside the key corroborates: %s", c.Known, defined(&score.Metrics{Part: c})))
		}
	}
	notes = append(notes, r.trialNotes()...)
	for _, st := range r.Stated {
		notes = append(notes, st.String())
	}
	notes = append(notes, fmt.Sprintf("score version %s, key %.12s, auditor version %s", r.Score, r.Key, r.Version))
	return append(notes, r.Notes...)
}

func (r *Record) subject() string {
	s := r.Auditor + " on " + r.Project
	switch {
	case r.Control != "":
		s += ", a control: " + r.Control
	case r.Replay:
		s += ", a replay: it tests keys and scorer"
	}
	return s
}

// defined tells all figures that are, and of chance what it reaches in one of a hundred
// draws.
func defined(m *score.Metrics) string {
	var parts []string
	for _, x := range score.AuditMetrics() {
		if e := x.Of(m); e.Value.Defined || e.Low.Defined {
			parts = append(parts, x.Name+" "+x.Show(m))
		}
	}
	return strings.Join(append(parts, "chance at most "+m.Chance.P99.String()+" in 99 of 100 draws"), ", ")
}
