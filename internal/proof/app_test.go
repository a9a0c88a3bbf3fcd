package proof_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/proof"
	"assay/internal/store/pgtest"
)

// corpora reads tests/ whole, or the applications that ASSAY_APP names.
func corpora(t *testing.T) []*audit.Corpus {
	t.Helper()
	var all []*audit.Corpus
	dirs, err := os.ReadDir("../../tests")
	require.NoError(t, err)
	for _, d := range dirs {
		if !d.IsDir() || os.Getenv("ASSAY_APP") != "" && os.Getenv("ASSAY_APP") != d.Name() {
			continue
		}
		app, _, err := fixture.ReadApp(os.DirFS("../.."), "tests/"+d.Name(), os.Getenv("ASSAY_LOOSE") == "")
		if err != nil {
			t.Error(err)
			continue
		}
		all = append(all, app)
	}
	return all
}

// server starts one PostgreSQL for the test when it is first asked for.
func server(t *testing.T) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		if url := os.Getenv("ASSAY_PG_URL"); url != "" {
			return url, nil
		}
		dsn, stop, err := pgtest.Start("")
		if err == nil {
			t.Cleanup(stop)
		}
		return dsn, err
	})
}

func open(t *testing.T, app *audit.Corpus, dsn func() (string, error)) proof.Runner {
	t.Helper()
	r, err := proof.Open(context.Background(), app, dsn)
	if missing := (*proof.MissingRuntime)(nil); errors.As(err, &missing) || errors.Is(err, pgtest.ErrMissing) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(r.Close)
	return r
}

func TestCorpus(t *testing.T) {
	dsn := server(t)
	ctx := context.Background()
	for _, app := range corpora(t) {
		t.Run(app.App, func(t *testing.T) {
			r := open(t, app, dsn)
			for i := range app.Families {
				fam := &app.Families[i]
				if q := os.Getenv("ASSAY_QUERY"); q != "" && !strings.Contains(fam.Query, q) {
					continue
				}
				problems, err := proof.Check(ctx, r, app, fam)
				require.NoError(t, err)
				for _, p := range problems {
					t.Errorf("%s: %s", p.Pos, p.What)
				}
			}
		})
	}
}
