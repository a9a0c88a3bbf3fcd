package planted

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// How long a step may take. They are bounds for what hangs, not goals.
const (
	setupTime   = 10 * time.Minute
	buildTime   = 10 * time.Minute
	testTime    = 5 * time.Minute
	readyTime   = 60 * time.Second
	exploitTime = 60 * time.Second // and siteTime for each site
	siteTime    = 5 * time.Second
)

// An Outcome is one thing that was tried on one draw.
type Outcome struct {
	Draw   string // "all good", "ORD-07 alone bad", "seed 3", "pairs 4"
	Bad    []string
	Step   string // write, build, migrate, start, test, functional or exploit
	Site   string // of an exploit; else empty
	Want   bool   // whether the exploit must succeed; true for the other steps
	Got    bool   // whether it did; meaningless with an Error
	Error  string // why there is no answer, with the end of the output
	Detail string // what the exploit says
	Took   time.Duration
	Folder string // of the draw, when it was kept
}

// OK reports whether it came out as expected.
func (o Outcome) OK() bool { return o.Error == "" && o.Got == o.Want }

// A Proof is all that was tried.
type Proof struct {
	Project  string
	Draws    int
	Outcomes []Outcome // by draw, in the order of the plans
	Took     time.Duration
}

// Failed gives what did not come out as expected.
func (p *Proof) Failed() []Outcome {
	return slices.DeleteFunc(slices.Clone(p.Outcomes), Outcome.OK)
}

// Verify builds, starts and attacks the draws of [Project.Plans]. The error says
// why nothing could be tried: [ErrMissing] when a runtime is not installed. What
// did not come out as expected is in the Proof.
func Verify(ctx context.Context, p *Project, o Options) (*Proof, error) {
	began := time.Now()
	plans, err := p.Plans(o)
	if err != nil {
		return nil, err
	}
	if err := p.missing(); err != nil {
		return nil, err
	}
	b, err := newBench(ctx, p, o)
	if err != nil {
		return nil, err
	}
	defer b.close()
	outcomes := make([][]Outcome, len(plans))
	work := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range max(1, min(len(plans), parallel(o))) {
		wg.Go(func() {
			for i := range work {
				outcomes[i] = b.try(ctx, i, plans[i])
				mu.Lock()
				for _, out := range outcomes[i] {
					if o.Each != nil {
						o.Each(out)
					}
				}
				mu.Unlock()
			}
		})
	}
	for i := range plans {
		select {
		case work <- i:
		case <-ctx.Done():
		}
	}
	close(work)
	wg.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return &Proof{p.Name, len(plans), slices.Concat(outcomes...), time.Since(began)}, nil
}

func parallel(o Options) int {
	if o.Parallel > 0 {
		return o.Parallel
	}
	return 2
}

// A bench is where draws of one project are tried.
type bench struct {
	project *Project
	keep    bool
	dir     string // scratch
	plant   string // the project's folder
	setup   string
	cluster *cluster
}

func newBench(ctx context.Context, p *Project, o Options) (b *bench, err error) {
	b = &bench{project: p, keep: o.Keep}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	if b.dir, err = os.MkdirTemp("", "planted-"); err != nil {
		return nil, err
	}
	if b.plant, err = p.onDisk(filepath.Join(b.dir, "plant")); err != nil {
		return nil, err
	}
	if b.setup, err = p.prepare(ctx, o.Cache, b.plant); err != nil {
		return nil, err
	}
	b.cluster, err = startCluster(ctx)
	return b, err
}

func (b *bench) close() {
	if b.cluster != nil {
		b.cluster.stop()
	}
	if !b.keep {
		_ = os.RemoveAll(b.dir)
	}
}

// onDisk gives the absolute folder that holds functional/ and exploits/, and
// writes them to dir where the project was not read from a disk.
func (p *Project) onDisk(dir string) (string, error) {
	if p.dir != "" {
		return filepath.Abs(p.dir)
	}
	for name, content := range p.tools {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(to, content, 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// A trial is a draw in a folder of its own.
type trial struct {
	bench *bench
	plan  Plan
	dir   string // $RUN
	draw  string // $DRAW
	port  int
	names string
	out   []Outcome
}

// try runs a plan. It ends at the first step without which the others mean
// nothing.
func (b *bench) try(ctx context.Context, n int, plan Plan) []Outcome {
	t := &trial{bench: b, plan: plan, dir: filepath.Join(b.dir, fmt.Sprintf("draw%03d", n))}
	t.draw = filepath.Join(t.dir, b.project.Name)
	names, _ := json.Marshal(plan.Draw.Names()) // strings alone
	t.names = string(names)
	if !b.keep {
		defer os.RemoveAll(t.dir)
	}
	c := b.project.Commands
	ok := t.note("write", func() error { return plan.Draw.Render().Write(t.draw) }) &&
		t.command(ctx, "build", c.Build, t.environment(database{}, network), buildTime)
	if !ok {
		return t.out
	}
	if plan.Unit {
		t.withDatabase(ctx, func(db database) { t.command(ctx, "test", c.Test, t.environment(db, nil), testTime) })
	}
	t.withDatabase(ctx, func(db database) { t.served(ctx, t.environment(db, nil)) })
	return t.out
}

// withDatabase gives a fresh database, with the schema where a step makes it.
func (t *trial) withDatabase(ctx context.Context, use func(database)) {
	var db database
	made := t.note("database", func() (err error) {
		db, err = t.bench.cluster.newDatabase(ctx)
		return err
	})
	if !made {
		return
	}
	defer t.bench.cluster.drop(db)
	port := t.note("port", func() (err error) {
		t.port, err = freePort()
		return err
	})
	if port && t.command(ctx, "migrate", t.bench.project.Commands.Migrate, t.environment(db, nil), testTime) {
		use(db)
	}
}

// note runs something and keeps its outcome; success is kept only of steps that
// the project itself states.
func (t *trial) note(name string, do func() error) bool {
	began := time.Now()
	o := t.outcome(name)
	if err := do(); err != nil {
		o.Error, o.Got = err.Error(), false
	}
	o.Took = time.Since(began)
	if o.Error != "" || name != "write" && name != "database" && name != "port" {
		t.out = append(t.out, o)
	}
	return o.Error == ""
}

func (t *trial) outcome(name string) Outcome {
	o := Outcome{Draw: t.plan.Label, Bad: t.plan.Draw.Bad(), Step: name, Want: true, Got: true}
	if t.bench.keep {
		o.Folder = t.draw
	}
	return o
}

func (t *trial) environment(db database, more []string) []string {
	return append(t.bench.environment(more),
		"PLANT="+t.bench.plant, "DRAW="+t.draw, "RUN="+t.dir, "SETUP="+t.bench.setup,
		fmt.Sprintf("PORT=%d", t.port), "DATABASE_URL="+db.url, "NAMES="+t.names, "TMPDIR="+t.dir)
}

// command runs a step that must end with status 0. An empty one is done.
func (t *trial) command(ctx context.Context, name, line string, env []string, limit time.Duration) bool {
	if line == "" {
		return true
	}
	return t.note(name, func() error {
		_, err := step{name, line, t.draw, env, limit}.run(ctx)
		return err
	})
}

// served starts the application, and runs against it what the plan asks for.
func (t *trial) served(ctx context.Context, env []string) {
	var app *running
	ready := t.note("start", func() (err error) {
		if app, err = (step{name: "start", command: t.bench.project.Commands.Start, dir: t.draw, env: env}).start(); err != nil {
			return err
		}
		return app.ready(ctx, t.port)
	})
	if app != nil {
		defer app.kill()
	}
	if !ready {
		return
	}
	if t.plan.Functional {
		t.command(ctx, "functional", t.bench.project.Commands.Functional, env, testTime)
	}
	if len(t.plan.Exploits) > 0 {
		t.exploits(ctx, env, app)
	}
}

// ready waits until /healthz answers 200.
func (p *running) ready(ctx context.Context, port int) error {
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	url := fmt.Sprintf("http://127.0.0.1:%d/healthz", port)
	deadline := time.After(readyTime)
	last := "no connection"
	for {
		resp, err := client.Get(url)
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			last = resp.Status
		}
		select {
		case <-p.ended:
			return p.failed(fmt.Sprintf("the application ended before GET /healthz answered 200 (%v)", p.state))
		case <-deadline:
			return p.failed(fmt.Sprintf("GET /healthz gave no 200 within %s (last: %s)", readyTime, last))
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// An answer is what an exploit prints, one JSON object a line.
type answer struct {
	Site      string `json:"site"`
	Succeeded *bool  `json:"succeeded"`
	Detail    string `json:"detail"`
	Error     string `json:"error"`
}

// exploits runs the plan's exploits one after the other and keeps an outcome for
// each.
func (t *trial) exploits(ctx context.Context, env []string, app *running) {
	began := time.Now()
	limit := exploitTime + time.Duration(len(t.plan.Exploits))*siteTime
	line := t.bench.project.Commands.Exploit + " " + strings.Join(t.plan.Exploits, " ")
	out, err := step{"exploit", line, t.draw, env, limit}.run(ctx)
	if ctx.Err() != nil {
		return
	}
	answers := readAnswers(out)
	took := time.Since(began) / time.Duration(len(t.plan.Exploits))
	for _, id := range t.plan.Exploits {
		o := t.outcome("exploit")
		o.Site, o.Want, o.Took = id, t.plan.Draw.bad[id], took
		a, ok := answers[id]
		o.Detail = a.Detail
		switch {
		case a.Error != "":
			o.Error = a.Error
		case !ok && err != nil:
			o.Error = "no answer: " + err.Error()
		case !ok:
			o.Error = `no answer: expected a line like {"site":"` + id + `","succeeded":false,"detail":"..."}`
		case a.Succeeded == nil:
			o.Error = `the answer lacks "succeeded": expected true or false`
		default:
			o.Got = *a.Succeeded
		}
		if o.Error != "" {
			o.Error += app.obituary()
		}
		t.out = append(t.out, o)
	}
}

// obituary tells that the application ended while it was attacked, if it did.
func (p *running) obituary() string {
	select {
	case <-p.ended:
		return "\n" + p.failed(fmt.Sprintf("the application has ended (%v)", p.state)).Error()
	default:
		return ""
	}
}

// readAnswers reads the lines that are JSON objects with a site; the last of a
// site counts.
func readAnswers(out []byte) map[string]answer {
	answers := map[string]answer{}
	for l := range bytes.Lines(out) {
		var a answer
		if l = bytes.TrimSpace(l); len(l) > 0 && l[0] == '{' && json.Unmarshal(l, &a) == nil && a.Site != "" {
			answers[a.Site] = a
		}
	}
	return answers
}
