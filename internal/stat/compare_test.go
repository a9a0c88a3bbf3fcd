package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// Darwin's maize, crossed less self-fertilised, in eighths of an inch: R. A.
// Fisher, The Design of Experiments (1935), 21, finds 863 of the 32,768 signs
// with a sum of 314 or more, and as many with -314 or less.
func TestSignFlipIsFishersTest(t *testing.T) {
	darwin := []int{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48}
	require.InDelta(t, 2*863/32768.0, signFlip(darwin), 1e-12)
}

// With differences of one it is the exact sign test, and McNemar's.
func TestSignFlipIsMcNemarsExactTest(t *testing.T) {
	for b := range 15 {
		for c := range 15 {
			var d []int
			for range b {
				d = append(d, 1)
			}
			for range c {
				d = append(d, -1)
			}
			d = append(d, 0, 0)
			want := 1.0
			if b+c > 0 {
				want = min(1, 2*distuv.Binomial{N: float64(b + c), P: 0.5}.CDF(float64(min(b, c))))
			}
			require.InDelta(t, want, signFlip(d), 1e-9, "%d against %d", b, c)
		}
	}
}

func TestSignFlipAgainstAllSigns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.IntRange(-9, 9), 0, 10).Draw(t, "differences")
		sum := 0
		for _, v := range d {
			sum += v
		}
		hits := 0
		for mask := range 1 << len(d) {
			s := 0
			for i, v := range d {
				if mask>>i&1 == 1 {
					v = -v
				}
				s += v
			}
			if max(s, -s) >= max(sum, -sum) {
				hits++
			}
		}
		if want := float64(hits) / float64(int(1)<<len(d)); math.Abs(want-signFlip(d)) > 1e-12 {
			t.Fatalf("got %v, all signs give %v", signFlip(d), want)
		}
	})
}

// pairs makes n cases in families of six. Reviewer A goes wrong with chance a, B
// with chance b; spread is how much the difference itself differs from family to
// family (standard deviation). The luck of a trial is shared within a family
// where together is set.
func pairs(rng *rand.Rand, n, trials int, a, b, spread float64, together bool) []Item {
	var out []Item
	for f := range n / 6 {
		tilt := spread * rng.NormFloat64() / 2
		family := make([]Item, 6)
		for i := range family {
			family[i] = Item{ID: fmt.Sprint(i), Family: fmt.Sprint(f), Bad: i >= 2}
		}
		for range trials {
			ua, ub := rng.Float64(), rng.Float64()
			for i := range family {
				if !together {
					ua, ub = rng.Float64(), rng.Float64()
				}
				family[i].Now = append(family[i].Now, right(ua, a+tilt))
				family[i].Baseline = append(family[i].Baseline, right(ub, b-tilt))
			}
		}
		out = append(out, family...)
	}
	return out
}

func right(u, wrong float64) float64 {
	if u < wrong {
		return 0
	}
	return 1
}

func TestCompareByHand(t *testing.T) {
	// 10 families; A is right everywhere, B calls one bad of each family good: recall
	// 75 %, specificity 100 %, so A leads by 12.5 points. Of 2^10 signs two lie as far.
	var ps []Item
	for f := range 10 {
		for i := range 6 {
			p := Item{ID: fmt.Sprint(i), Family: fmt.Sprint(f), Bad: i >= 2, Now: []float64{1},
				Baseline: []float64{1}}
			if i == 5 {
				p.Baseline[0] = 0
			}
			ps = append(ps, p)
		}
	}
	c, err := Compare(ps, 0.95)
	require.NoError(t, err)
	require.Equal(t, Better, c.Standing)
	require.InDelta(t, 12.5, c.Diff.Center, 1e-9)
	require.InDelta(t, 2/1024.0, c.P, 1e-12)
	require.Equal(t, 10, c.Families)
	require.Equal(t, 60, c.Cases)

	// Five families: two of 2^5 signs are more than one in twenty.
	c, err = Compare(ps[:30], 0.95)
	require.NoError(t, err)
	require.InDelta(t, 2/32.0, c.P, 1e-12)
	require.Equal(t, Inconclusive, c.Standing)

	// A refusal is not a mistake.
	ps[0].Now[0] = math.NaN()
	c, err = Compare(ps, 0.95)
	require.NoError(t, err)
	require.Equal(t, 59, c.Cases)
	require.Len(t, c.Warnings, 1)
	require.InDelta(t, 12.5, c.Diff.Center, 1e-9)

	// Reviewers that agree everywhere: nothing says that they always would.
	for i := range ps {
		ps[i].Now, ps[i].Baseline = []float64{1}, []float64{1}
	}
	c, err = Compare(ps, 0.95)
	require.NoError(t, err)
	require.Equal(t, Inconclusive, c.Standing)
	require.Equal(t, 1.0, c.P)
	require.Less(t, c.Diff.Lo, -20.0)
	require.Greater(t, c.Diff.Hi, 20.0)
	require.NotEmpty(t, c.Diff.Warnings)
}

// Entries of a key, by file: of 12 files with 3 entries each, A finds all and B
// misses one in each of the first ten, half of it in two. That is 9 of 36 entries,
// and of 2^10 signs two lie as far.
func TestCompareAuditors(t *testing.T) {
	var ps []Item
	for f := range 12 {
		for i := range 3 {
			p := Item{ID: fmt.Sprint(i), Family: fmt.Sprint(f), Bad: true, Now: []float64{1},
				Baseline: []float64{1}}
			switch {
			case i == 0 && f < 8:
				p.Baseline[0] = 0
			case i == 0 && f < 10:
				p.Baseline[0] = 0.5
			}
			ps = append(ps, p)
		}
	}
	c, err := Compare(ps, 0.95)
	require.NoError(t, err)
	require.Equal(t, Better, c.Standing)
	require.InDelta(t, 25, c.Diff.Center, 1e-9)
	require.InDelta(t, 2.0/1024, c.P, 1e-12)
}

func TestCompareRefuses(t *testing.T) {
	_, err := Compare(nil, 0.95)
	require.ErrorIs(t, err, ErrEmpty)
	rng := rand.New(rand.NewPCG(1, 1))
	silent := pairs(rng, 6, 1, 0, 0, 0, false)
	for i := range silent {
		silent[i].Baseline[0] = math.NaN()
	}
	_, err = Compare(silent, 0.95)
	require.ErrorIs(t, err, ErrEmpty)
	for want, change := range map[string]func(p []Item){
		"named twice":   func(p []Item) { p[1].ID = p[0].ID },
		"must be named": func(p []Item) { p[1].Family = "" },
		"0.5, 1 or NaN": func(p []Item) { p[1].Now[0] = 2 },
	} {
		ps := pairs(rng, 12, 1, 0, 0, 0, false)
		change(ps)
		_, err := Compare(ps, 0.95)
		require.ErrorContains(t, err, want)
	}
	_, err = Compare(pairs(rng, 12, 1, 0, 0, 0, false), 95)
	require.ErrorContains(t, err, "confidence")
	c, err := Compare(pairs(rng, 6, 3, 0, 0.5, 0, true), 0.95)
	require.NoError(t, err)
	require.Equal(t, Inconclusive, c.Standing, "one family decides nothing")
	require.Positive(t, c.Need.Families)
}

// Who is called A changes the sign and nothing else, and neither does any order.
func TestCompareIsSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		ps := pairs(rng, 6*rapid.IntRange(1, 20).Draw(t, "families"),
			rapid.IntRange(1, 4).Draw(t, "trials"), 0.1, 0.25, 0.1,
			rapid.Bool().Draw(t, "together"))
		for i := range ps {
			if rng.IntN(8) == 0 {
				ps[i].Now[0] = math.NaN()
			}
		}
		one, err := Compare(ps, 0.95)
		if err != nil {
			t.Skip(err)
		}
		rng.Shuffle(len(ps), func(i, j int) { ps[i], ps[j] = ps[j], ps[i] })
		for i := range ps {
			ps[i].Now, ps[i].Baseline = ps[i].Baseline, ps[i].Now
		}
		two, err := Compare(ps, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		mirrored := map[Standing]Standing{Better: Worse, Worse: Better,
			Inconclusive: Inconclusive}[two.Standing]
		if one.Standing != mirrored || one.P != two.P || math.Abs(one.Diff.Lo+two.Diff.Hi) > 1e-9 ||
			one.Need.Trials != two.Need.Trials || one.Need.Families != two.Need.Families {
			t.Fatalf("%+v\nagainst\n%+v", one, two)
		}
		if !(one.Diff.Lo <= one.Diff.Center && one.Diff.Center <= one.Diff.Hi) {
			t.Fatalf("%+v", one.Diff)
		}
	})
}

// Reviewers that are alike are told apart in about 5 % of comparisons, whatever
// the families do; never much more.
func TestCompareKeepsItsConfidence(t *testing.T) {
	n := 400
	if brief() {
		n = 100
	}
	for _, together := range []bool{false, true} {
		for _, trials := range []int{1, 3} {
			settled := 0
			for i := range n {
				rng := rand.New(rand.NewPCG(simulationSeed, uint64(i)))
				c, err := Compare(pairs(rng, 240, trials, 0.15, 0.15, 0.1, together), 0.95)
				require.NoError(t, err)
				if c.Standing != Inconclusive {
					settled++
				}
			}
			limit := 0.05*float64(n) + 3.5*math.Sqrt(0.05*0.95*float64(n))
			require.LessOrEqual(t, float64(settled), limit, "together %v, %d trials",
				together, trials)
		}
	}
}

// What a need asks for settles: reviewers 5 points apart, not settled with two
// trials, are told apart with the trials or families asked for. The share falls
// short of 90 % by what the need was misjudged from two trials.
func TestNeedSettles(t *testing.T) {
	asked, settled, byTrials := 0, 0, 0
	for i := range 150 {
		rng := rand.New(rand.NewPCG(simulationSeed, uint64(i)))
		c, err := Compare(pairs(rng, 240, 2, 0.20, 0.25, 0.02, false), 0.95)
		require.NoError(t, err)
		if c.Standing != Inconclusive || c.Need.Trials+c.Need.Families == 0 {
			continue
		}
		asked++
		if c.Need.Trials > 0 {
			byTrials++
			require.Zero(t, c.Need.Families)
		}
		n, k := 240+6*c.Need.Families, 2+c.Need.Trials
		after, err := Compare(pairs(rng, n, k, 0.20, 0.25, 0.02, false), 0.95)
		require.NoError(t, err)
		if after.Standing == Better {
			settled++
		}
		require.NotEqual(t, Worse, after.Standing)
	}
	t.Logf("asked %d times, %d times for trials; settled %d", asked, byTrials, settled)
	require.Greater(t, byTrials, asked/2, "the luck of trials is most of what stands in the way")
	require.Greater(t, asked, 50)
	require.Greater(t, float64(settled), 0.8*float64(asked))
}

// Where families themselves differ too much, trials are not asked for.
func TestNeedAsksForFamiliesWhereTrialsCannotHelp(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	c, err := Compare(pairs(rng, 60, 3, 0.3, 0.3, 0.6, true), 0.95)
	require.NoError(t, err)
	require.Equal(t, Inconclusive, c.Standing)
	require.Zero(t, c.Need.Trials)
	require.Positive(t, c.Need.Families)
	c, err = Compare(pairs(rng, 60, 1, 0.3, 0.3, 0.1, true), 0.95)
	require.NoError(t, err)
	require.Equal(t, 2, c.Need.Trials, "one trial cannot tell luck from difference: %+v", c)
	require.NotEmpty(t, c.Warnings)
}

// Of five families all signs of one kind come about by chance in 1 of 16 cases: however
// far apart two reviewers are, a sixth is needed.
func TestFewFamiliesAskForMore(t *testing.T) {
	var items []Item
	for f := range 5 {
		for c := range 4 {
			right := float64(c % 2)
			items = append(items, Item{ID: fmt.Sprint(f, c), Family: fmt.Sprint(f), Bad: c > 1,
				Baseline: []float64{1, 1}, Now: []float64{right, right}})
		}
	}
	c, err := Compare(items, 0.95)
	require.NoError(t, err)
	require.Equal(t, Inconclusive, c.Standing)
	require.Equal(t, Need{Size: 50, Families: 1}, c.Need)
	require.Contains(t, c.Warnings, "5 families cannot decide anything, 6 are the fewest that can")
}

// A difference that was seen is not called smaller than it is.
func TestWhatWasSeenIsNotCalledSmaller(t *testing.T) {
	var items []Item
	for f := range 7 {
		now := []float64{1, 1}
		if f > 1 {
			now = []float64{0, 0}
		}
		for c := range 2 {
			items = append(items, Item{ID: fmt.Sprint(f, c), Family: fmt.Sprint(f), Bad: c > 0,
				Baseline: []float64{1, 1}, Now: now})
		}
	}
	c, err := Compare(items, 0.95)
	require.NoError(t, err)
	require.Equal(t, Inconclusive, c.Standing)
	require.Equal(t, 1, c.Need.Families)
	for _, w := range c.Warnings {
		require.NotContains(t, w, "likely smaller")
	}
}
