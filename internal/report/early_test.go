package report_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/record"
	"assay/internal/report"
)

// A trial that ended early and was made again, and one that ended early twice, say so
// in the record, its page, the tables and every format.
func TestEarlyEndsAreTold(t *testing.T) {
	p, dims, goals := project(t, "go-test-bench")
	rec := recordOf(t, "one", day, p, dims, goals, offKey(t, p))
	rec.Trials[0].Runs, rec.Trials[0].EarlyEnds, rec.Trials[0].Earlier = 2, 1, []string{"it ended early: no <SENTINEL>"}
	rec.Trials = append(rec.Trials, record.RecordedTrial{Invalid: "it ended early, twice: STATS differ",
		Runs: 2, EarlyEnds: 2, Earlier: []string{"it ended early: cut"}})
	in := report.SiteInput{Records: []*record.Record{rec},
		Projects: map[string]*audit.Project{p.Name: p}}

	dir := t.TempDir()
	name, err := rec.Write(filepath.Join(dir, "records"))
	require.NoError(t, err)
	read, err := record.Read(os.DirFS(filepath.Dir(name)), filepath.Base(name))
	require.NoError(t, err)
	require.Equal(t, rec.Broken(), read.Broken())
	require.Contains(t, read.Text(),
		"3 of 4 runs ended early; trial 1 was tried again: it ended early: no <SENTINEL>; "+
			"trial 2 was tried again: it ended early: cut; trial 2 proves nothing: it ended early, twice: STATS differ; ")

	_, err = report.WriteSite(dir, in)
	require.NoError(t, err)
	project := filepath.Join(dir, "projects", "go-test-bench.html")
	for _, page := range []string{filepath.Join(dir, "auditors.html"), project} {
		b, err := os.ReadFile(page)
		require.NoError(t, err)
		require.Contains(t, string(b), "3 of 4 runs ended early", page)
	}
	b, err := os.ReadFile(project)
	require.NoError(t, err)
	require.Contains(t, string(b),
		"<li>trial 1 was tried again: it ended early: no &lt;SENTINEL&gt;</li>")
	require.Contains(t, string(b),
		"<li>trial 2 proves nothing: it ended early, twice: STATS differ</li>")

	require.Contains(t, as(t, "csv", in),
		"\nRegression,go-test-bench,one,,runs that ended early,3,,,4\n")
	for _, format := range []string{"text", "json"} {
		require.Contains(t, as(t, format, in), "one on go-test-bench: 3 of 4 runs ended early",
			format)
	}
}
