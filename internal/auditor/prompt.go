package auditor

import (
	"cmp"
	"strings"

	"assay/audit"
)

// Prompt returns the text that reviewers are sent: the SPEC's Prompt section, the evaluation
// prompt, and the code (with several files, each below its path). It depends on the task alone,
// which has no label, file name, number or description. A second request for an answer says
// what was wrong with the first reply and quotes nothing of it.
func Prompt(t audit.ReviewTask) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(t.Spec))
	b.WriteString("\n\n")
	b.WriteString(strings.TrimSpace(t.Prompt))
	b.WriteString("\n\n")
	blocks := audit.SplitBlocks(t.Language, t.Code)
	for _, block := range blocks {
		b.WriteString("## " + cmp.Or(block.Path, "The change") + "\n\n")
		writeCode(&b, block.Language, block.Code)
		b.WriteString("\n")
	}
	if len(blocks) == 0 {
		writeCode(&b, t.Language, t.Code)
	}
	if t.Unusable != "" {
		b.WriteString("\nAn earlier reply to this could not be used: " +
			audit.OneLine(t.Unusable, 200) +
			". Reply in the form that is asked for, whole, and with nothing after it.\n")
	}
	return b.String()
}

// RequestHash returns the SHA-256 of a task's request text.
func RequestHash(t audit.ReviewTask) string { return sha256Of([]byte(Prompt(t))) }

// writeCode writes code in a fence.
func writeCode(b *strings.Builder, language, code string) {
	f := fence(code)
	b.WriteString(f + language + "\n" + strings.TrimRight(code, "\n") + "\n" + f + "\n")
}

// fence returns enough backticks to fence the code: one more than its longest run,
// at least three.
func fence(code string) string {
	longest, run := 2, 0
	for _, r := range code {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}
