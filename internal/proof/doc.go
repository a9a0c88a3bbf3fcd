// Package proof runs cases on the real thing and says whether they are what
// their labels claim.
//
// The path of a family: [Open] gives the [Runner] that its application needs
// (PostgreSQL with the SPEC's schema and data.sql, or a harness in the cases' own
// language). [Check] runs every case on every parameter set, which gives an
// [Effect] for each order of the rows or interleaving of two sessions, and holds
// the effects against the oracles and against each other; [Prove] gives what the
// [Ledger] keeps of it.
// What has to hold, and how to write it, is docs/maintainers/proving-cases.md.
//
// Nothing here judges a reviewer, and nothing that a reviewer says comes here.
package proof
