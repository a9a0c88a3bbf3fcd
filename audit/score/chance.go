package score

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"path"
	"slices"
	"strings"

	"assay/audit"
)

// DefaultRounds is how often places are drawn at most for the chance level. Of
// reports with more than 500 findings it is fewer, so that no more than half a
// million findings are placed, and never under 100. Where it is 100 the draws end
// after 25, 50 or 75 rounds if both 99th percentiles are known closely by then: to
// a quarter of a point either way, with 95 % confidence.
func DefaultRounds(findings int) int {
	return min(maxRounds, max(minRounds, 500_000/max(1, findings)))
}

const (
	maxRounds = 1000
	minRounds = 100
	batch     = 25     // rounds between looks at what is known
	near99    = 0.0025 // how closely the 99th percentile is to be known
)

// narrow reports whether the recalls drawn so far tell their 99th percentile closely
// enough. Its interval is that of a normal distribution's mean plus 2.33 standard
// deviations, which a sum over thousands of findings is close to.
func narrow(recalls []float64) bool {
	n := float64(len(recalls))
	if n == 0 || len(recalls)%batch != 0 {
		return false
	}
	sum, squares := 0.0, 0.0
	for _, r := range recalls {
		sum, squares = sum+r, squares+r*r
	}
	const z99, z95 = 2.326, 1.960
	variance := max(0, squares-sum*sum/n) / (n - 1)
	return z95*math.Sqrt(variance*(1+z99*z99/2)/n) <= near99
}

// A Chance is the recall that the same findings reach at places drawn by lot.
//
// In each round every finding that could match keeps its CWEs and the length of
// its range, and gets a new place: a file of the tree with the same extension,
// drawn with weight by lines, and in it a first line, all equally likely. A
// function's name at a drawn place names nothing and is dropped. Draws are
// independent, the seed is fixed, and the order of the findings has no say. So
// chance knows the auditor's mix of CWEs and the languages it reports on, and
// nothing of where the flaws are.
//
// Places are drawn from the tree, not swapped among the findings: a report with
// one kind of CWE stays the same under every swap, and would be called chance
// however right it is.
type Chance struct {
	Mean   Value `json:"mean"`
	P99    Value `json:"p99"` // the least recall that 99 % of the rounds do not exceed
	Rounds int   `json:"rounds"`
}

// chanceSeed is fixed for good: another would change recorded chance levels.
const chanceSeed = 20

// Chances are the chance levels of a report.
type Chances struct {
	Ours, Literal, Corroborated Chance
}

// chance levels stay undefined without a tree: there are no places to draw from.
func (s *scorer) chance() {
	rounds := s.in.Rounds
	if rounds == 0 {
		rounds = DefaultRounds(len(s.in.Findings))
	}
	if rounds < 0 || len(s.in.Project.Tree) == 0 {
		return
	}
	draw := func() Chances { return s.draw(rounds) }
	var levels Chances
	if s.in.Chances != nil {
		levels = s.in.Chances(s.lots(rounds), draw)
	} else {
		levels = draw()
	}
	r, l, c := &s.result.Metrics, &s.result.Literal, &s.result.Metrics.Corroborated
	r.Chance, l.Chance, c.Chance = levels.Ours, levels.Literal, levels.Corroborated
	for _, p := range []*Part{&r.Part, c} {
		p.Lift = Ratio(p.Recall.V, p.Chance.Mean.V)
	}
	l.Lift = Ratio(l.Recall.V, l.Chance.Mean.V)
}

func (s *scorer) draw(rounds int) Chances {
	lot := newLottery(s)
	m, literal := matcher{key: s.key, of: known}, newLiteralKey(s.key, lot.locations)
	n := float64(len(s.result.Known))
	known := float64(s.result.Metrics.Corroborated.Known)
	var ours, letters, parts []float64 // recalls
	for range rounds {
		if s.in.Rounds == 0 && rounds == minRounds && narrow(ours) && narrow(letters) {
			break
		}
		lot.draw()
		paired := m.match(lot.locations)
		ours = append(ours, float64(paired.credit2)/2/n)
		parts = append(parts, s.corroboratedCredit(paired)/known)
		credit, _ := literal.match(m.byRow.of, &m.flow)
		letter := 0.0
		for _, c := range credit {
			letter += c / n
		}
		letters = append(letters, letter)
	}
	levels := Chances{Ours: summary(ours), Literal: summary(letters)}
	if known > 0 {
		levels.Corroborated = summary(parts)
	}
	return levels
}

func (s *scorer) corroboratedCredit(p *pairing) float64 {
	credit := 0.0
	for i, e := range p.entry {
		switch {
		case e < 0 || !s.knownResult(e).Corroborated:
		case p.half[i]:
			credit += 0.5
		default:
			credit++
		}
	}
	return credit
}

func summary(recalls []float64) Chance {
	slices.Sort(recalls)
	sum := 0.0
	for _, r := range recalls {
		sum += r
	}
	n := len(recalls)
	at := int(math.Ceil(0.99*float64(n))) - 1
	return Chance{Of(sum / float64(n)), Of(recalls[at]), n}
}

type lottery struct {
	key       *key
	locations []location
	from      []*pool // of each location the files it may fall into
	span      []int32 // of each location the lines of its range; 0 for none
	rng       *rand.Rand
}

type pool struct {
	files []int32 // the key's number; -1 for files that the key does not name
	lines []int32
	upTo  []int64 // running sum of weights
}

func newLottery(s *scorer) *lottery {
	l := &lottery{key: s.key, rng: rand.New(rand.NewPCG(chanceSeed, projectSeed(s.in.Project)))}
	pools := fill(s.in.Project.Tree, s.key)
	for i := range s.locations {
		l.locations = append(l.locations, location{file: -1, cwes: s.locations[i].cwes})
		l.span = append(l.span, s.locations[i].at.span())
		l.from = append(l.from, pools[extension(s.scored(i).Path)])
	}
	return l
}

// lots gives all that [lottery] and [scorer.draw] take from the findings, and how
// often they draw.
func (s *scorer) lots(rounds int) []byte {
	b := fmt.Appendf(nil, "%d of %d\n", s.in.Rounds, rounds)
	for i := range s.locations {
		var cwes [maxCWEs]audit.CWE
		for j, c := range s.locations[i].cwes {
			cwes[j] = s.key.cwes.list[c]
		}
		b = fmt.Appendf(b, "%d %d %q\n", cwes, s.locations[i].at.span(), extension(s.scored(i).Path))
	}
	return b
}

func projectSeed(p *audit.Project) uint64 {
	h := fnv.New64a()
	h.Write([]byte(p.Name))
	return h.Sum64()
}

func extension(file string) string { return strings.ToLower(path.Ext(file)) }

func fill(tree audit.Tree, k *key) map[string]*pool {
	pools := make(map[string]*pool)
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		u := pools[extension(name)]
		if u == nil {
			u = new(pool)
			pools[extension(name)] = u
		}
		n := max(1, tree[name].Lines)
		before := int64(0)
		if len(u.upTo) > 0 {
			before = u.upTo[len(u.upTo)-1]
		}
		u.files = append(u.files, k.find(name))
		u.lines = append(u.lines, int32(n))
		u.upTo = append(u.upTo, before+int64(n))
	}
	return pools
}

// One draw serves file and line: all lines of the pool are equally likely.
func (l *lottery) draw() {
	for i := range l.locations {
		u := l.from[i]
		sp := &l.locations[i]
		sp.at = lines{}
		if u == nil {
			l.key.place(sp, -1)
			continue
		}
		ticket := l.rng.Int64N(u.upTo[len(u.upTo)-1])
		at, _ := slices.BinarySearch(u.upTo, ticket+1)
		l.key.place(sp, u.files[at])
		if l.span[i] > 0 {
			start := u.lines[at] - int32(u.upTo[at]-ticket-1)
			sp.at = lines{start, start + l.span[i] - 1}
		}
	}
}
