package run

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// order returns the numbers of jobs in the order in which they are sent: families
// shuffled, jobs shuffled within each, then one of each family in turn. So a
// run that stops early has seen something of everything, and kindred cases do
// not stand side by side. Equal seeds and jobs give equal orders, however the jobs
// are numbered.
func order(families map[string]int32, family []int32, digests []digest, seed uint64) []int32 {
	rng := rand.New(rand.NewPCG(seed, 0x5eed))
	members := make([][]int32, len(families))
	for i, f := range family {
		members[f] = append(members[f], int32(i))
	}
	names := slices.Sorted(maps.Keys(families))
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, n := range names {
		f := members[families[n]]
		slices.SortFunc(f, func(a, b int32) int { return compare(digests[a], digests[b]) })
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
