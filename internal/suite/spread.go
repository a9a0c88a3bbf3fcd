package suite

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"assay/audit"
	"assay/internal/run"
	"assay/internal/run/river"
	"assay/internal/seal"
)

// spread leaves a plan to workers. Where they all go away, this process does the work itself.
func (b *bench) spread(ctx context.Context, t T, plan *run.Plan) (bool, error) {
	if b.modules != nil { // workers know cases alone
		return false, nil
	}
	db, err := b.spreading(ctx, t, plan)
	if err != nil || db == nil {
		return false, err
	}
	trials := b.trials()
	r, err := db.Enqueue(ctx, plan, func(i int) river.Task { return river.TaskOf(&trials[i]) })
	if err != nil {
		return false, err
	}
	b.running = r
	if r.Joined {
		b.suite.summary.note("workers were about the same plan already: waited for their run %s", r.ID)
	}
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	var help sync.WaitGroup
	help.Go(func() {
		select {
		case <-r.Done():
			stop()
		case <-working.Done():
		}
	})
	help.Go(func() {
		select {
		case <-working.Done():
		case <-r.Deserted():
			if err := b.help(working, db); err != nil {
				b.suite.summary.note("no worker was left, and this process could not do their work: %v", err)
			}
		}
	})
	b.closers = append(b.closers, func() {
		stop()
		help.Wait()
	})
	return true, nil
}

// spreading gives nil where no workers are there for a plan or (nil) for audits.
func (g *engine) spreading(ctx context.Context, t T, plan *run.Plan) (*river.DB, error) {
	dsn := g.suite.db(g.env)
	there, err := river.Present(ctx, dsn, plan)
	if err != nil || !there {
		return nil, err
	}
	db, err := river.Open(ctx, dsn)
	if err != nil {
		return nil, err
	}
	g.closers = append(g.closers, func() {
		if err := errors.Join(db.Taken(context.Background()), db.Close()); err != nil {
			t.Errorf("%v", err)
		}
	})
	return db, nil
}

func (b *bench) help(ctx context.Context, db *river.DB) error {
	re, err := b.env.rebuilder()
	if err != nil {
		return err
	}
	defer re.close()
	return db.Work(ctx, river.Worker{Slots: cmp.Or(b.env.cfg.Concurrency, defaultReviews), Rebuild: re.item})
}

// A remote is an audit as a worker hands it back.
type remote struct {
	Dir string // of the export there: the report may name it
	Run audit.AuditRun
	Err string // the auditor could not be started
}

// remoteAudit carries out an audit for another process.
func (e *env) remoteAudit(ctx context.Context, t river.AuditTask) (b []byte, err error) {
	drawn, project, err := Project(e.root.holdings(), t.Project)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", river.ErrOther, err)
	}
	dir, err := e.directory()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", river.ErrOther, err)
	}
	dir.Budget = math.Inf(1) // the plan's is kept where it was made: t.MaxUSD
	asked, err := dir.Auditor(t.Auditor)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", river.ErrOther, err)
	}
	entries, err := e.auditors()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", river.ErrOther, err)
	}
	if seal.Hash(project) != t.Export || entryHash(entries[t.Auditor], asked) != t.Entry {
		return nil, fmt.Errorf("%w: %s on %s is another audit here: give every worker the commit, fixtures and settings of the plan", river.ErrOther, t.Auditor, t.Project)
	}
	x := target{project: project, drawn: drawn}
	var r remote
	if r.Run, r.Dir, err = x.audit(ctx, asked, t.MaxUSD, fetch); r.Dir == "" {
		return nil, err // there is no export
	}
	if err != nil {
		r.Err = err.Error()
	}
	var out bytes.Buffer
	err = gob.NewEncoder(&out).Encode(r)
	return out.Bytes(), err
}

// entryHash tells auditors of one name apart: a worker with another section would run another.
func entryHash(a audit.AuditorEntry, who audit.Auditor) string {
	a.Pos = audit.Pos{}
	sum := sha256.New()
	fmt.Fprintf(sum, "%+v", a)
	if d, ok := who.(run.DescribedAuditor); ok {
		fmt.Fprint(sum, d.Settings())
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func (r *regression) spreadAudits(t T) {
	if len(r.env.cfg.Auditors) == 0 || r.env.cfg.Budget == 0 {
		return
	}
	db, err := r.live.spreading(context.Background(), t, nil)
	if err == nil && db != nil {
		r.live.slots, err = db.AuditSlots(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	if r.live.slots > 0 {
		r.live.workers = db
		r.id = time.Now().UTC().Format("20060102T150405Z") + "-" + rand.Text()[:8]
	}
}

// away leaves plan, budget, pace and tries to this process: a worker does what it is told.
func (h *evaluation) away(ctx context.Context, trial int, usd float64) (audit.AuditRun, string, error) {
	task := river.AuditTask{Run: h.id, Project: h.project.Name, Auditor: h.candidate.name, Trial: trial,
		Export: seal.Hash(h.project), MaxUSD: usd, Entry: entryHash(h.entries[h.candidate.name], h.candidate.trials[trial])}
	if x := h.planned[trial]; x.Settings != "" && !h.env.cfg.Force { // what was made for a process that was killed is taken
		task.Run = "audit " + x.Key()
	}
	b, err := h.live.workers.Audit(ctx, task)
	if ctx.Err() != nil {
		return audit.AuditRun{Invalid: "stopped: " + context.Cause(ctx).Error()}, "", nil // what it has cost so far is not known
	}
	if err != nil {
		return audit.AuditRun{}, "", err
	}
	var r remote
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&r); err != nil {
		return audit.AuditRun{}, "", fmt.Errorf("what a worker handed back cannot be read: %w", err)
	}
	if r.Err != "" {
		return r.Run, r.Dir, errors.New(r.Err)
	}
	return r.Run, r.Dir, nil
}
