package planted

import (
	"fmt"
	"math/big"
	"slices"
)

// A DrawTest is a draw with the tests that run on it.
type DrawTest struct {
	Draw       *Draw
	Label      string
	Unit       bool     // the application's own tests
	Functional bool     // the functional tests
	Exploits   []string // the sites whose exploits run, in this order
}

// DefaultSeed is the seed of a draw unless another is stated.
const DefaultSeed = 1

// quickSeeds and wholeSeeds are the numbers of random draws of a quick and a whole proof.
const quickSeeds, wholeSeeds = 2, 20 // random draws of a quick proof and of a whole one

// DrawTests returns the draws that prove a project:
//
//   - all good and all bad: every test and every exploit;
//   - each site alone flipped in both: its own exploit, and functional tests;
//
// - a covering array of strength 2, in which every two sites occur in all four combinations:
// every test and every exploit. It finds a site that changes the outcome of another site's
// exploit;
//   - random draws with everything that a seed decides: every test and exploit.
//
// A quick proof consists of all good, all bad and two random draws.
func (p *Template) DrawTests(quick bool) []DrawTest {
	ids := make([]string, len(p.Sites))
	for i, s := range p.Sites {
		ids[i] = s.ID
	}
	plans := []DrawTest{
		{p.with(nil), "all good", true, true, ids},
		{p.with(ids), "all bad", true, true, ids},
	}
	seeds := quickSeeds
	if !quick {
		seeds, plans = wholeSeeds, append(plans, p.flips(ids)...)
	}
	for seed := uint64(DefaultSeed); seed < uint64(DefaultSeed+seeds); seed++ {
		d := p.Draw(seed)
		plans = append(plans, DrawTest{d, fmt.Sprintf("seed %d", seed), true, true,
			d.chance.order(ids)})
	}
	if !quick {
		for i, bad := range pairs(ids) {
			plans = append(plans, DrawTest{p.with(bad), fmt.Sprintf("pairs %d", i+1),
				true, true, ids})
		}
	}
	return plans
}

// flips returns the draws in which one site differs from all others. The functional tests run
// in a fixed quarter of them, because the covering array shows what any two sites do to these
// tests.
func (p *Template) flips(ids []string) []DrawTest {
	var plans []DrawTest
	for i, id := range ids {
		others := slices.DeleteFunc(slices.Clone(ids),
			func(other string) bool { return other == id })
		plans = append(plans,
			DrawTest{p.with([]string{id}), id + " alone bad", false, i%4 == 0, []string{id}},
			DrawTest{p.with(others), id + " alone good", false, i%4 == 2, []string{id}})
	}
	return plans
}

// pairs returns sets of bad sites in which every two sites occur in all four combinations. The
// first set is empty. In the n other sets, each site has its own subset of more than half of
// the rows: two such subsets share a row, and neither includes the other. This is the least
// number of rows.
//
// Source: G. O. H. Katona, Discrete Mathematics 6 (1973) 19-23; D. J. Kleitman and J. Spencer,
// Discrete Mathematics 6 (1973) 255-262.
func pairs(ids []string) [][]string {
	n := 1
	for new(big.Int).Binomial(int64(n), int64(n/2+1)).Cmp(big.NewInt(int64(len(ids)))) < 0 {
		n++
	}
	rows := make([][]string, n+1)
	subset := uint64(1)<<(n/2+1) - 1
	for _, id := range ids {
		for i := range n {
			if subset>>i&1 == 1 {
				rows[i+1] = append(rows[i+1], id)
			}
		}
		subset = nextSubset(subset)
	}
	return rows
}

// nextSubset returns the next larger number with the same number of bits.
func nextSubset(s uint64) uint64 {
	low := s & -s
	up := s + low
	return up | (s^up)/low>>2
}
