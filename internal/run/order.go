package run

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// order gives the indices of items in the order in which they are sent: families
// shuffled, items shuffled within each, then one of each family in turn. So a
// run that stops early has seen something of everything, and kindred cases do
// not stand side by side. Equal seeds and items give equal orders.
func order(items []Item, seed uint64) []int {
	rng := rand.New(rand.NewPCG(seed, 0x5eed))
	families := make(map[string][]int)
	var names []string
	for i := range items {
		f := items[i].Family
		if _, ok := families[f]; !ok {
			names = append(names, f)
		}
		families[f] = append(families[f], i)
	}
	slices.Sort(names)
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, n := range names {
		f := families[n]
		slices.SortFunc(f, func(a, b int) int { return strings.Compare(items[a].Key, items[b].Key) })
		rng.Shuffle(len(f), func(i, j int) { f[i], f[j] = f[j], f[i] })
	}
	out := make([]int, 0, len(items))
	for round := 0; len(out) < len(items); round++ {
		for _, n := range names {
			if f := families[n]; round < len(f) {
				out = append(out, f[round])
			}
		}
	}
	return out
}
