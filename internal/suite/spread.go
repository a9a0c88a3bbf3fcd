package suite

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"assay/internal/run"
	"assay/internal/run/river"
)

// spread leaves a plan to workers, where some are there. Where they all go away,
// this process does the work itself.
func (b *bench) spread(ctx context.Context, t T, plan *run.Plan) (bool, error) {
	if b.modules != nil { // workers know cases alone
		return false, nil
	}
	dsn := b.suite.db(b.env)
	there, err := river.Present(ctx, dsn, plan)
	if err != nil || !there {
		return false, err
	}
	db, err := river.Open(ctx, dsn)
	if err != nil {
		return false, err
	}
	tasks := map[string]river.Task{}
	for _, l := range b.leaves {
		for _, t := range l.asked() {
			addTask(tasks, &t)
		}
	}
	r, err := db.Enqueue(ctx, plan, tasks)
	if err != nil {
		return false, errors.Join(err, db.Close())
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
		case <-working.Done():
		case <-r.Deserted():
			if err := b.help(working, db, r); err != nil {
				b.suite.summary.note("no worker was left, and this process could not do their work: %v", err)
			}
		}
	})
	b.closers = append(b.closers, func() {
		stop()
		help.Wait()
		if err := db.Close(); err != nil {
			t.Errorf("%v", err)
		}
	})
	return true, nil
}

func addTask(tasks map[string]river.Task, t *run.Trial) {
	task := river.TaskOf(t)
	tasks[task.Key] = task
}

// help is a worker within this process, until the run has ended.
func (b *bench) help(ctx context.Context, db *river.DB, r *river.Run) error {
	re, err := b.env.rebuilder()
	if err != nil {
		return err
	}
	defer re.close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-r.Done():
			stop()
		case <-ctx.Done():
		}
	}()
	return db.Work(ctx, river.Worker{Slots: cmp.Or(b.env.cfg.Concurrency, defaultReviews), Rebuild: re.item})
}
