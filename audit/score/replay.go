package score

import (
	"fmt"
	"slices"

	"assay/audit"
)

// The verdicts of a replay. A recording tests keys and scorer, and cannot get
// better: it has no PASS, WARN or FAIL against goals.
const (
	AsRecorded audit.Verdict = "as recorded" // scored as at its baseline
	Changed    audit.Verdict = "changed"     // scored otherwise: a red test
)

const maxDifferences = 10

// JudgeReplay compares the trials of a replayed recording with its baseline: equal findings
// must have equal dispositions, and entries equal credits. It returns an error if there is no
// baseline or the trials cannot be compared (a *[MismatchError]).
func JudgeReplay(now, baseline []AuditTrial) (Judgement, error) {
	if len(now) == 0 {
		return judgement(nil), nil
	}
	if len(baseline) != len(now) {
		return Judgement{},
			fmt.Errorf("%d recordings, and the baseline has %d trials: make it anew with assay baseline", len(now), len(baseline))
	}
	var all []string
	for i := range now {
		a, b := now[i], baseline[i]
		if a.Invalid != "" || b.Invalid != "" {
			if a.Invalid != b.Invalid {
				all = append(all, fmt.Sprintf("trial %d: invalid: %q, and was %q", i+1,
					a.Invalid, b.Invalid))
			}
			continue
		}
		if err := checkComparable([]*Result{a.Result, b.Result}); err != nil {
			return Judgement{}, err
		}
		all = append(all, differences(a.Result, b.Result)...)
	}
	return replayed(all), nil
}

// JudgeReadings compares the answers of a recorded reviewer with its baseline: equal replies
// must have equal outcomes and name the same requirements. Answers that the baseline lacks are
// a warning.
func JudgeReadings(now, baseline []Answer) Judgement {
	was := map[string]*Answer{}
	for i := range baseline {
		was[baseline[i].Case.ID()] = &baseline[i]
	}
	var all []string
	fresh := 0
	for i := range now {
		a, id := &now[i], now[i].Case.ID()
		switch b := was[id]; {
		case b == nil:
			fresh++
		case a.Outcome != b.Outcome:
			all = append(all, fmt.Sprintf("%s: %s is %s, and was %s", a.Case.Pos, id,
				a.Outcome, b.Outcome))
		case !slices.Equal(a.Violates, b.Violates):
			all = append(all, fmt.Sprintf("%s: %s: it names the requirements %v, and named %v",
				a.Case.Pos, id, a.Violates, b.Violates))
		}
	}
	j := replayed(all)
	if fresh > 0 && j.Verdict == AsRecorded {
		return judgement([]Reason{{Code: CodeReplay, Verdict: audit.Warn,
			Text: fmt.Sprintf(
				"its baseline holds %d of %d answers: make it anew with assay baseline --bench",
				len(now)-fresh, len(now))}})
	}
	return j
}

// replayed returns the judgement of a replay with these differences.
func replayed(all []string) Judgement {
	j := Judgement{Verdict: AsRecorded}
	if more := len(all) - maxDifferences; more > 0 {
		all = append(all[:maxDifferences], fmt.Sprintf("and %d more differences", more))
	}
	for _, d := range all {
		j.Verdict = Changed
		j.Reasons = append(j.Reasons, Reason{Code: CodeReplay, Verdict: Changed, Text: d})
	}
	return j
}

// differences returns the differences between two results of the same findings.
func differences(now, base *Result) []string {
	var all []string
	if len(now.Findings) != len(base.Findings) {
		all = append(all, fmt.Sprintf("%d findings, and were %d", len(now.Findings),
			len(base.Findings)))
	} else {
		for i := range now.Findings {
			if a, b := now.Findings[i].Disposition, base.Findings[i].Disposition; a != b {
				f := now.Findings[i].Finding
				all = append(all, fmt.Sprintf("finding %d (%s:%s %s) is %s, and was %s", i+1,
					f.File, f.Lines, f.Title, a, b))
			}
		}
	}
	was := map[string]float64{}
	for _, k := range base.Known {
		was[k.ID] = k.Credit
	}
	for _, k := range now.Known {
		switch before, there := was[k.ID]; {
		case !there:
			all = append(all, fmt.Sprintf("%s is new in the key", k.ID))
		case before != k.Credit:
			all = append(all, fmt.Sprintf("%s earns %g, and earned %g", k.ID, k.Credit, before))
		}
	}
	for _, m := range Main(AuditMetrics()) {
		if is, was := m.Show(&now.Metrics), m.Show(&base.Metrics); is != was {
			all = append(all, fmt.Sprintf("%s %s, and was %s", m.Name, is, was))
		}
	}
	return all
}
