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
func (h *evaluation) tell(t T, j score.Judgement, baseline *record.Record) {
	rec := &record.Record{Suite: "Regression", Project: h.project.Name, Auditor: h.candidate.name, Replay: h.replay, Commit: h.project.Commit,
		Key: h.project.KeyHash, Version: h.version, Command: h.command, Model: h.model, Prompt: h.prompt, Trials: h.trials, Judgement: j, Goals: h.goals, Notes: h.notes}
	for _, r := range h.recs {
		rec.Control = r.Control
	}
	var err error
	if rec.Stated, err = record.ReadStated(h.env.root.holdings(), "fixtures/baselines", h.project.Name); err != nil {
		t.Error(err)
	}
	if baseline != nil {
		rec.Since(baseline)
	}
	h.suite.write(t, h.env, rec)
	h.attributes(t, j)
	for _, g := range j.Reasons {
		if g.Verdict != audit.Pass {
			t.Logf("%s: %s: %s", h.project.Pos, g.Verdict, audit.OneLine(g.Text, 500))
		}
	}
	h.suite.summary.add(h.line(j))
	switch {
	case h.replay && chanceAlone(j) && baseline != nil && failsByChance(baseline.Judgement):
		t.Skipf("%s: %s on %s: %s, as at its baseline: %s", h.project.Pos, h.candidate.name, h.project.Name, j.Verdict, audit.OneLine(j.Reasons[0].Text, 500))
	case j.Verdict == audit.Fail || j.Verdict == audit.Invalid:
		t.Errorf("%s: %s on %s: %s: %s", h.project.Pos, h.candidate.name, h.project.Name, j.Verdict, audit.OneLine(j.Reasons[0].Text, 500))
	}
}

// failsByChance reports whether a judgement fails because the recall is no better
// than chance.
func failsByChance(j score.Judgement) bool {
	return slices.ContainsFunc(j.Reasons, func(g score.Reason) bool {
		return g.Code == score.CodeChance && g.Verdict == audit.Fail
	})
}

// chanceAlone reports whether that is all that fails. Recall below chance never
// passes; but a recording cannot get better, and one that was at chance when it
// was made its own baseline tells nothing new: its verdict is FAIL, in the summary
// and the record, and the test is skipped instead of red.
func chanceAlone(j score.Judgement) bool {
	return j.Verdict == audit.Fail && !slices.ContainsFunc(j.Reasons, func(g score.Reason) bool {
		return g.Verdict == audit.Fail && g.Code != score.CodeChance
	})
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

func (h *evaluation) attributes(t T, j score.Judgement) {
	t.Attr("verdict", string(j.Verdict))
	if m := h.first(); m != nil {
		t.Attr("recall", m.Recall.String())
		t.Attr("precision", m.Precision.String())
		t.Attr("f1", m.F1.String())
		t.Attr("coverage", coverage(m))
		t.Attr("chance", m.Chance.Mean.String())
		t.Attr("lift", times(m.Lift))
		if m.Corroborated.Known > 0 {
			t.Attr("corroborated", strings.Join(corroborated(m), " | "))
		}
	}
}

// corroborated gives the figures for the entries that something beside the key
// corroborates, in the order of the main table's.
func corroborated(m *score.Metrics) []string {
	c := m.Corroborated
	return []string{fmt.Sprint(c.Known), c.Recall.String(), c.Precision.String(), c.F1.String(),
		fmt.Sprintf("%d of %d", len(c.Covered), len(c.Held)), c.SeverityAccuracy.String(), c.Chance.Mean.String(), times(c.Lift)}
}

// times shows a lift: how many times the recall is that of chance.
func times(v score.Value) string {
	if !v.Defined {
		return v.String()
	}
	return fmt.Sprintf("%.1f", v.V)
}

func coverage(m *score.Metrics) string { return fmt.Sprintf("%d of %d", len(m.Covered), len(m.Held)) }

func (h *evaluation) line(j score.Judgement) line {
	name := h.candidate.name
	if h.replay {
		name += " (replay)"
	}
	l := line{suite: "Regression", verdict: j.Verdict, cells: []string{h.project.Name, name, "", "", "", "", "", ""}}
	if m := h.first(); m != nil {
		l.cells = []string{h.project.Name, name, m.Recall.String(), m.Precision.String(), m.F1.String(), coverage(m), m.Chance.Mean.String(), times(m.Lift)}
	}
	if j.Verdict != audit.Pass && len(j.Reasons) > 0 {
		l.look = lookAt(j.Reasons[0])
	}
	return l
}
