package auditor

import (
	"fmt"
	"strings"

	"assay/audit"
)

// changeFile is the file in a program's home with the change to review, as a patch.
const changeFile = "change.diff"

// variables returns those of a task for a program: $ASSAY_SCOPE, a folder a line, and of a
// change $ASSAY_BASE, $ASSAY_HEAD and $ASSAY_DIFF, the patch at path.
func variables(task audit.AuditTask, path string) (env []string) {
	if len(task.Scope) > 0 {
		env = append(env, "ASSAY_SCOPE="+strings.Join(task.Scope, "\n"))
	}
	if task.Base == "" {
		return env
	}
	// Whoever owns the repository, git reads it, and writes nothing on its own.
	return append(env, "ASSAY_BASE="+task.Base, "ASSAY_HEAD="+task.Head, "ASSAY_DIFF="+path,
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
}

// maxDiff is how much of a change a model is shown at once, in bytes; the rest is in the
// files that it can read.
const maxDiff = 200 << 10

// assignment returns the part of a task that a model is sent after its prompt: folders and
// change; "" for the whole export.
func assignment(task audit.AuditTask) string {
	var b strings.Builder
	if len(task.Scope) > 0 {
		fmt.Fprintf(&b, "\n\nAudit these folders; what is outside of them you may read: %s",
			strings.Join(task.Scope, ", "))
	}
	if task.Base != "" {
		diff := string(audit.Clip([]byte(task.Diff), maxDiff))
		fmt.Fprintf(&b,
			"\n\nReview this change: report the vulnerabilities of the code as it is after it. "+
				"Your tools show the files after the change. The change:\n\n%s", diff)
	}
	return b.String()
}
