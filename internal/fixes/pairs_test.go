package fixes_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/fixes"
)

// reported is a result that reports these entries.
func reported(ids ...string) *score.Result {
	r := &score.Result{}
	for i, id := range ids {
		r.Known = append(r.Known, score.EntryResult{ID: id, Finding: i, Credit: 1})
	}
	return r
}

// TestPairs counts what two trials say of four entries, each with an outcome of its own, and
// leaves out a contested twin and an entry that nobody read.
func TestPairs(t *testing.T) {
	table := &fixes.Benchmark{Name: "shop"}
	for _, id := range []string{"F01", "F02", "F03", "F04", "F05", "F06"} {
		f := fixes.Fix{ID: id, CheckedBy: "derived", Date: "2026-03-01", CWEs: []audit.CWE{89},
			Places: map[fixes.Revision][]audit.Place{fixes.AtPin: {{File: "a.go"}},
				fixes.AtFixed: {{File: "a.go"}}}}
		switch id {
		case "F05":
			f.Twin = "mended again by 0123456789"
		case "F06":
			f.CheckedBy = "unread"
		}
		table.Fixes = append(table.Fixes, f)
	}
	pool, _ := table.Targets(fixes.Pool)
	pairs := fixes.Pairs(&pool[0], []*score.Result{reported("F01", "F02", "F05", "F06"), nil},
		[]*score.Result{reported("F02", "F04"), reported()})
	require.Equal(t, []fixes.FixPair{{"shop", "F01", 0, fixes.ToldApart},
		{"shop", "F02", 0, fixes.Blind}, {"shop", "F03", 0, fixes.Missed},
		{"shop", "F04", 0, fixes.Reversed}}, pairs)
	s, err := fixes.Summarize(pairs)
	require.NoError(t, err)
	require.Contains(t, s.String(), "told apart 1 of 4 (25 %, ")
	require.Contains(t, s.String(),
		"over the fixes of one repository); found 2, also where mended 1; reversed 1, missed 1")
	_, err = fixes.Summarize(nil)
	require.Error(t, err)
	several := append([]fixes.FixPair{{"club", "F01", 0, fixes.ToldApart}}, pairs...)
	s, err = fixes.Summarize(several)
	require.NoError(t, err)
	require.Contains(t, s.String(), "over 2 repositories")

	ran := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	require.Equal(t, []string{"F01"}, table.Ahead(reported("F01"), ran))
	require.Empty(t, table.Ahead(reported("F01"), ran.AddDate(0, 2, 0)), "its fix was out")
}

// TestBesideKey counts what matches no entry, inside and outside of what a change adds.
func TestBesideKey(t *testing.T) {
	at := func(d score.Disposition, line int, review string) score.Scored {
		return score.Scored{Path: "a.go", Disposition: d, Review: review,
			Finding: audit.Finding{Lines: audit.Range{Start: line, End: line}}}
	}
	r := &score.Result{Findings: []score.Scored{at(score.Matched, 5, ""),
		at(score.Unmatched, 5, "true"), at(score.Unmatched, 50, ""), at(score.PastEnd, 500, "")}}
	require.Equal(t, fixes.Beside{Unknown: 2, Inside: 1, Judged: 1, Wrong: 1},
		fixes.BesideKey(r, map[string][]audit.Range{"a.go": {{Start: 4, End: 6}}}))
}
