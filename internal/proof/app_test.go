package proof_test

import (
	"context"
	"errors"
	"os"
	"strings"
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

func postgres(t *testing.T) string {
	t.Helper()
	dsn, stop, err := pgtest.Start("")
	if errors.Is(err, pgtest.ErrMissing) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(stop)
	return dsn
}

func TestCorpus(t *testing.T) {
	dsn := postgres(t)
	ctx := context.Background()
	for _, app := range corpora(t) {
		t.Run(app.App, func(t *testing.T) {
			r, err := proof.NewPostgres(ctx, dsn, app)
			require.NoError(t, err)
			defer r.Close()
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
