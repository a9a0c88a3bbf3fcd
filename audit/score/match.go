package score

import (
	"math"
	"slices"

	"assay/audit"
)

// A pair is what matching found for one claim.
type pair struct {
	*entry         // that it took; nil for none
	partial bool   // it took it for credit 0.5
	near    *hit   // the nearest entry that it matches in full; nil for none
	decoy   *entry // that it hits while it matches no entry; nil for none
}

// match pairs claims with the entries of a kind: most full matches, then most partial ones,
// then least distance, exactly. A claim that matches an entry in full takes no partial
// credit for another, and one that a decoy is nearer to takes nothing.
func (k *key) match(claims []claim, of kind) []pair {
	pairs, a := make([]pair, len(claims)), newAssignment(len(k.entries))
	for i := range claims {
		c, p := &claims[i], &pairs[i]
		hits := c.hits(of)
		p.near = nearest(hits)
		if d := nearest(c.hits(decoy)); of == known && d != nil {
			if p.near == nil || p.near.distance > d.distance {
				p.near, p.decoy = nil, d.entry
			}
			hits = slices.DeleteFunc(hits, func(h hit) bool { return h.distance > d.distance })
		}
		for _, h := range hits {
			a.add(h.entry, i, k.gain(c, h))
		}
		if of != known || p.near != nil || p.decoy != nil {
			continue
		}
		if entries := c.inFiles(c.partial); a.has(c, entries) {
			for _, e := range entries {
				g := partialGain
				if !c.in(e.File) { // its other files come last
					g--
				}
				a.add(e, i, g)
			}
		}
	}
	for row, i := range a.solve(len(claims)) {
		if i >= 0 {
			pairs[i].entry, pairs[i].partial = k.entries[row], pairs[i].near == nil
		}
	}
	return pairs
}

// What pairs gain. A full match outweighs 8,000 partial ones, and each of these 8,000 times
// the greatest distance that counts.
const (
	fullGain    = 1 << 40
	partialGain = 1 << 26
	maxDistance = 1 << 11
)

// gain returns what a full match gains: near ones more, of equal ones those that agree word
// for word. Where the place alone decides, findings that name the weakness come first.
func (k *key) gain(c *claim, h hit) int {
	g := fullGain - 2*min(h.distance, maxDistance)
	if h.distance > 0 || !c.sameWords(h.entry) {
		g--
	}
	if k.project.Planted && k.weakness(h.entry, c.cwes) > 0 {
		g += partialGain
	}
	return g
}

// matchByLetter pairs claims with vulnerabilities by the methodology's own words: one of the
// entry's CWEs earns 1 in its file and 0.5 anywhere else; most of value 1 first.
func (k *key) matchByLetter(claims []claim) []pair {
	pairs, a := make([]pair, len(claims)), newAssignment(len(k.entries))
	for i := range claims {
		if c := &claims[i]; a.has(c, c.own) {
			for _, e := range c.own {
				g := partialGain
				if c.in(e.File) {
					g = fullGain
				}
				a.add(e, i, g)
			}
		}
	}
	for row, i := range a.solve(len(claims)) {
		if i >= 0 {
			pairs[i].entry = k.entries[row]
			pairs[i].partial = !claims[i].in(k.entries[row].File)
		}
	}
	return pairs
}

// in reports whether one of the claim's places is in the file.
func (c *claim) in(file string) bool {
	return slices.ContainsFunc(c.places, func(p place) bool { return p.file == file })
}

// inFiles returns the entries of the claim's files, each once.
func (c *claim) inFiles(byFile map[string][]*entry) []*entry {
	entries := byFile[c.places[0].file]
	for _, p := range c.places[1:] {
		for _, e := range byFile[p.file] {
			if !slices.Contains(entries, e) {
				entries = append(slices.Clip(entries), e)
			}
		}
	}
	return entries
}

// An assignment pairs entries with claims, one to one, so that the gains sum up to the most.
type assignment struct {
	edges [][]edge // of each entry
	alike map[likeness]int
}

type edge struct{ claim, gain int } // of claim -1: none

// likeness is what claims have in common that can take the same entries for equal gain.
type likeness struct {
	*candidates
	files [maxPlaces]string
}

// newAssignment returns an empty assignment problem.
func newAssignment(entries int) *assignment {
	return &assignment{make([][]edge, entries), map[likeness]int{}}
}

// add adds a possible match with its gain.
func (a *assignment) add(e *entry, claim, gain int) {
	a.edges[e.row] = append(a.edges[e.row], edge{claim, gain})
}

// has reports whether there is use for one more claim that differs from others in its place
// within its files alone: no more than there are entries.
func (a *assignment) has(c *claim, entries []*entry) bool {
	l := likeness{candidates: c.candidates}
	for i, p := range c.places {
		if len(c.partial[p.file]) > 0 ||
			slices.ContainsFunc(c.own, func(e *entry) bool { return e.File == p.file }) {
			l.files[i] = p.file
		}
	}
	a.alike[l]++
	return a.alike[l] <= len(entries)
}

// solve returns the claim of each entry, -1 for none. One entry after the other is added
// along the alternating path that gains most, found as by Bellman and Ford; so the pairs of
// the entries that were added are always the best for these. Of equal claims the first is
// taken.
func (a *assignment) solve(claims int) []int {
	n := len(a.edges)
	taken, by := slices.Repeat([]edge{{claim: -1}}, n), slices.Repeat([]int{-1}, claims)
	freed := make([]int, n) // what is gained when an entry goes without
	from, through := make([]int, n), make([]edge, n)
	for start := range a.edges {
		if len(a.edges[start]) == 0 {
			continue
		}
		for i := range freed {
			freed[i] = math.MinInt
		}
		freed[start] = 0
		best, end, last := 0, start, edge{claim: -1}
		for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
			u := queue[0]
			if freed[u] > best {
				best, end, last = freed[u], u, edge{claim: -1}
			}
			for _, e := range a.edges[u] {
				switch v, g := by[e.claim], freed[u]+e.gain; {
				case v < 0 && g > best:
					best, end, last = g, u, e
				case v >= 0 && v != u && g-taken[v].gain > freed[v]:
					freed[v], from[v], through[v] = g-taken[v].gain, u, e
					queue = append(queue, v)
				}
			}
		}
		for u, e := end, last; ; u, e = from[u], through[u] {
			taken[u] = e
			if e.claim >= 0 {
				by[e.claim] = u
			}
			if u == start {
				break
			}
		}
	}
	of := make([]int, n)
	for i, e := range taken {
		of[i] = e.claim
	}
	return of
}

// numbersOf returns the first three distinct CWEs of a finding, and those that follow.
func numbersOf(cwes []audit.CWE) (first [maxCWEs]audit.CWE, rest []audit.CWE) {
	n := 0
	for _, c := range cwes {
		switch {
		case c <= 0 || slices.Contains(first[:n], c):
		case n < maxCWEs:
			first[n] = c
			n++
		case !slices.Contains(rest, c):
			rest = append(rest, c)
		}
	}
	return first, rest
}
