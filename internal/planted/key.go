package planted

import (
	"bytes"
	"fmt"
	"strings"

	"assay/audit"
	"assay/audit/fixture"
)

// KeyMarkdown returns the key of a drawn project in the format of fixtures/projects.
func KeyMarkdown(p *audit.Project) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b,
		"# %s\n\n| Field | Value |\n|---|---|\n| Repository | %s |\n| Commit | %s |\n| Language | %s |\n| Expected findings | %d |\n| Recall goal | %g %% |\n",
		p.Title, p.Repository, p.Commit, strings.Join(p.Languages, ", "), p.Expected,
		100*p.RecallGoal)
	if p.Coverage > 0 {
		fmt.Fprintf(&b, "| Coverage goal | %d |\n", p.Coverage)
	}
	b.WriteString("\n# Known Vulnerabilities\n\n" +
		"| ID | Dimension | CWE | Severity | File | Function | Lines | Also | Title | Evidence |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, k := range p.Vulnerabilities {
		b.WriteString(fixture.TableRow(k.ID, string(k.Dimension), audit.JoinCWEs(k.CWEs),
			k.Severity.String(), k.File, strings.Join(k.Functions, ", "),
			k.Lines.String(), strings.Join(k.OtherFiles, ", "), k.Title, k.Evidence))
	}
	if len(p.Decoys) > 0 {
		b.WriteString(
			"\n# Decoys\n\n| ID | Dimension | CWE | File | Function | Lines | Title | Reason |\n|---|---|---|---|---|---|---|---|\n")
	}
	for _, d := range p.Decoys {
		b.WriteString(fixture.TableRow(d.ID, string(d.Dimension), audit.JoinCWEs(d.CWEs), d.File,
			strings.Join(d.Functions, ", "), d.Lines.String(), d.Title, d.Reason))
	}
	return b.Bytes()
}
