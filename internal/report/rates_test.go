package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
	"assay/internal/report"
)

// Where a key labels both ways, a record's page and the CSV tell what was called
// flawed by CWE, the mean first.
func TestRatesStandInPagesAndCSV(t *testing.T) {
	p, dims, goals := project(t, "go-test-bench")
	rec := recordOf(t, "one", day, p, dims, goals, offKey(t, p))
	rates := rec.Trials[0].Result.Rates
	require.True(t, rates.Mean.Difference.Defined)
	in := report.SiteInput{Records: []*record.Record{rec},
		Projects: map[string]*audit.Project{p.Name: p}}

	dir := t.TempDir()
	_, err := report.WriteSite(dir, in)
	require.NoError(t, err)
	pages, err := filepath.Glob(filepath.Join(dir, "projects", "*.html"))
	require.NoError(t, err)
	b, err := os.ReadFile(pages[0])
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(b), `<table class="rates"`)
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "</table>")
	require.Contains(t, table, "TPR minus FPR")
	require.Equal(t, len(rates.CWEs)+2, strings.Count(table, "<tr>"),
		"a head, the mean and each CWE")

	metrics := 0
	for line := range strings.Lines(as(t, "csv", in)) {
		metric := strings.Split(line, ",")[4]
		if strings.HasSuffix(metric, " mean") || strings.Contains(metric, " CWE-") {
			metrics++
		}
	}
	require.Equal(t, len(score.RateMetrics())*(len(rates.CWEs)+1), metrics)
}
