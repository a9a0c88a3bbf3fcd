package stat

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// family makes six cases, two good and four bad, all right.
func family(name string, baseline, now int) []Item {
	var out []Item
	for i := range 6 {
		out = append(out, Item{ID: fmt.Sprint(i), Family: name, Bad: i >= 2, Baseline: repeat(1, baseline), Now: repeat(1, now)})
	}
	return out
}

func families(n, baseline, now int) []Item {
	var out []Item
	for i := range n {
		out = append(out, family(fmt.Sprint("f", i), baseline, now)...)
	}
	return out
}

func TestGateBenchByHand(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name     string
		change   func(cases []Item)
		families int
		decision Decision
		drop, p  float64
		warnings int
	}{
		{"nothing changed", func([]Item) {}, 6, NoDrop, 0, 1, 0},
		// Family f0 is wrong in every new trial: a sixth of either label. One deal of
		// 20 gives that, and no number of wrong cases in one family changes it.
		{"one family goes", func(c []Item) { wrong(c[:6]) }, 6, NotSettled, 100.0 / 6, 1.0 / 20, 0},
		{"three families go", func(c []Item) { wrong(c[:18]) }, 18, Drop, 100.0 / 6, 1.0 / 8000, 0},
		// All bads of 4 families of 20: recall loses 20 points, specificity none.
		{"bads alone", func(c []Item) {
			for f := range 4 {
				wrong(c[6*f+2 : 6*f+6])
			}
		}, 20, Drop, 10, math.Pow(20, -4), 0},
		{"a case without answers is left out", func(c []Item) { wrong(c[:18]); c[0].Now = []float64{nan, nan, 1} }, 18, Drop,
			50*5.0/35 + 50.0/6, 1.0 / 8000, 1}, // five of the 35 goods that are left, and a sixth of the bads
		{"a trial without an answer does not count", func(c []Item) { wrong(c[:18]); c[0].Now = []float64{nan, 0, 0} }, 18, Drop, 100.0 / 6, 1.0 / 4000, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			cases := families(c.families, 3, 3)
			c.change(cases)
			g, err := summedOne(GateBench(cases, DefaultPlan()))
			require.NoError(t, err)
			require.InDelta(t, c.drop, g.Drop, 1e-9)
			require.InDelta(t, c.p, g.Parts[0].Exchange, 1e-12)
			require.Len(t, g.Parts[0].Warnings, c.warnings, "%v", g.Parts[0].Warnings)
			require.Equal(t, c.decision, g.Decision, "%+v", g)
		})
	}
}

func wrong(cases []Item) {
	for i := range cases {
		cases[i].Now = repeat(0, len(cases[i].Now))
	}
}

// The points aim the randomisation test at balanced accuracy: a good case of a
// family of two good and four bad weighs as much as two bad ones.
func TestBenchPoints(t *testing.T) {
	for labels, want := range map[[2]int][2]int{{80, 160}: {2, 1}, {160, 80}: {1, 2}, {7, 7}: {1, 1}, {100, 37}: {2, 5}, {1, 500}: {5, 1}, {60, 101}: {5, 3}} {
		require.Equal(t, want, (&bench{label: labels}).points(), "%d good, %d bad", labels[0], labels[1])
	}
}

// A missing answer is not a mistake, on either side.
func TestGateBenchMissingAnswersAreNoDrop(t *testing.T) {
	cases := families(10, 3, 3)
	cases[0].Now[1], cases[9].Baseline[2] = math.NaN(), math.NaN()
	g, err := summedOne(GateBench(cases, DefaultPlan()))
	require.NoError(t, err)
	require.Equal(t, NoDrop, g.Decision)
	require.InDelta(t, 0, g.Drop, 1e-9)
	require.InDelta(t, 0, g.Parts[0].Upper, 1e-9, "the run scores are alike: %+v", g.Parts[0])
}

func TestGateBenchAsksForWhatItLacks(t *testing.T) {
	g, err := summedOne(GateBench(families(10, 0, 1), DefaultPlan()))
	require.NoError(t, err)
	require.Equal(t, NotSettled, g.Decision)
	require.Equal(t, Trials{1, 0}, g.More)
	require.True(t, math.IsNaN(g.Drop))

	cases := families(10, 1, 1)
	wrong(cases[:6])
	g, err = summedOne(GateBench(cases, DefaultPlan()))
	require.NoError(t, err)
	require.Equal(t, NotSettled, g.Decision)
	require.InDelta(t, 10, g.Drop, 1e-9)
	require.InDelta(t, 0.5, g.Parts[0].Exchange, 1e-12, "one family, either way")
	require.Positive(t, g.More.Now)
}

// Near the ceiling errors show what points hide. Of 660 cases in 110 families 12
// were judged wrongly; now it is 36, one to a family: 24 families turned, all of
// them one way, 2^-24. Balanced accuracy fell by 3.6 points.
func TestErrorsNearTheCeiling(t *testing.T) {
	ceiling := func(was, is int) []Item {
		cases := families(110, 1, 1)
		for f := range was {
			cases[6*f+2+f%4].Baseline[0] = 0
		}
		for f := range is {
			cases[6*f+2+f%4].Now[0] = 0
		}
		return cases
	}
	for _, c := range []struct {
		was, is  int
		decision Decision
	}{
		{12, 36, Drop},
		{12, 17, NoDrop},     // less than half more
		{12, 18, NotSettled}, // 2^-6 by exchange, and a day
		{0, 1, NoDrop},       // one case
		{0, 2, NotSettled},
		{0, 14, Drop},
	} {
		g, err := summedOne(GateBench(ceiling(c.was, c.is), DefaultPlan()))
		require.NoError(t, err)
		require.Equal(t, c.decision, g.Decision, "%d errors, then %d: %+v", c.was, c.is, g)
		require.Less(t, g.Drop, 5.0)
		require.Equal(t, [2]float64{float64(c.was), float64(c.is)}, g.Parts[0].Errors)
		if c.decision == NotSettled {
			require.Positive(t, g.More.Now)
		}
	}
	g, err := summedOne(GateBench(ceiling(12, 36), DefaultPlan()))
	require.NoError(t, err)
	require.InEpsilon(t, math.Pow(2, -24), g.Parts[0].Exchange, 1e-9)
	require.InDelta(t, 50*24.0/440, g.Drop, 1e-9)
}

// What was asked in one request may have gone wrong together: 12 sites of 12
// families, all in one module, are one deal of two.
func TestModulesGoWrongTogether(t *testing.T) {
	cases := families(30, 1, 1)
	for f := range 12 {
		cases[6*f+2].Now[0] = 0
	}
	plan := DefaultPlan()
	plan.Beside = true
	g, err := summedOne(GateBench(cases, plan))
	require.NoError(t, err)
	require.Equal(t, Drop, g.Decision)
	require.InEpsilon(t, math.Pow(2, -12), g.Parts[0].Exchange, 1e-9)
	for i := range cases {
		cases[i].Group = fmt.Sprint(i % 6)
	}
	g, err = summedOne(GateBench(cases, plan))
	require.NoError(t, err)
	require.Equal(t, NotSettled, g.Decision)
	require.InDelta(t, 0.5, g.Parts[0].Exchange, 1e-12)
}

func TestGateBenchRefuses(t *testing.T) {
	_, err := GateBench(nil, DefaultPlan())
	require.ErrorIs(t, err, ErrEmpty)
	_, err = GateBench(family("f", 3, 3)[:2], DefaultPlan())
	require.ErrorIs(t, err, ErrEmpty, "goods alone have no balanced accuracy")
	silent := family("f", 3, 3)
	for i := range silent {
		silent[i].Now = repeat(math.NaN(), 3)
	}
	_, err = GateBench(silent, DefaultPlan())
	require.ErrorIs(t, err, ErrEmpty)
	for want, change := range map[string]func(c []Item){
		"named twice":   func(c []Item) { c[1].ID = c[0].ID },
		"must be named": func(c []Item) { c[1].Family = "" },
		"with NaN":      func(c []Item) { c[1].Now = c[1].Now[:2] },
		"all or none":   func(c []Item) { c[1].Group = "m" },
		"0, 1 or NaN":   func(c []Item) { c[1].Now[0] = 0.5 },
	} {
		cases := family("f", 3, 3)
		change(cases)
		_, err := GateBench(cases, DefaultPlan())
		require.ErrorContains(t, err, want)
	}
}
