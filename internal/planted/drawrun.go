package planted

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Time limits of the steps. They stop steps that hang.
const (
	setupTime   = 10 * time.Minute
	buildTime   = 10 * time.Minute
	testTime    = 5 * time.Minute
	readyTime   = 5 * time.Minute
	appTime     = time.Hour       // longer than all that it is asked
	exploitTime = 5 * time.Minute // and siteTime for each site
	siteTime    = 5 * time.Second
)

// A drawRun builds, starts and tests one draw.
type drawRun struct {
	bench  *bench
	server DatabaseServer
	plan   DrawTest
	run    string // $RUN
	draw   string // $DRAW
	names  string // $NAMES
	port   int
	url    string // of the database
	out    []StepResult
	asked  []int // indexes into out: outcomes that get the last output of the application
}

// try runs the tests of a draw. It stops at the first step that the others depend on.
func (b *bench) try(ctx context.Context, server DatabaseServer, name string, plan DrawTest) []StepResult {
	names, err := json.Marshal(plan.Draw.Names())
	if err != nil { // strings alone: cannot be
		panic(err)
	}
	t := &drawRun{bench: b, server: server, plan: plan, run: filepath.Join(b.dir, name),
		names: string(names)}
	t.draw = filepath.Join(t.run, b.project.Name)
	defer os.RemoveAll(t.run)
	c := b.project.Commands
	if !t.ours("write", plan.Draw.Render().Write(t.draw)) ||
		!t.command(ctx, "build", c.Build, buildTime) {
		return t.out
	}
	if plan.Unit {
		t.withDatabase(ctx, func() { t.command(ctx, "test", c.Test, testTime) })
	}
	t.withDatabase(ctx, func() { t.serve(ctx) })
	return t.out
}

// withDatabase calls use with a fresh database and port, after the project's migration.
func (t *drawRun) withDatabase(ctx context.Context, use func()) {
	var drop func()
	var err error
	if t.port, err = freePort(); err == nil {
		t.url, drop, err = t.server.Database(ctx)
	}
	if !t.ours("database", err) {
		return
	}
	defer drop()
	if t.command(ctx, "migrate", t.bench.project.Commands.Migrate, testTime) {
		use()
	}
}

// note adds the outcome of a step and reports whether it succeeded.
func (t *drawRun) note(name string, err error) bool {
	o := t.outcome(name)
	if err != nil {
		o.Error, o.Got = strings.TrimPrefix(err.Error(), name+": "), false
	}
	t.out = append(t.out, o)
	return err == nil
}

// ours adds the outcome of one of our own steps if it failed, and reports whether it succeeded.
func (t *drawRun) ours(name string, err error) bool { return err == nil || t.note(name, err) }

// outcome returns a successful outcome of a step.
func (t *drawRun) outcome(name string) StepResult {
	return StepResult{Draw: t.plan.Label, Bad: t.plan.Draw.Bad(), Step: name, Want: true, Got: true}
}

// step returns a step of the draw with its environment.
func (t *drawRun) step(name, line string, limit time.Duration) step {
	var more []string
	if name == "build" {
		more = network
	}
	env := append(environment(t.server.Bin(), more...),
		"PLANT="+t.bench.plant, "DRAW="+t.draw, "RUN="+t.run, "SETUP="+t.bench.setup, "TMPDIR="+
			t.run,
		fmt.Sprintf("PORT=%d", t.port), "DATABASE_URL="+t.url, "NAMES="+t.names)
	return step{name, line, t.draw, env, limit}
}

// command runs a step that must exit with status 0, and reports whether it did. An empty line
// does nothing.
func (t *drawRun) command(ctx context.Context, name, line string, limit time.Duration) bool {
	if line == "" {
		return true
	}
	_, err := t.step(name, line, limit).run(ctx)
	return t.note(name, err)
}

// serve starts the application and runs functional tests and exploits.
func (t *drawRun) serve(ctx context.Context) {
	app := t.step("start", t.bench.project.Commands.Start, appTime).start(ctx)
	if t.note("start", app.ready(ctx, t.port)) {
		if t.plan.Functional &&
			!t.command(ctx, "functional", t.bench.project.Commands.Functional, testTime) {
			t.asked = append(t.asked, len(t.out)-1)
		}
		if len(t.plan.Exploits) > 0 {
			t.exploits(ctx)
		}
	}
	story := app.end()
	for _, i := range t.asked {
		t.out[i].Error += "\n" + story
	}
}

// ready waits until the application answers GET /healthz with status 200.
func (a *app) ready(ctx context.Context, port int) error {
	client := &http.Client{Timeout: 2 * time.Second,
		Transport: &http.Transport{DisableKeepAlives: true}}
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
		case <-a.ended:
			if a.err != nil {
				return a.err
			}
			return a.step.failed(&a.exit,
				fmt.Sprintf("the application ended before GET /healthz answered 200 (%s)",
					how(&a.exit)))
		case <-deadline:
			a.end()
			return a.step.failed(&a.exit,
				fmt.Sprintf("GET /healthz gave no 200 within %s (last: %s)", readyTime, last))
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// An answer is a line of an exploit's output, a JSON object.
type answer struct {
	Site      string `json:"site"`
	Succeeded *bool  `json:"succeeded"`
	Detail    string `json:"detail"`
	Error     string `json:"error"`
}

// exploits runs the exploits in one process and adds an outcome for each. The first outcome
// without an answer gets the last output of the command and the application.
func (t *drawRun) exploits(ctx context.Context) {
	limit := exploitTime + time.Duration(len(t.plan.Exploits))*siteTime
	line := t.bench.project.Commands.Exploit + " " + strings.Join(t.plan.Exploits, " ")
	exploit := t.step("exploit", line, limit)
	e, failed := exploit.run(ctx)
	if ctx.Err() != nil {
		return
	}
	if failed == nil {
		failed = exploit.failed(&e, how(&e))
	}
	answers := readAnswers(e.Stdout)
	told := false
	for _, id := range t.plan.Exploits {
		o := t.outcome("exploit")
		o.Site, o.Want = id, t.plan.Draw.bad[id]
		a, found := answers[id]
		o.Detail, o.Error = a.Detail, a.problem(id, found)
		o.Got = o.Error == "" && *a.Succeeded
		if o.Error != "" && !told {
			told = true
			t.asked = append(t.asked, len(t.out))
			o.Error += "\n" + failed.Error()
		}
		t.out = append(t.out, o)
	}
}

// problem returns why the answer cannot be used; "" if it can.
func (a answer) problem(id string, found bool) string {
	switch {
	case a.Error != "":
		return "an error instead of an answer: " + a.Error
	case !found:
		return `no answer: expected a line like {"site":"` + id +
			`","succeeded":false,"detail":"..."}`
	case a.Succeeded == nil:
		return `the answer lacks "succeeded": expected true or false`
	}
	return ""
}

// readAnswers parses the output's lines that are JSON objects with a site. The last answer of a
// site counts.
func readAnswers(out []byte) map[string]answer {
	answers := map[string]answer{}
	for l := range bytes.Lines(out) {
		var a answer
		if l = bytes.TrimSpace(l); len(l) > 0 && l[0] == '{' && json.Unmarshal(l, &a) == nil &&
			a.Site != "" {
			answers[a.Site] = a
		}
	}
	return answers
}
