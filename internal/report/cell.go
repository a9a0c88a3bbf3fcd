package report

import (
	"fmt"
	"strings"

	"assay/audit/score"
)

type cell struct {
	Text   string
	Beside string // its interval; empty where it has none
	Sort   string // the figure by which tables sort; empty where it is undefined
}

// cells returns the figures of r as cells.
func cells[R any](ms []score.Metric[R], of R) []cell {
	cs := make([]cell, len(ms))
	for i, m := range ms {
		cs[i] = cellFrom(m.Show(of), m.Of(of))
	}
	return cs
}

// Cells returns the figures of the valid trials, recall with its interval.
func (r row) Cells() []cell {
	cs := cells(score.AuditMetrics(), r.Metrics)
	for i, m := range score.AuditMetrics() {
		if m.Name == score.MetricRecall {
			cs[i] = cellFrom(r.Recall.String(), r.Recall)
		}
	}
	return cs
}

// cellFrom returns a cell with its text and sort key.
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
