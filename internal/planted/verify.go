package planted

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"assay/internal/box"
)

// A Server provides empty databases.
type DatabaseServer interface {
	// Database returns a URL of the form
	// postgres://ROLE:PASSWORD@127.0.0.1:PORT/NAME?sslmode=disable, whose role owns
	// the database and is no superuser, and a function that drops it.
	Database(ctx context.Context) (url string, drop func(), err error)
	// Bin is a folder that comes first in PATH, for psql; may be empty.
	Bin() string
}

// ProofOptions are the extent and the resources of a proof.
type ProofOptions struct {
	Servers []DatabaseServer // at least one; each has one draw at a time, so that none sees another's locks
	Cache   string           // where setups are kept between runs
	Quick   bool             // all good, all bad and two random draws alone
}

// A StepResult is the result of one step on one draw.
type StepResult struct {
	Draw   string // "all good", "ORD-07 alone bad", "seed 3", "pairs 4"
	Bad    []string
	Step   string // write, database, build, migrate, test, start, functional or exploit
	Site   string // of an exploit; else empty
	Want   bool   // whether the exploit must succeed; true for the other steps
	Got    bool   // whether it did; false with an Error
	Error  string // why there is no answer, with the end of the output
	Detail string // what the exploit says
}

// OK reports whether the outcome is as expected.
func (o StepResult) OK() bool { return o.Error == "" && o.Got == o.Want }

// A Proof holds all outcomes.
type Proof struct {
	Project  string
	Draws    int
	Outcomes []StepResult // by draw, in the order of the plans
}

// Failed returns the outcomes that are not as expected.
func (p *Proof) Failed() []StepResult {
	return slices.DeleteFunc(slices.Clone(p.Outcomes), StepResult.OK)
}

// Verify builds, starts and attacks the draws of [Template.DrawTests]. The error says why
// nothing could be tried; it wraps [ErrMissing] if a runtime is not installed. Outcomes that
// are not as expected are in the Proof.
func Verify(ctx context.Context, p *Template, o ProofOptions) (*Proof, error) {
	if len(o.Servers) == 0 {
		return nil, errors.New("no database server to prove with: expected one in Options.Servers")
	}
	if err := p.missing(o.Servers[0].Bin()); err != nil {
		return nil, err
	}
	b, err := newBench(ctx, p, o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.remove() }()
	plans := p.DrawTests(o.Quick)
	outcomes := b.run(ctx, plans, o.Servers)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return &Proof{p.Name, len(plans), slices.Concat(outcomes...)}, nil
}

// A bench holds what the draws of a proof share.
type bench struct {
	project *Template
	dir     string // scratch
	remove  func() error
	plant   string // the project's folder
	setup   string // where setup/ was installed
}

// newBench writes the project's tools to a temporary folder and runs its setup.
func newBench(ctx context.Context, p *Template, o ProofOptions) (b *bench, err error) {
	b = &bench{project: p}
	if b.dir, b.remove, err = box.TempDir("planted"); err != nil {
		return nil, err
	}
	b.plant = filepath.Join(b.dir, "plant")
	if err = p.writeTools(b.plant, ""); err == nil {
		b.setup, err = p.prepare(ctx, o.Cache, b.plant)
	}
	if err != nil {
		return nil, errors.Join(err, b.remove())
	}
	return b, nil
}

// run tests every draw, one at a time on each server.
func (b *bench) run(ctx context.Context, plans []DrawTest, servers []DatabaseServer) [][]StepResult {
	outcomes := make([][]StepResult, len(plans))
	work := make(chan int)
	var wg sync.WaitGroup
	for _, server := range servers {
		wg.Go(func() {
			for i := range work {
				outcomes[i] = b.try(ctx, server, fmt.Sprintf("draw%03d", i+1), plans[i])
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
	return outcomes
}

// writeTools writes the tools below the folder prefix, "" for all, to dir, without the prefix.
func (p *Template) writeTools(dir, prefix string) error {
	for _, name := range slices.Sorted(maps.Keys(p.tools)) {
		rel, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		to := filepath.Join(dir, filepath.FromSlash(rel))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, p.tools[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}
