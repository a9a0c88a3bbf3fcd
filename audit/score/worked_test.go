package score_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

// rows gives the tables of a Markdown page, each row as a map from heading to
// cell, by the table's first heading.
func rows(t *testing.T, file string) map[string][]map[string]string {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	tables := map[string][]map[string]string{}
	var heads []string
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			heads = nil
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case heads == nil:
			heads = cells
		case strings.HasPrefix(cells[0], "---"):
		default:
			row := map[string]string{}
			for i, c := range cells {
				row[heads[i]] = c
			}
			tables[heads[0]] = append(tables[heads[0]], row)
		}
	}
	return tables
}

func cwesOf(t *testing.T, s string) (out []audit.CWE) {
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			c, err := audit.ParseCWE(part)
			require.NoError(t, err)
			out = append(out, c)
		}
	}
	return out
}

func linesOf(s string) (r audit.Range) {
	from, to, ranged := strings.Cut(s, "-")
	r.Start, _ = strconv.Atoi(from)
	r.End = r.Start
	if ranged {
		r.End, _ = strconv.Atoi(to)
	}
	return r
}

func listOf(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// The page's example, scored: every disposition, reason and figure is what the page says.
func TestWorkedExample(t *testing.T) {
	tables := rows(t, "../../docs/maintainers/scoring-example.md")
	p := &audit.Project{Name: "worked", Tree: audit.Tree{},
		Decoys: []audit.Decoy{{ID: "WD", Dimension: audit.Injection,
			CWEs: []audit.CWE{89}, File: "UserDao.java", Functions: []string{"count"},
			Lines: audit.Range{Start: 60, End: 62}}}}
	for _, r := range tables["Path"] {
		n, err := strconv.Atoi(r["Lines"])
		require.NoError(t, err)
		p.Tree[r["Path"]] = audit.TreeFile{Path: r["Path"], Lines: n}
	}
	for _, r := range tables["ID"] {
		sev, err := audit.ParseSeverity(r["Severity"])
		require.NoError(t, err)
		d, err := audit.ParseDimension(r["Dimension"])
		require.NoError(t, err)
		p.Vulnerabilities = append(p.Vulnerabilities, audit.Vulnerability{ID: r["ID"], Dimension: d, CWEs: cwesOf(t, r["CWE"]),
			Severity: sev,
			File:     r["File"], Functions: listOf(r["Function"]), Lines: linesOf(r["Lines"]),
			OtherFiles:   listOf(r["Also"]),
			Corroborated: listOf(r["Corroborated by"])})
	}
	var fs []audit.Finding
	for _, r := range tables["Finding"] {
		sev, err := audit.ParseSeverity(r["Severity"])
		require.NoError(t, err)
		fs = append(fs, audit.Finding{ID: r["Finding"], CWEs: cwesOf(t, r["CWE"]), Severity: sev,
			File:     r["File"],
			Function: r["Function"], Lines: linesOf(r["Lines"]), Suppressed: r["Suppressed"]})
	}
	require.Len(t, p.Vulnerabilities, 6)
	require.Len(t, fs, 12)

	in := score.Input{Project: p, Findings: fs, Dimensions: realDimensions(t),
		Roots: []string{"/export"}}
	r, err := score.Score(in)
	require.NoError(t, err)
	for i, row := range tables["Finding"] {
		require.Equal(t, row["Disposition"], string(r.Findings[i].Disposition), row["Finding"])
		require.Equal(t, row["Reason"], r.Findings[i].Match.String(), row["Finding"])
	}
	for _, f := range score.Dispositions() {
		require.Positive(t, r.Dispositions[f], "the example shows every disposition, %s too", f)
	}
	p.Reviews = []audit.FindingReview{ruled(&fs[7], audit.RuledTrue)}
	reviewed, err := score.Score(in)
	require.NoError(t, err)

	m, l, c := r.Metrics, r.Methodology, r.Metrics.Corroborated
	got := map[string]string{
		"credit": fmt.Sprint(m.Credit), "recall": m.Recall.String(),
		"counted":        fmt.Sprint(m.Counted),
		"precision, low": m.Precision.Low.String(), "precision, high": m.Precision.High.String(),
		"F1, low": m.F1.Low.String(), "F1, high": m.F1.High.String(),
		"coverage": m.Coverage.String(), "covered": fmt.Sprint(len(m.Covered)),
		"severity accuracy":                        m.SeverityAccuracy.String(),
		"hallucinated paths":                       m.HallucinatedPaths.String(),
		"recall, corroborated entries":             c.Recall.String(),
		"counted, corroborated entries":            fmt.Sprint(c.Counted),
		"precision, corroborated entries, low":     c.Precision.Low.String(),
		"precision, corroborated entries, high":    c.Precision.High.String(),
		"F1, corroborated entries, low":            c.F1.Low.String(),
		"F1, corroborated entries, high":           c.F1.High.String(),
		"coverage, corroborated entries":           c.Coverage.String(),
		"severity accuracy, corroborated entries":  c.SeverityAccuracy.String(),
		"precision with F8 reviewed as true, low":  reviewed.Metrics.Precision.Low.String(),
		"precision with F8 reviewed as true, high": reviewed.Metrics.Precision.High.String(),
		"literal, credit":                          fmt.Sprint(l.Credit),
		"literal, recall":                          l.Recall.String(),
		"literal, precision":                       l.Precision.String(),
		"literal, F1":                              l.F1.String(),
	}
	want := map[string]string{}
	for _, row := range tables["Figure"] {
		want[row["Figure"]] = row["Value"]
	}
	require.Equal(t, want, got)
}
