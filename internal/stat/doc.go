// Package stat holds the statistics of Assay: how sure a figure is, and whether
// a change made an auditor or a reviewer worse.
//
// # The pipeline
//
// Trials come in as numbers: what an entry of a key earned in a run (0, 0.5 or
// 1), whether a case was judged rightly (1 or 0, NaN for no answer). Out come
//
//   - intervals: [Wilson] and [ClopperPearson] for independent items,
//     [Proportion] and [Balanced] for answers that stand in families,
//     [Bootstrap] for everything else;
//   - the gate: [GateRecall] for projects, [GateBench] for cases. Each says drop,
//     no drop or not settled, and how many trials would settle it;
//   - comparisons: [Compare] sets two reviewers against each other on the same
//     cases.
//
// # Assumptions, not tests
//
// A caller picks a function by what it is ready to assume, and each function
// says what that is:
//
//   - Wilson, ClopperPearson: items are independent and alike.
//   - Proportion, Balanced, Bootstrap: families are independent of each other;
//     within a family anything goes.
//   - Exchange: had nothing changed, the trials of one stratum (an entry, a
//     family) could have come in any order, on either side; strata are
//     independent of each other within a trial. A run in which everything goes
//     well or badly at once breaks the second half.
//   - Welch: the scores of whole runs are independent of each other and roughly
//     normal. Runs in which everything goes badly at once are allowed for.
//   - The gate lets a drop count only when Exchange and Welch both say so, so
//     that it stands when either set of assumptions holds.
//
// No function can see an effect that all runs of one side share and that is not
// the change under test: a model served worse on the day of the second run
// looks like a worse prompt.
//
// Doubt is data: an [Interval] and a [Gate] carry warnings that name what is
// missing. Nothing here prints. Whatever draws random numbers takes a seed, and
// no result depends on the order of its input.
package stat
