package suite

import "fmt"

// removed maps what is gone to what replaces it: commands (assay NAME), flags of go test
// (-NAME, with its variable), variables, and names of auditors and reviewers.
var removed = map[string]string{
	"assay scan":        "assay capture patterns PROJECT records the embedded auditor; to scan a folder of your own use a scanner, and docs/gate.md to measure it",
	"assay merge":       "workers do it: assay enqueue and assay work share one PostgreSQL (docs/maintainers/scale.md)",
	"TEST_TOTAL_SHARDS": "workers do it: assay enqueue and assay work share one PostgreSQL (docs/maintainers/scale.md)",
	"assay rescore":     "assay score RECORD... scores kept reports again; assay score REPORT... --project NAME scores any report",
	"assay tree":        "assay new project NAME --again writes the manifests of a project again",
	"assay control":     "every record shows the chance level; the controls' recordings are replayed by go test -run Regression, and ./internal/auditor/controls_test.go makes them",
	"assay readings":    "a recorded reviewer is a recording like others: assay capture",
	"-twins":            "the variants of a family are asked anyway, as cases of their own",
	"-force":            "a complete run is never reused, so that the same command asks again",
	"-tier":             "areas are projects: go test -run Regression -filter areas",
	"static":            "patterns is the embedded auditor and reviewer",
}

// Removed returns an error that says what replaces a command, flag, variable or name that is
// gone; nil for every other.
func Removed(name string) error {
	if instead, gone := removed[name]; gone {
		return fmt.Errorf("%s was removed: %s", name, instead)
	}
	return nil
}
