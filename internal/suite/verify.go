package suite

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/planted"
	"assay/internal/postgres"
	"assay/internal/proof"
)

// Verify proves the families of cases: good ones satisfy every oracle on every parameter set;
// bad ones do the same as the good ones on benign sets and break the requirements of their
// Violates on an attack set. Entries of the ledger with the same content and runtime were
// proven before: a daily sample of them is proven again, and all of them with ASSAY_PROOF=all.
// ASSAY_PROOF=update proves what has changed and writes the ledger. A missing runtime skips its
// applications by name; under ./check, which installs the runtimes, it is a failure.
func (s *Suite) Verify(t T) {
	env := s.begin(t, &definition{name: "Verify", long: true, needs: []string{"tests", plantedDir}})
	corpus, err := &fixture.Corpus{}, error(nil)
	if exists(env.root.fixtures(), "tests") {
		corpus, err = env.corpus(t.Logf)
	}
	if err != nil {
		t.Fatal(err)
	}
	ledger, err := proof.ReadLedger(env.root.fixtures())
	if err != nil {
		t.Fatal(err)
	}
	v := &verify{suite: s, env: env, mode: os.Getenv("ASSAY_PROOF"),
		day: time.Now().UTC().Format(time.DateOnly), ledger: ledger,
		next: proof.Ledger{}}
	maps.Copy(v.next, ledger)
	// a test of internal/seal measures these
	maps.DeleteFunc(v.next,
		func(id string, _ proof.Proved) bool { return !strings.HasPrefix(id, proof.Sealed) })
	v.postgres = sync.OnceValues(func() (dsn string, err error) {
		if dsn = env.cfg.PG; dsn == "" {
			dsn, v.stop, err = postgres.Start()
		}
		return dsn, err
	})
	t.Cleanup(func() { v.end(t) })
	for _, app := range corpus.Apps {
		v.run(t, app.App, func(t T) { v.app(t, app) })
	}
	projects, err := PlantedNames(env.root.fixtures())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range projects {
		v.run(t, name, func(t T) { v.planted(t, name) })
	}
	if !v.selected && !t.Failed() {
		t.Errorf("%s: nothing was selected: -run, -skip and -filter leave nothing to prove",
			audit.Invalid)
	}
}

type verify struct {
	suite    *Suite
	env      *env
	mode     string // of ASSAY_PROOF
	day      string // seeds the sample
	ledger   proof.Ledger
	next     proof.Ledger // what is there now, for the ledger and for stale entries
	partly   bool         // some families were not looked at
	selected bool         // whether any family or project was
	planned  int          // subtests
	begun    int          // of these, those that -run lets through
	proven   int
	known    int
	postgres func() (dsn string, err error) // started when it is first asked for
	stop     func()                         // stops it; nil where none was started

	unconfined bool // something of a foreign root ran outside of the sandbox
}

// run makes a subtest. What -run leaves out was not looked at.
func (v *verify) run(t T, name string, f func(T)) {
	v.planned++
	t.Run(name, func(t T) {
		v.begun++
		f(t)
	})
}

// sampled: of so many families in the ledger a day proves one again.
const sampled = 12

// again reports whether a family of the ledger is in the daily sample.
func (v *verify) again(name string) bool {
	if v.mode == "all" {
		return true
	}
	sum := sha256.Sum256([]byte(v.day + " " + name))
	return v.mode != "update" && sum[0]%sampled == 0
}

// app proves the families of an application.
func (v *verify) app(t T, app *audit.App) {
	chosen := func(fam audit.Family) bool {
		// foreign cases may have none: their labels are unproven
		proof := v.env.root.strict() || fam.Pos.File != ""
		filtered := v.env.cfg.chooses(app.App + "/" + fam.Query)
		v.selected = v.selected || filtered
		return proof && filtered
	}
	if !slices.ContainsFunc(app.Families, chosen) {
		v.partly = true
		return // nothing is started for what nobody asked for
	}
	foreign := !v.env.root.strict()
	ours := v.env.cfg.PG == "" // whose role can start no program and read no file
	if foreign && app.HasDatabase() && !ours && !v.outside(t, app.Dir+"/data.sql") {
		return
	}
	ctx := context.Background()
	runner, err := proof.Open(ctx, app, foreign, v.postgres)
	var absent *proof.MissingRuntime
	if errors.As(err, &absent) || errors.Is(err, postgres.ErrMissing) {
		v.partly = true
		missing(t, "%s is not proven: %v", app.App, err)
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", app.Dir, err)
	}
	defer runner.Close()
	name, err := runner.Runtime(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range app.Families {
		fam := &app.Families[i]
		if !chosen(*fam) {
			v.partly = true
			continue
		}
		id := app.App + "/" + fam.Query
		before := v.ledger[id]
		if before.Runtime != name || v.again(id) || !v.stands(id, proof.Content(app, fam)) {
			v.run(t, fam.Query, func(t T) { v.family(ctx, t, runner, app, fam, before) })
		}
	}
}

// outside reports whether what a file of a foreign root says may run outside of the sandbox, which
// has no place for a project's servers and a database of the user's. It may unless
// ASSAY_SANDBOX=require.
func (v *verify) outside(t T, file string) bool {
	if os.Getenv("ASSAY_SANDBOX") == "require" {
		v.partly = true
		t.Errorf("%s: is not proven, as ASSAY_SANDBOX=require and what it says runs outside of the sandbox: expected a root of your own, and Verify without require", file)
		return false
	}
	if !v.unconfined {
		v.suite.summary.note(
			"Verify: %s ran outside of the sandbox, as servers of a proof do (ASSAY_SANDBOX=require refuses them)", file)
		v.unconfined = true
	}
	return true
}

// stands reports whether the ledger has the family with this content, and keeps its entry.
func (v *verify) stands(id, content string) bool {
	before, known := v.ledger[id]
	if !known || before.Content != content {
		return false
	}
	v.next[id] = before
	v.known++
	return true
}

// keep stores an entry. It is an error if the ledger has another one, unless the ledger is
// being written.
func (v *verify) keep(t T, pos audit.Pos, id string, now proof.Proved, same bool) {
	v.next[id] = now
	if !same && v.mode != "update" && v.env.root.strict() {
		t.Errorf("%s: proven, and %s holds another content or none: write it with ASSAY_PROOF=update go test -run Verify", pos, proof.LedgerFile)
	}
}

// family proves one family.
func (v *verify) family(ctx context.Context, t T, r proof.Runner, app *audit.App, fam *audit.Family,
	before proof.Proved) {
	v.suite.progress.say("Verify: %s", strings.TrimPrefix(t.Name(), "TestVerify/"))
	now, problems, err := proof.Prove(ctx, r, app, fam)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Pos, p.What)
	}
	if err != nil {
		t.Errorf("%s: %v", fam.Pos, err)
	}
	v.proven++
	if t.Failed() {
		return
	}
	same := before.Content == now.Content
	v.keep(t, fam.Pos, app.App+"/"+fam.Query, now, same)
	if same && before.Runtime == now.Runtime && before.Effects != now.Effects &&
		v.mode != "update" && v.env.root.strict() {
		t.Errorf("%s: proven, and what was seen is not what %s says: the entry is forged, the proof is not the same each time, or proofs look at more than they did: then remove the entry, and write it with ASSAY_PROOF=update go test -run Verify", fam.Pos, proof.LedgerFile)
	}
}

// end reports what was proven, writes the ledger, and checks for stale entries.
func (v *verify) end(t T) {
	if v.stop != nil {
		v.stop()
	}
	v.partly = v.partly || v.begun < v.planned
	if v.proven+v.known == 0 && !v.env.root.strict() {
		v.suite.summary.note("Verify: nothing of %s was proven: its labels are unproven",
			v.env.root.Dir)
	}
	t.Logf("%d families proven now, %d proven before with the same content (sample of %s)",
		v.proven, v.known, v.day)
	if v.mode == "update" {
		v.write(t)
		return
	}
	if v.partly || t.Failed() {
		return
	}
	for id := range v.ledger {
		if _, there := v.next[id]; !there && v.env.root.strict() {
			t.Errorf("%s: %s is no family any more: write the ledger with ASSAY_PROOF=update go test -run Verify", proof.LedgerFile, id)
		}
	}
}

// write writes the ledger. Entries of families that this run skipped are kept.
func (v *verify) write(t T) {
	next := v.next
	if v.partly {
		next = maps.Clone(v.ledger)
		maps.Copy(next, v.next)
	}
	if err := os.WriteFile(filepath.Join(v.env.root.Dir, proof.LedgerFile),
		[]byte(next.Text()), 0o644); err != nil {
		t.Errorf("the ledger cannot be written: %v", err)
	}
}

// missing skips, or fails where everything was said to be installed.
func missing(t T, format string, args ...any) {
	if os.Getenv("ASSAY_CHECK") != "" {
		t.Fatalf(format+" (ASSAY_CHECK is set: everything should be here)", args...)
	}
	t.Skipf(format+" (./check installs it)", args...)
}

// The runtime of a planted project in the ledger: the extent of its proof.
const (
	plantedQuick = "quick" // all good, all bad, two seeds: every exploit in each
	plantedWhole = "whole" // each site flipped alone in both, pairs, twenty seeds too
)

// planted holds that each exploit succeeds exactly where its site is bad, and the functional
// tests in every draw. -filter NAME proves it again whole, and so does ASSAY_PROOF=all.
func (v *verify) planted(t T, name string) {
	named := v.env.cfg.Filter == name
	chosen := named || v.env.cfg.chooses(name)
	v.selected = v.selected || chosen
	if !chosen {
		v.partly = true
		return
	}
	p, err := planted.Read(v.env.root.fixtures(), path.Join(plantedDir, name))
	if err != nil {
		t.Fatal(err)
	}
	id := "planted/" + name
	before := v.ledger[id]
	whole := named || v.mode == "all"
	if !whole && v.stands(id, p.Hash()) {
		return
	}
	if !v.env.root.strict() && !v.outside(t, p.Pos.File) {
		return
	}
	cache, err := cacheDir()
	if err != nil {
		t.Fatal(err)
	}
	servers, stop, err := plantedServers()
	defer stop()
	var proved *planted.Proof
	if err == nil {
		proved, err = planted.Verify(context.Background(), p, planted.ProofOptions{Servers: servers,
			Cache: filepath.Join(cache, "planted"), Quick: !whole})
	}
	if errors.Is(err, postgres.ErrMissing) || errors.Is(err, planted.ErrMissing) {
		v.partly = true
		missing(t, "%s is not proven: %v", name, err)
		return
	}
	if err != nil {
		t.Fatalf("%s: %v", p.Pos, err)
	}
	v.proven++
	if len(proved.Failed()) > 0 {
		var told strings.Builder
		proved.Print(&told)
		t.Errorf("%s: %d outcomes are not as expected:\n%s", p.Pos, len(proved.Failed()),
			told.String())
		return
	}
	t.Logf("%s: %d outcomes, all as expected", name, len(proved.Outcomes))
	same := before.Content == p.Hash()
	how := plantedQuick
	if whole || same && before.Runtime == plantedWhole {
		how = plantedWhole
	}
	v.keep(t, p.Pos, id, proof.Proved{Content: p.Hash(), Runtime: how, Effects: "-"}, same)
}

func plantedServers() (servers []planted.DatabaseServer, stop func(), err error) {
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	for range 2 {
		s, err := postgres.StartLoopback(context.Background())
		if err != nil {
			stop()
			return nil, func() {}, err
		}
		stops = append(stops, func() { s.Stop() })
		servers = append(servers, s)
	}
	return servers, stop, nil
}
