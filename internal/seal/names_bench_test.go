package seal

import (
	"fmt"
	"testing"

	"assay/audit"
)

// BenchmarkReveal maps back the paths of a report on a project with as many
// renames as the largest of ours, most of which its paths do not hold.
func BenchmarkReveal(b *testing.B) {
	var table []audit.Rename
	for i := range 300 {
		table = append(table, audit.Rename{From: fmt.Sprintf("lesson%d", i),
			To: fmt.Sprintf("page_%03d", i)})
	}
	names := Names(table)
	var found []audit.Finding
	for i := range 200 {
		found = append(found,
			audit.Finding{File: fmt.Sprintf(
				"src/main/java/org/owner/name/page_%03d/Controller.java", i), Function: "show"})
	}
	b.ReportAllocs()
	for b.Loop() {
		names.Reveal(found)
	}
}
