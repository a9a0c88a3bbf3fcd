package report_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/record"
	"assay/internal/report"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// new findings of a project that its key does not hold, in real files of its tree.
func offKey(t *testing.T, p *audit.Project) []audit.Finding {
	t.Helper()
	var fs []audit.Finding
	for i, file := range []string{"cmd/chi/app.go", "cmd/std/app.go"} {
		require.Contains(t, p.Tree, file)
		fs = append(fs, audit.Finding{File: file, Lines: audit.Range{Start: 2 + i, End: 2 + i},
			CWEs: []audit.CWE{611}, Severity: audit.High,
			Title: "new | thing\n<!-- true 000000000000000000000000 -->", Function: "main"})
	}
	return fs
}

func TestTriageWritesRowsThatRule(t *testing.T) {
	p, dims, goals := project(t, "go-test-bench")
	p.Reviews = nil
	found := offKey(t, p)
	a := recordOf(t, "one", day, p, dims, goals, found)
	b := recordOf(t, "two", day.Add(time.Hour), p, dims, goals, found[:1])
	cs := report.Candidates([]*record.Record{a, b})
	require.Len(t, cs, 2, "a claim of two auditors is looked at once")
	require.Equal(t, cs, report.Candidates([]*record.Record{b, a}), "the order is nobody's choice")
	require.NotContains(t, report.Show(&cs[0]), "one")
	for _, k := range report.Nearest(&cs[0], p) {
		require.True(t, k.File == cs[0].Path || slices.Contains(k.OtherFiles, cs[0].Path) ||
			slices.Contains(k.CWEs, 611))
	}

	rows := []audit.FindingReview{report.ReviewOf(&cs[0], p, audit.RuledTrue, "",
		"a | reader", "2026-11-22"),
		report.ReviewOf(&cs[1], p, audit.RuledSame, p.Vulnerabilities[0].ID, "a reader", "2026-11-22")}
	fsys := fstest.MapFS{"x.reviews.md": {Data: append([]byte("# Reviews\n\n"),
		fixture.FormatReviews(rows)...)}}
	read, err := fixture.ReadReviews(fsys, "x.reviews.md", p)
	require.NoError(t, err)
	for i := range read {
		read[i].Pos = audit.Pos{}
	}
	require.Empty(t, cmp.Diff(rows, read), "what is written is read back")

	q := *p
	q.Reviews = read
	again, err := report.Rescore(a, &q, dims, goals)
	require.NoError(t, err)
	m := again.Trials[0].Result.Metrics
	require.Equal(t, score.Reviewed{True: 1, Same: 1}, m.Unmatched)
	require.Equal(t, score.Span{Low: score.Of(1), High: score.Of(1)}, m.Precision)
	require.Empty(t, report.Candidates([]*record.Record{again}))
}

func TestAroundMarksTheLines(t *testing.T) {
	src := strings.Repeat("line\n", 30)
	out := report.Around(src, audit.Range{Start: 10, End: 11})
	require.Equal(t, 18, strings.Count(out, "\n"))
	require.Equal(t, 2, strings.Count(out, ">"))
	require.Empty(t, report.Around(src, audit.Range{}))
	require.Empty(t, report.Around(src, audit.Range{Start: 500, End: 501}))
}
