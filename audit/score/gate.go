package score

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/audit"
	"assay/internal/stat"
)

// The steps of the methodology's rule, in percentage points and items. It judges
// deterministic auditors, whose output needs no test.
const (
	noneBelow  = 1.0 // a smaller drop is none
	failAbove  = 5.0 // a larger one fails
	itemsAbove = 1.0 // if it is more than this many items
)

// deterministicReasons compares recall and precision with the baseline without a test.
func (d *sides) deterministicReasons() []Reason {
	return []Reason{
		dropOf(MetricRecall, d.fBase.recall, d.fNow.recall, float64(len(d.now[0].Known))).judge(),
		dropOf(MetricPrecision, d.fBase.precision.Low, d.fNow.precision.Low,
			d.fNow.counted.V).judge(),
	}
}

type drop struct {
	metric    string
	base, now Value
	points    float64 // baseline minus now
	items     float64 // entries or findings
}

// dropOf returns the drop from base to now; n is the number of entries.
func dropOf(metric string, base, now Value, n float64) drop {
	f := drop{metric: metric, base: base, now: now}
	if base.Defined && now.Defined {
		f.points, f.items = 100*(base.V-now.V), (base.V-now.V)*n
	}
	return f
}

// judge returns the reason about a drop.
func (f drop) judge() Reason {
	g := Reason{Code: CodeDrop, Verdict: audit.Pass, Metric: f.metric, Now: f.now, Baseline: f.base}
	verb := fmt.Sprintf("a drop of %.1f points", f.points)
	switch {
	case !f.base.Defined || !f.now.Defined:
		verb = "no drop can be computed"
	case f.points < noneBelow-1e-7:
		verb = "no drop"
	case f.points > failAbove+1e-7 && f.items > itemsAbove+1e-7:
		g.Verdict = audit.Fail
	default:
		g.Verdict = audit.Warn
		verb += "; no further trial decides it, since the output never varies"
	}
	g.Text = fmt.Sprintf("%s %v, was %v: %s", f.metric, f.now, f.base, verb)
	return g
}

// gate judges what is decided over all projects together.
type gate struct {
	sides  []*sides // that take part
	keyed  []*sides // of these, whose keys hold vulnerabilities
	all    []sides
	rules  Rules
	beside bool // decided by the side that ran beside
	recall stat.Gate
}

// reasons returns all reasons about an auditor's projects together.
func (g *gate) reasons() ([]Reason, error) {
	var reasons []Reason
	if r, ok := g.chance(); ok {
		reasons = append(reasons, r)
	}
	if len(g.sides) == 0 {
		return reasons, nil
	}
	g.keyed = slices.DeleteFunc(slices.Clone(g.sides),
		func(d *sides) bool { return len(d.now[0].Known) == 0 })
	for _, f := range []func() (Reason, bool,
		error){g.recallReason, g.falseFindings, g.usd, g.seconds} {
		r, some, err := f()
		if err != nil {
			return nil, err
		}
		if some {
			reasons = append(reasons, r)
		}
	}
	return reasons, nil
}

// projects returns what the gate compares: of each project a number for each trial.
func projects(all []*sides, of func(*sides, *Result) float64) (out []stat.ProjectTrials) {
	for _, d := range all {
		p := stat.ProjectTrials{Name: d.name, Entries: len(d.now[0].Known)}
		for _, r := range d.baseline {
			p.Baseline = append(p.Baseline, of(d, r))
		}
		for _, r := range d.now {
			p.Now = append(p.Now, of(d, r))
		}
		out = append(out, p)
	}
	return out
}

// credit returns the credit of a trial by the score that the goals use.
func credit(d *sides, r *Result) float64 {
	if d.goals.asserted() {
		return r.Methodology.Credit
	}
	return r.Metrics.Credit
}

// recallReason decides whether recall dropped or misses its goal. The side that ran beside
// decides if it has enough exchanges to decide anything.
func (g *gate) recallReason() (Reason, bool, error) {
	if len(g.keyed) == 0 {
		return Reason{}, false, nil
	}
	tested := projects(g.keyed, credit)
	gate, err := stat.GateRecall(tested)
	if err != nil {
		return Reason{}, false, fmt.Errorf("the gate: %w", err)
	}
	provider := false
	if ran := besides(g.keyed); len(ran) > 0 {
		pairs := projects(ran, credit)
		with, err := stat.GateRecall(pairs)
		if err != nil {
			return Reason{}, false, fmt.Errorf("the gate, beside: %w", err)
		}
		if with.Count >= 20 || with.Decision == stat.Drop {
			provider = gate.Decision == stat.Drop && with.Decision != stat.Drop
			g.beside, gate, tested = true, with, pairs
		}
	}
	g.recall = gate
	now, was := pooledOf(g.keyed, g.beside)
	r := Reason{Code: CodeDrop, Verdict: audit.Pass, Metric: MetricRecall, Now: now, Baseline: was,
		P: Of(gate.P), Excluded: Of(gate.Bound)}
	head := fmt.Sprintf("recall %v, was %v", now, was)
	if g.beside {
		head = fmt.Sprintf("recall %v, beside it %v", now, was)
	}
	switch gate.Decision {
	case stat.Drop:
		r.Verdict = audit.Fail
		r.Text = head + ": " + g.why(tested) + g.whose()
	case stat.PossibleDrop:
		r.Code, r.Verdict = CodePossible, g.rules.possible()
		r.Text = head + ": " + g.why(tested)
	case stat.TooWide:
		r.Code, r.Verdict = CodeWide, audit.Warn
		r.Text = head + fmt.Sprintf(": no sign of a drop, but one of %.0f points is not excluded",
			100*widest(gate))
	default:
		r.Text = head +
			fmt.Sprintf(": no sign of a drop; more than %.0f points is excluded at 95 %%",
				math.Ceil(100*gate.Bound))
	}
	switch {
	case provider:
		r.Code, r.Verdict = CodeProvider, audit.Warn
		r.Text += "; against the stored baseline recall dropped, and the side that ran beside shares that: the provider changed. No further trial decides it"
	case gate.Decision == stat.PossibleDrop || gate.Decision == stat.TooWide:
		r.Advice = g.advice(gate.Advice)
		r.Text += ". " + r.Advice.String()
	}
	g.goal(&r, tested)
	return r, true, nil
}

// share adds to the judgement of one of several projects how its recall compares. Only a
// drop of its own is its verdict; the rest is decided over all projects.
func (g *gate) share(d *sides, j *Judgement) {
	if len(d.now) == 0 || !d.stochastic() {
		return
	}
	r := Reason{Code: CodeDrop, Verdict: audit.Pass, Metric: MetricRecall, Now: d.fNow.recall,
		Baseline: d.fBase.recall,
		Text: fmt.Sprintf("recall %v, was %v; all projects together decide", d.fNow.recall,
			d.fBase.recall)}
	if d.goals.Recall > 0 {
		r.Want = Of(d.goals.Recall)
	}
	if g.recall.Project == d.name {
		r.Verdict, r.Text = audit.Fail, g.why(projects(g.keyed, credit))
		if g.recall.Decision != stat.Drop {
			r.Code, r.Verdict, r.Advice = CodePossible, g.rules.possible(),
				g.advice(g.recall.Advice)
			r.Text += ". " + r.Advice.String()
		}
	}
	j.set(append(j.Reasons, r))
}

// widest returns the largest drop that is not excluded.
func widest(g stat.Gate) float64 { return min(1, g.Bound) }

// besides returns the sides that ran beside these.
func besides(all []*sides) (out []*sides) {
	for _, d := range all {
		if d.beside != nil {
			out = append(out, d.beside)
		}
	}
	return out
}

// pooledOf returns the pooled recall now and of the baseline, or of the side that ran beside.
func pooledOf(all []*sides, beside bool) (now, was Value) {
	var ds []sides
	for _, d := range all {
		if beside && d.beside != nil {
			d = d.beside
		}
		ds = append(ds, *d)
	}
	return pooled(ds)
}

// why says which rule decided, and how often chance does the same.
func (g *gate) why(tested []stat.ProjectTrials) string {
	x := g.recall
	switch x.Rule {
	case stat.ByProject, stat.ByCollapse:
		p := tested[slices.IndexFunc(tested,
			func(p stat.ProjectTrials) bool { return p.Name == x.Project })]
		text := fmt.Sprintf("%s fell from %s to %s of %d", p.Name, span(p.Baseline),
			span(p.Now), p.Entries)
		switch {
		case x.Decision != stat.Drop:
			return text
		case x.Rule == stat.ByCollapse:
			return text +
				", twice less than a quarter of its worst trial; chance does this to 1 of 600 unchanged auditors"
		}
		return text + " in six trials; chance does this to 1 of 900 unchanged auditors"
	case stat.BySize:
		return fmt.Sprintf(
			"%.0f points less, %.1f standard errors (3 are the limit). Chance does this to less than 1 %% of unchanged auditors", 100*x.Drop, x.Drop/x.SE)
	}
	if x.Decision == stat.Drop {
		return fmt.Sprintf(
			"%.0f points less. Chance does this to %.2g %% of unchanged auditors (limit %.2g %%)",
			100*x.Drop, 100*x.P, 100*x.Alpha)
	}
	return fmt.Sprintf("%.0f points less may be chance (p %.2g %%)", 100*x.Drop, 100*x.P)
}

// whose returns how to find out whether the change or the provider is the cause of a drop.
func (g *gate) whose() string {
	if g.beside {
		return ""
	}
	if len(g.sides[0].changed) > 0 {
		return ". Your change (" + strings.Join(g.sides[0].changed, ", ") +
			") or the provider's? -beside tells"
	}
	return ". Your change or the provider's? -beside tells"
}

// span returns the smallest and the largest of the credits.
func span(credits []float64) string {
	lo, hi := slices.Min(credits), slices.Max(credits)
	if lo == hi {
		return fmt.Sprintf("%g", lo)
	}
	return fmt.Sprintf("%g-%g", lo, hi)
}

// An Advice is what would decide a verdict: trials or projects, and what they cost.
type Advice struct {
	Trials   int    `json:"trials,omitempty"`   // more trials of this side (-trials N -add)
	Baseline int    `json:"baseline,omitempty"` // more trials of the baseline
	Project  string `json:"project,omitempty"`  // only of this project; empty: of all
	// more projects like these (Bench: families), since no more trials help
	Projects int     `json:"projects,omitempty"`
	May      bool    `json:"may,omitempty"`    // they may still leave it open
	Beside   bool    `json:"beside,omitempty"` // trials of both sides beside each other
	USD      float64 `json:"usd,omitempty"`    // expected, from earlier trials; 0 where unknown
	Minutes  float64 `json:"minutes,omitempty"`
	unit     string  // of Projects; "project" by default
}

// String returns the advice as a sentence without a full stop.
func (a *Advice) String() string {
	if a == nil || a.Trials+a.Baseline+a.Projects == 0 {
		return "No further trial decides it"
	}
	if a.Trials+a.Baseline == 0 {
		unit := a.unit
		if unit == "" {
			unit = "project"
		}
		return fmt.Sprintf("No further trial decides it; %s like these would",
			plural(a.Projects, "more "+unit))
	}
	what := plural(a.Trials, "more trial")
	if a.Project != "" {
		what += " of " + a.Project
	}
	if a.Baseline > 0 {
		what += fmt.Sprintf(" and %d of the baseline", a.Baseline)
	}
	verb := " decide it with 80 % probability"
	if a.May {
		verb = " may decide it"
	}
	if a.Trials+a.Baseline == 1 {
		verb = strings.Replace(verb, " decide it", " decides it", 1)
	}
	if a.USD > 0 {
		return fmt.Sprintf("%s%s: %s, %s", what, verb, Dollars(a.USD), minutes(a.Minutes))
	}
	if a.Minutes > 0 {
		return fmt.Sprintf("%s%s: %s", what, verb, minutes(a.Minutes))
	}
	return what + verb
}

// MergeAdvice returns what decides everything that these reasons call inconclusive by more
// trials; nil where none would.
func MergeAdvice(reasons []Reason) *Advice {
	var sum *Advice
	for i := range reasons {
		a := reasons[i].Advice
		switch {
		case a == nil || a.Trials+a.Baseline == 0:
		case sum == nil:
			one := *a
			sum = &one
		default:
			if sum.Project != a.Project {
				sum.Project = ""
			}
			sum.Trials, sum.Baseline = max(sum.Trials, a.Trials), max(sum.Baseline, a.Baseline)
			sum.USD, sum.Minutes = max(sum.USD, a.USD), max(sum.Minutes, a.Minutes)
		}
	}
	return sum
}

// minutes returns a number of minutes as text.
func minutes(m float64) string { return plural(int(math.Ceil(m)), "minute") }

// plural returns "1 more trial" or "2 more trials", or the plural of another last word.
func plural(n int, what string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(what, "y"):
		what = strings.TrimSuffix(what, "y") + "ies"
	default:
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// advice returns an advice with its costs.
func (g *gate) advice(a stat.Advice) *Advice {
	out := &Advice{Trials: a.Trials, Baseline: a.Baseline, Project: a.Project, Projects: a.Units,
		May: !a.Sure, Beside: g.beside}
	for _, d := range g.sides {
		if a.Project == "" || a.Project == d.name {
			d.price(out, g.rules)
		}
	}
	return out
}

// price adds what the trials of an advice cost on this project.
func (d *sides) price(a *Advice, rules Rules) {
	trials := slices.Concat(d.trials[0], d.trials[1])
	n := float64(a.Trials + a.Baseline)
	a.USD += n * average(trials, func(t AuditTrial) float64 { return t.USD })
	a.Minutes += n * average(trials,
		func(t AuditTrial) float64 { return t.Seconds }) / 60 / float64(max(1, rules.Concurrency))
}

// average leaves out trials of which the figure is not known.
func average[T any](ts []T, of func(T) float64) float64 {
	sum, n := 0.0, 0.0
	for _, t := range ts {
		if v := of(t); v > 0 {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// chance stops carpets of guesses: over all projects, recall corrected for chance of 0 or
// less. A report in which every finding is right is no carpet: where its key is so small
// that random places do as well, the reason is a warning. Without a baseline recall must reach
// the 99th percentile of chance. A recall of nothing is no better than chance, whatever chance
// is.
func (g *gate) chance() (Reason, bool) {
	var credit, luck, entries float64
	known, allRight := true, true
	for i := range g.all {
		d := &g.all[i]
		allRight = allRight && d.fNow.precision.Low.Defined && d.fNow.precision.Low.V >= 1-tiny
		if !d.fNow.recall.Defined {
			continue
		}
		n := float64(len(d.now[0].Known))
		entries, credit, luck = entries+n, credit+n*d.fNow.recall.V, luck+n*d.fNow.chance.V
		known = known && d.fNow.chance.Defined
	}
	hasBase := slices.ContainsFunc(g.all, func(d sides) bool { return len(d.baseline) > 0 })
	r := Reason{Code: CodeChance, Verdict: audit.Fail, Metric: MetricRecall,
		Now: Ratio(credit, entries), Want: Ratio(luck, entries)}
	switch {
	case !r.Now.Defined:
		return r, false
	case credit == 0:
		r.Text = "no known vulnerability was found (random guessing does no worse)" +
			unusable(g.all)
		if hasBase { // whether that is a drop is decided below
			r.Verdict = audit.Warn
			r.Text += ". No further trial decides whether it can find one"
		}
	case known && credit <= luck+tiny && (!hasBase || luck >= 0.5):
		r.Text = fmt.Sprintf(
			"recall %v is no better than chance: the same findings at random places reach %v",
			r.Now, r.Want)
		if allRight {
			r.Verdict = audit.Warn
			r.Text += ", though every finding is right: the key is too small to tell"
		}
	case !hasBase:
		return g.chanceAlone()
	default:
		return r, false
	}
	if g.all[0].goals.AtChance {
		r.Verdict = audit.Warn
	}
	return r, true
}

// chanceAlone returns a reason where recall over all projects lies below the 99th percentile of
// chance. That of several is made of the projects' own: their distances from the mean add up as
// those of independent figures do.
func (g *gate) chanceAlone() (Reason, bool) {
	var entries, credit, luck, spread float64
	for i := range g.all {
		d := &g.all[i]
		if f := d.fNow; f.p99.Defined && f.chance.Defined && f.recall.Defined {
			n := float64(len(d.now[0].Known))
			entries, credit, luck = entries+n, credit+n*f.recall.V, luck+n*f.chance.V
			spread += n * n * (f.p99.V - f.chance.V) * (f.p99.V - f.chance.V)
		}
	}
	r := Reason{Code: CodeChance, Verdict: audit.Fail, Metric: MetricRecall,
		Now: Ratio(credit, entries), Want: Ratio(luck+math.Sqrt(spread), entries)}
	if !r.Now.Defined || credit >= luck+math.Sqrt(spread)-tiny {
		return r, false
	}
	if len(g.all) == 1 {
		r.About = g.all[0].name
	}
	r.Text = fmt.Sprintf(
		"recall %v is below the 99th percentile of chance, %v: the same findings at random places do as well", r.Now, r.Want)
	if g.all[0].goals.AtChance {
		r.Verdict = audit.Warn
	}
	return r, true
}

// unusable returns why most of the findings cannot count, so that paths relative to another
// root do not look like a tool that finds nothing.
func unusable(all []sides) string {
	for _, what := range []Disposition{MissingPath, PastEnd, NoCWE} {
		n, of, detail := 0, 0, ""
		for i := range all {
			for _, r := range all[i].now {
				n += r.Dispositions[what]
				of += len(r.Findings)
				for k := range r.Findings {
					if f := &r.Findings[k]; detail == "" && f.Disposition == what {
						detail = f.Match.Detail
					}
				}
			}
		}
		if 2*n > of {
			text := fmt.Sprintf("; %d of %d findings are %q", n, of, what)
			if detail != "" {
				text += ", the first: " + detail
			}
			return text
		}
	}
	return ""
}

// falseFindings decides whether false findings rose, over the projects whose keys are whole.
func (g *gate) falseFindings() (Reason, bool, error) {
	whole := slices.DeleteFunc(slices.Clone(g.sides), func(d *sides) bool {
		return slices.ContainsFunc(slices.Concat(d.now, d.baseline),
			func(r *Result) bool { return !r.Whole })
	})
	if len(whole) == 0 {
		return Reason{}, false, nil
	}
	ps := projects(whole, func(_ *sides, r *Result) float64 {
		return float64(r.Metrics.Counted - r.Metrics.Full - r.Metrics.Halves)
	})
	x, err := stat.GateFalseFindings(ps)
	is, was := means2(ps)
	r := Reason{Code: CodeDrop, Verdict: audit.Pass, Metric: MetricFalse, Now: Of(is),
		Baseline: Of(was), P: Of(x.P)}
	r.Text = fmt.Sprintf("false findings %.1f a project, was %.1f", is, was)
	switch x.Decision {
	case stat.Drop:
		r.Verdict = audit.Fail
		r.Text += fmt.Sprintf(". Chance does this to %.2g %% of unchanged auditors (limit %.2g %%)",
			100*x.P, 100*x.Alpha) + g.whose()
	case stat.PossibleDrop:
		r.Verdict, r.Code = g.rules.possible(), CodePossible
		r.Advice = g.nextStage(x.Stage)
		r.Text += fmt.Sprintf(", which may be chance (p %.2g %%). ", 100*x.P) + r.Advice.String()
	}
	return r, true, err
}

// nextStage asks for the trials up to the next stage.
func (g *gate) nextStage(stage int) *Advice {
	switch stage {
	case 1:
		return g.advice(stat.Advice{Trials: 2})
	case 3:
		return g.advice(stat.Advice{Trials: 3})
	}
	return nil
}

// usd returns the reason about dollars.
func (g *gate) usd() (Reason, bool, error) {
	return g.costs(MetricCost, "dollars", func(t AuditTrial) float64 { return t.USD })
}

// seconds returns the reason about time.
func (g *gate) seconds() (Reason, bool, error) {
	return g.costs(MetricTime, "seconds", func(t AuditTrial) float64 { return t.Seconds })
}

// costs warns where a trial costs at least a quarter more, and chance does not explain it.
func (g *gate) costs(metric, unit string, of func(AuditTrial) float64) (Reason, bool, error) {
	var ps []stat.ProjectTrials
	for _, d := range g.sides {
		p := stat.ProjectTrials{Name: d.name}
		for side, to := range []*[]float64{&p.Now, &p.Baseline} {
			for _, t := range d.trials[side] {
				if v := of(t); v > 0 {
					*to = append(*to, v)
				}
			}
		}
		if len(p.Now) > 0 && len(p.Baseline) > 0 {
			ps = append(ps, p)
		}
	}
	if len(ps) == 0 {
		return Reason{}, false, nil
	}
	x, err := stat.GateCost(ps)
	is, was := means2(ps)
	r := Reason{Code: CodeDrop, Verdict: audit.Pass, Metric: metric, Now: Of(is), Baseline: Of(was),
		P:    Of(x.P),
		Text: fmt.Sprintf("%s %.3g %s a trial, was %.3g", metric, is, unit, was)}
	if x.Decision == stat.PossibleDrop {
		r.Code, r.Verdict = CodeCost, audit.Warn
		r.Text += fmt.Sprintf(
			": %.1f times as much, which chance does to %.2g %% of unchanged auditors. It never fails, so no further trial decides it", math.Exp(x.Drop), 100*x.P)
	}
	return r, true, err
}

// means2 returns the means over projects of the new side and the baseline.
func means2(ps []stat.ProjectTrials) (now, was float64) {
	mean := func(x []float64) float64 {
		sum := 0.0
		for _, v := range x {
			sum += v
		}
		return sum / float64(len(x)) / float64(len(ps))
	}
	for _, p := range ps {
		now, was = now+mean(p.Now), was+mean(p.Baseline)
	}
	return now, was
}
