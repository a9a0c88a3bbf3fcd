package stat

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// steady makes n entries, each in a file of its own, of which the first lost are
// found in every trial of the baseline and never after it; the others always.
func steady(project string, n, lost int, trials Trials) []Item {
	var out []Item
	for i := range n {
		later := 1.0
		if i < lost {
			later = 0
		}
		out = append(out, Item{Group: project, ID: fmt.Sprint(i), Family: fmt.Sprint(i), Baseline: repeat(1, trials.Baseline), Now: repeat(later, trials.Now)})
	}
	return out
}

func repeat(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }

// shipped makes the entries of a shipped key by its files, of which a share was
// found, and another is, spread evenly.
func shipped(key int, was, is float64, trials Trials) []Item {
	var out []Item
	n := float64(sum(keyFiles[key]))
	found := func(i int, share float64) float64 {
		k := math.Round(share * n)
		return math.Floor(float64(i+1)*k/n) - math.Floor(float64(i)*k/n)
	}
	for f, m := range keyFiles[key] {
		for range m {
			i := len(out)
			out = append(out, Item{Group: keyNames[key], ID: fmt.Sprint(i), Family: fmt.Sprint(f),
				Baseline: repeat(found(i, was), trials.Baseline), Now: repeat(found(i, is), trials.Now)})
		}
	}
	return out
}

// What real reports showed: in each key 95.9 % after which comes 2.0 % is a drop at
// one trial against one, and 61 % after which comes 45 % is one that more trials
// settle: where they show the same, they do.
func TestOneTrialSettlesACollapse(t *testing.T) {
	for k, name := range keyNames {
		g, err := summed(GateRecall(shipped(k, 0.959, 0.020, Trials{1, 1}), DefaultPlan()))
		require.NoError(t, err)
		require.Equal(t, Drop, g.Decision, "%s: %+v", name, g)
		require.Equal(t, Trials{}, g.More)

		g, err = summed(GateRecall(shipped(k, 0.61, 0.45, Trials{1, 1}), DefaultPlan()))
		require.NoError(t, err)
		require.Equal(t, NotSettled, g.Decision, "%s: %+v", name, g)
		require.Greater(t, g.More.Now, 1, name)
		require.True(t, g.Beside, "%s: what a day may do is too much", name)
		plan := DefaultPlan()
		plan.Beside = true
		have := g.More
		g, err = summed(GateRecall(shipped(k, 0.61, 0.45, have), plan))
		require.NoError(t, err)
		require.Equal(t, Drop, g.Decision, "%s after %+v: %+v", name, have, g)
	}
}

// One of seven projects collapses, the others stay: its second trial says so.
func TestOneProjectIsConfirmedByASecondTrial(t *testing.T) {
	suite := func(n int) (out []Item) {
		for k := range keyNames {
			is := 0.9
			if k == 0 {
				is = 0.05
			}
			out = append(out, shipped(k, 0.9, is, Trials{3, n})...)
		}
		return out
	}
	g, err := summed(GateRecall(suite(1), DefaultPlan()))
	require.NoError(t, err)
	require.Equal(t, NotSettled, g.Decision)
	require.Equal(t, keyNames[0], g.Parts[1].Name)
	require.False(t, g.Parts[1].Gates)
	require.Equal(t, Trials{0, 1}, g.Parts[1].More)
	require.False(t, g.Parts[1].Beside)

	g, err = summed(GateRecall(suite(2), DefaultPlan()))
	require.NoError(t, err)
	require.Equal(t, Drop, g.Decision)
	require.Equal(t, Drop, g.Parts[1].Decision)
	require.NotEqual(t, Drop, g.Parts[0].Decision)
	require.Equal(t, Trials{3, 2}, g.Parts[1].Used)
	require.Equal(t, Trials{3, 1}, g.Parts[0].Used, "the pool waits for its next look")
	require.Equal(t, g.Parts[1].P, g.P)
}

// Two projects, of which one finds nothing: the pool's drop is that of one, which
// more trials must confirm.
func TestThePoolsDropStandsWithoutTheWorst(t *testing.T) {
	entries := slices.Concat(steady("a", 200, 200, Trials{3, 1}), steady("b", 200, 0, Trials{3, 1}))
	g, err := summed(GateRecall(entries, DefaultPlan()))
	require.NoError(t, err)
	require.Equal(t, NotSettled, g.Decision)
	require.Equal(t, NotSettled, g.Parts[0].Decision)
	require.Equal(t, Trials{0, 2}, g.Parts[0].More)
	require.NotEmpty(t, g.Parts[0].Warnings)
	entries = slices.Concat(steady("a", 200, 150, Trials{3, 1}), steady("b", 200, 150, Trials{3, 1}))
	g, err = summed(GateRecall(entries, DefaultPlan()))
	require.NoError(t, err)
	require.Equal(t, Drop, g.Decision)
}

// 40 entries, each a file; 30 are lost at one trial against one. Each lost entry
// could as well have been lost the other way round: 2^-30 by exchange, a normal
// quantile of 6.12, so a standard error of 75/6.12 points by the luck of entries.
// Recall is 62.5 % in the mean: a logit is worth 23.4 points there. A trial of one
// project moves up to 0.50 logits, of which 0.15 may be the day's: twice
// 23.4^2 (0.25 - 0.0225) and twice 23.4^2 0.0225, together 23.4^2 0.5.
func TestThePredictiveTestByHand(t *testing.T) {
	exchange := math.Pow(2, -30)
	luck := 75 / distuv.UnitNormal.Quantile(exchange)
	slope := 100 * 0.625 * 0.375
	for _, c := range []struct {
		trials Trials
		beside bool
		noise  float64 // logits squared
	}{{Trials{1, 1}, false, 0.5}, {Trials{1, 1}, true, 0.5}} {
		plan := DefaultPlan()
		plan.Beside = c.beside
		g, err := summed(GateRecall(steady("a", 40, 30, c.trials), plan))
		require.NoError(t, err)
		want := distuv.UnitNormal.Survival(75 / math.Sqrt(luck*luck+slope*slope*c.noise))
		require.InEpsilon(t, exchange, g.Parts[0].Exchange, 1e-9)
		require.InEpsilon(t, want, g.P, 1e-9)
		require.Equal(t, Drop, g.Decision)
		require.Equal(t, plan.looks[0].alpha, g.Parts[0].Alpha)
		require.Equal(t, [2]float64{0, 30}, g.Parts[0].Errors)
		require.Equal(t, 30.0, g.Parts[0].Lost)
	}
	// Against three of the baseline: each lost entry is one deal of four. Apart, trials
	// move 0.2275 (1/1 + 1/3), days 0.045.
	g, err := summed(GateRecall(steady("a", 40, 30, Trials{3, 1}), DefaultPlan()))
	require.NoError(t, err)
	luck = 75 / distuv.UnitNormal.Quantile(math.Pow(4, -30))
	require.InEpsilon(t, distuv.UnitNormal.Survival(75/math.Sqrt(luck*luck+slope*slope*(0.2275*4/3+0.045))), g.P, 1e-9)
}

// Three trials a side that do not differ among themselves speak for themselves:
// what is left of chance is the luck of entries, 20^-4, and the day.
func TestMeasuredTrialsByHand(t *testing.T) {
	plan := DefaultPlan()
	plan.Beside = true
	g, err := summed(GateRecall(steady("a", 40, 4, Trials{3, 3}), plan))
	require.NoError(t, err)
	require.Equal(t, Drop, g.Decision)
	require.InEpsilon(t, math.Pow(20, -4), g.P, 1e-9)
	g, err = summed(GateRecall(steady("a", 40, 4, Trials{3, 3}), DefaultPlan()))
	require.NoError(t, err)
	luck := 10 / distuv.UnitNormal.Quantile(math.Pow(20, -4))
	slope := 100 * 0.95 * 0.05
	require.InEpsilon(t, distuv.UnitNormal.Survival(10/math.Sqrt(luck*luck+slope*slope*0.045)), g.P, 1e-9)
	// In one file they may all have gone at once, in one deal of 20.
	entries := steady("a", 40, 4, Trials{3, 3})
	for i := range 4 {
		entries[i].Family = "main.go"
	}
	g, err = summed(GateRecall(entries, plan))
	require.NoError(t, err)
	require.Equal(t, NotSettled, g.Decision)
	require.InEpsilon(t, 1.0/20, g.Parts[0].Exchange, 1e-9)
}

func TestWhatCounts(t *testing.T) {
	besides := DefaultPlan()
	besides.Beside = true
	for _, c := range []struct {
		name     string
		entries  []Item
		decision Decision
	}{
		{"nothing changed", steady("a", 40, 0, Trials{3, 3}), NoDrop},
		{"no baseline", steady("a", 40, 4, Trials{0, 3}), NotSettled},
		{"one entry is none, whatever its share", steady("a", 12, 1, Trials{24, 24}), NoDrop},
		// 4 of 200 are 2 points, from no miss to four.
		{"errors rise under 5 points", steady("a", 200, 4, Trials{6, 6}), Drop},
		{"too few trials for them", steady("a", 200, 4, Trials{1, 1}), NotSettled},
		// 8 missed and 11: less than half more, and 1.5 points.
		{"errors rise by less than half", slices.Concat(steady("a", 192, 3, Trials{24, 24}), missed("a", 8, 24)), NoDrop},
		{"errors rise by half", slices.Concat(steady("a", 192, 4, Trials{24, 24}), missed("a", 8, 24)), Drop},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := summed(GateRecall(c.entries, besides))
			require.NoError(t, err)
			require.Equal(t, c.decision, g.Decision, "%+v", g)
		})
	}
	g, err := summed(GateRecall(steady("a", 40, 4, Trials{0, 3}), besides))
	require.NoError(t, err)
	require.Equal(t, Trials{1, 0}, g.More)
	require.True(t, math.IsNaN(g.Drop))
	// A better auditor is no drop, however few trials there are to say so with.
	better := steady("a", 200, 100, Trials{3, 3})
	for i := range better {
		better[i].Baseline, better[i].Now = better[i].Now, better[i].Baseline
	}
	g, err = summed(GateRecall(better, besides))
	require.NoError(t, err)
	require.Equal(t, NoDrop, g.Decision)
	require.Negative(t, g.Drop)
}

// missed makes entries that are never found.
func missed(project string, n, trials int) []Item {
	out := steady(project, n, 0, Trials{trials, trials})
	for i := range out {
		out[i].ID = fmt.Sprint("missed", i)
		out[i].Baseline, out[i].Now = repeat(0, trials), repeat(0, trials)
	}
	return out
}

// Runs that differ more than was bounded are believed.
func TestWildTrialsAreBelieved(t *testing.T) {
	entries := steady("a", 200, 180, Trials{3, 3})
	for i := range entries {
		entries[i].Baseline[1], entries[i].Now[1] = entries[i].Now[1], entries[i].Baseline[1]
	}
	g, err := summed(GateRecall(entries, DefaultPlan()))
	require.NoError(t, err)
	require.Equal(t, NotSettled, g.Decision, "%+v", g)
	require.Greater(t, g.Drop, 25.0)
	require.Greater(t, g.P, 0.1)
}

// Apart from the baseline even many trials leave what a day may do: the gate asks
// for trials beside each other, all of them new.
func TestADayIsCuredBeside(t *testing.T) {
	entries := steady("a", 100, 0, Trials{24, 24})
	for i := range entries {
		for j := range 24 {
			if (i+j)%2 == 0 {
				entries[i].Baseline[j] = 0
			}
			if (i+j)%2 == 0 || i < 12 {
				entries[i].Now[j] = 0
			}
		}
	}
	g, err := summed(GateRecall(entries, DefaultPlan()))
	require.NoError(t, err)
	require.Equal(t, NotSettled, g.Decision)
	require.InDelta(t, 6, g.Drop, 1e-9)
	require.True(t, g.Beside)
	require.Positive(t, g.More.Now)
	require.Equal(t, g.More.Baseline, g.More.Now)
	plan := DefaultPlan()
	plan.Beside = true
	g, err = summed(GateRecall(entries, plan))
	require.NoError(t, err)
	require.Equal(t, Drop, g.Decision, "%+v", g)
}

func TestTrialsBetweenTwoLooksWait(t *testing.T) {
	entries := steady("a", 40, 20, Trials{5, 5})
	for i := range entries {
		entries[i].Now[3], entries[i].Now[4] = 1, 1
	}
	g, err := summed(GateRecall(entries, DefaultPlan()))
	require.NoError(t, err)
	require.Equal(t, Trials{5, 3}, g.Parts[0].Used)
	require.Equal(t, 50.0, g.Drop)
}

// All alphas together are 0.91 %, and the parts of a look share what it has.
func TestAlphasSumToLessThanOnePercent(t *testing.T) {
	total := earlyAlpha * float64(len(DefaultPlan().looks))
	for i, l := range DefaultPlan().looks {
		total += l.alpha
		if i > 0 {
			require.Greater(t, l.trials, max(confirmed, DefaultPlan().looks[i-1].trials), "looks rise")
		}
	}
	require.InDelta(t, 0.0091, total, 1e-12)
	g, err := summed(GateRecall(slices.Concat(steady("a", 40, 0, Trials{3, 3}), steady("b", 40, 0, Trials{3, 3}), steady("c", 5, 0, Trials{3, 3})), DefaultPlan()))
	require.NoError(t, err)
	sum := 0.0
	for _, p := range g.Parts {
		sum += p.Alpha
	}
	require.InDelta(t, DefaultPlan().looks[1].alpha, sum, 1e-15)
	require.Equal(t, []string{Pool, "a", "b", "c"}, []string{g.Parts[0].Name, g.Parts[1].Name, g.Parts[2].Name, g.Parts[3].Name})
}

func TestGateRecallRefuses(t *testing.T) {
	_, err := GateRecall(nil, DefaultPlan())
	require.ErrorIs(t, err, ErrEmpty)
	one := func(change func(e []Item)) []Item {
		e := steady("a", 2, 0, Trials{3, 3})
		change(e)
		return e
	}
	for want, entries := range map[string][]Item{
		"named twice":       one(func(e []Item) { e[1].ID = e[0].ID }),
		"must be named":     one(func(e []Item) { e[1].ID = "" }),
		"share the runs":    one(func(e []Item) { e[1].Now = e[1].Now[:2] }),
		"1 of a: value 0.7": one(func(e []Item) { e[1].Now[0] = 0.7 }),
		"0, 0.5 or 1":       one(func(e []Item) { e[1].Baseline[0] = math.NaN() }),
	} {
		_, err := GateRecall(entries, DefaultPlan())
		require.ErrorContains(t, err, want)
	}
}

// entriesOf writes a simulated suite down as entries, one a file with its finds as
// halves and wholes.
func entriesOf(run suiteRun) (out []Item) {
	for _, q := range run.projects {
		for f, file := range q.files {
			n := keyFiles[q.name[0]-'a'][f]
			for i := range n {
				e := Item{Group: q.name, ID: fmt.Sprint(f, "/", i), Family: fmt.Sprint(f)}
				for _, v := range file.Baseline {
					e.Baseline = append(e.Baseline, float64(min(2, max(0, v-2*i)))/2)
				}
				for _, v := range file.Now {
					e.Now = append(e.Now, float64(min(2, max(0, v-2*i)))/2)
				}
				out = append(out, e)
			}
		}
	}
	return out
}

// No order of entries, cases or trials changes an answer, nor does what projects
// are called.
func TestGateIgnoresOrder(t *testing.T) {
	close := cmp.Options{cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-9, 1e-9)}
	rapid.Check(t, func(t *rapid.T) {
		src := newSource(rapid.Uint64().Draw(t, "seed"), 1)
		n := rapid.SampledFrom([]int{1, 2, 3}).Draw(t, "trials")
		points := rapid.SampledFrom([]float64{0, 10, 40, 60}).Draw(t, "points")
		w := world{recall: 0.7, alike: 2, run: 0.3}
		suite := w.suite(src, Trials{3, n}, loss{points, 0})
		suite.projects = []project{suite.projects[1], suite.projects[3], suite.projects[5]}
		entries := entriesOf(suite)
		bw := benchWorld{families: 20, errors: 0.1, together: 1, modules: true}
		bench := bw.draw(src, Trials{3, n}, 2, 0)
		for i := range bench {
			if src.IntN(10) == 0 {
				bench[i].Now[src.IntN(n)] = math.NaN()
			}
		}
		answers := func() (out []summary) {
			r, err1 := summed(GateRecall(entries, DefaultPlan()))
			b, err2 := summedOne(GateBench(bench, DefaultPlan()))
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			return []summary{r, b}
		}
		before := answers()
		src.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		src.Shuffle(len(bench), func(i, j int) { bench[i], bench[j] = bench[j], bench[i] })
		base := src.Perm(3)
		turn := func(v []float64) []float64 { return []float64{v[base[0]], v[base[1]], v[base[2]]} }
		for i := range entries {
			entries[i].Baseline = turn(entries[i].Baseline)
		}
		for i := range bench {
			bench[i].Baseline = turn(bench[i].Baseline)
		}
		if d := cmp.Diff(before, answers(), close); d != "" {
			t.Fatalf("another order, another answer (-first +second):\n%s", d)
		}
	})
}

// A larger drop is never less of one: taking finds away from the new side never
// turns a drop into none.
func TestMoreLossIsNoLessADrop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "trials")
		plan := DefaultPlan()
		plan.Beside = rapid.Bool().Draw(t, "beside")
		worst := 0
		for lost := 0; lost <= 60; lost += 4 {
			g, err := summed(GateRecall(steady("a", 60, lost, Trials{3, n}), plan))
			if err != nil {
				t.Fatal(err)
			}
			if s := severity(g.Decision); s < worst {
				t.Fatalf("%d lost: %s", lost, g.Decision)
			} else {
				worst = s
			}
		}
		if worst != severity(Drop) {
			t.Fatal("losing everything is no drop")
		}
	})
}

// The simulation leaves out tests that cannot change a decision, and takes the
// normal limit of large ones; it must not change a decision, but where the chance lies
// within an eighth of its alpha.
func TestLazyDecidesAlike(t *testing.T) {
	plan := DefaultPlan()
	lazy := plan
	lazy.lazy = true
	src := newSource(simulationSeed, 5)
	for i := range 24 {
		w := world{recall: 0.7, alike: 2, run: 0.3}
		run := w.suite(src, Trials{3, 3}, loss{float64(i), 0})
		projects, _ := run.cut(Trials{3, 1 + i%3})
		r1, err := summed(plan.recall(projects))
		require.NoError(t, err)
		r2, err := summed(lazy.recall(projects))
		require.NoError(t, err)
		border := false
		for i, p := range r1.Parts {
			if near := math.Abs(p.P-p.Alpha) < p.Alpha/8; near {
				border = true
				continue
			}
			require.Equal(t, p.Decision, r2.Parts[i].Decision, "%s: p %g and %g, alpha %g", p.Name, p.P, r2.Parts[i].P, p.Alpha)
		}
		if !border {
			require.Equal(t, r1.More, r2.More)
		}
		bw := benchWorld{families: 110, errors: 0.02, alike: 2}
		cases := bw.draw(src, Trials{1, 1}, 1+float64(i)/6, 0)
		b1, err := summedOne(GateBench(cases, plan))
		require.NoError(t, err)
		b2, err := summedOne(GateBench(cases, lazy))
		require.NoError(t, err)
		require.Equal(t, b1.Decision, b2.Decision)
	}
}

// BenchmarkGate is one decision: seven projects, and 660 cases, at 12 trials a
// side.
func BenchmarkGate(b *testing.B) {
	src := newSource(1, 1)
	entries := entriesOf((&world{recall: 0.7, alike: 2}).suite(src, Trials{12, 12}, loss{10, 0}))
	bench := (&benchWorld{families: 110, errors: 0.02}).draw(src, Trials{12, 12}, 2, 0)
	b.Run("recall", func(b *testing.B) {
		for b.Loop() {
			if _, err := GateRecall(entries, DefaultPlan()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bench", func(b *testing.B) {
		for b.Loop() {
			if _, err := GateBench(bench, DefaultPlan()); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A summary is what the parts say together: these tests measure how often that is
// wrong. What the whole asks for goes before what single projects do.
type summary struct {
	Decision Decision
	Drop     float64 // percentage points, baseline minus now, over everything
	P        float64 // of the part that decided: the first that dropped, else the whole
	More     Trials
	Beside   bool
	Parts    []Part
}

func summed(parts []Part, err error) (summary, error) {
	if err != nil {
		return summary{}, err
	}
	g := summary{Decision: NoDrop, Drop: parts[0].Drop, P: parts[0].P, Parts: parts}
	for _, p := range parts {
		switch {
		case p.Decision == Drop:
			g.Decision, g.P, g.More, g.Beside = Drop, p.P, Trials{}, false
			return g, nil
		case p.Decision == NotSettled && parts[0].Decision != NotSettled || g.Decision == NoDrop:
			g.Decision = p.Decision
			g.More = Trials{max(g.More.Baseline, p.More.Baseline), max(g.More.Now, p.More.Now)}
			g.Beside = g.Beside || p.Beside
		}
	}
	return g, nil
}

func summedOne(part Part, err error) (summary, error) { return summed([]Part{part}, err) }
