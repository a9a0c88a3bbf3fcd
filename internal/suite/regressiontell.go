package suite

import (
	"fmt"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
)

// tell writes the record, logs the reasons, adds the line and fails the test
// where the verdict says so.
func (h *evaluation) tell(t T, j score.Judgement) {
	rec := &record.Record{Suite: "Regression", Project: h.project.Name, Auditor: h.candidate.name, Replay: h.replay, Commit: h.project.Commit,
		Key: h.project.KeyHash, Version: h.version, Command: h.command, Model: h.model, Prompt: h.prompt, Trials: h.trials, Judgement: j, Goals: h.goals, Notes: h.notes}
	for _, r := range h.recs {
		rec.Control = r.Control
	}
	var err error
	if rec.Stated, err = record.ReadStated(h.env.root.holdings(), "fixtures/baselines", h.project.Name); err != nil {
		t.Error(err)
	}
	runs := h.runs
	if h.beside != nil {
		rec.Beside = h.baseline
		runs = append(runs, h.beside.runs...)
	}
	if h.baseline != nil {
		rec.Since(h.baseline)
	}
	if h.begun { // a run that never was is none
		h.suite.write(t, h.env, rec, runs)
	}
	if h.replay {
		t.Attr("verdict", string(j.Verdict))
	} else {
		t.Attr("verdict:"+h.candidate.name+"/"+h.project.Name, string(j.Verdict))
	}
	for _, g := range j.Reasons {
		if g.Verdict != audit.Pass {
			t.Logf("%s: %s: %s", h.project.Pos, g.Verdict, audit.OneLine(g.Text, 500))
		}
	}
	h.suite.summary.add(h.line(j))
	switch j.Verdict {
	case audit.Fail, audit.Invalid, score.Changed:
		t.Errorf("%s: %s on %s: %s: %s", h.project.Pos, h.candidate.name, h.project.Name, j.Verdict, audit.OneLine(j.Reasons[0].Text, 0))
	}
}

// first gives the figures of the first trial that counts; nil without one.
func (h *evaluation) first() *score.Metrics {
	for _, t := range h.trials {
		if t.Result != nil {
			return &t.Result.Metrics
		}
	}
	return nil
}

func (h *evaluation) attributes(t T) {
	if m := h.first(); m != nil {
		for _, x := range score.AuditMetrics() {
			t.Attr(x.Unit(), x.Show(m))
		}
		if m.Corroborated.Known > 0 {
			t.Attr("corroborated", strings.Join(corroborated(m), " | "))
		}
	}
}

// corroborated gives the figures for the entries that something beside the key
// corroborates, in the order of the main table's.
func corroborated(m *score.Metrics) []string {
	return append([]string{fmt.Sprint(m.Corroborated.Known)}, score.ShowAll(score.AuditMetrics(), &score.Metrics{Part: m.Corroborated})...)
}

func (h *evaluation) line(j score.Judgement) line {
	l := line{suite: "Regression", verdict: j.Verdict, replay: h.replay, cells: []string{h.candidate.name, h.project.Name}}
	if m := h.first(); m != nil {
		l.cells = append(l.cells, score.ShowAll(score.Main(score.AuditMetrics()), m)...)
	}
	if len(j.Reasons) > 0 {
		l.look = lookAt(j.Reasons[0])
	}
	if h.sent() && h.begun {
		l.used.trials = slices.DeleteFunc(slices.Clone(h.trials), func(t record.Trial) bool { return t.Seconds == 0 }) // never begun
	}
	return l
}
