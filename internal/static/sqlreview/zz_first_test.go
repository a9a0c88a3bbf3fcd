package sqlreview

import (
	"os"
	"strings"
	"testing"

	"assay/audit"
)

func TestZZFirst(t *testing.T) {
	for _, app := range strings.Fields(os.Getenv("APPS")) {
		c := judgeApp(t, app, func(s snippet, rev audit.Review, ok bool) {
			if !ok {
				t.Logf("testdata/%s/cases.sql:%d: %s: want %s %v, got %s %v (%.2f)\n%s", app, s.line, s.name, s.want, s.violates, rev.Verdict, rev.Violates, rev.Confidence, rev.Explanation)
			}
		})
		t.Logf("%s: %s", app, c)
	}
}
