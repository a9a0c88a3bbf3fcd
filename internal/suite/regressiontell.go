package suite

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
)

func (h *evaluation) tell(t T, j score.Judgement) {
	rec := &h.now
	rec.Judgement, rec.Goals = j, h.goals
	for _, r := range h.recs {
		rec.Control = r.Control
	}
	var err error
	if rec.Stated, err = record.ReadStated(h.env.root.holdings(), baselines, h.project.Name); err != nil {
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
	written := ""
	if h.begun && !h.published() { // a run that never was is none
		written = h.suite.write(t, h.env, rec, runs)
	}
	if h.replay {
		t.Attr("verdict", string(j.Verdict))
	} else {
		t.Attr("verdict:"+h.candidate.name+"/"+h.project.Name, string(j.Verdict))
	}
	h.suite.summary.add(h.line(j))
	h.next(j, written)
	for _, g := range j.Reasons {
		switch g.Verdict {
		case audit.Fail, audit.Invalid, score.Changed:
			t.Errorf("%s: %s on %s: %s: %s", h.project.Pos, h.candidate.name, h.project.Name, g.Verdict, audit.OneLine(g.Text, 0))
		case audit.Warn:
			t.Logf("%s: %s: %s", h.project.Pos, g.Verdict, audit.OneLine(g.Text, 0))
		}
	}
}

func (h *evaluation) next(j score.Judgement, written string) {
	for i := range j.Reasons {
		switch g := &j.Reasons[i]; {
		case g.Verdict == audit.Pass:
		case g.Code == score.CodeReview && g.More > 0:
			h.suite.summary.do("to review findings", h.env.assay("triage "+Quoted(h.project.Name)))
		case (g.Code == score.CodeDrop || g.Code == score.CodeReplay) && h.baseline != nil && h.beside == nil && written != "":
			baseline := filepath.Join(h.env.root.Dir, filepath.FromSlash(record.BaselinePath(baselines, h.candidate.name, h.project.Name)))
			h.suite.summary.do("to see what was lost", h.env.assay("compare "+Quoted(baseline)+" "+Quoted(strings.TrimSuffix(written, ".txt")+".json")))
		default:
			continue
		}
		return
	}
}

// means gives the figures of the trials that count; nil without one.
func (h *evaluation) means() *score.Metrics {
	return score.Means(h.now.Counting())
}

func (h *evaluation) attributes(t T) {
	if m := h.means(); m != nil {
		for _, x := range score.AuditMetrics() {
			t.Attr(x.Unit(), x.Show(m))
		}
		if m.Corroborated.Known > 0 {
			t.Attr("corroborated", strings.Join(corroborated(m), " | "))
		}
	}
}

// corroborated is in the order of the main table's figures.
func corroborated(m *score.Metrics) []string {
	return append([]string{fmt.Sprint(m.Corroborated.Known)}, score.ShowAll(score.AuditMetrics(), &score.Metrics{Part: m.Corroborated})...)
}

func (h *evaluation) line(j score.Judgement) line {
	l := line{suite: "Regression", who: h.candidate.name, about: h.project.Name, verdict: j.Verdict, replay: h.replay}
	if m := h.means(); m != nil {
		l.figures = score.ShowAll(score.Main(score.AuditMetrics()), m)
		if now, since := sinceBaseline(score.MetricRecall, j.Reasons); now.Defined { // the mean over the trials
			l.figures[0], l.since = score.Show(score.MetricRecall, now), since
		}
	}
	if len(j.Reasons) > 0 && j.Verdict != audit.Pass {
		l.cause = lookAt(j.Reasons[0]) + lost(j.Lost)
	}
	if h.sent() && h.begun {
		l.used = usedBy(slices.DeleteFunc(slices.Clone(h.now.Trials), func(t record.Trial) bool { return t.Seconds == 0 })) // never begun
	}
	return l
}

func (r *regression) tellWhole(name string, suite *score.Suite, hs []*evaluation) {
	l := line{suite: "Regression", who: name, verdict: suite.Verdict, figures: []string{score.Show(score.MetricRecall, suite.Recall)}}
	if suite.Baseline.Defined {
		l.since = since{score.Show(score.MetricRecall, suite.Baseline), points(suite.Baseline, suite.Recall)}
	}
	var causes []string
	for i := range suite.Reasons {
		g := &suite.Reasons[i]
		if g.Verdict != audit.Pass {
			causes = append(causes, g.Text)
		}
		if more := g.MoreTrials(); more > 0 {
			r.suite.summary.do("to settle "+name, fmt.Sprintf("%sgo test -run Regression -auditor %s -trials %d -timeout 0", r.live.before, Quoted(name), r.env.cfg.Trials+more))
		}
	}
	l.cause = strings.Join(causes, "; ")
	var trials []record.Trial
	for _, h := range hs {
		if h.sent() && h.begun {
			trials = append(trials, h.now.Trials...)
		}
	}
	l.used = usedBy(trials)
	if len(hs) > 1 || l.cause != "" {
		l.whole = fmt.Sprintf("all %d", len(hs))
		r.suite.summary.add(l)
	}
}

// lost names the first three entries or cases that earn less than at the baseline.
func lost(cs []score.EntryChange) string {
	const named = 3
	var ids []string
	for _, c := range cs[:min(named, len(cs))] {
		ids = append(ids, c.ID)
	}
	switch more := len(cs) - len(ids); {
	case len(ids) == 0:
		return ""
	case more > 0:
		return fmt.Sprintf("; lost %s and %d more", strings.Join(ids, ", "), more)
	}
	return "; lost " + strings.Join(ids, ", ")
}

func lookAt(g score.Reason) string {
	if g.Metric == "" || !g.Now.Defined || !g.Want.Defined {
		return g.Text
	}
	what := g.Metric
	if g.About != "" {
		what += " of " + g.About
	}
	switch g.Code {
	case score.CodeChance:
		if g.Now.V == 0 {
			return strings.Replace(g.Text, " (random guessing does no worse)", "", 1)
		}
		return fmt.Sprintf("%s %s, by chance up to %s", what, score.Show(g.Metric, g.Now), score.Show(g.Metric, g.Want))
	case score.CodeReview:
		if g.More == 0 {
			return what + " hangs on findings that are ruled arguable"
		}
		return fmt.Sprintf("%s: review %d more findings", what, g.More)
	}
	return fmt.Sprintf("%s %s, goal %s", what, score.Show(g.Metric, g.Now), score.Show(g.Metric, g.Want))
}
