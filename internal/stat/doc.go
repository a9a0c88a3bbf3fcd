// Package stat holds the statistics of Assay: how sure a figure is, and whether an
// auditor or a reviewer got worse.
//
// # The gate
//
// [GateRecall] decides whether an auditor's recall dropped. Its unit is the run: credits
// of one project vary between runs of an unchanged auditor several times as much as
// independent entries would, and with heavy tails. So tests over entries (McNemar,
// bootstrap) call far more drops than they claim. The gate exchanges whole runs between
// the sides, within each project ([ExchangeRuns]), which is exact whatever the noise. That
// is weak for one project and strong for many: breadth beats repetition.
//
// It tests at 1, 3 and 6 new trials. A drop is one if p is at most that stage's alpha, or
// by three rules for what few exchanges cannot decide: its size in standard errors of a
// noise table ([ProjectTrials.Sigma]), one of several projects below all of its baseline, or a
// collapse below a quarter of it. [GateFalseFindings] and [GateCost] use the same exchange,
// [GateBench] that of families of cases.
//
// # Assumptions
//
// A caller picks a function by what it is ready to assume.
//
//   - [ExchangeRuns]: if nothing changed, the runs of a project could have come in any
//     order, so the provider is steady or both sides ran beside each other. Projects are
//     independent. Nothing is assumed about the distribution of runs or about entries.
//   - Its bound: also that the drop is equal in all projects.
//   - [BySize], [ByProject], [ByCollapse], [Gate.D80] and the bound below 1,000 exchanges:
//     also that runs vary as the noise table says, times [Gate.Phi]. The table was fitted
//     to published runs of 17 language models on small Python projects.
//   - [ExchangeFamilies], [GateBench]: if nothing changed, the trials of a family could
//     have come on either side. Families are independent within a trial, whatever holds
//     within a family.
//   - [Wilson], [ClopperPearson]: items are independent and alike.
//   - [Proportion], [Balanced], [Compare]: families are independent of each other.
//
// What was measured of this is in docs/gate.md, and TestMeasured measures it again.
//
// Doubt is data: results carry what limits them, and nothing here prints. Whatever draws
// random numbers has a fixed seed, and no result depends on the order of its input.
package stat
