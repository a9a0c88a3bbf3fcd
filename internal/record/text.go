package record

import (
	"fmt"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/score"
)

// Text gives the record in the methodology's template. Its verdict line knows
// PASS and FAIL alone: WARN is written PASS, INVALID is written FAIL, and the
// reason stands in Notes.
func (r *Record) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Date: %s\n", r.Date.UTC().Format(time.DateOnly))
	fmt.Fprintf(&b, "Change: %s\n", oneLine(orNone(r.Change)))
	fmt.Fprintf(&b, "Trigger: %s\n", oneLine(orNone(r.Trigger)))
	fmt.Fprintf(&b, "Test: %s\n", r.test())
	b.WriteString("Results:\n")
	for _, l := range r.Lines() {
		fmt.Fprintf(&b, "  - %s\n", l)
	}
	fmt.Fprintf(&b, "Verdict: %s\n", verdictLine(r.Judgement.Verdict))
	b.WriteString("Notes:\n")
	for _, n := range r.notes() {
		fmt.Fprintf(&b, "  - %s\n", oneLine(n))
	}
	return b.String()
}

func (r *Record) test() string {
	s := fmt.Sprintf("%s, %s, %s", r.Suite, r.Project, r.Auditor)
	switch {
	case r.Control != "":
		s += " (control: " + r.Control + ")"
	case r.Replay:
		s += " (replay of a recording)"
	}
	return oneLine(s)
}

func verdictLine(v audit.Verdict) audit.Verdict {
	switch v {
	case audit.Warn:
		return audit.Pass
	case audit.Invalid:
		return audit.Fail
	}
	return v
}

// A Line is one figure of the results.
type Line struct {
	Name     string
	Now      string
	Baseline string // "none" where there is none
	Goal     string // empty where nothing is asked
	Verdict  audit.Verdict
}

// String gives "Recall: 71.0 % (baseline 72.0 %, goal 70.0 %): PASS".
func (l Line) String() string {
	if l.Name == "" {
		return fmt.Sprintf("%s: %s", l.Now, l.Verdict)
	}
	s := fmt.Sprintf("%s: %s (baseline %s", l.Name, l.Now, l.Baseline)
	if l.Goal != "" {
		s += ", goal " + l.Goal
	}
	return s + "): " + string(l.Verdict)
}

// Lines gives a line for each figure that has a goal and for each check, from the
// judgement's own reasons: nothing is computed here.
func (r *Record) Lines() []Line {
	var lines []Line
	for _, g := range r.Judgement.Reasons {
		if g.Code == score.CodeCheck || g.Code == score.CodeInvalid {
			lines = append(lines, Line{Name: strings.ToUpper(g.About), Now: oneLine(g.Text), Baseline: "none", Verdict: g.Verdict})
		}
	}
	for _, metric := range []string{score.MetricExpected, score.MetricCoverage, score.MetricRecall, score.MetricPrecision,
		score.MetricF1, score.MetricMinimum} {
		for _, g := range r.Judgement.Reasons {
			if g.Metric == metric && (g.Code == score.CodeGoal || g.Code == score.CodeReview) {
				lines = append(lines, r.line(g))
			}
		}
	}
	return lines
}

func (r *Record) line(g score.Reason) Line {
	name := strings.ToUpper(g.Metric[:1]) + g.Metric[1:]
	if g.About != "" {
		name += " of " + g.About
	}
	l := Line{Name: name, Now: score.Show(g.Metric, g.Now), Baseline: "none", Goal: score.Show(g.Metric, g.Want), Verdict: g.Verdict}
	if g.Baseline.Defined {
		l.Baseline = score.Show(g.Metric, g.Baseline)
	}
	return l
}

// notes gives what a reader must know beside the figures: the real verdict where
// the template has no word for it, everything that does not pass, and the trials
// that prove nothing.
func (r *Record) notes() []string {
	var notes []string
	if v := r.Judgement.Verdict; v == audit.Warn || v == audit.Invalid {
		notes = append(notes, fmt.Sprintf("the verdict is %s", v))
	}
	for _, g := range r.Judgement.Reasons {
		if g.Verdict != audit.Pass {
			notes = append(notes, fmt.Sprintf("%s: %s", g.Verdict, g.Text))
		}
	}
	for _, t := range r.Trials {
		if t.Result != nil {
			m := t.Result.Metrics
			notes = append(notes, fmt.Sprintf("chance level %v (99th percentile %v), lift %s; by the literal: recall %v at a chance level of %v",
				m.Chance.Mean, m.Chance.P99, times(m.Lift), t.Result.Literal.Recall, t.Result.Literal.Chance.Mean))
			if c := m.Corroborated; c.Known > 0 {
				notes = append(notes, fmt.Sprintf("of the %d entries that something beside the key corroborates: recall %v, precision %v, F1 %v, %d of %d dimensions, severity accuracy %v, chance level %v (99th percentile %v), lift %s",
					c.Known, c.Recall, c.Precision, c.F1, len(c.Covered), len(c.Held), c.SeverityAccuracy, c.Chance.Mean, c.Chance.P99, times(c.Lift)))
			}
			break
		}
	}
	notes = append(notes, r.trialNotes()...)
	for _, st := range r.Stated {
		notes = append(notes, st.String())
	}
	notes = append(notes, fmt.Sprintf("score version %s, key %.12s, auditor version %s", r.Score, r.Key, r.Version))
	return append(notes, r.Notes...)
}

func times(v score.Value) string {
	if !v.Defined {
		return "undefined"
	}
	return fmt.Sprintf("%.1f", v.V)
}

func orNone(s string) string {
	if s == "" {
		return "not stated"
	}
	return s
}

// oneLine keeps what others wrote from looking like a line of the template.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, s)
}
