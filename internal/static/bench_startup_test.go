package static

import (
	"testing"

	"assay/internal/static/rules"
)

// BenchmarkStartup is what the first use costs before any file is read.
func BenchmarkStartup(b *testing.B) {
	for b.Loop() {
		if _, err := rules.Read(); err != nil {
			b.Fatal(err)
		}
	}
}
