package suite

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/findings"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/events"
	"assay/internal/fixes"
	"assay/internal/record"
)

// The suites, as they differ from each other.
var (
	smokeSuite = definition{name: "Smoke", collect: collectSmoke, score: scoreSmoke,
		check: checkSmoke, judge: judgeSmokeSuite}

	regressionSuite = definition{name: "Regression", long: true,
		needs:   []string{projectsDir, plantedDir, fixes.Dir},
		collect: collectRegression, score: scoreRegression, check: checkRegression,
		judge: judgeRegression}

	benchSuite = definition{name: "Bench", long: true, needs: []string{"tests"}, review: true,
		collect: collectBench, score: scoreBench, check: checkBench, judge: judgeBench}
)

// smokeChecks are the five checks of Smoke, each a subtest.
var smokeChecks = []string{"runs", "structure", "paths", "flaws", "severity"}

// checkSmoke reports the five checks as subtests.
func checkSmoke(t T, _ *env, m *measurement) {
	j := m.smoke
	for _, name := range smokeChecks {
		ok := t.Run(name, func(t T) { reportCheck(t, m, name) })
		if ok && j.Verdict != audit.Invalid {
			m.passed++
		}
	}
	t.Attr("found", fmt.Sprintf("%d/%d", j.Found, len(m.target.project.Vulnerabilities)))
	t.Attr("verdict", string(j.Verdict))
}

// reportCheck reports one of Smoke's checks.
func reportCheck(t T, m *measurement, name string) {
	for _, g := range failing(&m.smoke.Judgement) {
		if checkOf(m, &g) == name {
			t.Errorf("%s: %s: %s", m.target.pos(), g.Verdict, audit.OneLine(g.Text, 0))
		}
	}
	for _, k := range m.target.project.Vulnerabilities {
		if name == "flaws" && slices.Contains(m.smoke.Missed, k.ID) {
			t.Logf("%s: missed %s: %s", k.Pos, k.ID, k.Title)
		}
	}
	if m.smoke.Verdict == audit.Invalid && !t.Failed() {
		t.Skip("the run cannot be judged")
	}
}

// checkOf returns the check that a reason belongs to; "" for none.
func checkOf(m *measurement, g *score.Reason) string {
	rep := &m.trials[len(m.trials)-1].audited().Run.Report
	switch {
	case g.Code == score.CodeInvalid && rep.Format == findings.Text &&
		!(rep.Header && rep.Sentinel):
		return "structure" // the report is truncated
	case g.Code == score.CodeInvalid:
		return "runs"
	case g.About == "HEADER" || g.About == "SENTINEL":
		return "structure"
	case g.Code == score.CodeCheck:
		return g.About
	}
	return ""
}

// checkRegression reports the figures of a project as attributes.
func checkRegression(t T, _ *env, m *measurement) {
	f := m.record.Figures()
	if f == nil {
		return
	}
	for _, x := range score.AuditMetrics() {
		t.Attr(x.Unit(), x.Show(f))
	}
	if f.Corroborated.Known > 0 {
		shown := score.ShowAll(score.AuditMetrics(), &score.Metrics{Part: f.Corroborated})
		t.Attr("corroborated",
			strings.Join(append([]string{fmt.Sprint(f.Corroborated.Known)}, shown...), " | "))
	}
}

// checkBench reports the outcome of a case: a wrong answer is skipped with MISS, or
// fails with -strict.
func checkBench(t T, e *env, m *measurement) {
	var misses, silent []string
	for _, x := range m.trials {
		ev := &x.result.Evaluation
		switch x.result.Outcome {
		case audit.OutcomeCorrect:
		case audit.OutcomeWrong:
			misses = append(misses, fmt.Sprintf("%s: answered %s, expected %s: %s", m.target.pos(),
				ev.Actual, ev.Expected, audit.OneLine(ev.Explanation, 0)))
		default:
			silent = append(silent, fmt.Sprintf("%s: %s: %s", m.target.pos(), x.result.Outcome,
				audit.OneLine(ev.Detail, 0)))
		}
	}
	t.Attr("outcome", string(m.trials[0].result.Outcome))
	switch {
	case len(misses) > 0 && e.cfg.Strict:
		t.Errorf("MISS %s", strings.Join(misses, "\n"))
	case len(misses) > 0:
		t.Skipf("MISS %s", strings.Join(misses, "\n"))
	case len(silent) > 0:
		t.Skipf("NO ANSWER %s", strings.Join(silent, "\n"))
	}
}

// printAccount notes why a run stopped and what it cost.
func printAccount(t T, r *running) {
	sum := r.summary
	if sum == nil {
		return
	}
	note, name := r.suite.summary.note, r.definition.name
	for _, why := range sum.Stops {
		note("%s: %s", name, why)
	}
	trials := plural(sum.State.Planned, "trial")
	if n := sum.State.Outcome(audit.OutcomeSkipped); n > 0 {
		note("%s: %d of %s were not begun", name, n, trials)
		r.suite.summary.do("to carry on", sum.Run.Command)
	}
	var parts []string
	for _, o := range audit.Outcomes() {
		parts = append(parts, fmt.Sprintf("%d %s", sum.State.Outcome(o), o))
	}
	t.Logf("planned %d = %s", sum.State.Planned, strings.Join(parts, " + "))
	if sum.State.Spent > 0 {
		text := fmt.Sprintf("%s: %s now, in %s", name, score.Dollars(sum.State.Spent),
			sum.State.Elapsed.Round(100*time.Millisecond))
		if sum.State.Earlier > 0 {
			text += fmt.Sprintf(", at most %s in all with the run that it continues",
				score.Dollars(sum.State.Spent+sum.State.Earlier))
		}
		if !math.IsInf(r.env.cfg.Budget, 1) {
			text += fmt.Sprintf(", of the budget of %s", score.Dollars(r.env.cfg.Budget))
		}
		if sum.Unsure > 0 {
			text += fmt.Sprintf(", %s of it the most that requests of unknown cost can have cost",
				score.Dollars(sum.Unsure))
		}
		note("%s", text)
	}
	if sum.Over > 0 {
		note("%s: trials cost %s more than stated: raise Cost in their sections of fixtures/auditors.md, or the prices in models.md", name, score.Dollars(sum.Over))
	}
}

// printJudged adds the rows of a variant to the summary and reports what fails.
func printJudged(t T, r *running, ms []*measurement, j *judged) {
	label := ms[0].variant.name
	if r.definition.review && ms[0].variant.prompt.name != defaultPrompt {
		label += "@" + ms[0].variant.prompt.name
	}
	for _, n := range j.notes {
		r.suite.summary.note("%s: %s", label, audit.OneLine(n, 0))
	}
	if r.definition.review {
		printBench(t, r, label, ms, j)
		return
	}
	for i, m := range ms {
		if r.definition.name == smokeSuite.name {
			r.suite.summary.add(smokeRow(m))
			continue
		}
		printProject(t, r, m, &j.projects[i], len(ms) > 1 || m.replayed())
	}
	if r.definition.name != smokeSuite.name {
		printWhole(t, r, label, ms, j)
	}
	if r.env.cfg.Beside == besideBare {
		if added := addedBySkill(ms); added != "" {
			r.suite.summary.note("%s: its skill adds %s (means a trial, 95 %%)", label, added)
		}
	}
}

// addedBySkill compares the trials of measurements with those of the variant without its
// skill that ran beside them.
func addedBySkill(ms []*measurement) string {
	var now, beside [][]score.AuditTrial
	for _, m := range ms {
		now = append(now, record.ScoreTrials(m.record.Trials))
		beside = append(beside, record.ScoreTrials(m.beside.record.Trials))
	}
	return score.Added(now, beside)
}

// smokeRow returns the row of an auditor in Smoke.
func smokeRow(m *measurement) line {
	l := line{suite: "Smoke", who: m.variant.name, verdict: m.smoke.Verdict,
		cause: smokeCause(m.smoke),
		figures: []string{fmt.Sprintf("%d of %d flaws", m.smoke.Found, len(m.target.project.Vulnerabilities)),
			fmt.Sprintf("%d of 5", m.passed)}}
	if n := len(m.trials); n > 1 {
		l.n = n
	}
	if m.begun() && !m.inProcess() {
		l.used = usedBy(m.record.Trials)
	}
	return l
}

// smokeCause returns the reason of the verdict, and the flaws that were missed.
func smokeCause(j *score.SmokeJudgement) string {
	missed := "missed " + strings.Join(j.Missed, ", ")
	switch {
	case j.Verdict == audit.Pass:
		return ""
	case len(j.Missed) == 0:
		return causeOf(firstNot(audit.Pass, j.Reasons))
	case len(j.Missed) == 1 && j.Grade != score.Acceptable:
		return causeOf(firstNot(audit.Pass, j.Reasons)) + "; " + missed
	}
	return string(j.Grade) + ": " + missed + j.Excuse
}

// printProject reports what fails on a project, and adds a row if part is set.
func printProject(t T, r *running, m *measurement, j *score.Judgement, part bool) {
	key := "verdict:" + m.variant.name + "/" + m.target.project.Name
	if m.replayed() {
		key += " (recorded)"
	}
	t.Attr(strings.ReplaceAll(key, " ", "_"), string(j.Verdict))
	if part {
		r.suite.summary.add(projectRow(m, j))
	}
	for _, g := range j.Reasons {
		switch g.Verdict {
		case audit.Fail, audit.Invalid, score.Changed:
			t.Errorf("%s: %s on %s: %s: %s", m.target.pos(), m.variant.name, m.target.project.Name,
				g.Verdict, audit.OneLine(g.Text, 0))
		case audit.Warn:
			t.Logf("%s: %s: %s", m.target.pos(), g.Verdict, audit.OneLine(g.Text, 0))
		}
	}
}

// projectRow returns the row of an auditor on a project.
func projectRow(m *measurement, j *score.Judgement) line {
	l := line{suite: "Regression", who: m.variant.name, about: m.target.project.Name,
		n: len(m.record.Counting()), verdict: j.Verdict}
	if m.replayed() {
		l.kind = rowReplay
	}
	if f := m.record.Figures(); f != nil {
		l.figures = score.ShowAll(score.Main(score.AuditMetrics()), f)
		// the mean over the trials
		if now, since := sinceBaseline(score.MetricRecall, j.Reasons); now.Defined {
			l.figures[0], l.since = score.Show(score.MetricRecall, now), since
		}
	}
	if len(j.Reasons) > 0 && j.Verdict != audit.Pass {
		l.cause = causeOf(firstNot(audit.Pass, j.Reasons)) + lost(j.Lost)
	} else {
		l.cause = excluded(j.Reasons)
	}
	if !m.inProcess() && m.begun() {
		l.used = usedBy(begunTrials(m))
	}
	return l
}

// excluded returns what a PASS says of drops: which one is excluded.
func excluded(reasons []score.Reason) string {
	for i := range reasons {
		if g := &reasons[i]; g.Excluded.Defined && g.Verdict == audit.Pass {
			return g.Text
		}
	}
	return ""
}

// begunTrials returns the trials of a measurement that were begun.
func begunTrials(m *measurement) []record.RecordedTrial {
	return slices.DeleteFunc(slices.Clone(m.record.Trials),
		func(t record.RecordedTrial) bool { return t.Seconds == 0 })
}

// printWhole adds the row of an auditor over all of its projects: one figure, the gravest
// reason and the command that decides it. Recordings have one where they changed.
func printWhole(t T, r *running, name string, ms []*measurement, j *judged) {
	l := line{suite: "Regression", who: name, verdict: j.verdict, n: j.pooled.Trials,
		whole:   plural(len(ms)+len(j.others), "project"),
		figures: []string{j.pooled.Recall.String(), j.pooled.Precision.String()}}
	if len(ms)+len(j.others) == 1 {
		l.whole = ms[0].target.project.Name
		if f := ms[0].record.Figures(); f != nil {
			l.figures = append(l.figures, score.ShowAll(score.Main(score.AuditMetrics()), f)[2:]...)
		}
	}
	if ms[0].replayed() {
		if l.kind = rowReplay; j.verdict == score.AsRecorded {
			return
		}
	}
	var whole []score.Reason
	if j.whole != nil {
		if whole = j.whole.Reasons; len(ms) == 1 {
			whole = j.projects[0].Reasons
		}
		if _, l.since = sinceBaseline(score.MetricRecall, whole); l.since.baseline == "" &&
			j.whole.Baseline.Defined {
			l.since = since{score.Show(score.MetricRecall, j.whole.Baseline),
				points(j.whole.Baseline, j.whole.Recall)}
		}
		for _, g := range j.whole.Reasons {
			if g.Verdict == audit.Fail {
				t.Errorf("%s: %s: %s", name, g.Verdict, audit.OneLine(g.Text, 0))
			}
		}
	}
	l.cause, l.next = r.gravest(ms, j)
	if j.whole != nil {
		l.next = cmp.Or(r.adviseAudits(ms, j), l.next)
		if l.cause == "" {
			l.cause = excluded(whole)
		}
	}
	if s := j.pooled.Stability; s.Known > 0 {
		l.cause = strings.TrimPrefix(l.cause+". Vulnerabilities found: "+s.String(), ". ")
	}
	var trials []record.RecordedTrial
	for _, m := range ms {
		if !m.inProcess() && m.begun() {
			trials = append(trials, begunTrials(m)...)
		}
	}
	for _, rec := range j.others {
		trials = append(trials, rec.Trials...)
	}
	l.used = usedBy(trials)
	r.suite.summary.add(l)
}

// gravest returns the gravest reason of a verdict over several projects with the number of the
// others, and the command that explains it.
func (r *running) gravest(ms []*measurement, j *judged) (cause, next string) {
	more := 0
	consider := func(m *measurement, reasons []score.Reason, lost string) {
		for i := range reasons {
			g := &reasons[i]
			if g.Verdict == audit.Pass {
				continue
			}
			if next == "" {
				next = r.command(m, g)
			}
			if cause != "" || urgency(g.Verdict) > urgency(j.verdict) {
				more++
				continue
			}
			if cause = causeOf(*g) + lost; m != nil && len(ms) > 1 {
				cause = m.target.project.Name + ": " + cause
			}
		}
	}
	if j.whole != nil {
		consider(nil, j.whole.Reasons, "")
	}
	for i, m := range ms {
		consider(m, j.projects[i].Reasons, lost(j.projects[i].Lost))
	}
	if more > 0 && cause != "" {
		cause += fmt.Sprintf(" (and %s: -v)", plural(more, "more reason"))
	}
	return cause, next
}

// command returns the command that explains a reason; m is nil for one of all projects.
func (r *running) command(m *measurement, g *score.Reason) string {
	switch {
	case m == nil:
	case g.Code == score.CodeReview && g.More > 0:
		return r.env.assay("triage " + Quoted(m.target.project.Name))
	case (g.Code == score.CodeDrop || g.Code == score.CodeReplay) && m.baseline != nil &&
		m.beside == nil && m.written != "":
		baseline := filepath.Join(r.env.root.Dir,
			filepath.FromSlash(record.BaselinePath(baselinesDir, m.variant.name,
				m.target.project.Name)))
		return r.env.assay("compare " + Quoted(baseline) + " " +
			Quoted(strings.TrimSuffix(m.written, ".txt")+".json"))
	}
	return ""
}

// adviseAudits returns the command that decides what is inconclusive about an auditor; "" for
// nothing. It adds to the summary the command for the trials that the baseline lacks.
func (r *running) adviseAudits(ms []*measurement, j *judged) string {
	reasons := j.whole.Reasons
	for i := range ms {
		reasons = slices.Concat(reasons, j.projects[i].Reasons)
	}
	a := score.MergeAdvice(reasons)
	if a == nil {
		return ""
	}
	name, budget := ms[0].variant.name, r.env.cfg.Budget
	with := map[string]string{"auditor": name, "trials": fmt.Sprint(max(1, a.Trials)),
		"add": "true"}
	if a.Project != "" {
		with["filter"] = a.Project
	}
	if need := math.Ceil(2 * a.USD); need > budget {
		with["budget"] = fmt.Sprint(need)
	}
	if r.env.cfg.Reuse {
		with["reuse"] = "false"
	}
	if a.Baseline > 0 && !a.Beside {
		old := maps.Clone(with)
		old["trials"], old["add"], old["beside"], old["change"] = fmt.Sprint(a.Baseline), "", "", ""
		to := "first, for the baseline"
		if base := ms[0].baseline; base != nil {
			if changed := ms[0].record.Changed(base); len(changed) > 0 {
				to += ", with " + some(changed) + " as before"
			}
		}
		r.suite.summary.do(to, r.prefix+resumeWith(os.Args[0], r.suite.flags,
			r.definition.name, old)+"; "+r.env.assay("baseline "+Quoted(name)))
	}
	return r.prefix + resumeWith(os.Args[0], r.suite.flags, r.definition.name, with)
}

// some returns the first three names of a list.
func some(names []string) string {
	if more := len(names) - 3; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), more)
	}
	return strings.Join(names, ", ")
}

// printBench adds the rows of a reviewer: over all applications, and of each.
func printBench(t T, r *running, label string, ms []*measurement, j *judged) {
	v := ms[0].variant
	if why := unanswered(ms); why != "" {
		r.suite.summary.note("%s: %s", label, why)
	}
	if why := servedBy(ms); why != "" {
		r.suite.summary.note("%s: %s", label, why)
	}
	l := line{suite: "Bench", who: label, verdict: j.verdict}
	if j.partial {
		l.verdict = "part"
		if f, err := score.BenchOf(j.answers); err == nil &&
			f.Outcomes[audit.OutcomeCorrect]+f.Outcomes[audit.OutcomeWrong] == 0 {
			t.Errorf("%s: %s: none of %s has an answer", label, audit.Invalid,
				plural(len(j.answers), "trial"))
		}
	} else {
		t.Attr("verdict:"+strings.ReplaceAll(v.name+"/"+v.prompt.name, " ", "_"), string(j.verdict))
		l.next = nextBench(r, v, &j.bench)
		for _, g := range j.bench.Reasons {
			switch g.Verdict {
			case score.Changed:
				t.Errorf("%s: %s: %s", label, g.Verdict, audit.OneLine(g.Text, 0))
			case audit.Fail, audit.Invalid:
				t.Errorf("fixtures/goals.md: %s: %s: %s", label, g.Verdict,
					audit.OneLine(g.Text, 0))
			case audit.Warn:
				t.Logf("%s: %s: %s", label, g.Verdict, audit.OneLine(g.Text, 0))
			}
		}
		_, l.since = sinceBaseline(score.MetricBalanced, j.bench.Reasons)
		if len(j.bench.Reasons) > 0 && j.verdict != audit.Pass {
			l.cause = causeOf(firstNot(audit.Pass, j.bench.Reasons)) + lost(j.bench.Lost)
		}
	}
	if v.recorded != nil {
		l.kind = rowReplay
	}
	if auditor.Control(v.name) != nil && (l.verdict == audit.Pass || l.verdict == audit.Warn) {
		l.kind, l.verdict, l.cause = rowControl, "control", ""
	}
	addBenchRow(r, l, j.answers)
	for _, app := range appsOf(ms) {
		of := slices.DeleteFunc(slices.Clone(ms),
			func(m *measurement) bool { return m.target.subject.App != app })
		addBenchRow(r, line{suite: "Bench", who: label, about: app}, answersOf(of))
	}
}

// addBenchRow adds a row with the figures of these answers.
func addBenchRow(r *running, l line, as []score.Answer) {
	f, err := score.BenchOf(as)
	if err != nil {
		r.suite.summary.note("%s: %v", strings.TrimSuffix(l.who+" on "+l.about, " on "), err)
		return
	}
	l.figures = score.ShowAll(score.Main(score.BenchMetrics()), f)
	l.used = consumed(&f.Consumed)
	l.n = f.Outcomes[audit.OutcomeCorrect] + f.Outcomes[audit.OutcomeWrong]
	if f.Unanswered.Defined && f.Unanswered.V > 0 {
		l.cause = strings.TrimPrefix(l.cause+"; unanswered "+f.Unanswered.String(), "; ")
	}
	r.suite.summary.add(l)
}

// appsOf returns the applications of the measurements, in order.
func appsOf(ms []*measurement) (apps []string) {
	for _, m := range ms {
		if app := m.target.subject.App; !slices.Contains(apps, app) {
			apps = append(apps, app)
		}
	}
	return apps
}

// nextBench returns the command that decides an inconclusive comparison; "" for none.
func nextBench(r *running, v *variant, j *score.Judgement) string {
	for i := range j.Reasons {
		if more := j.Reasons[i].MoreTrials(); more > 0 {
			return fmt.Sprintf("%sgo test -run Bench -model %s -prompt %s -trials %d -add",
				r.prefix, Quoted(v.name), Quoted(v.prompt.name), more)
		}
	}
	return ""
}

// chatModel matches the requested model in a chat reviewer's settings.
var chatModel = regexp.MustCompile(`(?m)^chat \d+ model (\S+) at `)

// servedBy returns a note if other models answered than the requested one.
func servedBy(ms []*measurement) string {
	served, odd := map[string]int{}, false
	for _, ev := range evaluations(ms) {
		m := chatModel.FindStringSubmatch(ev.Settings)
		if m == nil || ev.Served == "" {
			continue
		}
		served[ev.Served]++
		odd = odd || !events.SameModel(m[1], ev.Served, nil)
	}
	if !odd && len(served) < 2 {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(served)) {
		parts = append(parts, fmt.Sprintf("%s (%d)", audit.OneLine(name, 80), served[name]))
	}
	return "answers were given by " + strings.Join(parts, ", ")
}

// consumed returns the cells of what reviews consumed; nil if nothing was paid.
func consumed(c *score.Consumed) []string {
	if c.USD == 0 && c.Tokens == 0 {
		return nil
	}
	cells := used(audit.Usage{USD: c.USD, Priced: c.Priced, TokensIn: c.Tokens}, 0)
	cells[3] = "" // the time is the run's
	return cells
}

// lost names the first three entries or cases that earn less than at the baseline.
func lost(cs []score.EntryChange) string {
	if len(cs) == 0 {
		return ""
	}
	var ids []string
	for _, c := range cs {
		ids = append(ids, c.ID)
	}
	return "; lost " + some(ids)
}

// firstNot returns the first reason with another verdict, or the first of all.
func firstNot(v audit.Verdict, gs []score.Reason) score.Reason {
	for _, g := range gs {
		if g.Verdict != v {
			return g
		}
	}
	return gs[0]
}

// causeOf returns a reason in the few words that fit the summary.
func causeOf(g score.Reason) string {
	if g.Compares() || g.Metric == "" || !g.Now.Defined || !g.Want.Defined {
		return g.Text
	}
	what := g.Metric
	if g.About != "" {
		what += " of " + g.About
	}
	switch g.Code {
	case score.CodeChance:
		if g.Now.V == 0 {
			return g.Text
		}
		return fmt.Sprintf("%s %s, by chance up to %s", what, score.Show(g.Metric, g.Now),
			score.Show(g.Metric, g.Want))
	case score.CodeReview:
		if g.More == 0 {
			return what + " depends on findings that are ruled arguable"
		}
		return fmt.Sprintf("%s: review %d more findings", what, g.More)
	}
	return fmt.Sprintf("%s %s, goal %s", what, score.Show(g.Metric, g.Now),
		score.Show(g.Metric, g.Want))
}

// plural returns "1 trial" or "3 trials".
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
