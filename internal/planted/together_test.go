package planted_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/internal/planted"
)

// TestNoShortcutOverAll: the same small leaning in each project is none in one and
// may be one in all.
func TestNoShortcutOverAll(t *testing.T) {
	var all []*planted.Template
	for _, name := range []string{"club", "grants", "marina", "workshop"} {
		p, err := planted.Read(os.DirFS("../../fixtures/planted"), name)
		require.NoError(t, err)
		all = append(all, p)
	}
	leak := planted.Leaks(999, all...)
	var b strings.Builder
	leak.Tell(&b)
	require.GreaterOrEqual(t, leak.P, planted.LeastP, b.String())
}
