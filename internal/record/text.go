package record

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/score"
)

// Text returns the record in the methodology's template, word for word (its appendix). Brackets
// and the verdict are by the methodology's letter, which may differ from the gate: its verdict,
// which decides the exit status, begins the notes. Of an interval the low end is shown, and
// "none" for a figure that does not exist. WARN is written PASS in the verdict line, which has
// no third word; a run that cannot be judged is FAIL.
func (r *Record) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Date: %s\n", r.Date.UTC().Format(time.DateOnly))
	fmt.Fprintf(&b, "Change: %s\n", audit.OneLine(cmp.Or(r.Change, notStated), 0))
	fmt.Fprintf(&b, "Trigger: %s\n", audit.OneLine(cmp.Or(r.Trigger, "manual"), 0))
	test := "part of the full suite"
	switch {
	case r.Suite == "Smoke":
		test = "smoke"
	case r.Full: // nothing was filtered out
		test = "full suite"
	}
	fmt.Fprintf(&b, "Test: %s\n", test)
	b.WriteString("Results:\n")
	clauses, verdict := r.letter()
	for i, f := range templateLines {
		c := &clauses[i]
		fmt.Fprintf(&b, "  %-10s %s (baseline: %s)%s[%s]\n", f.name+":", f.show(c.Now),
			f.show(c.Was), f.gap, c.Verdict)
	}
	fmt.Fprintf(&b, "Verdict: %s\n", verdict)
	fmt.Fprintf(&b, "Notes: %s\n", audit.OneLine(strings.Join(r.notes(), "; "), 0))
	return b.String()
}

const notStated = "not stated"

// templateLines are the template's four figures, with the gap before the verdict, in the order
// of score.Letter.
var templateLines = []struct {
	name, gap string
	show      func(score.Value) string
}{{"Recall", "  ", percent}, {"Precision", "  ", percent}, {"F1", "  ", percent}, {"Coverage", " ",
	ofTen}}

// letter returns the figures with their verdicts by the methodology's letter, and that of the
// whole. Smoke is judged by its checks.
func (r *Record) letter() ([]score.Clause, audit.Verdict) {
	clauses := score.Letter(r.Goals, r.Goals.Asserted(ScoreTrials(r.Trials)), r.Was)
	if r.Was == nil { // an older record: the reasons of its verdict know the baseline
		for i := range clauses {
			c := &clauses[i]
			for _, g := range r.Judgement.Reasons {
				if g.Metric == c.Metric && g.About == "" && g.Baseline.Defined && !c.Was.Defined {
					c.Was = g.Baseline
				}
			}
		}
	}
	verdict, _ := score.Overall(clauses)
	if gate := r.Judgement.Verdict; gate == audit.Invalid || gate == score.Changed ||
		r.Suite == "Smoke" {
		verdict = projected(gate)
		for i := range clauses {
			clauses[i].Verdict = verdict
		}
	}
	return clauses, projected(verdict)
}

// ofTen returns "8/10", "7.5/10" where trials differ.
func ofTen(covered score.Value) string {
	if !covered.Defined {
		return "none"
	}
	return fmt.Sprintf("%.3g/10", covered.V)
}

// percent returns a share as the template writes it, "none" if it is undefined.
func percent(v score.Value) string {
	if !v.Defined {
		return "none"
	}
	return fmt.Sprintf("%.0f%%", 100*v.V)
}

// projected returns the verdict as the template can state it: PASS or FAIL.
func projected(v audit.Verdict) audit.Verdict {
	switch v {
	case audit.Pass, audit.Warn, score.AsRecorded:
		return audit.Pass
	}
	return audit.Fail
}

// notes returns what a reader must know beside the figures: the gate's verdict, everything that
// does not pass, and the trials that prove nothing.
func (r *Record) notes() []string {
	notes := []string{"Gate: " + string(r.Judgement.Verdict), r.subject()}
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
		notes = append(notes, which+defined(m), "by the methodology score "+
			defined(counting[0].Methodology.Metrics()))
		if c := m.Corroborated; c.Known > 0 {
			notes = append(notes,
				fmt.Sprintf("of the %d entries that something beside the key corroborates: %s",
					c.Known, defined(&score.Metrics{Part: c})))
		}
	}
	notes = append(notes, r.trialNotes()...)
	for _, st := range r.Stated {
		notes = append(notes, st.String())
	}
	notes = append(notes, fmt.Sprintf("score version %s, key %.12s, auditor version %s", r.Score,
		r.Key, r.Version))
	return append(notes, r.Notes...)
}

// subject returns the auditor and project, and whether the record is of a control or a replay.
func (r *Record) subject() string {
	s := r.Auditor + " on " + r.Project
	switch {
	case r.SideOf != "":
		s += ", which ran beside " + r.SideOf
	case r.Control != "":
		s += ", a control: " + r.Control
	case r.Replay:
		s += ", a replay: it tests keys and scorer"
	}
	return s
}

// defined returns all defined figures, and what chance reaches in one of a hundred draws.
func defined(m *score.Metrics) string {
	var parts []string
	for _, x := range score.AuditMetrics() {
		if e := x.Of(m); e.Value.Defined || e.Low.Defined {
			parts = append(parts, x.Name+" "+x.Show(m))
		}
	}
	return strings.Join(append(parts, "chance at most "+m.Chance.P99.String()+
		" in 99 of 100 draws"), ", ")
}
