// Package run carries out many trials. It plans them, leaves out those that the store answers
// already, estimates what they cost, sends them in a seeded order at the rate that each provider
// accepts, retries what may succeed later, holds a budget, stores every outcome, and stops in
// good order.
//
//	plan, err := run.Prepare(ctx, config, jobs) // reads the store, sends nothing
//	plan.Estimate                                // what it would cost
//	r, err := plan.Start(ctx)                    // runs in the background
//	result, err := r.Wait(ctx, key)              // one job's result, as soon as it is there
//	summary, err := r.Finish()                   // the whole, accounted for
//
// What is run is an [Job]: a key, a provider, a cost, and a function. A [ReviewTrial]
// (a reviewer judging a case) makes one; any other job can.
//
// Every planned job ends in exactly one outcome, and [Execution.Finish] checks that
// they sum up.
package run
