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

var stopServer = func() {}

// startServer starts the package's PostgreSQL when the first test asks for it.
var startServer = sync.OnceValues(func() (string, error) {
	if url := os.Getenv("ASSAY_PG_URL"); url != "" {
		return url, nil
	}
	dsn, stop, err := pgtest.Start("")
	if err == nil {
		stopServer = stop
	}
	return dsn, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	stopServer()
	os.Exit(code)
}

func open(t *testing.T, app *audit.Corpus) proof.Runner {
	t.Helper()
	r, err := proof.Open(context.Background(), app, startServer)
	if missing := (*proof.MissingRuntime)(nil); errors.As(err, &missing) || errors.Is(err, pgtest.ErrMissing) {
		skip(t, err)
	}
	require.NoError(t, err)
	t.Cleanup(r.Close)
	return r
}

// skip skips for want of a runtime; under ./check, which installs them, it fails.
func skip(t *testing.T, err error) {
	t.Helper()
	if os.Getenv("ASSAY_CHECK") == "1" {
		t.Fatal(err)
	}
	t.Skip(err)
}

// prepare builds the goods and their mutants at once where the language asks for
// it.
func prepare(t *testing.T, r proof.Runner, app *audit.Corpus) {
	t.Helper()
	c, ok := r.(*proof.Code)
	if !ok {
		return
	}
	var codes []string
	for _, fam := range app.Families {
		for _, k := range fam.Cases {
			codes = append(codes, k.Code)
			if k.Label == audit.Good && !testing.Short() {
				for _, m := range c.Mutants(k.Code) {
					codes = append(codes, m.Code)
				}
			}
		}
	}
	require.NoError(t, c.Prepare(context.Background(), codes))
}

// TestCorpus proves every case of tests/. Mutants and twins take minutes: every
// eighth family has them here, and all with ASSAY_CHECK=1.
func TestCorpus(t *testing.T) {
	for _, app := range corpora(t) {
		t.Run(app.App, func(t *testing.T) {
			r := open(t, app)
			prepare(t, r, app)
			for i := range app.Families {
				fam := &app.Families[i]
				q := os.Getenv("ASSAY_QUERY")
				if q != "" && !strings.Contains(fam.Query, q) {
					continue
				}
				proveFamily(t, r, app, fam, !testing.Short() && (i%8 == 0 || q != "" || os.Getenv("ASSAY_CHECK") == "1"))
			}
		})
	}
}

func proveFamily(t *testing.T, r proof.Runner, app *audit.Corpus, fam *audit.Family, long bool) {
	t.Helper()
	ctx := context.Background()
	say := func(what string, problems []audit.Problem, err error) {
		t.Helper()
		require.NoError(t, err)
		for _, p := range problems {
			t.Errorf("%s: %s%s", p.Pos, what, p.What)
		}
	}
	problems, err := proof.Check(ctx, r, app, fam)
	say("", problems, err)
	if len(problems) > 0 || !long {
		return
	}
	problems, err = proof.CheckMutants(ctx, r, fam)
	say("", problems, err)
	for _, kind := range proof.TwinKinds {
		problems, err = proof.Check(ctx, r, app, proof.TwinFamily(app, fam, kind))
		say("the twin "+kind+" ", problems, err)
	}
}
