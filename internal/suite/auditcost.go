package suite

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"assay/audit"
	"assay/internal/auditor"
	"assay/internal/box"
	"assay/internal/record"
	"assay/internal/run"
)

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

// A serial is a Go value: nothing says that several goroutines may ask it at once.
type serial struct {
	audit.Auditor
	mu *sync.Mutex
}

func (a *audits) oneAtATime(who audit.Auditor) audit.Auditor {
	if _, ok := who.(run.DescribedAuditor); ok || a.env.given.auditor(who.Name()) == nil {
		return who
	}
	if a.turns[who.Name()] == nil {
		a.turns[who.Name()] = &sync.Mutex{}
	}
	return &serial{who, a.turns[who.Name()]}
}

func (s *serial) Audit(ctx context.Context, task audit.AuditTask) (audit.AuditRun, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Auditor.Audit(ctx, task)
}
