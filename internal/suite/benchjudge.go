package suite

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/record"
	"assay/internal/run"
)

func (b *bench) judge(t T) {
	if b.failed != nil || b.running == nil {
		return
	}
	sum, err := b.running.Finish()
	if err != nil {
		t.Errorf("%v", err)
	}
	b.tellStopped(&sum, "trials were not asked")
	t.Logf("%s", accounting(sum.State.Outcome))
	if sum.State.Spent > 0 {
		b.suite.summary.note("Bench: %d answers for $%.2f in %s%s", sum.State.Done-sum.State.Reused-sum.State.Outcome(audit.OutcomeSkipped), sum.State.Spent, sum.State.Elapsed.Round(100*time.Millisecond), assumed(&sum))
	}
	for _, key := range b.asked() {
		b.judgeOne(t, key)
	}
}

func accounting(of func(audit.Outcome) int) string {
	var parts []string
	planned := 0
	for _, o := range audit.Outcomes() {
		n := of(o)
		planned += n
		parts = append(parts, fmt.Sprintf("%d %s", n, o))
	}
	return fmt.Sprintf("planned %d = %s", planned, strings.Join(parts, " + "))
}

type variant struct{ reviewer, prompt string }

func (b *bench) asked() []variant {
	var variants []variant
	for _, l := range b.leaves {
		if !slices.Contains(variants, l.variant) {
			variants = append(variants, l.variant)
		}
	}
	return variants
}

// answers are to cases or about sites, of one application or project or ("") all.
func (b *bench) answers(s variant, about string) []score.Answer {
	if b.modules != nil {
		return score.SiteAnswers(b.moduleAnswers(s, about))[0]
	}
	var as []score.Answer
	for _, l := range b.of(s, about) {
		for i, r := range l.results {
			as = append(as, score.Answer{Case: l.ask.Case, Trial: i, Outcome: r.Outcome, Violates: r.Evaluation.Violates})
		}
	}
	return as
}

func (b *bench) flips(s variant) []score.Flip {
	var pairs []score.TwinAnswer
	for _, l := range b.of(s, "") {
		if len(l.results) == 0 {
			continue // its own trials were skipped
		}
		for i, r := range l.twinResults {
			pairs = append(pairs, score.TwinAnswer{Kind: l.twins[i].Twin, Case: l.results[0].Outcome, Twin: r.Outcome})
		}
	}
	return score.Flips(pairs)
}

// judging is what a judgement tells: a test, or assay merge.
type judging interface {
	Errorf(format string, args ...any)
	Logf(format string, args ...any)
	Attr(key, value string)
}

func (b *bench) judgeOne(t judging, s variant) {
	name := s.reviewer
	if s.prompt != promptOf(b.env.cfg.Tier) {
		name += " " + s.prompt
	}
	all := b.answers(s, "")
	for _, why := range []string{b.servedBy(s), b.unanswered(s)} {
		if why != "" {
			b.suite.summary.note("%s: %s", name, why)
		}
	}
	switch {
	case b.whole(s):
		b.gate(t, s, name)
	default:
		b.suite.summary.note("%s: a part of the cases was asked: reported, and not held against goals or baseline", name)
		b.add(s, name, "", all, score.Judgement{Verdict: "part"})
		if n := outcomes(all); n[audit.OutcomeCorrect]+n[audit.OutcomeWrong] == 0 {
			t.Errorf("%s: %s: none of %d trials has an answer", name, audit.Invalid, len(all))
		}
	}
	for _, f := range b.flips(s) {
		b.suite.summary.note("%s: %v of verdicts flip on %s twins (%d of %d)", name, f.Share, f.Kind, f.Flipped, f.Asked)
	}
	for _, about := range b.rows() {
		if as := b.answers(s, about); len(as) > 0 {
			b.add(s, name, about, as, score.Judgement{})
		}
	}
	if b.modules != nil {
		b.tellModules(s, name)
	}
}

// rows gives the names that have a row each: applications, or planted projects.
func (b *bench) rows() (names []string) {
	for i := range b.subjects {
		names = append(names, b.subjects[i].about)
	}
	return slices.Compact(names)
}

// unanswered tells the first cause of each kind of trial that ended without an answer; ""
// where none did.
func (b *bench) unanswered(s variant) string {
	count, cause := map[audit.Outcome]int{}, map[audit.Outcome]string{}
	for _, r := range b.results(s) {
		count[r.Outcome]++
		cause[r.Outcome] = cmp.Or(cause[r.Outcome], r.Evaluation.Detail)
	}
	var all []string
	for _, ended := range []struct {
		as    audit.Outcome
		words string
	}{{audit.OutcomeErrored, "failed"}, {audit.OutcomeMalformed, "were malformed"}, {audit.OutcomeRefused, "were refused"}} {
		if n := count[ended.as]; n > 0 {
			all = append(all, fmt.Sprintf("trials that %s: %d, the first of: %s", ended.words, n, audit.OneLine(cause[ended.as], 400)))
		}
	}
	return strings.Join(all, "; ")
}

func outcomes(as []score.Answer) map[audit.Outcome]int {
	n := map[audit.Outcome]int{}
	for _, a := range as {
		n[a.Outcome]++
	}
	return n
}

func (b *bench) gate(t judging, s variant, name string) {
	all, baseline, err := b.sides(s)
	if err != nil {
		t.Errorf("%v", err)
		return
	}
	goals := b.goals.BenchOf(s.reviewer)
	if b.modules != nil {
		// The goals are for cases: of modules a drop is judged, and what has no answer.
		goals = audit.BenchGoals{Unanswered: goals.Unanswered}
	}
	j := score.Judgement{}
	if b.recorded[s] > 0 {
		j = score.JudgeReadings(all, baseline)
	} else {
		j, err = score.JudgeBench(all, baseline, goals, score.Rules{Deterministic: auditor.Deterministic(s.reviewer), Strict: b.env.cfg.Strict})
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	t.Attr("verdict:"+strings.ReplaceAll(s.reviewer+"/"+s.prompt, " ", "_"), string(j.Verdict))
	b.add(s, name, "", all, j)
	b.next(s, j)
	for _, g := range j.Reasons {
		switch g.Verdict {
		case score.Changed:
			t.Errorf("%s: %s: %s", name, g.Verdict, audit.OneLine(g.Text, 0))
		case audit.Fail, audit.Invalid:
			t.Errorf("fixtures/goals.md: %s: %s: %s", name, g.Verdict, audit.OneLine(g.Text, 0))
		case audit.Warn:
			t.Logf("%s: %s: %s", name, g.Verdict, audit.OneLine(g.Text, 0))
		}
	}
}

// add adds a line of figures: over all applications (""), or of one, which has no verdict.
func (b *bench) add(s variant, name, app string, as []score.Answer, j score.Judgement) {
	f, err := score.BenchOf(as)
	if err != nil {
		b.suite.summary.note("%s: %v", strings.TrimSuffix(name+" on "+app, " on "), err)
		return
	}
	l := line{suite: "Bench", who: name, about: app, verdict: j.Verdict, detail: app != "", figures: score.ShowAll(score.Main(score.BenchMetrics()), f)}
	if app == "" {
		_, l.since = sinceBaseline(score.MetricBalanced, j.Reasons)
		l.used = b.paid(s)
		if n := b.recorded[s]; n > 0 {
			l.whole = fmt.Sprintf("%d readings", n)
		}
		l.control = auditor.Control(s.reviewer) != nil && (j.Verdict == audit.Pass || j.Verdict == audit.Warn)
	}
	if l.control {
		l.verdict = "control"
	} else if len(j.Reasons) > 0 && j.Verdict != audit.Pass {
		l.cause = lookAt(j.Reasons[0]) + lost(j.Lost)
	}
	if f.Unanswered.Defined && f.Unanswered.V > 0 {
		l.cause = strings.TrimPrefix(l.cause+"; unanswered "+f.Unanswered.String(), "; ")
	}
	b.suite.summary.add(l)
}

// paid is nil where nobody was.
func (b *bench) paid(s variant) []string {
	sum := audit.Usage{Priced: true}
	for _, l := range b.of(s, "") {
		for _, r := range slices.Concat(l.results, l.twinResults) {
			if !r.Reused && r.Outcome != audit.OutcomeSkipped {
				sum = sum.Add(r.Evaluation.Usage)
			}
		}
	}
	if sum.USD == 0 && sum.TokensIn+sum.TokensOut == 0 {
		return nil
	}
	cells := used(sum, 0)
	cells[3] = "" // the run's time is told once
	return cells
}

func (b *bench) next(s variant, j score.Judgement) {
	tier := ""
	if b.modules != nil {
		tier = " -tier module"
	}
	for i := range j.Reasons {
		if more := j.Reasons[i].MoreTrials(); more > 0 {
			b.suite.summary.do("to settle "+s.reviewer, fmt.Sprintf("%sgo test -run Bench%s -model %s -prompt %s -trials %d", b.before, tier, Quoted(s.reviewer), Quoted(s.prompt), b.env.cfg.Trials+more))
			return
		}
	}
}

// sides leaves out what has changed since the baseline, and notes it.
func (b *bench) sides(s variant) (now, baseline []score.Answer, err error) {
	base, err := record.ReadBench(b.env.root.holdings(), baselines, s.reviewer, s.prompt)
	if err != nil {
		return nil, nil, err
	}
	var notes []string
	if b.modules != nil {
		old, gone := base.CompareModules(b.told(s), b.modules, run.ModuleHash)
		both := score.SiteAnswers(b.moduleAnswers(s, ""), old)
		now, baseline, notes = both[0], both[1], gone
	} else {
		cases := map[string]*audit.Case{}
		for i := range b.subjects {
			cases[b.subjects[i].id] = b.subjects[i].ask.Case
		}
		now = b.answers(s, "")
		baseline, notes = base.Compare(b.told(s), cases, run.CaseHash)
	}
	for _, note := range notes {
		b.suite.summary.note("%s: %s", s.reviewer, audit.OneLine(note, 0))
	}
	return now, baseline, nil
}

// told gives what a variant's trials put their question to.
func (b *bench) told(s variant) (as []record.Asked) {
	for _, r := range b.results(s) {
		ev := &r.Evaluation
		as = record.AppendAsked(as, record.Asked{PromptHash: ev.PromptHash, SettingsHash: ev.SettingsHash, Model: ev.Served})
	}
	return as
}

// chatModel finds the model that a chat reviewer asked for in its settings.
var chatModel = regexp.MustCompile(`(?m)^chat \d+ model (\S+) at `)

// servedBy is "" where the model that was asked answered: a provider may fall back to another,
// and what that says is no measure of the first.
func (b *bench) servedBy(s variant) string {
	served, odd := map[string]int{}, false
	for _, r := range b.results(s) {
		ev := &r.Evaluation
		m := chatModel.FindStringSubmatch(ev.Settings)
		if m == nil || ev.Served == "" {
			continue
		}
		served[ev.Served]++
		odd = odd || !alike(m[1], ev.Served)
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

var word = regexp.MustCompile(`[a-z]+|[0-9]+`)

// alike reports whether two names may be one model's: the words of one, its
// maker's aside, are all in the other. Providers add dates, and turn names round.
func alike(a, b string) bool {
	words := func(s string) []string {
		return word.FindAllString(strings.ToLower(s[strings.LastIndexByte(s, '/')+1:]), -1)
	}
	within := func(a, b []string) bool {
		return !slices.ContainsFunc(a, func(w string) bool { return !slices.Contains(b, w) })
	}
	return within(words(a), words(b)) || within(words(b), words(a))
}
