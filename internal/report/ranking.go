package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
)

// A ranking is the overview's table of auditors or of reviewers, the best first, with the
// answers that it gives.
type ranking struct {
	Kind, Metric string // "Auditors", "recall"
	Of           string // what the figures are about: "13 projects, 435 vulnerabilities"
	Per          string // what cost and time are stated for: "a project"
	Rows         []*ranked
	Strip        *strip
	Chart        *chart
	Answers      []answer
	More         *pointer // the rows that are left out
}

// A ranked is a variant in a ranking.
type ranked struct {
	Name, Note, Page string
	Class            string // of its colour
	Recorded         bool   // it is there to be compared with: a replay or a control
	// shared by those that cannot be told apart from their group's first; 0: not compared
	Rank    int
	Group   *ranked
	Against *score.Comparison // of Group with it
	Verdict audit.Verdict
	Change  string // since the baseline, or the reason of the verdict
	E       score.Estimate
	Mark    *mark
	N       cell
	Used    score.Consumed // by its trials
	Partial bool           // a run of a part of the cases: never compared

	audited *audited     // an auditor
	variant *variantLine // a reviewer
}

// An answer is one of the questions that the overview answers.
type answer struct {
	Question string
	Lines    []pointer
}

// A pointer is a sentence with the page where more is.
type pointer struct {
	Badge, Class string
	What, Page   string
	Why          string
}

// Audited returns what an auditor's audits came to; nil for a reviewer.
func (r *ranked) Audited() *audited { return r.audited }

// USD returns the cost of one audit or answer; 0 where it is not known.
func (r *ranked) USD() float64 { return r.Used.USD / float64(max(1, r.Used.Trials)) }

// Seconds returns the time of one audit or answer; 0 where it is not known.
func (r *ranked) Seconds() float64 { return r.Used.Seconds / float64(max(1, r.Used.Trials)) }

// Cost returns what one of Per costs, and what all cost.
func (r *ranked) Cost() cell {
	usd := r.USD()
	if usd == 0 {
		return cell{Text: "unknown"}
	}
	c := cell{Text: score.Dollars(usd), Beside: score.Dollars(r.Used.USD) + " in all",
		Sort: fmt.Sprintf("%.9f", usd)}
	if !r.Used.Priced {
		c.Text = "at least " + c.Text
	}
	return c
}

// Time returns the seconds of one of Per, and of all.
func (r *ranked) Time() cell {
	one := r.Seconds()
	if one == 0 {
		return cell{Text: "unknown"}
	}
	return cell{Text: lasting(one), Beside: lasting(r.Used.Seconds) + " in all",
		Sort: fmt.Sprintf("%.3f", one)}
}

// lasting writes seconds as exactly as their length wants: 4.2 s, 12 min, 1.3 h.
func lasting(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.2g s", max(0.01, d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%.2g min", d.Minutes())
	}
	return fmt.Sprintf("%.3g h", d.Hours())
}

// rank sorts the rows by their headline figure. Each is compared with the first of the group
// before it, and starts a group of its own where that one is better.
func (r *ranking) rank(compare func(a, b *ranked) (score.Comparison, error)) {
	value := func(x *ranked) float64 {
		switch {
		case !x.E.Value.Defined:
			return -2
		case x.Partial:
			return x.E.Value.V - 2
		}
		return x.E.Value.V
	}
	slices.SortStableFunc(r.Rows, func(a, b *ranked) int {
		return cmp.Or(cmp.Compare(value(b), value(a)), cmp.Compare(a.Name, b.Name))
	})
	var first *ranked
	for i, x := range r.Rows {
		if x.Partial {
			break
		}
		if first == nil {
			if x.E.Value.Defined {
				x.Rank, first = 1, x
			}
			continue
		}
		c, err := compare(first, x)
		if err != nil {
			continue
		}
		if x.Group, x.Against, x.Rank = first, &c, first.Rank; c.Standing == score.Better {
			x.Rank, first = i+1, x
		}
	}
}

// best returns the first row that is not only there to be compared with; nil without one.
func (r *ranking) best() *ranked {
	for _, x := range r.Rows {
		if !x.Recorded && !x.Partial && x.E.Value.Defined {
			return x
		}
	}
	return nil
}

// sure answers whether the lead of a row is real.
func (r *ranking) sure(x *ranked) (lines []pointer) {
	var apart, same []string
	for _, o := range r.Rows {
		if o.Against == nil || o.Recorded != x.Recorded {
			continue
		}
		switch d := o.Against.Diff; {
		case o.Group == x && o.Rank == x.Rank:
			same = append(same,
				strings.TrimSuffix(fmt.Sprintf("%s (%s)", o.Name, need(o.Against.Need)), " ()"))
		case o.Group == x:
			apart = append(apart, fmt.Sprintf("%s by %.1f points (%.1f to %.1f)", o.Name,
				d.Center, d.Lo, d.Hi))
		case o.Rank > x.Rank:
			apart = append(apart, o.Name)
		}
	}
	if len(apart) > 0 {
		lines = append(lines, pointer{Badge: "conclusive", What: "Better than " + few(apart) + "."})
	}
	if len(same) > 0 {
		lines = append(lines, pointer{Badge: "inconclusive", What: "Cannot be told apart from " +
			few(same) + "."})
	}
	return lines
}

// few names five and counts the others.
func few(names []string) string {
	const most = 5
	if n := len(names) - most; n > 1 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ")
}

// An audited is an auditor over projects: what its newest records came to together.
type audited struct {
	Name      string
	rows      []row // by project
	Recall    score.Estimate
	Precision score.Span
	Entries   int     // of the keys
	Found     float64 // of them in full by a trial, as the mean of the trials
	All       int     // found in all trials of their project
	Some      int     // in some of several trials and not in all
	Findings  float64 // of an audit, as the mean of the trials
	trials    int     // audits that count
	Used      score.Consumed
}

// Trials is how many audits count.
func (a *audited) Trials() int { return a.trials }

// Union is how many entries at least one trial found.
func (a *audited) Union() int { return a.All + a.Some }

// union returns the recall of the union of all trials.
func (a *audited) union() score.Value { return score.Ratio(float64(a.Union()), float64(a.Entries)) }

// auditedOf sums up the records of one auditor, one a project. It returns nil where no trial
// counts.
func auditedOf(rows []row) (*audited, error) {
	a := &audited{Name: rows[0].Record.Auditor}
	sum, seconds, audits := audit.Usage{Priced: true}, 0.0, 0
	var all [][]score.AuditTrial
	for _, r := range rows {
		trials := r.Record.Counting()
		if len(trials) == 0 {
			continue
		}
		a.rows = append(a.rows, r)
		t, err := score.OverTrials(trials)
		if err != nil {
			return nil, fmt.Errorf("%s on %s: %w", a.Name, r.Record.Project, err)
		}
		used, took, _ := r.Record.Consumed()
		sum, seconds, audits = sum.Add(used), seconds+took, audits+len(r.Record.Trials)
		a.Entries += len(t.Entries)
		a.All += t.Intersection.Known
		a.Some += t.Union.Known - t.Intersection.Known
		for _, e := range t.Entries {
			a.Found += float64(e.Found) / float64(t.N)
		}
		for _, x := range trials {
			a.Findings += float64(len(x.Findings) - x.Dispositions[score.Suppressed])
		}
		all, a.trials = append(all, record.ScoreTrials(r.Record.Trials)), a.trials+len(trials)
	}
	if len(all) == 0 {
		return nil, nil
	}
	a.Findings /= float64(a.trials)
	a.Used = score.Used(audits, sum, seconds)
	p, err := score.Pool(rows[0].Record.Goals.ByMethodologyScore, all...)
	a.Recall, a.Precision = p.Recall, p.Precision
	return a, err
}

// row returns the auditor in a ranking.
func (a *audited) row() *ranked {
	x := &ranked{Name: clip(a.Name, shortMost), Page: a.rows[0].Page, E: a.Recall,
		Used: a.Used, audited: a}
	if len(a.rows) > 1 {
		x.Page = "auditors.html#vulnerabilities"
	}
	x.N = cell{Text: amount(a.trials, "audit"), Beside: amount(len(a.rows), "project")}
	switch a.rows[0].kind() {
	case 2:
		x.Recorded, x.Note = true, "control: reads no code"
	case 1:
		x.Recorded, x.Note = true, "recorded"
	}
	if !x.Recorded {
		x.Verdict, x.Change = a.verdict()
	}
	if of := a.rows[0].Record.SideOf; of != "" {
		x.Note = "ran beside " + clip(of, 60)
	}
	return x
}

// verdict returns the verdict over all projects, and why it is what it is: how recall
// compares with the baseline, or the gravest reason.
func (a *audited) verdict() (audit.Verdict, string) {
	var verdicts []audit.Verdict
	var reasons []score.Reason
	whole := a.whole()
	if whole != nil {
		verdicts, reasons = append(verdicts, whole.Verdict), slices.Clone(whole.Reasons)
	}
	for _, r := range a.rows {
		verdicts = append(verdicts, r.Verdict)
		for _, g := range r.Record.Judgement.Reasons {
			if len(a.rows) > 1 {
				g.Text = r.Record.Project + ": " + g.Text
			}
			reasons = append(reasons, g)
		}
	}
	v := audit.Worst(verdicts...)
	var is, was score.Value
	if whole != nil {
		is, was = whole.Recall, whole.Baseline
	} else if len(a.rows) == 1 {
		is, was = a.Recall.Value, recallBefore(a.rows[0].Record)
	}
	moved := noBaseline
	if was.Defined && is.Defined {
		moved = fmt.Sprintf("%+.1f points (was %v)", 100*(is.V-was.V), was)
		if math.Abs(is.V-was.V) < 0.0005 {
			moved = fmt.Sprintf("no change (%v)", was)
		}
	} else if slices.ContainsFunc(reasons, func(g score.Reason) bool { return g.Compares() }) {
		moved = "compared project by project"
	}
	for _, g := range reasons {
		if g.Verdict != v || v == audit.Pass {
			continue
		}
		if g.Metric == score.MetricRecall && g.Compares() {
			return v, g.Text
		}
		if moved == noBaseline && strings.Contains(g.Text, noBaseline) {
			return v, noBaseline
		}
		return v, moved + "; " + g.Text
	}
	return v, moved
}

// whole returns the judgement over all of the projects, where one run made them all.
func (a *audited) whole() *score.SuiteJudgement {
	first := a.rows[0].Record
	for _, r := range a.rows {
		if r.Record.Run != first.Run || r.Record.Whole == nil {
			return nil
		}
	}
	return first.Whole
}

// weakest returns the dimension of at least five entries of which least was found.
func (a *audited) weakest() (d audit.Dimension, found, of float64) {
	sum, n := map[audit.Dimension]float64{}, map[audit.Dimension]float64{}
	for _, r := range a.rows {
		trials := r.Record.Counting()
		for _, t := range trials {
			for i := range t.Known {
				sum[t.Known[i].Dimension] += t.Known[i].Credit / float64(len(trials))
				n[t.Known[i].Dimension] += 1 / float64(len(trials))
			}
		}
	}
	for _, k := range audit.Dimensions() {
		if n[k] > 4.5 && (of == 0 || sum[k]/n[k] < found/of) {
			d, found, of = k, sum[k], n[k]
		}
	}
	return d, found, of
}

// compareAudited compares two auditors on the projects that both audited.
func compareAudited(a, b *audited) (score.Comparison, error) {
	var both []score.AuditedByTwo
	for _, r := range a.rows {
		for _, o := range b.rows {
			if r.Record.Project == o.Record.Project {
				both = append(both, score.AuditedByTwo{A: r.Record.Counting(),
					B: o.Record.Counting()})
			}
		}
	}
	return score.CompareAuditors(both...)
}

// rankAuditors ranks auditors over the projects on which any of yours was run; without one
// of yours over all projects. It returns nil where no trial counts.
func rankAuditors(rows []row) (*ranking, []error) {
	of := map[string]bool{}
	for _, r := range rows {
		if r.kind() == 0 {
			of[r.Record.Project] = true
		}
	}
	by := map[string][]row{}
	for _, r := range rows {
		if len(of) == 0 || of[r.Record.Project] {
			by[r.Record.Auditor] = append(by[r.Record.Auditor], r)
		}
	}
	k := &ranking{Kind: "Auditors", Metric: "recall", Per: "a project"}
	var errs []error
	entries := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		a, err := auditedOf(by[name])
		if err != nil {
			errs = append(errs, err)
		} else if a != nil {
			k.Rows = append(k.Rows, a.row())
			for _, r := range a.rows {
				entries[r.Record.Project] = len(r.Record.Counting()[0].Known)
			}
		}
	}
	if len(k.Rows) == 0 {
		return nil, errs
	}
	sum := 0
	for _, n := range entries {
		sum += n
	}
	k.Of = fmt.Sprintf("%s, %d vulnerabilities", amount(len(entries), "project"), sum)
	k.rank(func(a, b *ranked) (score.Comparison,
		error) {
		return compareAudited(a.audited, b.audited)
	})
	if x := k.best(); x != nil {
		k.answerAuditor(x)
	}
	return k, errs
}

func (k *ranking) answerAuditor(x *ranked) {
	a := x.audited
	best := []pointer{{Class: x.Class, What: fmt.Sprintf("%s: recall %v on %s.", x.Name, x.E, k.Of),
		Page: x.Page}}
	for _, o := range k.Rows {
		if o.Recorded && o.E.Value.Defined && o.Note == "recorded" {
			best = append(best,
				pointer{What: fmt.Sprintf("Best recorded: %s, %v.", o.Name, o.E.Value),
					Page: o.Page})
			break
		}
	}
	k.Answers = append(k.Answers, answer{"Best", best})
	sure := k.sure(x)
	for _, o := range k.Rows { // what is recorded is compared with one group's first alone
		if o.Recorded && o.E.Value.Defined {
			if c, err := compareAudited(a, o.audited); err == nil {
				sure = append(sure, against(o, c))
			}
			break
		}
	}
	k.Answers = append(k.Answers, answer{"Is it real?", sure})
	k.Answers = append(k.Answers,
		answer{"Cost",
			[]pointer{{What: x.costs(k.Per, a.Found*float64(a.Used.Trials)/float64(len(a.rows))),
				Page: "cost.html"}}})
	here := "auditors.html#vulnerabilities?" + url.QueryEscape(x.Name) + "="
	fails := []pointer{{What: fmt.Sprintf("%d of %d vulnerabilities were found by no trial.",
		a.Entries-a.Union(), a.Entries), Page: here + "missed"}}
	if a.trials > len(a.rows) {
		fails[0].What = fmt.Sprintf(
			"Of %d vulnerabilities %d were found in all trials, %d in some, %d in none.", a.Entries,
			a.All, a.Some, a.Entries-a.Union())
	}
	if d, found, of := a.weakest(); of > 0 {
		fails = append(fails,
			pointer{What: fmt.Sprintf("Weakest in %s: %.3g of %.3g.", d, found, of),
				Page: here + "missed&dimension=" + url.QueryEscape(string(d))})
	}
	k.Answers = append(k.Answers, answer{"Fails at", fails},
		answer{"Since the baseline", k.changed(x.Page)})
}

// against says how a variant compares with o, which is recorded.
func against(o *ranked, c score.Comparison) pointer {
	d := c.Diff
	switch c.Standing {
	case score.Better:
		return pointer{Badge: "conclusive",
			What: fmt.Sprintf("Better than %s (%s) by %.1f points (%.1f to %.1f).", o.Name, o.Note,
				d.Center, d.Lo, d.Hi)}
	case score.Worse:
		return pointer{Badge: "conclusive",
			What: fmt.Sprintf("Worse than %s (%s) by %.1f points (%.1f to %.1f).", o.Name, o.Note,
				-d.Center, -d.Hi, -d.Lo)}
	}
	return pointer{Badge: "inconclusive",
		What: fmt.Sprintf("Cannot be told apart from %s (%s): %+.1f points.", o.Name,
			o.Note, d.Center)}
}

// costs states what one of per and all cost in dollars and time, and a vulnerability found,
// of which the trials together found so many.
func (r *ranked) costs(per string, found float64) string {
	cost, took := r.Cost(), r.Time()
	parts := []string{"no price is stated"}
	if r.USD() > 0 {
		parts = []string{fmt.Sprintf("%s %s, %s", cost.Text, per, cost.Beside)}
		if found > 0 {
			parts[0] += fmt.Sprintf(", %s a vulnerability found", score.Dollars(r.Used.USD/found))
		}
	}
	if took.Sort != "" {
		parts = append(parts, fmt.Sprintf("%s %s, %s", took.Text, per, took.Beside))
	}
	return strings.Join(parts, "; ") + "."
}

// changed says of each of your variants how it is to its baseline.
func (r *ranking) changed(page string) (lines []pointer) {
	var without []string
	for _, x := range r.Rows {
		if x.Recorded || x.Change == "" {
			continue
		}
		if x.Change == noBaseline {
			without = append(without, x.Name)
			continue
		}
		lines = append(lines, pointer{Badge: string(x.Verdict), Class: x.Class,
			What: x.Name + ": " + x.Change, Page: cmp.Or(x.Page, page)})
	}
	slices.SortStableFunc(lines,
		func(a, b pointer) int { return cmp.Compare(urgency(a.Badge), urgency(b.Badge)) })
	if len(without) > 0 {
		lines = append(lines,
			pointer{What: "No baseline: " + few(without) + ". assay baseline stores one."})
	}
	const most = 5
	if n := len(lines) - most; n > 0 {
		lines = append(lines[:most], pointer{What: fmt.Sprintf("%d more", n),
			Page: "#table-" + strings.ToLower(r.Kind)})
	}
	return lines
}

const noBaseline = "no baseline"

// rankReviewers ranks reviewers by balanced accuracy over the cases that they answered.
func rankReviewers(ls []variantLine) *ranking {
	k := &ranking{Kind: "Reviewers", Metric: "balanced accuracy", Per: "an answer"}
	cases, families := 0, 0
	for i := range ls {
		l := &ls[i]
		cases, families = max(cases, l.Bench.Cases), max(families, l.Bench.Families)
		k.Rows = append(k.Rows, &ranked{Name: l.Short, Page: "reviewers.html#" + l.Anchor(),
			E: l.Rank, N: cell{Text: amount(l.Answers, "answer"),
				Beside: amount(l.Bench.Cases, "case")},
			Used: l.Bench.Consumed, Partial: l.Partial, variant: l})
		if x := k.Rows[i]; l.Partial {
			x.Note = "a part of the cases"
		}
	}
	k.Of = fmt.Sprintf("%s in %s", amount(cases, "case"), familiesOf(families))
	k.rank(func(a, b *ranked) (score.Comparison, error) {
		_, as, bs := common(a.variant.VariantResults, b.variant.VariantResults)
		return score.CompareReviewers(as, bs)
	})
	return k
}

func familiesOf(n int) string {
	if n == 1 {
		return "1 family"
	}
	return fmt.Sprintf("%d families", n)
}

func (k *ranking) answerReviewer(worst []*caseLine, variants []variantLine) {
	x := k.best()
	if x == nil {
		k.Answers = []answer{{"Best",
			[]pointer{{Badge: "WARN",
				What: "No reviewer answered good and bad cases: nothing can be said of any."}}}}
		return
	}
	b := x.variant.Bench
	k.Answers = append(k.Answers,
		answer{"Best",
			[]pointer{{Class: x.Class, What: fmt.Sprintf("%s: balanced accuracy %v on %s.",
				x.Name, x.E, k.Of), Page: x.Page}}})
	sure := k.sure(x)
	if x.E.Low.Defined && x.E.Low.V > 0.5 {
		sure = append(sure,
			pointer{Badge: "conclusive", What: "Better than guessing, which has 50 %."})
	} else {
		sure = append(sure, pointer{Badge: "inconclusive",
			What: "May be no better than guessing, which has 50 %."})
	}
	k.Answers = append(k.Answers, answer{"Is it real?", sure},
		answer{"Cost", []pointer{{What: x.costs(k.Per, 0), Page: "cost.html"}}})
	at := "cases.html#cases?of=" + url.QueryEscape(x.Name) + "&how="
	fails := []pointer{}
	if n := b.Outcomes[audit.OutcomeWrong]; n > 0 {
		fails = append(fails,
			pointer{What: fmt.Sprintf(
				"%d of %d answers are wrong: misses %v of bad cases, and calls %v of good ones bad.", n, b.Planned, less(b.Recall.Value), less(b.Specificity.Value)), Page: at + "missed"})
	}
	if n := b.Planned - b.Outcomes[audit.OutcomeCorrect] - b.Outcomes[audit.OutcomeWrong]; n > 0 {
		fails = append(fails,
			pointer{What: fmt.Sprintf("%d of %d trials have no answer.", n, b.Planned),
				Page: at + "none"})
	}
	for _, c := range worst[:min(3, len(worst))] {
		if p := c.missed(variants); p != nil {
			fails = append(fails, *p)
		}
	}
	if len(fails) == 0 {
		fails = append(fails, pointer{What: "Nothing: every answer is right."})
	}
	k.Answers = append(k.Answers, answer{"Fails at", fails},
		answer{"Since the baseline", k.changed(x.Page)})
}

// less is what a share lacks to be whole.
func less(v score.Value) score.Value {
	if !v.Defined {
		return v
	}
	return score.Of(1 - v.V)
}

// dress gives a ranking its colours and pictures.
func (s *site) dress(k *ranking) *ranking {
	if k == nil {
		return nil
	}
	var es []score.Estimate
	var spots []spot
	for _, x := range k.Rows {
		x.Class = s.Class(x.Name)
		if x.E.Value.Defined {
			es = append(es, x.E)
		}
		spots = append(spots, s.spots(x, x.USD(), k.Metric, score.Dollars)...)
	}
	k.Strip = stripOf(es)
	for _, x := range k.Rows {
		x.Mark = k.Strip.Mark(x.E)
	}
	for i := range k.Answers {
		for n := range k.Answers[i].Lines {
			l := &k.Answers[i].Lines[n]
			name, _, _ := strings.Cut(l.What, ": ")
			l.Class = s.colours[name]
		}
	}
	k.Chart = scatter(strings.ToUpper(k.Metric[:1])+k.Metric[1:]+" over cost", "dollars "+k.Per,
		spots, score.Dollars)
	return k
}

// spots returns the spots of a row at x, that of the union of an auditor's trials among them,
// which costs as much as all of them.
func (s *site) spots(r *ranked, x float64, metric string, text func(float64) string) []spot {
	one := spot{Name: r.Name, Class: s.Class(r.Name), X: x, E: r.E, Quiet: r.Recorded,
		Text: fmt.Sprintf("%s: %s %v at %s", r.Name, metric, r.E, text(x))}
	a := r.audited
	if a == nil || a.trials <= len(a.rows) {
		return []spot{one}
	}
	k := float64(a.trials) / float64(len(a.rows))
	all := one
	all.Name, all.Union, all.X, all.E = "", true, k*x, score.Estimate{Value: a.union()}
	all.Text = fmt.Sprintf("%s, the union of %.2g trials: recall %v at %s", r.Name, k,
		a.union(), text(k*x))
	return []spot{one, all}
}

// How many rows of a table the overview shows: of yours, and of recorded auditors for context.
const yoursMost, recordedMost = 15, 5

// short returns the ranking with the best rows alone, and a link to the others.
func (k ranking) short(page string) *ranking {
	yours, recorded := 0, 0
	n := len(k.Rows)
	k.Rows = slices.DeleteFunc(slices.Clone(k.Rows), func(x *ranked) bool {
		if x.Recorded {
			recorded++
			return recorded > recordedMost
		}
		yours++
		return yours > yoursMost
	})
	if n -= len(k.Rows); n > 0 {
		k.More = &pointer{What: fmt.Sprintf("%d more", n), Page: page}
	}
	return &k
}

// byRun groups records by the run that wrote them, the newest first; those of no run are
// left out.
func byRun(rs []*record.Record) (ids []string, runs map[string][]*record.Record) {
	runs = map[string][]*record.Record{}
	for i := len(rs) - 1; i >= 0; i-- {
		if id := rs[i].Run; id != "" {
			if runs[id] == nil {
				ids = append(ids, id)
			}
			runs[id] = append(runs[id], rs[i])
		}
	}
	return ids, runs
}
