package score

import (
	"fmt"
	"slices"

	"assay/audit"
)

// figures are the means over the trials of one side, by our score or by the methodology
// one. An undefined figure of one trial is left out of its mean.
type figures struct {
	recall    Value
	precision Span
	f1        Span
	covered   Value
	credit    Value
	counted   Value
	chance    Value // mean of random placement
	p99       Value
	byDim     map[audit.Dimension]Value
}

// figuresOf returns the figures that goals are about, as means over the trials.
func figuresOf(trials []*Result, literal bool) *figures {
	f := &figures{byDim: map[audit.Dimension]Value{}}
	all := make([]*Metrics, len(trials))
	for i, r := range trials {
		if all[i] = &r.Metrics; literal {
			all[i] = r.Methodology.Metrics()
		}
	}
	if m := means(all); m != nil {
		f.recall, f.precision, f.f1 = m.Recall, m.Precision, m.F1
	}
	mean := func(get func(*Metrics) Value) Value { return mean(all, get) }
	f.covered = mean(func(m *Metrics) Value { return Of(float64(len(m.Covered))) })
	f.credit = mean(func(m *Metrics) Value { return Of(m.Credit) })
	f.counted = mean(func(m *Metrics) Value { return Of(float64(m.Counted)) })
	f.chance = mean(func(m *Metrics) Value { return m.Chance.Mean })
	f.p99 = mean(func(m *Metrics) Value { return m.Chance.P99 })
	for i, d := range audit.Dimensions() {
		f.byDim[d] = mean(func(m *Metrics) Value { return Of(m.Dimensions[i].Credit) })
	}
	return f
}

// mean leaves out what has no such figure; of none it is undefined.
func mean[T any](all []T, figure func(T) Value) Value {
	sum, n := 0.0, 0.0
	for _, of := range all {
		if v := figure(of); v.Defined {
			sum += v.V
			n++
		}
	}
	return Ratio(sum, n)
}

// FiguresOf returns the figures of trials that every output shows: those of [AuditMetrics]
// as their means over the valid trials, and what all trials together consumed; everything
// else is the first valid trial's. It returns nil without a valid trial.
func FiguresOf(trials []AuditTrial) *Metrics {
	var counting []*Metrics
	var used Consumed
	for i := range trials {
		t := &trials[i]
		if !t.Skipped {
			used.add(Consumed{1, t.USD, t.Priced, t.Tokens, t.Seconds})
		}
		if t.Invalid == "" && t.Result != nil {
			counting = append(counting, &t.Result.Metrics)
		}
	}
	m := means(counting)
	if m != nil {
		m.Consumed = used
	}
	return m
}

// means returns the means over the trials; nil if there are none.
func means(trials []*Metrics) *Metrics {
	if len(trials) == 0 {
		return nil
	}
	m := *trials[0]
	m.Part = meanPart(trials, func(m *Metrics) *Part { return &m.Part })
	m.Corroborated = meanPart(trials, func(m *Metrics) *Part { return &m.Corroborated })
	m.HallucinatedPaths = mean(trials, func(m *Metrics) Value { return m.HallucinatedPaths })
	return &m
}

// meanPart returns the means of a part of the figures.
func meanPart(trials []*Metrics, of func(*Metrics) *Part) Part {
	p := *of(trials[0])
	for figure, get := range map[*Value]func(*Part) Value{
		&p.Recall:           func(p *Part) Value { return p.Recall },
		&p.Precision.Low:    func(p *Part) Value { return p.Precision.Low },
		&p.Precision.High:   func(p *Part) Value { return p.Precision.High },
		&p.F1.Low:           func(p *Part) Value { return p.F1.Low },
		&p.F1.High:          func(p *Part) Value { return p.F1.High },
		&p.Coverage:         func(p *Part) Value { return p.Coverage },
		&p.SeverityAccuracy: func(p *Part) Value { return p.SeverityAccuracy },
		&p.Chance.Mean:      func(p *Part) Value { return p.Chance.Mean },
		&p.Corrected:        func(p *Part) Value { return p.Corrected },
		&p.Classification:   func(p *Part) Value { return p.Classification },
	} {
		*figure = mean(trials, func(m *Metrics) Value { return get(of(m)) })
	}
	return p
}

// An AuditTrial is one run of an auditor on a project.
type AuditTrial struct {
	Result       *Result
	Invalid      string  // why the trial does not count; then Result is not looked at
	Skipped      bool    // it was never begun: a run with such a trial is not complete
	Unconfined   string  // what the auditor was not kept from
	USD, Seconds float64 // 0 where unknown
	Tokens       int64   // read and written
	Priced       bool    // USD is all that it cost
}

// A MismatchError says that two results cannot be compared as they are. Scoring
// the stored findings again under today's rules and key mends it.
type MismatchError struct {
	What      string // "score version", "taxonomy", "key" or "project"
	Have, Was string
}

// Error returns how the results differ and how to compare them.
func (e *MismatchError) Error() string {
	return fmt.Sprintf(
		"the results differ in %s (%s, %s): figures of both cannot be compared: score the older records again (assay score RECORD..., or for one comparison assay compare --rescore)", e.What, e.Was, e.Have)
}

// checkComparable returns an error if results were scored by different rules or keys.
func checkComparable(results []*Result) error {
	for i, r := range results {
		if r == nil {
			return fmt.Errorf("score: trial %d has neither a result nor a reason why it is invalid",
				i+1)
		}
		first := results[0]
		for _, c := range []struct{ what, have, was string }{
			{"score version", Version, r.Version},
			{"taxonomy", first.Taxonomy, r.Taxonomy},
			{"project", first.Project, r.Project},
			{"key", first.KeyHash, r.KeyHash},
		} {
			if c.have != c.was {
				return &MismatchError{c.what, c.have, c.was}
			}
		}
		if len(r.Known) != len(first.Known) {
			return &MismatchError{"key", fmt.Sprint(len(first.Known), " entries"),
				fmt.Sprint(len(r.Known), " entries")}
		}
	}
	return nil
}

// allAgree reports whether the reports of the trials say exactly the same, in any
// order. An auditor counts as deterministic only when its runs do.
func allAgree(trials []*Result) bool {
	sorted := func(r *Result) []*audit.Finding {
		out := make([]*audit.Finding, len(r.Findings))
		for i := range r.Findings {
			out[i] = &r.Findings[i].Finding
		}
		slices.SortFunc(out, compareFindings)
		return out
	}
	same := func(a, b *audit.Finding) bool {
		return compareFindings(a, b) == 0 &&
			a.Suppressed == b.Suppressed
	}
	inOrder := func(a, b Scored) bool { return same(&a.Finding, &b.Finding) }
	first := trials[0]
	for _, r := range trials[1:] {
		// Most tools keep an order, too: then nothing is to be sorted.
		if !slices.EqualFunc(first.Findings, r.Findings, inOrder) &&
			!slices.EqualFunc(sorted(first), sorted(r), same) {
			return false
		}
	}
	return true
}
