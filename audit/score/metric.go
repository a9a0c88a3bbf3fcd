package score

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Metric is one figure of R. Its row in [AuditMetrics] or [BenchMetrics] is where
// it is declared: summaries, attributes of tests, reports, CSV and benchmark lines
// show every row of the table that they are about.
type Metric[R any] struct {
	Name string           // as people read it: "balanced accuracy"
	Main bool             // stands in the summary of a run, which has one line for each auditor
	Less bool             // less of it is better
	Of   func(R) Estimate // Value, or Low and High alone where only the bounds are known
	show func(R) string   // of what is not shown as a share
}

// Show returns the figure as text, with its unit.
func (m Metric[R]) Show(r R) string {
	if m.show != nil {
		return m.show(r)
	}
	return m.Of(r).String()
}

// Title is the name as the head of a row: with a capital.
func (m Metric[R]) Title() string { return strings.ToUpper(m.Name[:1]) + m.Name[1:] }

// Unit is the name as a unit of Go's benchmark format: without blanks.
func (m Metric[R]) Unit() string {
	return strings.NewReplacer(" ",
		"-", "/", "-per-").Replace(m.Name)
}

// valueOf returns a function that returns the value as an estimate.
func valueOf[R any](of func(R) Value) func(R) Estimate {
	return func(r R) Estimate { return Estimate{Value: of(r)} }
}

// AuditMetrics are the figures of one trial on a project, or of a part of its key, or
// of several trials ([FiguresOf]).
func AuditMetrics() []Metric[*Metrics] {
	return append([]Metric[*Metrics]{
		{Name: "recall", Main: true, Of: valueOf(func(m *Metrics) Value { return m.Recall })},
		{Name: "precision", Main: true,
			Of: func(m *Metrics) Estimate {
				return Estimate{Low: m.Precision.Low,
					High: m.Precision.High}
			}},
		{Name: "F1", Main: true,
			Of: func(m *Metrics) Estimate { return Estimate{Low: m.F1.Low, High: m.F1.High} }},
		{Name: "coverage", Main: true, Of: valueOf(func(m *Metrics) Value { return m.Coverage }),
			show: func(m *Metrics) string {
				return fmt.Sprintf("%.3g of %d", m.Coverage.V*float64(len(m.Held)), len(m.Held))
			}},
		{Name: "severity accuracy",
			Of: valueOf(func(m *Metrics) Value { return m.SeverityAccuracy })},
		{Name: "hallucinated paths", Less: true,
			Of: valueOf(func(m *Metrics) Value { return m.HallucinatedPaths })},
		{Name: "chance level", Less: true,
			Of: valueOf(func(m *Metrics) Value { return m.Chance.Mean })},
		{Name: "recall corrected for chance",
			Of: valueOf(func(m *Metrics) Value { return m.Corrected })},
		{Name: "classification", Of: valueOf(func(m *Metrics) Value { return m.Classification })},
	}, consumedMetrics(func(m *Metrics) *Consumed { return &m.Consumed })...)
}

// BenchMetrics are the figures of a reviewer over cases.
func BenchMetrics() []Metric[*Bench] {
	return append([]Metric[*Bench]{
		{Name: "errors/100", Main: true, Less: true,
			Of:   func(b *Bench) Estimate { return b.Errors },
			show: func(b *Bench) string { return b.Errors.numbers() }},
		{Name: "balanced accuracy", Main: true,
			Of: func(b *Bench) Estimate { return b.BalancedAccuracy }},
		{Name: "accuracy", Of: func(b *Bench) Estimate { return b.Accuracy }},
		{Name: "recall", Of: func(b *Bench) Estimate { return b.Recall }},
		{Name: "specificity", Of: func(b *Bench) Estimate { return b.Specificity }},
		{Name: "pairs", Main: true, Of: func(b *Bench) Estimate { return b.Pairs }},
		{Name: "reason", Of: func(b *Bench) Estimate { return b.RightReason }},
		{Name: "unanswered", Less: true, Of: valueOf(func(b *Bench) Value { return b.Unanswered })},
	}, consumedMetrics(func(b *Bench) *Consumed { return &b.Consumed })...)
}

// count returns the metric of a count.
func count[R any](name string, less bool, of func(R) int) Metric[R] {
	return Metric[R]{Name: name, Less: less,
		Of:   valueOf(func(r R) Value { return Of(float64(of(r))) }),
		show: func(r R) string { return strconv.Itoa(of(r)) }}
}

// numbers shows an estimate that is no share: "2.1 (1.0 to 3.9)".
func (e Estimate) numbers() string {
	if !e.Value.Defined {
		return e.Value.String()
	}
	return fmt.Sprintf("%s (%s to %s)", number(e.Value), number(e.Low), number(e.High))
}

// Names returns the names of metrics, in their order.
func Names[R any](ms []Metric[R]) []string {
	names := make([]string, len(ms))
	for i, m := range ms {
		names[i] = m.Name
	}
	return names
}

// ShowAll returns the metrics of r as texts, in their order.
func ShowAll[R any](ms []Metric[R], r R) []string {
	cells := make([]string, len(ms))
	for i, m := range ms {
		cells[i] = m.Show(r)
	}
	return cells
}

// Main returns the metrics of a run's summary.
func Main[R any](ms []Metric[R]) []Metric[R] {
	return slices.DeleteFunc(slices.Clone(ms), func(m Metric[R]) bool { return !m.Main })
}

// number shows a figure that is no share: "2.1", and "undefined".
func number(v Value) string {
	if !v.Defined {
		return v.String()
	}
	return fmt.Sprintf("%.1f", v.V)
}
