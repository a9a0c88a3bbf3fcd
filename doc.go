// Package assay measures code auditors (language models, audit agents, SAST
// tools) against answer keys, inside go test, and gates their regressions.
//
// The tests of this folder are its suites. What happens in each of them is one
// pipeline, told here once:
//
//  1. Fixtures. audit/fixture reads Markdown: a case (code, its label, the
//     requirements that it violates) or a project (a pinned code base with its
//     answer key: known vulnerabilities and decoys). A mistake in a fixture is an
//     error with file and line before anything runs.
//
//  2. Task. Of a case remain the SPEC's Prompt section, the evaluation prompt, the
//     language and the code; of a project remains a folder, which internal/seal
//     made from the pinned commit with the project's own answers blanked. A task
//     has no field that could carry an answer: what an auditor cannot be handed
//     cannot leak.
//
//  3. Asking. internal/auditor holds who is asked: the embedded analyser
//     (internal/patterns), a command, a chat model, the replay of a recording. Many
//     trials run on internal/run, which plans, paces, retries, keeps the budget and
//     resumes; outcomes go to internal/store as they come. Planned trials are the
//     sum of their outcomes, always.
//
//  4. Findings. audit/findings reads what an auditor wrote (SARIF, JSON, a text
//     audit report) and says what it could not use. A report that breaks off is
//     INVALID, and never a recall of 0.
//
//  5. Score. audit/score matches findings with the key, exactly and without regard
//     to order; every finding gets one disposition with its reason. From the matching
//     come recall, precision as an interval over what nobody has reviewed, F1,
//     coverage, and the recall that the same findings reach at random places.
//
//  6. Verdict. Goals are absolute; the drop against the baseline is judged by
//     internal/stat, which knows how much an unchanged auditor varies. PASS, WARN,
//     FAIL, or INVALID for a run that proves nothing.
//
//  7. Record. internal/record writes the dated test record and keeps baselines;
//     internal/report makes pages, tables and summaries of records and results.
//     Statistics never print and printers never compute: headline and detail are
//     one computation.
//
// internal/suite is the adapter between all of this and package testing, and all
// that the tests of this folder import. Cases are held against reality too:
// TestVerify runs them on PostgreSQL and on their languages' runtimes
// (internal/proof).
package assay
