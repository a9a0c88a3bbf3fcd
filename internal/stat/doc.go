// Package stat holds the statistics of Assay: how sure a figure is, and whether
// a change made an auditor or a reviewer worse.
//
// # The pipeline
//
// Trials come in as numbers, for gates and comparisons as an [Item]: what an entry of
// a key earned in a run (0, 0.5 or 1), whether a case was judged rightly (1 or 0, NaN
// for no answer). Out come
//
//   - intervals: [Wilson] and [ClopperPearson] for independent items,
//     [Proportion] and [Balanced] for answers that stand in families;
//   - the gate: [GateRecall] for projects, [GateBench] for cases and sites,
//     [EarlyEnds] for runs that did not come to their end. Each says drop, no
//     drop or not settled, and what would settle it;
//   - comparisons: [Compare] sets two reviewers or auditors against each other on
//     the same cases or entries.
//
// # Assumptions, not tests
//
// A caller picks a function by what it is ready to assume, and each function
// says what that is:
//
//   - Wilson, ClopperPearson: items are independent and alike.
//   - Proportion, Balanced: families are independent of each other; within a
//     family anything goes.
//   - Exchange: had nothing changed, the trials of one stratum (a file, a family)
//     could have come in any order, on either side; strata are independent of
//     each other within a trial.
//   - The gate adds to that what moves whole trials: no more than is bounded
//     beforehand, or, of three trials a side and more, as much as the scores of
//     the runs show, if those are independent and roughly normal.
//
// Doubt is data: an [Interval] and a [Part] carry warnings that name what is
// missing. Nothing here prints. Whatever draws random numbers takes a seed, and
// no result depends on the order of its input.
package stat
