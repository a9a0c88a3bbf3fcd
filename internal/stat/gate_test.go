package stat

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// suite returns n projects of 20 entries with these credits.
func suite(n int, baseline, now []float64) (out []ProjectTrials) {
	for i := range n {
		out = append(out, ProjectTrials{string(rune('a' + i)), 20, baseline, now})
	}
	return out
}

func TestGateRecallRules(t *testing.T) {
	good, three := []float64{15, 16, 14}, []float64{15, 16, 14, 15, 14, 16}
	for _, c := range []struct {
		name     string
		projects []ProjectTrials
		want     Decision
		rule     Rule
		advice   Advice
	}{
		{"nothing changed", suite(4, good, []float64{15}), NoDrop, "", Advice{}},
		{"four fell", suite(4, good, []float64{9}), Drop, ByExchange, Advice{}},
		{"four fell, one trial of the baseline", suite(4, good[:1], []float64{9}), PossibleDrop,
			ByExchange,
			Advice{Trials: 2, Baseline: 2, Sure: true}},
		{"one project, one trial", suite(1, good, []float64{9}), PossibleDrop, ByExchange,
			Advice{Trials: 5, Baseline: 3, Sure: true}},
		{"one project, three trials", suite(1, good, []float64{5, 6, 7}), Drop, BySize, Advice{}},
		{"two trials wait for the third", suite(1, good, []float64{9, 1}), PossibleDrop, ByExchange,
			Advice{Trials: 4, Baseline: 3, Sure: true}},
		{"wide", suite(1, []float64{8}, []float64{8}), NoDrop, "", Advice{}},
		{"wider", suite(1, []float64{9}, []float64{8}), TooWide, ByBound,
			Advice{Trials: 2, Baseline: 2}},
		{"one of several", append(suite(6, good, []float64{15}),
			ProjectTrials{"z", 20, good, []float64{2}}),
			PossibleDrop, ByProject, Advice{Trials: 5, Project: "z"}},
		{"one of several, six times", append(suite(6, good, []float64{15}),
			ProjectTrials{"z", 20, good, []float64{2, 3, 2, 4, 2, 2}}),
			Drop, ByProject, Advice{}},
		{"collapse", suite(1, good, []float64{3}), PossibleDrop, ByCollapse,
			Advice{Trials: 1, Project: "a", Sure: true}},
		{"confirmed collapse", suite(1, good, []float64{3, 2}), Drop, ByCollapse, Advice{}},
		{"no collapse of little", suite(1, []float64{7, 7, 7}, []float64{1, 1}), PossibleDrop,
			ByExchange,
			Advice{Trials: 1, Sure: true}},
		{"six do not decide", suite(1, three, []float64{13, 13, 13, 13, 14, 14}), PossibleDrop,
			ByExchange, Advice{Units: 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := GateRecall(c.projects)
			require.NoError(t, err)
			require.Equal(t, c.want, g.Decision, "%+v", g)
			require.Equal(t, c.rule, g.Rule)
			require.Equal(t, c.advice, g.Advice, "%+v", g)
			require.Equal(t, c.rule == ByCollapse && c.want == PossibleDrop, len(g.Confirm) > 0)
		})
	}
	_, err := GateRecall(suite(1, nil, good))
	require.ErrorContains(t, err, "0 baseline and 3 new runs")
}

// The table of the specification: projects of 20 entries, recall 55 %.
func TestD80(t *testing.T) {
	none := math.Inf(1)
	for n, want := range map[int][4]float64{
		1: {none, none, 34, 24}, 4: {none, 24, 17, 12}, 7: {25, 18, 13, 9}, 13: {18, 14, 10, 7},
		26: {13, 10, 7, 5},
	} {
		for i, trials := range [][2]int{{1, 1}, {3, 1}, {3, 3}, {6, 6}} {
			got := D80(suite(n, []float64{11}, nil), 1, trials[0], trials[1])
			if got != want[i] {
				require.InDelta(t, want[i], 100*got, 0.5, "%d projects, %dv%d", n,
					trials[0], trials[1])
			}
		}
	}
	// σ in points at recall 50, 70 and 90 %.
	for n, want := range map[int][3]float64{8: {14, 13, 9}, 20: {11, 10, 6}, 50: {9, 8, 5}} {
		for i, q := range []float64{0.5, 0.7, 0.9} {
			p := ProjectTrials{Entries: n, Now: []float64{q * float64(n)}}
			require.InDelta(t, want[i], 100*p.Sigma(), 1.2, "%d entries, recall %v", n, q)
		}
	}
}

func TestGateRises(t *testing.T) {
	calm, loud := []float64{2, 3, 2}, []float64{9}
	for _, c := range []struct {
		projects  int
		decision  Decision
		of        func([]ProjectTrials) (Gate, error)
		was, is   []float64
		statement string
	}{
		{13, Drop, GateFalseFindings, calm, loud, "tripled"},
		{3, NoDrop, GateFalseFindings, calm, loud, "64 exchanges say too little"},
		{4, PossibleDrop, GateFalseFindings, calm, loud, "256 warn"},
		{13, NoDrop, GateFalseFindings, calm, []float64{1}, "fewer are no rise"},
		{13, PossibleDrop, GateCost, calm, loud, "cost never fails"},
		{13, NoDrop, GateCost, []float64{2, 2, 2}, []float64{2.4}, "less than a quarter more"},
	} {
		g, err := c.of(suite(c.projects, c.was, c.is))
		require.NoError(t, err)
		require.Equal(t, c.decision, g.Decision, c.statement)
	}
}
