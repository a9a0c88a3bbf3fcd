package score

import (
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"path"
	"slices"
	"strings"

	"assay/audit"
)

// A Chance is the recall that the same findings reach at random places.
//
// On pinned projects, each round moves every location of a finding that could match: it keeps
// its CWEs and the length of its range, and gets a random first line in the files of the tree
// with the same extension, all lines equally likely. A function's name is dropped. Chance
// therefore knows the auditor's mix of CWEs and languages, and nothing of where the flaws are.
// (Places are drawn from the tree and not exchanged among the findings, because a report with
// one kind of CWE is unchanged by exchanges.)
//
// On planted projects the place alone decides, so a report of every function finds everything.
// There each round draws as many sites, good or bad, as the findings touch.
//
// The seed is fixed, and the order of the findings does not matter.
type Chance struct {
	Mean   Value `json:"mean"`
	P99    Value `json:"p99"` // the least recall that 99 % of the rounds do not exceed
	Rounds int   `json:"rounds"`
}

const (
	chanceRounds = 200
	chanceSeed   = 20 // fixed for good: another would change recorded chance levels
)

// chance fills in the chance levels. Without a tree there are no places to draw from, and
// they stay undefined.
func (s *scorer) chance() {
	rounds := s.in.Rounds
	if rounds == 0 {
		rounds = chanceRounds
	}
	if rounds < 0 || len(s.in.Project.Tree) == 0 || len(s.in.Project.Vulnerabilities) == 0 {
		return
	}
	h := fnv.New64a()
	h.Write([]byte(s.in.Project.Name))
	rng := rand.New(rand.NewPCG(chanceSeed, h.Sum64()))
	draw := s.placements(rng)
	if s.in.Project.Planted {
		draw = s.sites(rng)
	}
	m := &s.result.Metrics
	all, part := make([]float64, rounds), make([]float64, rounds)
	for round := range rounds {
		for e, credit := range draw() {
			all[round] += credit
			if s.result.Known[e.index].Corroborated {
				part[round] += credit
			}
		}
	}
	m.setChance(all)
	m.Corroborated.setChance(part)
}

// setChance takes the credit of each round.
func (p *Part) setChance(credits []float64) {
	if p.Known == 0 {
		return
	}
	slices.Sort(credits)
	sum, n, of := 0.0, len(credits), float64(p.Known)
	for _, c := range credits {
		sum += c
	}
	p.Chance = Chance{Of(sum / of / float64(n)),
		Of(credits[int(math.Ceil(0.99*float64(n)))-1] / of), n}
	switch mean := p.Chance.Mean.V; {
	case mean > 1-tiny:
		p.Corrected = Of(0)
	case p.Recall.Defined:
		p.Corrected = Of((p.Recall.V - mean) / (1 - mean))
	}
}

// sites returns a function that draws as many sites as the findings touch and returns the
// credit for the bad ones. A finding touches the nearest sites.
func (s *scorer) sites(rng *rand.Rand) func() map[*entry]float64 {
	touched := map[*entry]bool{}
	for i := range s.claims {
		hits := append(s.claims[i].hits(known), s.claims[i].hits(decoy)...)
		for _, h := range hits {
			if h.distance == nearest(hits).distance {
				touched[h.entry] = true
			}
		}
	}
	sites := slices.DeleteFunc(slices.Clone(s.key.entries),
		func(e *entry) bool { return e.kind == review })
	return func() map[*entry]float64 {
		credit := map[*entry]float64{}
		for _, i := range rng.Perm(len(sites))[:len(touched)] {
			if sites[i].kind == known {
				credit[sites[i]] = 1
			}
		}
		return credit
	}
}

// placements returns what places all findings at random and matches them.
func (s *scorer) placements(rng *rand.Rand) func() map[*entry]float64 {
	pools := poolsOf(s.in.Project.Tree)
	placed := make([]claim, len(s.claims))
	var near []claim // those placed in a file of the key
	return func() map[*entry]float64 {
		near = near[:0]
		for i := range s.claims {
			c, p := &s.claims[i], &placed[i]
			if p.candidates == nil {
				*p = claim{cwes: c.cwes, candidates: c.candidates,
					places: make([]place, len(c.places))}
			}
			inKey := false
			for j, was := range c.places {
				p.places[j] = pools[extension(was.file)].draw(rng, was.at)
				file := p.places[j].file
				inKey = inKey || len(c.full[file]) > 0 || len(c.partial[file]) > 0
			}
			if inKey {
				near = append(near, *p)
			}
		}
		if len(near) == 0 {
			return nil
		}
		credit := map[*entry]float64{}
		for _, p := range s.key.match(near, known) {
			switch {
			case p.entry == nil:
			case p.partial:
				credit[p.entry] = 0.5
			default:
				credit[p.entry] = 1
			}
		}
		return credit
	}
}

// A pool are the files of a tree with one extension.
type pool struct {
	files []string
	upTo  []int // lines of the files till here
}

// poolsOf returns the files of the tree by extension.
func poolsOf(tree audit.Tree) map[string]*pool {
	pools := map[string]*pool{}
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		p := pools[extension(name)]
		if p == nil {
			p = &pool{}
			pools[extension(name)] = p
		}
		p.upTo = append(p.upTo, p.lines()+max(1, tree[name].Lines))
		p.files = append(p.files, name)
	}
	return pools
}

// lines returns the number of lines in the pool.
func (p *pool) lines() int {
	if len(p.upTo) == 0 {
		return 0
	}
	return p.upTo[len(p.upTo)-1]
}

// extension returns the extension of a file in lower case.
func extension(file string) string { return strings.ToLower(path.Ext(file)) }

// draw returns a random place with as many lines as another one.
func (p *pool) draw(rng *rand.Rand, as lines) place {
	if p == nil {
		return place{}
	}
	line := rng.IntN(p.lines())
	i, _ := slices.BinarySearch(p.upTo, line+1)
	if as.none() {
		return place{file: p.files[i]}
	}
	if i > 0 {
		line -= p.upTo[i-1]
	}
	return place{p.files[i], "", lines{line + 1, line + 1 + as.end - as.start}}
}
