// Package river carries out a run of many trials on many machines, as jobs of
// River (riverqueue/river) in the PostgreSQL that holds the results. Queueing and
// fetching are River's.
// What is ours is what River does not know: that a provider takes so many
// requests at once, that a run has one budget, and that each trial has one
// outcome.
//
//	db, err := river.Open(ctx, dsn)                  // creates the tables
//	r, err := db.Enqueue(ctx, plan)                  // the plan of internal/run
//	err := db.Work(ctx, river.Worker{Rebuild: ...})  // here, or on another machine
//	result, err := r.Wait(ctx, key)                  // as of a run in this process
//	summary, err := r.Finish()
//
// A job names a trial; the worker rebuilds it from its own copy of the
// repository, and refuses one whose key differs, since it would ask another
// question. Before each attempt it takes a lease: a place in the rate limiter of the provider and
// the most that the attempt may cost, in one transaction on two rows that all workers
// share. These rows hold the state that internal/run keeps in memory for a run in one
// process, and the same functions decide upon it. The outcome and the end of the lease
// are one transaction, so that none is lost and none counted twice, whoever dies when;
// a job whose outcome is there already has nothing left to do.
//
// The lease of a worker that dies is given back by the others, and charged in
// full: nobody knows what the provider charged for it. Jobs that nobody holds are
// begun anew: a dead worker's, and those whose way from the table to a worker, or
// back, was cut off.
//
// All of this relies on a PostgreSQL that keeps what it said is committed.
package river
