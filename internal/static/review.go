package static

import (
	"context"
	"strings"

	"assay/audit"
	"assay/internal/static/sqlreview"
)

// Review judges one fragment against its SPEC: SQL by sqlreview, code by the
// analyser and the SPEC's requirements. It always answers unless the language is
// none that it reads.
func Review(ctx context.Context, task audit.ReviewTask) (audit.Review, error) {
	if l := strings.ToLower(strings.TrimSpace(task.Language)); l == "sql" || l == "pgsql" || l == "postgresql" || l == "plpgsql" || l == "" && looksSQL(task.Code) {
		return sqlreview.Review(task.Spec, task.Code), nil
	}
	return New(Options{}).ReviewCode(ctx, task)
}

func looksSQL(code string) bool {
	f := strings.Fields(strings.ToLower(code))
	if len(f) == 0 {
		return false
	}
	switch f[0] {
	case "select", "insert", "update", "delete", "with", "merge", "create", "--":
		return true
	}
	return false
}
