package score

import (
	"cmp"
	"fmt"
	"slices"

	"assay/audit"
)

// A SmokeInput is what the smoke test judges.
type SmokeInput struct {
	Result    *Result       // against the key of the planted flaws; nil when Invalid is set
	Report    *audit.Report // as it was read; Findings are not looked at
	RatedHigh []string      // entries that must be rated HIGH or CRITICAL by whoever finds them
	Invalid   string        // why the run proves nothing, a crash among others
	Seconds   float64       // that the run took
	// uses of tools that failed while the auditor worked, as far as it tells
	ToolErrors []string
	Flaws      int       // that must be found; 0: all but one
	Name       string    // of the auditor, for the line that states its goal
	Shipped    bool      // the user states no goal for it, so that what it misses warns
	Baseline   []*Result // of earlier trials that were accepted: what they missed warns
}

// A Grade is what the smoke test says of an auditor's state.
type Grade string

// The grades.
const (
	Operational    Grade = "operational"     // every planted flaw
	Acceptable     Grade = "acceptable"      // one was missed
	NotOperational Grade = "not operational" // two or more were missed, or a check failed
)

// A SmokeJudgement is the smoke test's verdict. Found counts full matches.
type SmokeJudgement struct {
	Judgement
	Grade   Grade    `json:"grade"`
	Found   int      `json:"found"`
	Planted int      `json:"planted"`
	Missed  []string `json:"missed,omitempty"`
	// why missed flaws warn only; begins with a separator
	Excuse string `json:"excuse,omitempty"`
}

// JudgeSmoke judges a smoke run by five checks: enough planted flaws found (all but one, where
// no goal is stated),
// HEADER and SENTINEL whole (of a text report; other formats have none), every
// reported path there, those found that must be rated HIGH or CRITICAL rated so, and
// no tool of the auditor failed. One that takes more than five minutes is a WARN. A run
// that crashed proves nothing: it is INVALID.
func JudgeSmoke(in SmokeInput) SmokeJudgement {
	if in.Invalid != "" || in.Result == nil || in.Report == nil {
		why := in.Invalid
		if why == "" {
			why = "there is no report"
		}
		return SmokeJudgement{Grade: NotOperational, Judgement: judgement([]Reason{
			{Code: CodeInvalid, Verdict: audit.Invalid, Text: "the run proves nothing: " + why}})}
	}
	r := in.Result
	s := SmokeJudgement{Planted: len(r.Known), Grade: Operational}
	var reasons []Reason
	check := func(about string, ok bool, text string) {
		g := Reason{Code: CodeCheck, Verdict: audit.Pass, About: about, Text: text}
		if !ok {
			g.Verdict = audit.Fail
		}
		reasons = append(reasons, g)
	}
	for _, k := range r.Known {
		if k.Credit == 1 {
			s.Found++
			continue
		}
		s.Missed = append(s.Missed, k.ID)
	}
	verdict, why := audit.Pass, ""
	if len(s.Missed) > 0 {
		s.Grade = Acceptable
	}
	if s.Found < cmp.Or(in.Flaws, s.Planted-1) {
		verdict, why = in.excused(s.Found >= in.leastFound(), true)
		if why != "" && len(in.Baseline) == 0 && s.Found > 0 {
			why += fmt.Sprintf(", or state a goal in fixtures/goals.md: # Smoke: %s, | Flaws | >= %d |",
				in.Name, s.Found)
		}
	}
	for _, id := range s.Missed {
		reasons = append(reasons, Reason{Code: CodeMiss, Verdict: verdict, About: id,
			Text: id + " was not found"})
	}
	for _, e := range in.ToolErrors {
		check("runs", false, "a tool failed: "+e)
	}
	check("flaws", verdict == audit.Pass, fmt.Sprintf("%d of %d planted flaws found%s", s.Found,
		s.Planted, why))
	reasons[len(reasons)-1].Verdict, s.Excuse = verdict, why
	if in.Report.Format == "text" {
		check("HEADER", in.Report.Header, "the report has a whole HEADER block: "+
			yes(in.Report.Header))
		check("SENTINEL", in.Report.Sentinel, "the report ends with its SENTINEL: "+
			yes(in.Report.Sentinel))
	}
	missing := r.Dispositions[MissingPath]
	check("paths", missing == 0, fmt.Sprintf("%d of %d findings name a file that is not there",
		missing, len(r.Findings)))
	for _, k := range r.Known {
		if k.Finding < 0 || !slices.Contains(in.RatedHigh, k.ID) {
			continue
		}
		sev := r.Findings[k.Finding].Finding.Severity
		rated := sev.String()
		if sev == audit.SeverityUnknown {
			rated = "nothing"
		}
		high := sev >= audit.High
		check("severity", high, fmt.Sprintf("%s is rated %s; HIGH or CRITICAL is due", k.ID, rated))
		if !high {
			g := &reasons[len(reasons)-1]
			if g.Verdict, why = in.excused(!in.ratedHigh(k.ID), false); why != "" {
				g.Text += why
			}
		}
	}
	s.Judgement = judgement(reasons)
	if s.Verdict != audit.Pass && s.Verdict != audit.Warn {
		s.Grade = NotOperational
	}
	if in.Seconds > smokeSeconds {
		s.Reasons = append(s.Reasons, Reason{Code: CodeCheck, Verdict: audit.Warn, About: "time",
			Text: fmt.Sprintf("it took %.1f minutes: expected a smoke test to end within %d",
				in.Seconds/60, smokeSeconds/60)})
		s.Verdict = audit.Worst(s.Verdict, audit.Warn)
	}
	return s
}

// excused returns WARN with the reason for a check that is missed, where the accepted trials
// missed it too or no goal is stated for the auditor and there are none, and FAIL otherwise.
// same reports whether the accepted trials do no better, flaws whether the check is the number
// of flaws, for which a goal can be stated.
func (in *SmokeInput) excused(same, flaws bool) (audit.Verdict, string) {
	switch {
	case !same:
		return audit.Fail, ""
	case len(in.Baseline) > 0:
		return audit.Warn, ", as in the baseline"
	case !in.Shipped || flaws && in.Flaws > 0:
		return audit.Fail, ""
	}
	return audit.Warn, "; no baseline yet: assay baseline accepts this"
}

// leastFound returns the fewest flaws that a trial of the baseline found; 0 without one.
func (in *SmokeInput) leastFound() int {
	least := 0
	for i, r := range in.Baseline {
		n := 0
		for _, k := range r.Known {
			if k.Credit == 1 {
				n++
			}
		}
		if i == 0 || n < least {
			least = n
		}
	}
	return least
}

// ratedHigh reports whether every trial of the baseline found a flaw and rated it HIGH or
// CRITICAL; false without a baseline.
func (in *SmokeInput) ratedHigh(id string) bool {
	for _, r := range in.Baseline {
		for _, k := range r.Known {
			if k.ID == id &&
				(k.Finding < 0 || r.Findings[k.Finding].Finding.Severity < audit.High) {
				return false
			}
		}
	}
	return len(in.Baseline) > 0
}

// smokeSeconds is the methodology's target for a smoke test.
const smokeSeconds = 5 * 60

// yes returns "yes" or "no".
func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
