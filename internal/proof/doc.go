// Package proof runs cases on their real runtime and reports whether they do what their labels
// claim.
//
// [Open] returns the [Runner] of an application: PostgreSQL with the SPEC's schema and
// data.sql, or a harness in the cases' own language. [Check] runs every case of a family on
// every parameter set. A run yields one [Effect] for each order of the rows, or for each
// interleaving of two sessions. Check compares the effects with the oracles and with each
// other. [Prove] does the same and returns the entry for the [Ledger].
//
// docs/maintainers/proving-cases.md says what has to hold and how to write it.
package proof
