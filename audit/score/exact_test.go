package score_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

// took says which finding each entry took.
func took(r *score.Result) map[string]string {
	m := map[string]string{}
	for _, k := range r.Known {
		if k.Finding >= 0 {
			m[k.ID] = r.Findings[k.Finding].Finding.ID
		}
	}
	return m
}

// Each of these is lost by an assignment that never takes a choice back.
func TestChoicesAreTakenBack(t *testing.T) {
	for _, c := range []struct {
		name  string
		known []audit.Vulnerability
		fs    []audit.Finding
		want  map[string]string
	}{
		{"a full match: K1's nearest is all that K2 has",
			[]audit.Vulnerability{known("K1", "a.java", 10, 10, 89), known("K2", "a.java", 20, 20, 89)},
			[]audit.Finding{finding("both", "a.java", 12, 12, 89),
				finding("first", "a.java", 5, 5, 89)},
			map[string]string{"K1": "first", "K2": "both"}},
		{"distance: 3 + 2 lines beat 1 + 6",
			[]audit.Vulnerability{known("K1", "a.java", 10, 10, 89), known("K2", "a.java", 13, 13, 89)},
			[]audit.Finding{finding("11", "a.java", 11, 11, 89), finding("7", "a.java", 7, 7, 89)},
			map[string]string{"K1": "7", "K2": "11"}},
		{"a half: the finding that serves both CWEs is all that K2 has",
			[]audit.Vulnerability{known("K1", "a.java", 10, 10, 89), known("K2", "a.java", 20, 20, 22)},
			[]audit.Finding{finding("both", "a.java", 100, 100, 89, 22),
				finding("one", "a.java", 200, 200, 89)},
			map[string]string{"K1": "one", "K2": "both"}},
		{"a half moves a full match to another finding's place",
			[]audit.Vulnerability{known("K1", "a.java", 10, 10, 89), known("K2", "a.java", 25, 25, 89, 22)},
			[]audit.Finding{finding("full", "a.java", 17, 17, 89),
				finding("half", "a.java", 100, 100, 22)},
			map[string]string{"K1": "full", "K2": "half"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, took(mustScore(t, project(c.known...), c.fs...)))
		})
	}
}

// By the literal score a full match is not given up for two halves.
func TestLetterKeepsFullMatches(t *testing.T) {
	p := project(known("K1", "a.java", 10, 10, 89, 22), known("K2", "b.java", 10, 10, 89))
	r := mustScore(t, p, finding("f1", "a.java", 50, 50, 89), finding("f2", "c.java", 1, 1, 22))
	require.Equal(t, 1, r.Methodology.Full)
	require.Equal(t, 0, r.Methodology.Halves)
}

// Of findings that are equal in all that they say the first is taken, by both scores.
func TestOfEqualFindingsTheFirstIsTaken(t *testing.T) {
	fs := make([]audit.Finding, 40)
	for i := range fs {
		fs[i] = finding("same", "a.java", 12, 12, 89)
	}
	r := mustScore(t, project(known("K1", "a.java", 10, 10, 89)), fs...)
	require.Equal(t, 0, r.Known[0].Finding)
	require.Equal(t, "K1", r.Findings[0].MethodologyID)
	for i, f := range r.Findings[1:] {
		require.Equal(t, i < 3, f.Free, "the next three are free")
	}
}
