// Package score judges: it holds an auditor's findings against a project's key, a
// reviewer's answers against the cases, and both against goals and baselines.
//
// The way from findings to a verdict, once:
//
//	findings -> Paths        reported paths are brought under the project's root
//	         -> match        entries and findings are assigned, exactly
//	         -> Disposition  each finding ends as one of ten things, with its reason
//	         -> Metrics      recall, precision, F1, coverage, and what stands beside
//	         -> Methodology  the same by the methodology's own words
//	         -> Chance       what the same findings score at random places
//	         -> Judge        PASS, WARN, FAIL or INVALID against goals and baseline
//
// [Score] does all but the last for one trial. It depends on its input alone: no clock, a
// fixed seed, and the order of findings and entries does not matter. What it needs of a
// finding survives a round trip through JSON, so that stored findings can be scored again
// when the rules change.
//
// # What is a match on pinned projects
//
// A finding's first three distinct CWEs and its first three locations count. The finding
// matches an entry in full when one of the CWEs is the entry's own, or a parent or child of
// one that the map of dimensions puts into the entry's dimension; and when one location
// agrees: the same file, and the same function, or lines that overlap or lie within 10
// lines. A range of more than 50 lines names no lines. An entry that names neither function
// nor lines has its file as its scope. In manifests and settings (go.mod, pom.xml,
// Dockerfile, *.yml and the like) each line is its own thing: there lines overlap, or the
// finding names the component that the entry's title names before a version. A decoy that
// a finding hits nearer than an entry takes the finding.
//
// A deprecated number counts as the weaknesses that the taxonomy names in its place, a
// category of at most 20 weaknesses as any of these.
//
// A finding matches partially, for credit 0.5, with one of the entry's own CWEs in the
// entry's file or in one that the entry lists under Also, outside of its scope. A finding
// that matches an entry in full takes no partial credit for another. One in a file under
// Also of an entry that another finding took is a duplicate.
//
// Findings and entries are paired one to one: most full matches, then most partial ones,
// then least distance. The assignment is exact.
//
// # What is a match on planted projects
//
// The place decides: a finding in the function of a bad site, or within 10 lines of it, is a
// match whatever its CWE. At a good site, or off all sites, it is false. There is no partial
// credit. Whether the finding names the site's weakness is a figure of its own,
// classification.
//
// # What is precise
//
// Nobody knows all that is wrong in a public project, so precision is a span. Its
// low end counts every finding beside the key that nobody has judged as false, its
// high end as many of them as true as the report has credit. Reviews beside the key
// narrow it. The key of a planted project is whole: there it is one number.
package score

// Version names the rules by which findings are judged. It is stored in every
// record; figures of different versions are not compared.
const Version = "3"

// A Change is one line of the history of the rules.
type Change struct {
	Version string
	Date    string // YYYY-MM-DD
	What    string
}

// History returns a line for each version, oldest first.
func History() []Change {
	return []Change{
		{"1", "2026-11-21",
			"full, half and misplaced by CWE and scope; exact assignment; up to three free duplicates a vulnerability"},
		{"2", "2026-11-22",
			"precision is open-world and reads reviews; in manifests lines overlap or the component is named; a nearer decoy takes the finding; deprecated and category CWEs count as their successors; findings in Also are duplicates; files that the export holds are no missing paths; reasons by F1; recall corrected for chance below half of its goal fails; a violation of a module that states neither rule nor weakness names no site"},
		{"3", "2026-11-24",
			"three locations of a finding count; planted projects are scored by place, and classification is a figure of its own; chance levels are of 200 random placements, on planted projects of as many sites as the findings touch; equally good assignments may be decided otherwise; the methodology score has no chance level; drops are decided by the exchange of runs within projects, in stages of 1, 3 and 6 trials; goals beside a baseline allow for chance, without a floor; false findings, cost and time are compared"},
	}
}
