package run

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"assay/audit"
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
	DefaultStall       = time.Minute
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
	// Concurrency is how many attempts a provider has in flight at most.
	Concurrency int
	// Attempts is how often a job is tried at most.
	Attempts int
	// FirstWait is the ceiling of the wait before the second attempt; it doubles with
	// each further one, up to a minute.
	FirstWait time.Duration
	// Seed fixes the order.
	Seed uint64
	// Reuse takes answered trials of any earlier run in place of asking again.
	Reuse bool
	// Continue is the ID of a run whose final trials count as this run's own. Empty:
	// the newest run of the same suite with the same plan is continued if it was
	// interrupted, that is, if a trial has no final outcome.
	Continue string
	// Grace is how long attempts in flight may go on when the run is stopped: they
	// are paid for.
	Grace time.Duration
	// MaxWait is the longest Retry-After that is waited for. A provider that asks
	// for more has its jobs skipped.
	MaxWait time.Duration
	// Stall is how long a provider may answer nothing. After that a failure that could
	// pass stops its work, and while attempts go on the run says when these end.
	Stall time.Duration
	// StoreWait is how long a result that cannot be stored is tried again before
	// the run stops.
	StoreWait time.Duration
	// Progress is told what happens, by one goroutine, which it holds up.
	Progress func(Event)
	// Discard keeps no results for Wait: for runs too long to hold in memory.
	Discard bool
}

// fill checks the configuration and sets defaults.
func (c *Config) fill() error {
	switch {
	case c.Store == nil:
		return errors.New("run: no store: results would be lost")
	case c.Budget < 0 || math.IsNaN(c.Budget):
		return fmt.Errorf(
			"run: the budget is %v: expected USD, 0 for an estimate, or infinite for none",
			c.Budget)
	case c.Concurrency < 0 || c.Attempts < 0:
		return fmt.Errorf("run: concurrency %d, tries %d: expected numbers above 0",
			c.Concurrency, c.Attempts)
	}
	c.Concurrency = cmp.Or(c.Concurrency, DefaultConcurrency)
	c.Attempts = cmp.Or(c.Attempts, DefaultTries)
	c.FirstWait = cmp.Or(c.FirstWait, DefaultFirstWait)
	c.Grace = cmp.Or(c.Grace, DefaultGrace)
	c.MaxWait = cmp.Or(c.MaxWait, DefaultMaxWait)
	c.Stall = cmp.Or(c.Stall, DefaultStall)
	c.StoreWait = cmp.Or(c.StoreWait, DefaultStoreWait)
	if c.Run.ID == "" {
		chance := make([]byte, 4) // no two machines choose the same
		_, _ = rand.Read(chance)  // never fails (crypto/rand)
		c.Run.ID = time.Now().UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(chance)
	}
	return nil
}

// Jobs are what is planned: how many, and each by its number. At makes one when it is
// needed, since a plan may be of millions, and equal ones for equal numbers.
type Jobs struct {
	Count int
	At    func(i int) Job
	// Prior returns the final results of jobs, by their numbers, whose results are
	// kept elsewhere than in the store's evaluations: of these runs, or of any run
	// where there are none. nil where there are no such jobs.
	Prior func(ctx context.Context, runs []string) (map[int]JobResult, error)
}

// Listed returns a slice of jobs as Jobs.
func Listed(items []Job) Jobs {
	return Jobs{Count: len(items), At: func(i int) Job { return items[i] }}
}

// A Plan is a run that has not begun. It keeps some tens of bytes for each job.
type Plan struct {
	Estimate  Estimate
	Continued []store.Run // the runs whose trials this one continues, newest first
	Config    Config      // with its defaults filled in
	items     Jobs
	ask       []int32  // numbers of the jobs to ask, in order
	provider  []uint16 // of each job, in providers
	providers []string
	settled   []settled
	// of those of settled that have one; none where results are discarded
	reused  []*store.Evaluation
	prior   map[int]JobResult // of those of settled that Items.Prior returned
	digests []digest          // of the keys, sorted
	spent   float64           // USD that the continued runs cost
}

// A settled job is not asked: an earlier run has its final outcome.
type settled struct {
	id      int64 // of the stored evaluation
	number  int32
	outcome int8 // in audit.Outcomes; below 0: Plan.prior has the result
}

type digest [16]byte

// digestOf returns the digest of a key.
func digestOf(key string) digest {
	sum := sha256.Sum256([]byte(key))
	return digest(sum[:16])
}

// compare orders digests.
func compare(a, b digest) int { return bytes.Compare(a[:], b[:]) }

// planning is what a plan is made of, and what it does not need afterwards.
type planning struct {
	*Plan
	families map[string]int32 // numbers of their own
	family   []int32          // of each job
	asked    []bool
}

const surveyed = 2000 // jobs that are looked at together, as their answers are looked up

// Prepare plans jobs. It reads from the store which of them an earlier run completed,
// and sends nothing. No jobs, two with one key, and a reviewer without a price under
// a finite budget are errors.
func Prepare(ctx context.Context, c Config, items Jobs) (*Plan, error) {
	if err := c.fill(); err != nil {
		return nil, err
	}
	if items.Count == 0 {
		return nil, errors.New("run: nothing is planned")
	}
	n := items.Count
	p := planning{&Plan{Config: c, items: items, provider: make([]uint16, n),
		digests: make([]digest, n)}, map[string]int32{}, make([]int32, n), make([]bool, n)}
	p.Estimate = Estimate{Planned: n, Budget: c.Budget}
	for i := range n {
		if err := p.survey(i); err != nil {
			return nil, err
		}
	}
	unsorted := slices.Clone(p.digests)
	slices.SortFunc(p.digests, compare)
	for i := 1; i < n; i++ {
		if p.digests[i] == p.digests[i-1] {
			return nil, p.twice(p.digests[i])
		}
	}
	p.Config.Run.Plan = p.Identity()
	if err := p.lookUp(ctx); err != nil {
		return nil, err
	}
	slices.Sort(p.Estimate.Unpriced)
	p.Estimate.Reused = n - p.Estimate.Ask
	p.ask = slices.DeleteFunc(order(p.families, p.family, unsorted, c.Seed),
		func(i int32) bool { return !p.asked[i] })
	if len(p.Estimate.Unpriced) > 0 && c.Budget > 0 && !math.IsInf(c.Budget, 1) {
		return nil, fmt.Errorf(
			"run: no price is known for %s, so no budget can hold: add the price to fixtures/models.md, or run with -budget none",
			strings.Join(p.Estimate.Unpriced, ", "))
	}
	return p.Plan, nil
}

// survey checks one job and plans to ask it.
func (p *planning) survey(i int) error {
	it := p.items.At(i)
	if it.Key == "" || it.Do == nil {
		return fmt.Errorf("run: item %d of %s has no key or nothing to do", i, it.Reviewer)
	}
	// NaN compares as false
	if c := it.Cost; !(c.Expected >= 0 && c.Most >= 0) || math.IsInf(c.Most, 1) {
		return fmt.Errorf("run: %s of %s costs $%v, at most $%v: expected numbers from 0",
			it.Reviewer, it.Family, c.Expected, c.Most)
	}
	p.digests[i] = digestOf(it.Key)
	if _, ok := p.families[it.Family]; !ok {
		p.families[it.Family] = int32(len(p.families))
	}
	p.family[i] = p.families[it.Family]
	at := slices.Index(p.providers, it.Provider)
	if at < 0 {
		at, p.providers = len(p.providers), append(p.providers, it.Provider)
	}
	p.provider[i] = uint16(at)
	p.asked[i] = true
	p.Estimate.add(&it, 1)
	return nil
}

// lookUp finds the results of earlier runs that count as this run's own: of the run
// that is continued, or, with Reuse, the answered ones of any run.
func (p *planning) lookUp(ctx context.Context) error {
	runs, err := p.continues(ctx)
	if err != nil || len(runs) == 0 && !p.Config.Reuse {
		return err
	}
	settled, reused, err := p.results(ctx, runs)
	if err != nil {
		return err
	}
	if len(runs) > 0 && p.Config.Continue == "" && len(settled) == p.items.Count {
		return nil // complete: the same command asks again
	}
	for _, s := range settled {
		it := p.items.At(int(s.number))
		p.asked[s.number] = false
		p.Estimate.add(&it, -1)
	}
	p.settled, p.reused = settled, reused
	if len(runs) == 0 {
		return nil
	}
	var ids []string
	for i := range runs {
		ids = append(ids, runs[i].ID)
	}
	p.Continued, p.Config.Run.Continues = runs, runs[0].ID
	if p.Config.Continue != "" {
		return nil // a budget of its own
	}
	if p.spent, err = p.Config.Store.Spent(ctx, ids); err != nil {
		return fmt.Errorf("run: looking up what was spent: %w", err)
	}
	if runs[0].Ended.IsZero() { // killed: what was in flight was paid for and is not recorded
		p.spent += p.inFlight()
	}
	return nil
}

// inFlight returns the most that the trials cost which a killed run had in flight.
func (p *planning) inFlight() float64 {
	var most []float64
	for i, asked := range p.asked {
		if asked {
			most = append(most, p.items.At(i).Cost.Most)
		}
	}
	slices.SortFunc(most, func(a, b float64) int { return cmp.Compare(b, a) })
	sum := 0.0
	for _, m := range most[:min(len(most), p.Config.Concurrency*len(p.providers))] {
		sum += m
	}
	return sum
}

// continues returns the run whose trials this one continues, followed by those that it
// continued itself.
func (p *planning) continues(ctx context.Context) (chain []store.Run, err error) {
	if p.Config.Reuse {
		return nil, nil
	}
	all, err := p.Config.Store.Runs(ctx)
	if err != nil {
		return nil, fmt.Errorf("run: looking up earlier runs: %w", err)
	}
	suite := cmp.Or(p.Config.Run.Suite, "Bench")
	for i := range all { // newest first
		same := all[i].Suite == suite && all[i].Plan == p.Config.Run.Plan
		if all[i].ID == p.Config.Continue || p.Config.Continue == "" && same {
			return store.Chain(all[i:]), nil
		}
	}
	return nil, nil
}

// results returns the jobs with a final result in these runs, or in any.
func (p *planning) results(ctx context.Context, runs []store.Run) (found []settled,
	reused []*store.Evaluation, err error) {
	var ids []string
	for i := range runs {
		ids = append(ids, runs[i].ID)
	}
	if p.items.Prior != nil {
		if p.prior, err = p.items.Prior(ctx, ids); err != nil {
			return nil, nil, err
		}
	}
	for from := 0; from < p.items.Count; from += surveyed {
		to := min(from+surveyed, p.items.Count)
		keys := make([]string, 0, to-from)
		for i := from; i < to; i++ {
			if it := p.items.At(i); it.Keep == nil {
				keys = append(keys, it.Key)
			} else {
				keys = append(keys, "")
			}
		}
		answered, err := p.Config.Store.Prior(ctx, ids, keys)
		if err != nil {
			return nil, nil, fmt.Errorf("run: looking up earlier results: %w", err)
		}
		for k, key := range keys {
			ev := answered[key]
			outcome := slices.Index(audit.Outcomes(), ev.Outcome)
			if _, ok := p.prior[from+k]; ok {
				found = append(found, settled{number: int32(from + k), outcome: -1})
			} else if key != "" && outcome >= 0 {
				found = append(found, settled{ev.ID, int32(from + k), int8(outcome)})
				if !p.Config.Discard {
					reused = append(reused, &ev)
				}
			}
		}
	}
	return found, reused, nil
}

// settle delivers the results of earlier runs.
func (p *Plan) settle(do func(*Job, JobResult)) {
	reused := p.reused
	for _, s := range p.settled {
		it := p.items.At(int(s.number))
		if s.outcome < 0 {
			do(&it, p.prior[int(s.number)])
			continue
		}
		res := JobResult{Outcome: audit.Outcomes()[s.outcome], Reused: true}
		if len(reused) > 0 {
			res.Evaluation, reused = *reused[0], reused[1:]
		}
		do(&it, res)
	}
}

// twice returns an error that names a job that is planned twice.
func (p *Plan) twice(d digest) error {
	for i := range p.items.Count {
		if it := p.items.At(i); digestOf(it.Key) == d {
			return fmt.Errorf("run: %s of %s is planned twice", it.Reviewer, it.Family)
		}
	}
	return errors.New(
		"run: an item is planned twice, and is another each time that it is asked for")
}

// planned reports whether a key belongs to the plan.
func (p *Plan) planned(key string) bool {
	_, ok := slices.BinarySearchFunc(p.digests, digestOf(key), compare)
	return ok
}
