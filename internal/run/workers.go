package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"assay/internal/store"
)

// What follows is for an engine that carries out a plan elsewhere than in this
// process (internal/run/river): the same plan, attempts, charges and rows.

// Jobs returns everything that is planned.
func (p *Plan) Items() Jobs { return p.items }

// Ask returns the numbers of what the store does not answer yet, in the order in which
// it is sent.
func (p *Plan) Ask() []int32 { return p.ask }

// Providers returns the providers of the plan's jobs.
func (p *Plan) Providers() []string { return slices.Clone(p.providers) }

// Provider returns the provider of a job.
func (p *Plan) Provider(number int32) string { return p.providers[p.provider[number]] }

// Identity names what is planned by its keys: two plans with equal identities do
// the same work, in whatever order it was planned.
func (p *Plan) Identity() string {
	h := sha256.New()
	for i := range p.digests {
		h.Write(p.digests[i][:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Record stores that the run begins and what it reuses. It returns the stored run.
func (p *Plan) Record(ctx context.Context) (store.Run, error) {
	r := p.Config.Run
	r.Started = time.Now().UTC().Truncate(time.Millisecond)
	r.State = "running"
	r.Planned, r.Reused = p.items.Count, p.items.Count-len(p.ask)
	if err := p.Config.Store.Begin(ctx, r); err != nil {
		return r, fmt.Errorf("run: %w", err)
	}
	for some := range slices.Chunk(p.settled, surveyed) {
		var evs []store.Evaluation
		for i := range some {
			if some[i].outcome >= 0 {
				evs = append(evs, store.Evaluation{ID: some[i].id,
					Trial: p.items.At(int(some[i].number)).Key})
			}
		}
		if err := p.Config.Store.Reuse(ctx, r.ID, evs); err != nil {
			return r, fmt.Errorf("run: %w", err)
		}
	}
	return r, nil
}

// AskAhead is Ask for whoever can begin an attempt later by itself: what only has to wait
// until a time that is at most ahead of now gets its lease at once. It begins at the
// lease's At.
func AskAhead(b *Budget, r *RateLimiter, it *Job, c *Config, now time.Time,
	ahead time.Duration) Permission {
	for at := now; ; {
		a := Ask(b, r, it, c, at)
		if a.Wait <= 0 || at.Add(a.Wait).After(now.Add(ahead)) {
			if a.Wait > 0 {
				a.Wait += at.Sub(now)
			}
			return a
		}
		at = at.Add(a.Wait)
	}
}
