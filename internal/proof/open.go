package proof

import (
	"context"

	"assay/audit"
)

// Open gives the runner that an application's cases need: PostgreSQL where the
// application has a schema or data.sql, else the language of its harness. dsn is
// asked only in the first case. The caller closes the runner.
func Open(ctx context.Context, app *audit.App, dsn func() (string, error)) (Runner, error) {
	if app.Schema == "" && app.Data == "" {
		return NewCode(app)
	}
	url, err := dsn()
	if err != nil {
		return nil, err
	}
	return NewPostgres(ctx, url, app)
}
