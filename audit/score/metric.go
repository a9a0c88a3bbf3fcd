package score

import (
	"fmt"
	"strings"
)

// A Metric is one figure of R. Its row in [AuditMetrics] or [BenchMetrics] is where
// it is declared: summaries, attributes of tests, reports, CSV and benchmark lines
// show every row of the table that they are about.
type Metric[R any] struct {
	Name string           // as people read it: "balanced accuracy"
	Main bool             // stands in the summary of a run, which has one line for each auditor
	Of   func(R) Estimate // Value, or Low and High alone where only the bounds are known
	Show func(R) string   // Of as people read it, with its unit
	Less bool             // less of it is better
}

// Title is the name as the head of a row: with a capital.
func (m Metric[R]) Title() string { return strings.ToUpper(m.Name[:1]) + m.Name[1:] }

// Unit is the name as a unit of Go's benchmark format: without blanks.
func (m Metric[R]) Unit() string { return strings.NewReplacer(" ", "-", "/", "-per-").Replace(m.Name) }

// AuditMetrics are the figures of one trial on a project, or of a part of its key, or
// their [Means] over trials.
func AuditMetrics() []Metric[*Metrics] {
	share := func(name string, main bool, of func(*Metrics) Value) Metric[*Metrics] {
		return Metric[*Metrics]{name, main, func(m *Metrics) Estimate { return Estimate{Value: of(m)} }, func(m *Metrics) string { return of(m).String() }, false}
	}
	span := func(name string, of func(*Metrics) Span) Metric[*Metrics] {
		return Metric[*Metrics]{name, true, func(m *Metrics) Estimate { return Estimate{Low: of(m).Low, High: of(m).High} }, func(m *Metrics) string { return of(m).String() }, false}
	}
	less := func(m Metric[*Metrics]) Metric[*Metrics] { m.Less = true; return m }
	coverage := share("coverage", true, func(m *Metrics) Value { return m.Coverage })
	coverage.Show = func(m *Metrics) string {
		return fmt.Sprintf("%.3g of %d", m.Coverage.V*float64(len(m.Held)), len(m.Held))
	}
	lift := share("lift", false, func(m *Metrics) Value { return m.Lift })
	lift.Show = func(m *Metrics) string { return number(m.Lift) }
	return []Metric[*Metrics]{
		share("recall", true, func(m *Metrics) Value { return m.Recall }),
		span("precision", func(m *Metrics) Span { return m.Precision }),
		span("F1", func(m *Metrics) Span { return m.F1 }),
		coverage,
		share("severity accuracy", false, func(m *Metrics) Value { return m.SeverityAccuracy }),
		less(share("hallucinated paths", false, func(m *Metrics) Value { return m.HallucinatedPaths })),
		less(share("chance level", false, func(m *Metrics) Value { return m.Chance.Mean })),
		lift,
	}
}

// BenchMetrics are the figures of a reviewer over cases.
func BenchMetrics() []Metric[*Bench] {
	estimate := func(name string, main bool, of func(*Bench) Estimate) Metric[*Bench] {
		return Metric[*Bench]{name, main, of, func(b *Bench) string { return of(b).String() }, false}
	}
	errors := estimate("errors/100", true, func(b *Bench) Estimate { return b.Errors })
	errors.Show = func(b *Bench) string { return b.Errors.numbers() }
	unanswered := estimate("unanswered", false, func(b *Bench) Estimate { return Estimate{Value: b.Unanswered} })
	unanswered.Show = func(b *Bench) string { return b.Unanswered.String() }
	errors.Less, unanswered.Less = true, true
	return []Metric[*Bench]{
		errors,
		estimate("balanced accuracy", true, func(b *Bench) Estimate { return b.BalancedAccuracy }),
		estimate("accuracy", false, func(b *Bench) Estimate { return b.Accuracy }),
		estimate("recall", false, func(b *Bench) Estimate { return b.Recall }),
		estimate("specificity", false, func(b *Bench) Estimate { return b.Specificity }),
		estimate("pairs", true, func(b *Bench) Estimate { return b.Pairs }),
		estimate("reason", false, func(b *Bench) Estimate { return b.RightReason }),
		unanswered,
	}
}

// ModuleMetrics are the figures that modules have beside those of their sites.
func ModuleMetrics() []Metric[*Modules] {
	perHundred := func(name string, of func(*Modules) Estimate) Metric[*Modules] {
		return Metric[*Modules]{name, false, of, func(m *Modules) string { return of(m).numbers() }, true}
	}
	return []Metric[*Modules]{
		perHundred("missed/100", func(m *Modules) Estimate { return m.Missed }),
		perHundred("false/100", func(m *Modules) Estimate { return m.False }),
		{"F1", false, func(m *Modules) Estimate { return Estimate{Value: m.F1} }, func(m *Modules) string { return m.F1.String() }, false},
		{"modules entirely right", false, func(m *Modules) Estimate { return m.Right }, func(m *Modules) string { return m.Right.String() }, false},
		{"named off all sites", false, func(m *Modules) Estimate { return Estimate{Value: Of(float64(m.Off))} }, func(m *Modules) string { return fmt.Sprint(m.Off) }, true},
	}
}

// numbers shows an estimate that is no share: "2.1 (1.0 to 3.9)".
func (e Estimate) numbers() string {
	if !e.Value.Defined {
		return e.Value.String()
	}
	return fmt.Sprintf("%s (%s to %s)", number(e.Value), number(e.Low), number(e.High))
}

// Names gives the names of metrics, in their order.
func Names[R any](ms []Metric[R]) []string {
	names := make([]string, len(ms))
	for i, m := range ms {
		names[i] = m.Name
	}
	return names
}

// ShowAll gives the metrics of r as people read them, in their order.
func ShowAll[R any](ms []Metric[R], r R) []string {
	cells := make([]string, len(ms))
	for i, m := range ms {
		cells[i] = m.Show(r)
	}
	return cells
}

// Main gives the metrics that stand in a run's summary.
func Main[R any](ms []Metric[R]) []Metric[R] {
	var main []Metric[R]
	for _, m := range ms {
		if m.Main {
			main = append(main, m)
		}
	}
	return main
}

// number shows a figure that is no share: "2.1", and "undefined".
func number(v Value) string {
	if !v.Defined {
		return v.String()
	}
	return fmt.Sprintf("%.1f", v.V)
}
