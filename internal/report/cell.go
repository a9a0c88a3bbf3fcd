package report

import (
	"fmt"
	"strings"

	"assay/audit/score"
)

// A cell is one figure in a table.
type cell struct {
	Text   string
	Beside string // its interval; empty where it has none
	Sort   string // the figure by which tables sort; empty where it is undefined
}

// cellOf shows a metric of what it is a metric of.
func cellOf(metric, of any) (cell, error) {
	switch x := of.(type) {
	case auditorPart:
		return cellOf(metric, x.row)
	case row:
		if m, ok := metric.(score.Metric[*score.Metrics]); ok && m.Name == score.MetricRecall {
			return cellFrom(x.Recall.String(), x.Recall), nil
		}
		return show(metric, x.Metrics)
	case *score.Metrics:
		return show(metric, x)
	case *score.Bench:
		return show(metric, x)
	case score.Rate:
		return show(metric, &x)
	}
	return cell{}, fmt.Errorf("no metric is of a %T", of)
}

func show[R any](metric any, of R) (cell, error) {
	m, ok := metric.(score.Metric[R])
	if !ok {
		return cell{}, fmt.Errorf("%T is no metric of a %T", metric, of)
	}
	return cellFrom(m.Show(of), m.Of(of)), nil
}

// cellFrom parts a figure from its interval.
func cellFrom(text string, e score.Estimate) (c cell) {
	c.Text, c.Beside, _ = strings.Cut(strings.TrimSuffix(text, ")"), " (")
	switch {
	case e.Value.Defined:
		c.Sort = fmt.Sprintf("%.6f", e.Value.V)
	case e.Low.Defined:
		c.Sort = fmt.Sprintf("%.6f", e.Low.V)
	}
	return c
}

// balanced is the figure that stands for a reviewer where there is room for one.
func balanced() score.Metric[*score.Bench] {
	for _, m := range score.BenchMetrics() {
		if m.Name == "balanced accuracy" {
			return m
		}
	}
	panic("report: no metric is named balanced accuracy")
}
