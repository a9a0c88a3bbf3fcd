// Package score judges: it holds an auditor's findings against a project's key, a
// reviewer's answers against the cases, and both against goals and baselines.
//
// The way from findings to a verdict, once:
//
//	findings -> Paths        reported paths are brought under the project's root
//	         -> match        entries and findings are assigned, exactly
//	         -> Disposition  each finding ends as one of ten things, with its reason
//	         -> Metrics      recall, precision, F1, coverage, and what stands beside
//	         -> Literal      the same by the methodology's own words
//	         -> Chance       what the same findings score at places drawn by lot
//	         -> Judge        PASS, WARN, FAIL or INVALID against goals and baseline
//
// [Score] does all but the last for one trial. It is a function of its input
// alone: no clock, no randomness but a fixed seed, and the order of findings and
// entries has no say. What it needs of a finding survives a round trip through
// JSON, so that stored findings can be scored again when the rules change.
//
// # What is a match
//
// A finding's first three distinct CWEs count. The finding matches an entry in
// full when one of them is in the entry's CWE set, or is a parent or child of one
// in that set and belongs, by the map of dimensions, to the entry's dimension; and
// when the places agree: the same file, and the same function, or lines that
// overlap or lie within 10 lines. A range of more than 50 lines names no lines. A
// finding that names neither a function nor lines is therefore in no scope; an
// entry that names neither has its file as its scope. In manifests and settings
// (go.mod, pom.xml, Dockerfile, *.yml and the like) each line is its own thing: there
// lines overlap, or the finding names the component that the entry's title names
// before a version. A decoy that a finding hits nearer than an entry takes it.
//
// A deprecated number counts as the weaknesses that the taxonomy names in its
// place, a category of at most 20 weaknesses as any of these.
//
// It matches by half with one of the entry's own CWEs in the entry's file or in
// one that the entry lists under Also, outside of its scope. A finding that
// matches an entry in full never takes half of another, and a finding that a decoy
// has takes nothing. One in a file under Also of an entry that another finding took
// is a duplicate.
//
// # What is precise
//
// Nobody knows all that is wrong in a public project, so precision is a span. Its
// low end counts every finding beside the key that nobody has judged as false, its
// high end as many of them as true as the report has credit. Reviews beside the key
// narrow it. The key of a planted project is whole: there it is one number.
//
// # Complexity
//
// With n findings, k entries and E pairs that match in full, a look-up of all
// pairs takes O(n·log k + E); halves run through one node for each file and CWE, so
// that they add O(n + k) arcs and never n·k. The assignment is one flow; see the type
// flow for its bound.
package score

// Version names the rules by which findings are judged. It is stored in every
// record; figures of different versions are not compared.
const Version = "2"

// A Change is one line of the history of the rules.
type Change struct {
	Version string
	Date    string // YYYY-MM-DD
	What    string
}

// History gives a line for each version, oldest first.
func History() []Change {
	return []Change{
		{"1", "2026-11-21", "full, half and misplaced by CWE and scope; exact assignment; up to three free duplicates a vulnerability"},
		{"2", "2026-11-22", "precision is open-world and reads reviews; in manifests lines overlap or the component is named; a nearer decoy takes the finding; deprecated and category CWEs count as their successors; findings in Also are duplicates; files that the export holds are no missing paths; reasons by F1; recall corrected for chance below half of its goal fails; a violation of a module that states neither rule nor weakness names no site"},
	}
}
