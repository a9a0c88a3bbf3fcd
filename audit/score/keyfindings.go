package score

import "assay/audit"

// AsFindings plays a project's key back as the findings of an auditor that knows
// it by heart, one for each known vulnerability in the key's order. Scored
// against that key they reach 1 everywhere; a key for which they do not is
// broken.
func AsFindings(p *audit.Project) []audit.Finding {
	fs := make([]audit.Finding, 0, len(p.Vulnerabilities))
	for i := range p.Vulnerabilities {
		k := &p.Vulnerabilities[i]
		f := audit.Finding{
			ID: k.ID, CWEs: k.CWEs, Severity: k.Severity, Dimension: k.Dimension,
			File: k.File, Lines: k.Lines, Title: k.Title, Description: k.Evidence,
		}
		if len(k.Functions) > 0 {
			f.Function = k.Functions[0]
		}
		fs = append(fs, f)
	}
	return fs
}
