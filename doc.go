// Package assay measures code auditors (language models, audit agents, SAST
// tools) against answer keys, inside go test, and gates their regressions.
//
// The tests in this folder are its suites. Smoke, Regression and Bench are three
// values of one type and run through the same seven stages, each with a file of
// its own in internal/suite:
//
//  1. Collect (collect.go) reads fixtures and returns measurements: one auditor
//     on one project, or one reviewer on one case. audit/fixture reads Markdown
//     and reports mistakes with file and line before anything runs.
//
//  2. Plan (plan.go) makes trials of the measurements that -run and -filter
//     chose. An auditor is given a folder, which internal/seal makes from the
//     pinned commit with the project's own answers removed, and a reviewer is
//     given code: their task types have no field for an answer. The trials
//     become jobs of internal/run, with an estimate of their cost.
//
//  3. Run (run.go) carries the jobs out: rate limits, retries, the budget, and
//     the continuation of an interrupted run are in internal/run, the sandbox in
//     internal/box, auditors and reviewers in internal/auditor. Each outcome is
//     stored as it comes (internal/store). Planned trials are always the sum of
//     the outcomes.
//
//  4. Score (score.go) compares findings with the key. audit/findings reads
//     reports (SARIF, JSON, text), and audit/score matches findings with
//     vulnerabilities. Every finding gets one disposition with its reason.
//
//  5. Judge (judge.go) applies goals and baselines. audit/score decides between
//     PASS, WARN, FAIL and INVALID; internal/stat says which drops chance
//     explains.
//
//  6. Record (record.go) writes the dated test record (internal/record).
//
//  7. Print (print.go) makes the rows of the summary. internal/report makes pages,
//     tables and exports of records and results.
//
// Data flows in this order alone. Statistics never print, and printers never
// compute. TestVerify is apart: it runs the cases themselves on PostgreSQL and
// on their languages' runtimes (internal/proof) and shows that their labels are
// right.
package assay
