package audittest

import (
	"context"

	"assay/audit"
	"assay/audit/auditor"
	"assay/internal/static/sqlreview"
)

func (s *Suite) Regression(t T) { t.Skip("not yet") }
func (b *bench) judge(t T)      {}
func (e *env) live(ls []*leaf) bool { return false }

func (e *env) reviewer(name string, _ any) (audit.Reviewer, error) {
	return auditor.StaticReviewer(func(_ context.Context, task audit.ReviewTask) audit.Review {
		return sqlreview.Review(task.Spec, task.Code)
	}), nil
}
