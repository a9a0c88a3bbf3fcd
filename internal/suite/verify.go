package suite

import (
	"context"
	"errors"
	"os"
	"path"
	"sync"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/proof"
	"assay/internal/store/pgtest"
)

// Verify runs every case on the real thing: goods satisfy every oracle on every
// parameter set, bads do what the goods do on benign sets and break on an attack
// set what their Violates names. A runtime that is missing skips its
// applications by name; under ./check, which installs them, that is a failure.
func (s *Suite) Verify(t T) {
	env := s.begin(t)
	if s.short() {
		t.Skip("-short: cases are not run on the real thing")
	}
	env.need(t, "tests")
	corpus := env.corpus(t)
	runtimes := &runtimes{dsn: env.cfg.PG}
	t.Cleanup(runtimes.stop)
	for _, app := range corpus.Apps {
		t.Run(app.App, func(t T) { verifyApp(t, runtimes, app, env.cfg.Shard) })
	}
}

func verifyApp(t T, rt *runtimes, app *audit.App, part shard) {
	ctx := context.Background()
	runner, err := proof.Open(ctx, app, rt.postgres)
	var absent *proof.MissingRuntime
	if errors.As(err, &absent) || errors.Is(err, pgtest.ErrMissing) {
		missing(t, "%s is not proven: %v", app.App, err)
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", app.Dir, err)
	}
	defer runner.Close()
	for i := range app.Families {
		fam := &app.Families[i]
		if !part.has(path.Join(t.Name(), fam.Query)) {
			continue
		}
		t.Run(fam.Query, func(t T) {
			problems, err := proof.Check(ctx, runner, app, fam)
			for _, p := range problems {
				t.Errorf("%s: %s", p.Pos, p.What)
			}
			if err != nil {
				t.Errorf("%s: %v", fam.Pos, err)
			}
		})
	}
}

// missing skips for want of something on this machine, or fails where everything
// was said to be installed.
func missing(t T, format string, args ...any) {
	if os.Getenv("ASSAY_CHECK") != "" {
		t.Fatalf(format+" (ASSAY_CHECK is set: everything should be here)", args...)
	}
	t.Skipf(format+" (./check installs it)", args...)
}

// runtimes are the real things that cases run on, started when first needed.
type runtimes struct {
	dsn   string // PostgreSQL; empty until one is started
	once  sync.Once
	err   error
	close func()
}

// postgres gives the URL of the PostgreSQL, which it starts when it is asked
// for the first time.
func (r *runtimes) postgres() (string, error) {
	r.once.Do(func() {
		if r.dsn == "" {
			r.dsn, r.close, r.err = pgtest.Start("")
		}
	})
	return r.dsn, r.err
}

func (r *runtimes) stop() {
	if r.close != nil {
		r.close()
	}
}

// corpus reads the cases.
func (e *env) corpus(t T) *fixture.Corpus {
	t.Helper()
	corpus, err := fixture.ReadCorpus(e.root.holdings(), "tests", e.root.strict())
	if err != nil {
		t.Fatalf("the cases cannot be used:\n%v", err)
	}
	for _, n := range corpus.Notes {
		t.Logf("%s: %s", n.Pos, n.What)
	}
	return corpus
}
