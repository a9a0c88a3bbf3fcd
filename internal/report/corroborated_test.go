package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/record"
	"assay/internal/report"
)

// A project's page shows each auditor on the part of the key that something
// beside it corroborates, and no such table where the key has no such part.
func TestAProjectsPageShowsTheCorroboratedPart(t *testing.T) {
	p, dims, goals := project(t, "go-test-bench")
	page := func(corroborated bool) string {
		rec := recordOf(t, "one", day, p, dims, goals, offKey(t, p))
		require.NotZero(t, rec.Trials[0].Result.Metrics.Corroborated.Known)
		if !corroborated {
			rec.Trials[0].Result.Metrics.Corroborated.Known = 0
		}
		dir := t.TempDir()
		_, err := report.WriteSite(dir, report.SiteInput{Records: []*record.Record{rec},
			Projects: map[string]*audit.Project{p.Name: p}})
		require.NoError(t, err)
		pages, err := filepath.Glob(filepath.Join(dir, "projects", "*.html"))
		require.NoError(t, err)
		require.Len(t, pages, 1)
		b, err := os.ReadFile(pages[0])
		require.NoError(t, err)
		return string(b)
	}
	_, table, ok := strings.Cut(page(true), `<table id="corroborated"`)
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "</table>")
	require.Contains(t, table, "one")
	require.Contains(t, table, "0.0 %")
	require.NotContains(t, page(false), "The corroborated part")
}
