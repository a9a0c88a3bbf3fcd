package auditor

import (
	"assay/audit"
	"assay/audit/findings"
	"assay/internal/patterns"
)

// FromEntry returns the auditor of a section of auditors.md. The aliases are further names of
// the model that the section asks.
func FromEntry(entry audit.AuditorEntry, aliases ...string) audit.Auditor {
	if entry.Kind == "patterns" {
		return patterns.Auditor{Format: findings.SARIF}
	}
	return &command{program{entry: entry, aliases: aliases}}
}

// RulesHash returns the hash of the rules of the embedded auditor, "" for every other
// auditor: a recording of patterns with another hash is stale.
func RulesHash(entry audit.AuditorEntry) string {
	if entry.Kind == "patterns" {
		return patterns.Version()
	}
	return ""
}
