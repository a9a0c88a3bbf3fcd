package auditor

import (
	"assay/audit"
	"assay/audit/findings"
	"assay/internal/static"
)

// FromEntry returns the auditor of a section of auditors.md. The aliases are further names of
// the model that the section asks.
func FromEntry(entry audit.AuditorEntry, aliases ...string) audit.Auditor {
	if entry.Kind == "static" {
		return Static(findings.SARIF)
	}
	return &command{program{entry: entry, aliases: aliases}}
}

// RulesHash gives the hash of the rules that an auditor of ours brings along, ""
// for the others: a recording of static with another hash is stale.
func RulesHash(entry audit.AuditorEntry) string {
	if entry.Kind == "static" {
		return static.RulesHash()
	}
	return ""
}
