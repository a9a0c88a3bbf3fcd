package score

import (
	"fmt"
	"slices"

	"assay/audit"
)

// A SmokeInput is what the smoke test judges.
type SmokeInput struct {
	Result     *Result       // against the key of the planted flaws; nil when Invalid is set
	Report     *audit.Report // as it was read; Findings are not looked at
	RatedHigh  []string      // entries that must be rated HIGH or CRITICAL by whoever finds them
	Invalid    string        // why the run proves nothing, a crash among others
	ToolErrors []string      // uses of tools that failed while the auditor worked, as far as it tells
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
}

// JudgeSmoke judges a smoke run by five checks: at most one planted flaw missed,
// HEADER and SENTINEL whole (of a text report; other formats have none), every
// reported path there, those found that must be rated HIGH or CRITICAL rated so, and
// no tool of the auditor failed. A run that crashed proves nothing: it is INVALID.
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
	verdict := audit.Pass
	switch {
	case len(s.Missed) == 1:
		s.Grade = Acceptable
	case len(s.Missed) > 1:
		verdict = audit.Fail
	}
	for _, id := range s.Missed {
		reasons = append(reasons, Reason{Code: CodeMiss, Verdict: verdict, About: id, Text: id + " was not found"})
	}
	for _, e := range in.ToolErrors {
		check("runs", false, "a tool failed: "+e)
	}
	check("flaws", verdict == audit.Pass, fmt.Sprintf("%d of %d planted flaws found", s.Found, s.Planted))
	if in.Report.Format == "text" {
		check("HEADER", in.Report.Header, "the report has a whole HEADER block: "+yes(in.Report.Header))
		check("SENTINEL", in.Report.Sentinel, "the report ends with its SENTINEL: "+yes(in.Report.Sentinel))
	}
	missing := r.Dispositions[MissingPath]
	check("paths", missing == 0, fmt.Sprintf("%d of %d findings name a file that is not there", missing, len(r.Findings)))
	for _, k := range r.Known {
		if k.Finding < 0 || !slices.Contains(in.RatedHigh, k.ID) {
			continue
		}
		sev := r.Findings[k.Finding].Finding.Severity
		rated := sev.String()
		if sev == audit.SeverityUnknown {
			rated = "nothing"
		}
		check("severity", sev >= audit.High, fmt.Sprintf("%s is rated %s; HIGH or CRITICAL is due", k.ID, rated))
	}
	s.Judgement = judgement(reasons)
	if s.Verdict != audit.Pass {
		s.Grade = NotOperational
	}
	return s
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
