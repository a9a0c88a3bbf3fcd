//go:build unix

package suite

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBadFiles: whatever stands in the place of a file that a suite or a command
// reads, it says so and ends.
func TestBadFiles(t *testing.T) {
	kinds := map[string]struct {
		put  func(name string) error
		want string
	}{
		"a FIFO": {func(name string) error { return syscall.Mkfifo(name, 0o644) }, "FIFO"},
		// which lies outside of the root
		"a device": {func(name string) error { return os.Symlink("/dev/zero", name) }, ""},
		"a loop of links": {func(name string) error {
			return os.Symlink(filepath.Base(name),
				name)
		}, "too many levels of symbolic links"},
		"100 MB": {func(name string) error {
			if err := os.WriteFile(name, nil, 0o644); err != nil {
				return err
			}
			return os.Truncate(name, 100<<20)
		}, "104857600 bytes"},
	}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			for _, place := range []string{"tests/shop/f1-01-good.md", "tests/shop/SPEC.md",
				"fixtures/goals.md", "fixtures/auditors.md", "fixtures/projects/demo.md",
				"fixtures/recordings/canned/demo.provenance.json",
				"fixtures/baselines/canned/demo.json", "fixtures/prompts/evaluation-prompt.txt",
				"results.db"} {
				h := newHouse(t)
				h.corpus(1)
				h.demo(2)
				h.record(found(2))
				h.copy("fixtures/goals.md")
				at := h.path(place)
				require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
				require.NoError(t, os.RemoveAll(at))
				require.NoError(t, kind.put(at))
				f := play(t, "TestBench", h.suite("-model", "control-words").Bench)
				said := strings.Join(f.complaints(), "\n")
				if strings.Contains(place, "projects") || strings.Contains(place, "recordings") ||
					strings.Contains(place, "baselines") {
					f = play(t, "TestRegression", h.suite().Regression)
					said = strings.Join(f.complaints(), "\n")
				}
				require.True(t, f.Failed(), "%s at %s: %s", name, place, said)
				require.Contains(t, said, filepath.Base(at), place)
				if place != "results.db" { // whose size has no bound
					require.Contains(t, said, kind.want, place)
				}
			}
		})
	}
}
