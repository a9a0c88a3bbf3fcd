package proof_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/postgres"
	"assay/internal/proof"
)

// corpora reads tests/ whole, or the applications that ASSAY_APP names.
func corpora(t *testing.T) []*audit.App {
	t.Helper()
	var all []*audit.App
	dirs, err := os.ReadDir("../../tests")
	require.NoError(t, err)
	for _, d := range dirs {
		if !d.IsDir() || os.Getenv("ASSAY_APP") != "" && os.Getenv("ASSAY_APP") != d.Name() {
			continue
		}
		app, advice, err := fixture.LintApp(os.DirFS("../.."), "tests/"+d.Name())
		if err != nil || len(advice) > 0 && os.Getenv("ASSAY_LOOSE") == "" {
			t.Error(err, advice)
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
	dsn, stop, err := postgres.Start()
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

func open(t *testing.T, app *audit.App) proof.Runner {
	t.Helper()
	r, err := proof.Open(context.Background(), app, false, startServer)
	if missing := (*proof.MissingRuntime)(nil); errors.As(err, &missing) ||
		errors.Is(err, postgres.ErrMissing) {
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

// prepare builds the cases, mutants and twins of the families at once where the
// language asks for it.
func prepare(t *testing.T, r proof.Runner, app *audit.App, fams []*audit.Family) {
	t.Helper()
	c, ok := r.(*proof.LanguageRunner)
	if !ok {
		return
	}
	var codes []string
	for _, fam := range fams {
		for _, k := range fam.Cases {
			codes = append(codes, k.Code)
			if testing.Short() {
				continue
			}
			for _, tw := range proof.Twins(app, fam, k) {
				codes = append(codes, tw.Code)
			}
			if k.Label == audit.Good {
				for _, m := range c.Mutants(k.Code) {
					codes = append(codes, m.Code)
				}
			}
		}
	}
	require.NoError(t, c.Prepare(context.Background(), codes))
}

// TestCorpus holds mutants and twins against reality (that the cases themselves
// hold is TestVerify's business, in the root). They take an hour or more, so two
// families, drawn by the day, have their turn here, and all with ASSAY_PROOF=all.
// ASSAY_APP and ASSAY_QUERY choose an application and families.
func TestCorpus(t *testing.T) {
	if testing.Short() && os.Getenv("ASSAY_QUERY") == "" {
		t.Skip("-short: mutants and twins take long")
	}
	t.Logf("the sample of %s", day())
	apps := corpora(t)
	chosen := sample(apps, 2)
	for _, app := range apps {
		fams := chosen[app.App]
		if len(fams) == 0 {
			continue // none of this application's families is in today's sample
		}
		t.Run(app.App, func(t *testing.T) {
			r := open(t, app)
			prepare(t, r, app, fams)
			for _, fam := range fams {
				t.Run(fam.Query, func(t *testing.T) { proveFamily(t, r, app, fam) })
			}
		})
	}
}

// sample draws n families by the day, or takes all that are asked for, by application.
func sample(apps []*audit.App, n int) map[string][]*audit.Family {
	type drawn struct {
		app string
		fam *audit.Family
	}
	var all []drawn
	for _, app := range apps {
		for i := range app.Families {
			if fam := &app.Families[i]; strings.Contains(fam.Query, os.Getenv("ASSAY_QUERY")) {
				all = append(all, drawn{app.App, fam})
			}
		}
	}
	if !wholeProof() {
		rank := func(d drawn) uint64 { return hashOfDay(d.app + "/" + d.fam.Query) }
		slices.SortFunc(all, func(x, y drawn) int { return cmp.Compare(rank(x), rank(y)) })
		all = all[:min(n, len(all))]
	}
	chosen := map[string][]*audit.Family{}
	for _, d := range all {
		chosen[d.app] = append(chosen[d.app], d.fam)
	}
	return chosen
}

// TestGoods holds goods against each other: a tilt of the data (SQL) and two pairs of
// writers of one application, drawn by the day, and everything with ASSAY_PROOF=all.
func TestGoods(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it loads a whole application")
	}
	apps := corpora(t)
	for i, app := range apps {
		if !wholeProof() && uint64(i) != hashOfDay("goods")%uint64(len(apps)) {
			continue
		}
		t.Run(app.App, func(t *testing.T) {
			switch r := open(t, app).(type) {
			case *proof.Postgres:
				t.Run("columns", func(t *testing.T) { columns(t, r, app) })
				t.Run("writers", func(t *testing.T) { writers(t, r, app) })
			case *proof.LanguageRunner:
				t.Run("parameters", func(t *testing.T) { parameters(t, r, app) })
				t.Run("columns", func(t *testing.T) { codeColumns(t, r, app) })
				t.Run("writers", func(t *testing.T) { codeWriters(t, r, app) })
			}
		})
	}
}

// wholeProof reports whether everything is asked for, and not the day's sample.
func wholeProof() bool {
	return os.Getenv("ASSAY_PROOF") == "all" || os.Getenv("ASSAY_QUERY") != ""
}

func day() string { return time.Now().UTC().Format(time.DateOnly) }

// hashOfDay draws: it differs from day to day.
func hashOfDay(id string) uint64 {
	sum := sha256.Sum256([]byte(day() + " " + id))
	return binary.BigEndian.Uint64(sum[:])
}

func proveFamily(t *testing.T, r proof.Runner, app *audit.App, fam *audit.Family) {
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
	if len(problems) > 0 || testing.Short() {
		return
	}
	problems, err = proof.CheckMutants(ctx, r, fam)
	say("", problems, err)
	for _, kind := range proof.TwinKinds {
		if twin := proof.TwinFamily(app, fam, kind); twin != nil {
			problems, err = proof.Check(ctx, r, app, twin)
			say("the twin "+kind+" ", problems, err)
		}
	}
}
