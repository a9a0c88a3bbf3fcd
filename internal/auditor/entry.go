package auditor

import (
	"assay/audit"
	"assay/audit/findings"
	"assay/internal/static"
)

// FromEntry gives the auditor of a section of auditors.md.
func FromEntry(entry audit.AuditorEntry) audit.Auditor {
	if entry.Kind == "static" {
		return Static(findings.SARIF)
	}
	return Command(entry)
}

// RulesHash gives the hash of the rules that an auditor of ours brings along, ""
// for the others: a recording of static with another hash is stale.
func RulesHash(entry audit.AuditorEntry) string {
	if entry.Kind == "static" {
		return static.RulesHash()
	}
	return ""
}
