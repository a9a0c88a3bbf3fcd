package suite

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"assay/audit"
	"assay/internal/auditor"
	"assay/internal/box"
	"assay/internal/record"
	"assay/internal/run"
	"assay/internal/run/river"
	"assay/internal/store"
)

const (
	// at once of one provider, where -concurrency does not say: each may take gigabytes, and
	// a share of a provider's limit that reviews do not
	defaultAudits = 2
	auditTries    = 4
	// the ceiling of the wait before the second try: an agent that gives up has waited itself
	auditWait = 10 * time.Second
	// for audits in flight when the run is stopped: whoever stops does not wait for hours
	auditGrace = 5 * time.Second
	// left of go test's time, for an auditor to end in order and the record to be written
	lastMinute = 20 * time.Second
)

type audits struct {
	engine
	entries map[string]audit.AuditorEntry
	planned []*run.Audit
	workers *river.DB // nil: this process runs them
	slots   int       // audits that workers run at once

	versions map[string]string
	records  []*record.Record // of earlier runs; nil before they were read
}

func newAudits(s *Suite, e *env, name string, entries map[string]audit.AuditorEntry) *audits {
	return &audits{engine: newEngine(s, e, name), entries: entries, versions: map[string]string{}}
}

// A onceFunc makes one run, for so many USD (0: nobody says), and gives the folder that it saw.
type onceFunc func(ctx context.Context, a audit.Auditor, trial int, usd float64) (audit.AuditRun, string, error)

// A candidate is an auditor with the trials that it is asked for.
type candidate struct {
	name     string
	replay   bool
	embedded bool
	trials   []audit.Auditor
	recs     []*auditor.Recording
}

// sent reports whether the engine asks: replays and the embedded analyser are read here and now.
func (c *candidate) sent() bool { return !c.replay && !c.embedded }

// An asking is what a candidate is asked about one source.
type asking struct {
	audits *audits
	candidate
	once    onceFunc
	planned []*run.Audit        // nil: the trials are read here
	begun   bool                // whether any trial was
	now     record.Record       // what the trials came to
	runs    []record.Transcript // what they wrote; none of a replay
	prefix  string              // of its artifacts
}

// plan leaves the trials to the engine, where they are its; export is the project's hash.
func (x *asking) plan(project, export string) error {
	if !x.sent() {
		return nil
	}
	like, err := x.audits.describe(&x.candidate, project)
	if err != nil {
		return err
	}
	for i, who := range x.trials {
		one := like
		one.Project, one.Auditor, one.Export, one.Index = project, x.candidate.name, export, i
		one.Once = func(ctx context.Context, usd float64) (audit.AuditRun, string, error) {
			return x.once(ctx, who, i, usd)
		}
		x.planned = append(x.planned, &one)
	}
	x.audits.planned = append(x.audits.planned, x.planned...)
	return nil
}

// result waits for a trial, counted from 0, or makes it in this goroutine.
func (x *asking) result(t T, i int) (*run.Audited, *run.Result, error) {
	if x.planned != nil {
		v, res, err := x.audits.wait(x.planned[i])
		x.begun = x.begun || err == nil && res.Outcome != audit.OutcomeSkipped
		return v, res, err
	}
	x.begun = true
	ctx := context.Background()
	if at, ok := t.Deadline(); ok {
		var cancel func()
		ctx, cancel = context.WithDeadline(ctx, at.Add(-lastMinute))
		defer cancel()
	}
	r, dir, err := x.once(ctx, x.trials[i], i, 0)
	return &run.Audited{Run: r, Dir: dir, Usage: r.Usage}, &run.Result{}, err
}

// took adds a trial, counted from 0 and yet to be scored, to what the trials came to.
func (x *asking) took(i int, v *run.Audited) *record.Trial {
	r, now := &v.Run, &x.now
	now.Version, now.Command, now.Model = cmp.Or(r.Version, now.Version), cmp.Or(strings.Join(r.Command, " "), now.Command), cmp.Or(r.Model, now.Model)
	now.Trials = append(now.Trials, trialOf(v))
	if !x.replay {
		x.runs = append(x.runs, transcripts(x.prefix, i, v)...)
	}
	return &now.Trials[len(now.Trials)-1]
}

func (a *audits) start(t T) {
	if len(a.planned) == 0 {
		close(a.started)
		return
	}
	a.begin(t, func() error {
		cfg := &a.env.cfg
		c := run.Config{Concurrency: cmp.Or(cfg.Concurrency, defaultAudits), Tries: auditTries, FirstWait: a.suite.auditWait, Grace: a.suite.auditGrace, Run: store.Run{Suite: a.name}}
		if a.workers != nil && cfg.Concurrency == 0 {
			c.Concurrency = max(1, a.slots)
		}
		ctx, plan, err := a.prepare(t, lastMinute, c, func(ctx context.Context, st store.Store) (run.Items, error) {
			return run.AuditItems(ctx, st, a.planned)
		})
		if err == nil {
			err = a.suite.uncached(a.env)
		}
		if err != nil {
			return err
		}
		return a.send(box.WithoutInterrupts(ctx), plan)
	})
}

// wait gives what became of a planned audit. One that was never begun is INVALID.
func (a *audits) wait(x *run.Audit) (*run.Audited, *run.Result, error) {
	if a.running == nil {
		return nil, nil, fmt.Errorf("not asked: %w", a.failed)
	}
	res, err := a.running.Wait(context.Background(), x.Key())
	if err != nil {
		return nil, nil, err
	}
	v, ok := res.Value.(*run.Audited)
	switch {
	case ok:
	case res.Outcome == audit.OutcomeSkipped:
		v = &run.Audited{Run: audit.AuditRun{Invalid: "not begun: " + res.Why}}
	default:
		v = &run.Audited{Run: audit.AuditRun{Invalid: res.Evaluation.Detail}, Usage: res.Evaluation.Usage}
	}
	return v, &res, nil
}

func (a *audits) end(t T) {
	if a.running != nil {
		sum, err := a.running.Finish()
		if err != nil {
			t.Errorf("%s: %v", audit.Invalid, err)
		}
		a.tell(&sum)
	}
	a.close()
}

func (a *audits) tell(sum *run.Summary) {
	note := a.suite.summary.note
	a.tellStopped(sum, "audits were not begun")
	if sum.State.Reused > 0 {
		note("%s: %d of %d audits were made before and cost nothing now (-force asks anew%s)", a.name, sum.State.Reused, sum.State.Planned, a.readBefore())
	}
	if sum.State.Spent > 0 {
		budget := ""
		if !math.IsInf(a.env.cfg.Budget, 1) {
			budget = fmt.Sprintf(" of the budget of $%.2f", a.env.cfg.Budget)
		}
		note("%s: $%.2f%s spent%s", a.name, sum.State.Spent, budget, assumed(sum))
	}
	if sum.Over > 0 {
		note("%s: runs cost $%.2f more than their sections of fixtures/auditors.md say at most: raise their Cost", a.name, sum.Over)
	}
}

// readBefore names what reused audits read beside the source, which no hash is of.
func (a *audits) readBefore() string {
	var read []string
	for _, x := range a.planned {
		if res, err := a.running.Wait(context.Background(), x.Key()); err == nil && res.Reused {
			read = append(read, a.entries[x.Auditor].Reads...)
		}
	}
	if len(read) == 0 {
		return ""
	}
	slices.Sort(read)
	return "; what is in " + strings.Join(slices.Compact(read), ", ") + ", which they read beside the source, may have changed since"
}

func assumed(sum *run.Summary) string {
	if sum.Unsure == 0 {
		return ""
	}
	return fmt.Sprintf(", $%.2f of it for what does not say its cost, charged at the most", sum.Unsure)
}

func (a *audits) version(entry audit.AuditorEntry) string {
	v, ok := a.versions[entry.Name]
	if !ok {
		v = auditor.Version(context.Background(), entry)
		a.versions[entry.Name] = v
	}
	return v
}

func (a *audits) describe(c *candidate, project string) (run.Audit, error) {
	var x run.Audit
	if d, ok := c.trials[0].(run.DescribedAuditor); ok {
		x.Settings, x.Provider, x.Keeps = d.Settings(), d.Provider(), true
		x.Cost.Expected, x.Cost.Most, x.Cost.Known = d.Cost()
		earlier, err := a.earlierCosts(c.name, project)
		if len(earlier) > 0 {
			x.Cost.Expected = min(mean(earlier), x.Cost.Most)
		}
		return x, err
	}
	entry, ok := a.entries[c.name]
	if !ok || a.env.given.auditor(c.name) != nil {
		x.Cost.Known = true
		return x, nil
	}
	cost, err := a.cost(entry, project)
	if err != nil {
		return x, err
	}
	x.Cost, x.Keeps = cost, keeps(entry)
	if entry.Kind != "agent" {
		return x, nil // what a tool reads beside the source is not known: it is free, and made anew
	}
	x.Provider = provider(entry)
	x.Settings, err = a.settings(entry)
	return x, err
}

// settings names everything beside the source that can change what an agent reports;
// credentials and the places of folders cannot.
func (a *audits) settings(entry audit.AuditorEntry) (string, error) {
	prompt, err := auditor.PromptHash(a.env.root.setting("fixtures/auditors.md"), entry)
	if err != nil {
		return "", err
	}
	parts := []string{"command " + entry.Command, "prompt " + prompt, "model " + entry.Model, "version " + a.version(entry), "format " + entry.Format, "output " + entry.Output}
	for _, name := range slices.Sorted(slices.Values(entry.Variables())) {
		value := os.Getenv(name)
		info, err := os.Stat(value)
		if value != "" && name != entry.Network.Key && !box.Secret(name) && (err != nil || !info.IsDir()) {
			parts = append(parts, name+"="+value)
		}
	}
	return strings.Join(parts, "\n"), nil
}

var keyName = regexp.MustCompile(`_(API_)?(KEY|TOKEN)$`)

// provider gives whose limits an agent shares: that of its first key, else its own.
func provider(entry audit.AuditorEntry) string {
	for _, name := range entry.Variables() {
		if keyName.MatchString(name) {
			return name
		}
	}
	return entry.Name
}

// cost takes what an agent cost so far on the project, else what its section states. Where
// the command line is told what a run may cost ($ASSAY_MAX_USD) the stated sum is reserved;
// else half as much again as the dearest run so far. Where nobody knows no budget could hold.
func (a *audits) cost(entry audit.AuditorEntry, project string) (run.Cost, error) {
	c := run.Cost{Expected: entry.Cost, Most: entry.Cost, Known: entry.Priced || entry.Kind != "agent"}
	earlier, err := a.earlierCosts(entry.Name, project)
	if err != nil {
		return c, err
	}
	if len(earlier) > 0 && entry.Kind == "agent" {
		c.Expected = mean(earlier)
		if !keeps(entry) {
			c.Most, c.Known = 1.5*slices.Max(earlier), true
		}
		c.Most = max(c.Most, c.Expected)
	}
	if budget := a.env.cfg.Budget; !c.Known && budget > 0 && !math.IsInf(budget, 1) {
		return c, fmt.Errorf("%s: %s: nobody knows what a run of it costs, so no budget can hold: add the line | Cost | 5 USD | to its section (what one run may cost at most; 0 where it is free), or run with -budget none", entry.Pos, entry.Name)
	}
	return c, nil
}

// keeps says whether an agent is told what a run may cost, and of what sum.
func keeps(entry audit.AuditorEntry) bool {
	return entry.Priced && strings.Contains(entry.Command, "ASSAY_MAX_USD")
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// earlierCosts gives what trials cost in USD, by records or, where there are none, the baseline.
func (a *audits) earlierCosts(name, project string) (costs []float64, err error) {
	if a.records == nil {
		a.records, _ = record.ReadAll(filepath.Join(a.env.root.Dir, "records")) // what is no record says nothing of costs
	}
	for _, r := range a.records {
		if r.Auditor == name && r.Project == project && r.Again == "" { // else its runs are another record's
			costs = append(costs, costsOf(r)...)
		}
	}
	if len(costs) > 0 {
		return costs, nil
	}
	baseline, err := record.Baseline(a.env.root.holdings(), baselines, name, project)
	if err != nil || baseline == nil {
		return nil, err
	}
	return costsOf(baseline), nil
}

func costsOf(r *record.Record) (costs []float64) {
	for i := range r.Trials {
		if u := &r.Trials[i].Usage; u.Priced && u.USD > 0 {
			costs = append(costs, u.USD)
		}
	}
	return costs
}
