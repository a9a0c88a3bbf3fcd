package score

import (
	"fmt"

	"assay/audit"
	"assay/internal/stat"
)

// earlyReason counts runs that prove nothing because they ended early, too. Where none
// did there is nothing to say.
func earlyReason(subjects []Subject, rules Rules) (Reason, bool, error) {
	var ends []stat.Ends
	early := 0
	for i := range subjects {
		e := stat.Ends{Project: fmt.Sprint(i)}
		e.Baseline, e.BaselineEarly = runsOf(subjects[i].Baseline)
		e.Now, e.Early = runsOf(subjects[i].Now)
		if e.Baseline > 0 && e.Now > 0 {
			early += e.Early
		}
		ends = append(ends, e)
	}
	test, err := stat.EarlyEnds(ends)
	if err != nil || early == 0 {
		return Reason{}, false, err
	}
	g := Reason{Code: CodeEarlyEnds, Verdict: audit.Pass, About: "all projects", Now: Of(test.Rate[1]), Baseline: Of(test.Rate[0]),
		Text: fmt.Sprintf("%.0f %% of runs ended early, at the baseline %.0f %%", 100*test.Rate[1], 100*test.Rate[0])}
	switch test.Decision {
	case stat.NoDrop:
		g.Text += fmt.Sprintf(": chance explains it (p %.2g)", test.P)
	case stat.Drop:
		g.Verdict = audit.Fail
		g.Text += fmt.Sprintf(": more than chance explains (p %.2g, needed %.2g)", test.P, test.Alpha)
	case stat.NotSettled:
		g.Verdict = rules.open()
		g.Text += fmt.Sprintf(": chance explains it too well to settle it (p %.2g, needed %.2g), more trials do", test.P, test.Alpha)
	}
	return g, true, nil
}

// runsOf counts runs that came to an end, and those of them that ended early. A
// trial of an older record, which did not count, was one whole run.
func runsOf(ts []Trial) (runs, early int) {
	for _, t := range ts {
		switch {
		case t.Runs > 0:
			runs, early = runs+t.Runs, early+t.EarlyEnds
		case t.Invalid == "":
			runs++
		}
	}
	return runs, early
}
