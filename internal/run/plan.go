package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"assay/internal/store"
)

// The values of a Config that are 0.
const (
	DefaultConcurrency = 8
	DefaultTries       = 8
	DefaultFirstWait   = time.Second
	DefaultGrace       = 10 * time.Second
	DefaultMaxWait     = 5 * time.Minute
	DefaultStoreWait   = time.Minute
)

// A Config says how a plan is run. Store is needed; zero values of the rest take
// the defaults above, but Budget: 0 means that nothing is sent.
type Config struct {
	Store store.Store
	// Run is how the run is recorded: command line, score version. An empty ID is
	// filled in.
	Run store.Run
	// Budget is what the run may cost in USD: math.Inf(1) for no limit, 0 for the
	// estimate alone (everything is skipped).
	Budget float64
	// Concurrency is how many tries a provider has in flight at most.
	Concurrency int
	// Tries is how often an item is tried at most.
	Tries int
	// FirstWait is the ceiling of the wait before the second try; it doubles with
	// each further one, up to a minute.
	FirstWait time.Duration
	// Seed fixes the order.
	Seed uint64
	// Force asks again what the store answers already.
	Force bool
	// Grace is how long tries in flight may go on when the run is stopped: they
	// are paid for.
	Grace time.Duration
	// MaxWait is the longest Retry-After that is waited for. A provider that asks
	// for more has its items skipped.
	MaxWait time.Duration
	// StoreWait is how long a result that cannot be stored is tried again before
	// the run stops.
	StoreWait time.Duration
	// Progress is told what happens, by one goroutine, which it holds up.
	Progress func(Event)
	// Discard keeps no results for Wait: for runs too long to hold in memory.
	Discard bool
}

func (c *Config) fill() error {
	switch {
	case c.Store == nil:
		return errors.New("run: no store: results would be lost")
	case c.Budget < 0 || math.IsNaN(c.Budget):
		return fmt.Errorf("run: the budget is %v: expected USD, 0 for an estimate, or infinite for none", c.Budget)
	case c.Concurrency < 0 || c.Tries < 0:
		return fmt.Errorf("run: concurrency %d, tries %d: expected numbers above 0", c.Concurrency, c.Tries)
	}
	c.Concurrency = cmp.Or(c.Concurrency, DefaultConcurrency)
	c.Tries = cmp.Or(c.Tries, DefaultTries)
	c.FirstWait = cmp.Or(c.FirstWait, DefaultFirstWait)
	c.Grace = cmp.Or(c.Grace, DefaultGrace)
	c.MaxWait = cmp.Or(c.MaxWait, DefaultMaxWait)
	c.StoreWait = cmp.Or(c.StoreWait, DefaultStoreWait)
	if c.Run.ID == "" {
		c.Run.ID = newID(time.Now())
	}
	return nil
}

// newID gives a run's ID: its start, to the second, and enough chance that no
// two machines choose the same.
func newID(now time.Time) string {
	b := make([]byte, 4)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return now.UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(b)
}

// A Plan is a run that has not begun.
type Plan struct {
	Estimate Estimate
	config   Config
	items    []Item
	ask      []int                       // indices of items to ask, in order
	reused   map[string]store.Evaluation // by key
}

// Prepare plans items. It reads from the store what is answered already, and
// sends nothing. No items, two with one key, and a reviewer without a price under
// a finite budget are errors.
func Prepare(ctx context.Context, c Config, items []Item) (*Plan, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, errors.New("run: nothing is planned: a run of nothing proves nothing")
	}
	seen := make(map[string]bool, len(items))
	var reusable []string
	for i := range items {
		it := &items[i]
		if it.Key == "" || it.Do == nil {
			return nil, fmt.Errorf("run: item %d of %s has no key or nothing to do", i, it.Reviewer)
		}
		if seen[it.Key] {
			return nil, fmt.Errorf("run: %s of %s is planned twice", it.Reviewer, it.Family)
		}
		if c := it.Cost; !(c.Expected >= 0 && c.Most >= 0) || math.IsInf(c.Most, 1) { // NaN compares as false
			return nil, fmt.Errorf("run: %s of %s costs $%v, at most $%v: expected numbers from 0", it.Reviewer, it.Family, c.Expected, c.Most)
		}
		seen[it.Key] = true
		if it.Reusable && !c.Force {
			reusable = append(reusable, it.Key)
		}
	}
	p := &Plan{config: c, items: items}
	if len(reusable) > 0 {
		var err error
		if p.reused, err = c.Store.Answered(ctx, reusable); err != nil {
			return nil, fmt.Errorf("run: looking up what is answered already: %w", err)
		}
	}
	for _, i := range order(items, c.Seed) {
		if _, ok := p.reused[items[i].Key]; !ok && (items[i].Earlier == nil || c.Force) {
			p.ask = append(p.ask, i)
		}
	}
	p.Estimate = estimate(items, p.ask, c.Budget)
	if len(p.Estimate.Unpriced) > 0 && c.Budget > 0 && !math.IsInf(c.Budget, 1) {
		return nil, fmt.Errorf("run: no price is known for %s, so no budget can hold: add the price to fixtures/models.md, or run with -budget none",
			strings.Join(p.Estimate.Unpriced, ", "))
	}
	return p, nil
}
