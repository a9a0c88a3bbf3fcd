package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// steady makes n entries of which the first lost are found in every trial of the
// baseline and never after it; the others are found always.
func steady(project string, n, lost int, trials Trials) []Entry {
	var out []Entry
	for i := range n {
		later := 1.0
		if i < lost {
			later = 0
		}
		out = append(out, Entry{project, fmt.Sprint(i), repeat(1, trials.Baseline), repeat(later, trials.Now)})
	}
	return out
}

func repeat(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }

func TestGateRecallByHand(t *testing.T) {
	for _, c := range []struct {
		name     string
		entries  []Entry
		decision Decision
		drop, p  float64
		more     Trials
		used     Trials
	}{
		{"no baseline", steady("a", 40, 4, Trials{0, 3}), NotSettled, math.NaN(), math.NaN(), Trials{3, 0}, Trials{}},
		{"nothing yet", steady("a", 40, 4, Trials{}), NotSettled, math.NaN(), math.NaN(), Trials{3, 3}, Trials{}},
		{"one trial a side settles nothing", steady("a", 40, 4, Trials{1, 1}), NotSettled, 10, math.NaN(), Trials{2, 2}, Trials{}},
		// 4 entries of 40: each could have lost its three finds in 1 of C(6,3) = 20 deals.
		{"four entries lost for good", steady("a", 40, 4, Trials{3, 3}), Drop, 10, math.Pow(20, -4), Trials{}, Trials{3, 3}},
		{"the baseline gives all that it has", steady("a", 40, 4, Trials{12, 3}), Drop, 10, math.Pow(455, -4), Trials{}, Trials{12, 3}},
		{"up to the last look", steady("a", 40, 4, Trials{99, 3}), Drop, 10, math.Pow(2925, -4), Trials{}, Trials{24, 3}},
		{"trials between two looks wait", steady("a", 40, 4, Trials{5, 4}), Drop, 10, math.Pow(56, -4), Trials{}, Trials{5, 3}},
		{"on both sides", steady("a", 40, 4, Trials{4, 4}), Drop, 10, math.Pow(20, -4), Trials{}, Trials{3, 3}},
		// 3 of 60 are 5 points: not more than 5.
		{"at the threshold", steady("a", 60, 3, Trials{3, 3}), NoDrop, 5, math.Pow(20, -3), Trials{}, Trials{3, 3}},
		// 2 of 36 are 5.6 points, and 1 deal of 400 is more than alpha.
		{"two entries need a second look", steady("a", 36, 2, Trials{3, 3}), NotSettled, 100 * 2.0 / 36, 1.0 / 400, Trials{3, 3}, Trials{3, 3}},
		{"and at the second are a drop", steady("a", 36, 2, Trials{6, 6}), Drop, 100 * 2.0 / 36, math.Pow(924, -2), Trials{}, Trials{6, 6}},
		{"only the new side is short", steady("a", 36, 2, Trials{24, 3}), Drop, 100 * 2.0 / 36, math.Pow(2925, -2), Trials{}, Trials{24, 3}},
		{"nothing changed", steady("a", 40, 0, Trials{3, 3}), NoDrop, 0, 1, Trials{}, Trials{3, 3}},
		{"a small key alone decides nothing", steady("a", 18, 9, Trials{12, 12}), NotSettled, 50, math.Pow(2704156, -9), Trials{}, Trials{12, 12}},
		{"and asks for nothing", steady("a", 18, 9, Trials{1, 1}), NotSettled, 50, math.NaN(), Trials{}, Trials{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := GateRecall(c.entries, DefaultPlan())
			require.NoError(t, err)
			require.Equal(t, c.decision, g.Decision, "%+v", g)
			close := cmp.Options{cmpopts.EquateApprox(1e-9, 0), cmpopts.EquateNaNs()}
			require.Empty(t, cmp.Diff(c.drop, g.Drop, close))
			require.Empty(t, cmp.Diff(c.p, g.P, close))
			require.Equal(t, c.more, g.More)
			require.Len(t, g.Parts, 1)
			require.Equal(t, "a", g.Parts[0].Name)
			require.Equal(t, c.used, g.Parts[0].Used)
			require.Equal(t, len(c.entries) >= 30, g.Parts[0].Gates)
			if !g.Parts[0].Gates {
				require.NotEmpty(t, g.Parts[0].Warnings)
			}
		})
	}
}

// One item is no drop, whatever its share.
func TestGateWantsMoreThanOneItem(t *testing.T) {
	plan := DefaultPlan()
	plan.MinItems = 10
	g, err := GateRecall(steady("a", 12, 1, Trials{12, 12}), plan)
	require.NoError(t, err)
	require.Greater(t, g.Drop, plan.Threshold)
	require.Less(t, g.P, 1e-6)
	require.Equal(t, NoDrop, g.Decision)
}

func TestGatePoolsSmallKeysAndSplitsAlpha(t *testing.T) {
	three := Trials{3, 3}
	small := slices.Concat(steady("a", 20, 2, three), steady("b", 20, 2, three))
	names := func(g Gate) (out []string) {
		for _, p := range g.Parts {
			out = append(out, p.Name)
		}
		return out
	}
	g, err := GateRecall(small, DefaultPlan())
	require.NoError(t, err)
	require.Equal(t, Drop, g.Decision)
	require.Equal(t, []string{Pool, "a", "b"}, names(g))
	require.True(t, g.Parts[0].Gates)
	require.False(t, g.Parts[1].Gates || g.Parts[2].Gates)
	require.Equal(t, DefaultPlan().Looks[0].Alpha, g.Parts[0].Alpha)

	g, err = GateRecall(slices.Concat(small, steady("c", 40, 0, three), steady("d", 40, 4, three)), DefaultPlan())
	require.NoError(t, err)
	require.Equal(t, []string{Pool, SmallKeys, "a", "b", "c", "d"}, names(g))
	sum := 0.0
	for _, p := range g.Parts {
		sum += p.Alpha
	}
	require.InDelta(t, DefaultPlan().Looks[0].Alpha, sum, 1e-15)
	for i, want := range []struct {
		share    float64
		decision Decision
	}{{1.0 / 2, Drop}, {1.0 / 6, Drop}, {0, NotSettled}, {0, NotSettled}, {1.0 / 6, NoDrop}, {1.0 / 6, Drop}} {
		require.InDelta(t, want.share*DefaultPlan().Looks[0].Alpha, g.Parts[i].Alpha, 1e-15, g.Parts[i].Name)
		require.Equal(t, want.decision, g.Parts[i].Decision, g.Parts[i].Name)
	}

	// One small key among large ones counts in the pool, and is shown.
	g, err = GateRecall(slices.Concat(steady("a", 20, 10, three), steady("c", 300, 0, three)), DefaultPlan())
	require.NoError(t, err)
	require.Equal(t, []string{Pool, "a", "c"}, names(g))
	require.Equal(t, NoDrop, g.Decision)
	require.Equal(t, 50.0, g.Parts[1].Drop)
	require.Equal(t, NotSettled, g.Parts[1].Decision)
	require.Equal(t, Trials{}, g.Parts[1].More)
}

// Three new runs that come out alike by luck look surer to Welch's test than they
// are, beside 24 of the baseline.
func TestGateDistrustsALuckySpread(t *testing.T) {
	entries := steady("a", 40, 6, Trials{24, 3})
	for i := range 24 {
		for j := range i % 7 {
			entries[20+j].Baseline[i] = 0
		}
	}
	g, err := GateRecall(entries, DefaultPlan())
	require.NoError(t, err)
	scores := make([]float64, 24)
	for i := range scores {
		scores[i] = 100 - 2.5*float64(i%7)
	}
	w, err := Welch(scores, repeat(85, 3))
	require.NoError(t, err)
	e := student(scores, repeat(85, 3))
	require.Greater(t, e.Greater(), 2*w.Greater())
	require.InEpsilon(t, e.Greater(), g.Parts[0].Runs, 1e-9)
	require.InEpsilon(t, e.Upper(DefaultPlan().Looks[0].Miss), g.Parts[0].Upper, 1e-9)
}

// No drop was seen, but runs differ so much that one of 10 points may hide: the
// whole suite must rule it out, up to the last look, which says what it leaves.
func TestGateRulesOutTheToleranceBeforeItStops(t *testing.T) {
	wild := func(n int) []Entry {
		entries := steady("a", 40, 0, Trials{n, n})
		for i := range entries {
			for j := range n {
				if j%3 == 0 {
					entries[i].Baseline[j], entries[i].Now[j] = 0, 0
				}
			}
		}
		return entries
	}
	for n, more := range map[int]Trials{3: {3, 3}, 6: {6, 6}, 12: {12, 12}} {
		g, err := GateRecall(wild(n), DefaultPlan())
		require.NoError(t, err)
		require.Equal(t, NotSettled, g.Decision, "%d trials", n)
		require.Equal(t, more, g.More)
		require.Greater(t, g.Parts[0].Upper, 10.0)
	}
	g, err := GateRecall(wild(24), DefaultPlan())
	require.NoError(t, err)
	require.Equal(t, NoDrop, g.Decision)
	require.Len(t, g.Parts[0].Warnings, 1)
}

// After the last look a drop that chance explains is not settled, and nothing is
// asked for.
func TestGateEndsAtTheLastLook(t *testing.T) {
	entries := steady("a", 40, 0, Trials{24, 24})
	for i := range entries {
		for j := range 24 {
			if j%4 == 0 || i < 5 && j%2 == 0 {
				entries[i].Now[j] = 0
			}
			if j%5 == 0 {
				entries[i].Baseline[j] = 0
			}
		}
	}
	g, err := GateRecall(entries, DefaultPlan())
	require.NoError(t, err)
	require.Greater(t, g.Drop, 5.0)
	require.Equal(t, NotSettled, g.Decision, "%+v", g)
	require.Equal(t, Trials{}, g.More)
	require.Len(t, g.Parts[0].Warnings, 1)
}

// A project in doubt asks for trials of its own; the pool goes on with what all
// have, and the project is judged by all of its own.
func TestGateGivesOneProjectMoreTrials(t *testing.T) {
	rest := steady("rest", 200, 0, Trials{3, 3})
	g, err := GateRecall(slices.Concat(rest, steady("doubt", 36, 2, Trials{3, 3})), DefaultPlan())
	require.NoError(t, err)
	require.Equal(t, NotSettled, g.Decision)
	require.Equal(t, Trials{3, 3}, g.More)
	require.Equal(t, []Decision{NoDrop, NotSettled, NoDrop}, []Decision{g.Parts[0].Decision, g.Parts[1].Decision, g.Parts[2].Decision})

	g, err = GateRecall(slices.Concat(rest, steady("doubt", 36, 2, Trials{6, 6})), DefaultPlan())
	require.NoError(t, err)
	require.Equal(t, Drop, g.Decision)
	require.Equal(t, Trials{}, g.More)
	require.Equal(t, Trials{3, 3}, g.Parts[0].Used)
	require.Equal(t, Trials{6, 6}, g.Parts[1].Used)
	require.Equal(t, g.Parts[1].P, g.P)
}

func TestGateRecallRefuses(t *testing.T) {
	_, err := GateRecall(nil, DefaultPlan())
	require.ErrorIs(t, err, ErrEmpty)
	one := func(change func(e []Entry)) []Entry {
		e := steady("a", 2, 0, Trials{3, 3})
		change(e)
		return e
	}
	for want, entries := range map[string][]Entry{
		"named twice":      one(func(e []Entry) { e[1].ID = e[0].ID }),
		"must be named":    one(func(e []Entry) { e[1].ID = "" }),
		"share its runs":   one(func(e []Entry) { e[1].Now = e[1].Now[:2] }),
		"a, entry 1: cred": one(func(e []Entry) { e[1].Now[0] = 0.7 }),
		"0, 0.5 or 1":      one(func(e []Entry) { e[1].Baseline[0] = math.NaN() }),
	} {
		_, err := GateRecall(entries, DefaultPlan())
		require.ErrorContains(t, err, want)
	}
	for _, spoil := range []func(p *Plan){
		func(p *Plan) { p.Looks = nil }, func(p *Plan) { p.Looks[1].Trials = 3 }, func(p *Plan) { p.Looks[0].Trials = 1 }, func(p *Plan) { p.Looks[3].Trials = 33 },
		func(p *Plan) { p.Looks[0].Alpha = 0 }, func(p *Plan) { p.Looks[0].Miss = math.NaN() }, func(p *Plan) { p.Tolerance = 5 },
		func(p *Plan) { p.Doubt = 6 }, func(p *Plan) { p.MinItems = 0 }, func(p *Plan) { p.MinDrop = math.NaN() },
	} {
		plan := DefaultPlan()
		spoil(&plan)
		_, err := GateRecall(steady("a", 40, 0, Trials{3, 3}), plan)
		require.ErrorContains(t, err, "gate plan")
		_, err = GateBench(family("f", 3, 3), plan)
		require.ErrorContains(t, err, "gate plan")
	}
}

// No order of entries or cases changes an answer.
func TestGateIgnoresOrder(t *testing.T) {
	plan := DefaultPlan()
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		n := rapid.SampledFrom([]int{1, 3, 6}).Draw(t, "trials")
		entries := projects(perRun, 2, "", 5)(rng, n)
		bench := cases(60, 0.3, true, rapid.Bool().Draw(t, "together"), 5)(rng, n)
		for i := range bench {
			if rng.IntN(10) == 0 {
				bench[i].Now[rng.IntN(n)] = math.NaN()
			}
		}
		r1, err1 := GateRecall(entries, plan)
		b1, err2 := GateBench(bench, plan)
		rng.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		rng.Shuffle(len(bench), func(i, j int) { bench[i], bench[j] = bench[j], bench[i] })
		r2, err3 := GateRecall(entries, plan)
		b2, err4 := GateBench(bench, plan)
		for _, err := range []error{err1, err2, err3, err4} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff([]Gate{r1, b1}, []Gate{r2, b2}, cmpopts.EquateNaNs()); d != "" {
			t.Fatalf("another order, another answer (-first +second):\n%s", d)
		}
	})
}

// The simulation leaves out tests that cannot change a decision; it must not
// change one.
func TestLazyDecidesAlike(t *testing.T) {
	plan := DefaultPlan()
	lazy := plan
	lazy.lazy = true
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(simulationSeed, seed))
		entries := projects(perRun, 2, "", float64(seed))(rng, 6)
		bench := cases(240, 0.12, false, true, float64(seed))(rng, 6)
		r1, err := GateRecall(entries, plan)
		require.NoError(t, err)
		r2, err := GateRecall(entries, lazy)
		require.NoError(t, err)
		b1, err := GateBench(bench, plan)
		require.NoError(t, err)
		b2, err := GateBench(bench, lazy)
		require.NoError(t, err)
		for i := range r1.Parts {
			require.Equal(t, r1.Parts[i].Decision, r2.Parts[i].Decision)
		}
		require.Equal(t, b1.Decision, b2.Decision)
		require.Equal(t, r1.More, r2.More)
	}
}

// BenchmarkGate is one decision: seven projects, and 504 cases, at 12 and 24
// trials a side.
func BenchmarkGate(b *testing.B) {
	for _, n := range []int{12, 24} {
		rng := rand.New(rand.NewPCG(1, 1))
		entries := projects(perRun, 2, "", 10)(rng, n)
		bench := cases(504, 0.12, true, true, 10)(rng, n)
		b.Run(fmt.Sprintf("recall/trials=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := GateRecall(entries, DefaultPlan()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("bench/trials=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := GateBench(bench, DefaultPlan()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
