package run

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
)

// order gives the numbers of items in the order in which they are sent: families
// shuffled, items shuffled within each, then one of each family in turn. So a
// run that stops early has seen something of everything, and kindred cases do
// not stand side by side. Equal seeds and items give equal orders, however the items
// are numbered.
func order(families map[string]int32, family []int32, digests []digest, seed uint64) []int32 {
	rng := rand.New(rand.NewPCG(seed, 0x5eed))
	members := byFamily(family, len(families))
	names := slices.Sorted(maps.Keys(families))
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, n := range names {
		f := members[families[n]]
		slices.SortFunc(f, func(a, b int32) int { return bytes.Compare(digests[a][:], digests[b][:]) })
		rng.Shuffle(len(f), func(i, j int) { f[i], f[j] = f[j], f[i] })
	}
	out := make([]int32, 0, len(digests))
	for round := 0; len(out) < len(digests); round++ {
		for _, n := range names {
			if f := members[families[n]]; round < len(f) {
				out = append(out, f[round])
			}
		}
	}
	return out
}

// byFamily gives the numbers of each of n families' items, in as much room as they take.
func byFamily(family []int32, n int) [][]int32 {
	counts := make([]int, n)
	for _, f := range family {
		counts[f]++
	}
	all, out := make([]int32, len(family)), make([][]int32, n)
	for f, count := range counts {
		out[f], all = all[:0:count], all[count:]
	}
	for i, f := range family {
		out[f] = append(out[f], int32(i))
	}
	return out
}
