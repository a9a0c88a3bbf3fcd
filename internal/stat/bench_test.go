package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// cases returns n families of six cases, two good and four bad, all judged rightly.
func cases(n, baseline, now int) (out []Item) {
	for f := range n {
		for i := range 6 {
			out = append(out, Item{ID: fmt.Sprint(i), Family: fmt.Sprint("f", f), Bad: i >= 2,
				Baseline: slices.Repeat([]float64{1}, baseline),
				Now:      slices.Repeat([]float64{1}, now)})
		}
	}
	return out
}

func fail(cases []Item) {
	for i := range cases {
		cases[i].Now = make([]float64, len(cases[i].Now))
	}
}

func TestGateBenchByHand(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name     string
		families int
		change   func(c []Item)
		decision Decision
		drop, p  float64
		warnings int
	}{
		{"nothing changed", 6, func([]Item) {}, NoDrop, 0, 1, 0},
		// One of 20 exchanges has family f0 wrong in every new trial, however many cases it has.
		{"one family fell", 6, func(c []Item) { fail(c[:6]) }, PossibleDrop, 1.0 / 6, 1.0 / 20, 0},
		{"three families fell", 18, func(c []Item) { fail(c[:18]) }, Drop, 1.0 / 6, 1.0 / 8000, 0},
		// All bad cases of 4 families of 20: recall loses 20 points, specificity none.
		{"bad cases alone", 20, func(c []Item) {
			for f := range 4 {
				fail(c[6*f+2 : 6*f+6])
			}
		}, Drop, 0.1, math.Pow(20, -4), 0},
		{"a case that was not asked is left out", 18,
			func(c []Item) { fail(c[:18]); c[0].Now = []float64{nan, nan, 1} },
			Drop, 0.5*5/35 + 0.5/6, 1.0 / 8000, 1},
		{"a trial that was not asked does not count", 18,
			func(c []Item) { fail(c[:18]); c[0].Now = []float64{nan, 0, 0} },
			Drop, 1.0 / 6, 1.0 / 4000, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			items := cases(c.families, 3, 3)
			c.change(items)
			g, warnings, err := GateBench(items)
			require.NoError(t, err)
			require.Equal(t, c.decision, g.Decision, "%+v", g)
			require.InDelta(t, c.drop, g.Drop, 1e-9)
			require.InDelta(t, c.p, g.P, 1e-12)
			require.Len(t, warnings, c.warnings, "%v", warnings)
		})
	}
}

// Without an error the exchange varies by nothing. The rule of three says that the rate of
// errors may still be 3 of n.
func TestGateBenchRuleOfThree(t *testing.T) {
	g, _, err := GateBench(cases(80, 1, 1))
	require.NoError(t, err)
	require.Equal(t, NoDrop, g.Decision)
	require.InDelta(t,
		1.645*math.Sqrt(2*(0.25*(3.0/320)*(1-3.0/320)/160+0.25*(3.0/640)*(1-3.0/640)/320)),
		g.Bound, 1e-9)
	g, _, err = GateBench(cases(1, 1, 1))
	require.NoError(t, err)
	require.Equal(t, TooWide, g.Decision)
	require.Positive(t, g.Advice.Trials+g.Advice.Units)
}

func TestGateBenchRefuses(t *testing.T) {
	_, _, err := GateBench(cases(3, 0, 1))
	require.ErrorIs(t, err, ErrEmpty)
	for name, change := range map[string]func(c []Item){
		"values":   func(c []Item) { c[0].Now[0] = 0.5 },
		"trials":   func(c []Item) { c[0].Now = c[0].Now[:0] },
		"twice":    func(c []Item) { c[1].ID = c[0].ID },
		"a group":  func(c []Item) { c[1].Group = "g" },
		"a family": func(c []Item) { c[1].Family = "" },
	} {
		c := cases(3, 1, 1)
		change(c)
		_, _, err := GateBench(c)
		require.Error(t, err, name)
	}
}

// The points aim the exchange at balanced accuracy: a good case of a family of two good
// and four bad weighs as much as two bad ones.
func TestBenchPoints(t *testing.T) {
	for labels, want := range map[[2]int][2]int{{80, 160}: {2, 1}, {160, 80}: {1, 2},
		{7, 7}: {1, 1}, {100, 37}: {2, 5}, {1, 500}: {5, 1}, {60, 101}: {5, 3}} {
		require.Equal(t, want, (&bench{label: labels}).points(), "%d good, %d bad",
			labels[0], labels[1])
	}
}

// Reviewers of 10 errors in a hundred on 504 cases of different difficulty: an
// unchanged one WARNs in at most 12 %, and five more errors in a hundred PASS in at most
// 20 %.
func TestMeasuredBench(t *testing.T) {
	draws := 400
	switch {
	case full():
		draws = 4000
	case brief():
		draws = 60
	}
	for _, c := range []struct {
		name   string
		trials int
		more   float64
	}{{"unchanged", 1, 0}, {"unchanged", 3, 0}, {"five more", 1, 0.05}, {"five more", 3, 0.05}} {
		r := rand.New(rand.NewPCG(simulationSeed, 5))
		n := map[Decision]int{}
		for range draws {
			items := cases(84, c.trials, c.trials)
			for i := range items {
				rate := 0.5 * math.Pow(r.Float64(), 4) // some cases are hard; 0.1 on average
				for k := range c.trials {
					items[i].Baseline[k] = outcome(r, rate)
					items[i].Now[k] = outcome(r, rate*(1+c.more/0.1))
				}
			}
			g, _, err := GateBench(items)
			require.NoError(t, err)
			n[g.Decision]++
		}
		share := func(d Decision) float64 { return 100 * float64(n[d]) / float64(draws) }
		t.Logf("%s, %d trials: FAIL %.1f %%, WARN %.1f %%, PASS %.1f %%", c.name, c.trials,
			share(Drop), share(PossibleDrop)+share(TooWide), share(NoDrop))
		if c.more == 0 {
			require.LessOrEqual(t, share(Drop), 1.0)
			require.LessOrEqual(t, share(PossibleDrop)+share(TooWide), 12.0)
		} else {
			require.LessOrEqual(t, share(NoDrop), 20.0)
		}
	}
}

func outcome(r *rand.Rand, errors float64) float64 {
	if r.Float64() < errors {
		return 0
	}
	return 1
}
