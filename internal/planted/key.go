package planted

import (
	"bytes"
	"fmt"
	"strings"

	"assay/audit"
)

// KeyMarkdown writes a drawn project's key in the format of fixtures/projects, so
// that what reads those reads it (with its tree beside it) and a person can.
func KeyMarkdown(p *audit.Project) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n| Field | Value |\n|---|---|\n| Repository | %s |\n| Commit | %s |\n| Language | %s |\n| Expected findings | %d |\n| Recall goal | %g %% |\n",
		p.Title, p.Repository, p.Commit, strings.Join(p.Languages, ", "), p.Expected, 100*p.RecallGoal)
	if p.Coverage > 0 {
		fmt.Fprintf(&b, "| Coverage goal | %d |\n", p.Coverage)
	}
	b.WriteString("\n# Known Vulnerabilities\n\n")
	tableLine(&b, "ID", "Dimension", "CWE", "Severity", "File", "Function", "Lines", "Also", "Title", "Evidence")
	b.WriteString(strings.Repeat("|---", 10) + "|\n")
	for _, k := range p.Known {
		tableLine(&b, k.ID, string(k.Dimension), cweCell(k.CWEs), k.Severity.String(), k.File, strings.Join(k.Functions, ", "),
			k.Lines.String(), strings.Join(k.Also, ", "), k.Title, k.Evidence)
	}
	if len(p.Decoys) == 0 {
		return b.Bytes()
	}
	b.WriteString("\n# Decoys\n\n")
	tableLine(&b, "ID", "Dimension", "CWE", "File", "Function", "Lines", "Title", "Reason")
	b.WriteString(strings.Repeat("|---", 8) + "|\n")
	for _, d := range p.Decoys {
		tableLine(&b, d.ID, string(d.Dimension), cweCell(d.CWEs), d.File, strings.Join(d.Functions, ", "), d.Lines.String(), d.Title, d.Reason)
	}
	return b.Bytes()
}

func tableLine(b *bytes.Buffer, cells ...string) {
	for _, c := range cells {
		fmt.Fprintf(b, "| %s ", strings.ReplaceAll(c, "|", `\|`))
	}
	b.WriteString("|\n")
}

func cweCell(cwes []audit.CWE) string {
	var s []string
	for _, w := range cwes {
		s = append(s, w.String())
	}
	return strings.Join(s, ", ")
}
