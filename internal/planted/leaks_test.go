package planted

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
)

// A Shortcut is a way of telling bad variants from good ones without
// understanding them, with what it reaches.
type Shortcut struct {
	Name     string
	Balanced float64 // balanced accuracy, 0 to 1
	Z        float64 // how many standard deviations above what permuted labels reach
	More     int     // sites whose bad variant has more of it
	Fewer    int     // sites whose bad variant has less of it
}

// A Leak is what the strongest shortcut reaches, and how often permuted labels
// reach as much.
type Leak struct {
	Sites int
	P     float64 // twice the less of the two below, at most 1; 1 without sites
	// share of permutations (this one counted in) whose strongest single feature is as strong
	Single  float64
	Trained float64    // the same for the classifiers
	Each    []Shortcut // the strongest first
}

// LeastP is the p-value of [Leaks] below which a project gives its labels away.
const LeastP = 0.01

// Leaks asks whether the labels of the sites can be told by lengths, comments,
// conditions, single words, the order in which variants are written, or by two
// classifiers that are trained on all other sites.
//
// Every feature is tried in two ways: across all variants, with the threshold
// that fits best (an auditor sees one variant of each site), and within sites, by
// which variant has more (a reader of two draws sees both). Labels are exchanged
// within sites n times with a fixed seed. Each shortcut is measured in standard
// deviations of its own permutations, and the maximum is compared: trying many
// costs what it should. Single features and classifiers, which gather what is too
// faint in each feature, are compared apart, each at half of the level.
func Leaks(n int, projects ...*Template) Leak {
	var ps []*pair
	for _, p := range projects {
		ps = append(ps, pairsOf(p)...)
	}
	leak := Leak{Sites: len(ps), P: 1, Single: 1, Trained: 1}
	if len(ps) == 0 || n < 1 {
		return leak
	}
	all := newBattery(ps)
	rng := rand.New(rand.NewPCG(20261122, 19))
	reached := make([][]float64, n+1) // by permutation and test; the first is what is
	flip := make([]bool, len(ps))
	for i := range reached {
		reached[i] = all.each(flip)
		for j := range flip {
			flip[j] = rng.Uint64()&1 == 1
		}
	}
	raw := slices.Clone(reached[0])
	standardise(reached)
	single := len(all.columns)
	leak.Single, leak.Trained = share(reached, 0, single), share(reached, single, len(all.names))
	leak.P = min(1, 2*min(leak.Single, leak.Trained))
	for t, s := range all.names {
		s.Balanced, s.Z = raw[t], reached[0][t]
		leak.Each = append(leak.Each, s)
	}
	slices.SortStableFunc(leak.Each, func(a, b Shortcut) int { return cmp.Compare(b.Z, a.Z) })
	return leak
}

// share gives the share of rows whose maximum between two columns is as large as
// that of the first row.
func share(rows [][]float64, from, till int) float64 {
	if from == till {
		return 1
	}
	first, as := slices.Max(rows[0][from:till]), 0
	for _, r := range rows {
		if slices.Max(r[from:till]) >= first-1e-9 {
			as++
		}
	}
	return float64(as) / float64(len(rows))
}

// standardise brings every column to mean 0 and deviation 1 over all rows. A
// column that never changes becomes 0.
func standardise(rows [][]float64) {
	for t := range rows[0] {
		sum, squares := 0.0, 0.0
		for _, r := range rows {
			sum += r[t]
		}
		mean := sum / float64(len(rows))
		for _, r := range rows {
			squares += (r[t] - mean) * (r[t] - mean)
		}
		sd := math.Sqrt(squares / float64(len(rows)))
		for _, r := range rows {
			if sd < 1e-9 {
				r[t] = 0
			} else {
				r[t] = (r[t] - mean) / sd
			}
		}
	}
}

// leastPairs is the number of sites in which a word must make a difference to be
// tried: below, no permutation test sees it.
const leastPairs = 6

// A battery is all shortcuts, as numbers.
type battery struct {
	names   []Shortcut
	columns []column
	figures []column    // differences of figures, for the trained classifier
	tokens  [][]float64 // by site: differences of every word's presence, bad less good
	at      [][]int     // by site: which words these are
	words   int
}

// A column is one feature over all sites: good and bad.
type column struct {
	values [][2]float64
	ranks  [][2]int // of the values among the distinct ones; nil: within sites only
	width  int
}

func newBattery(ps []*pair) *battery {
	t := &battery{}
	for _, f := range figures() {
		c := column{}
		for _, p := range ps {
			c.values = append(c.values, [2]float64{f.score(p.text[0]), f.score(p.text[1])})
		}
		t.figures = append(t.figures, c)
		t.add(f.name, c)
	}
	first := column{}
	for _, p := range ps {
		v := [2]float64{0, 1}
		if p.goodFirst {
			v = [2]float64{1, 0}
		}
		first.values = append(first.values, v)
	}
	t.add("written first", first)
	t.addWords(ps)
	for _, name := range []string{"trained on words", "trained on figures"} {
		t.names = append(t.names, Shortcut{Name: name})
	}
	return t
}

// add takes a feature in both ways. One that makes no difference is left out.
func (t *battery) add(name string, c column) {
	s := Shortcut{Name: name}
	var all []float64
	for _, v := range c.values {
		all = append(all, v[0], v[1])
		switch {
		case v[1] > v[0]:
			s.More++
		case v[1] < v[0]:
			s.Fewer++
		}
	}
	if s.More+s.Fewer == 0 {
		return
	}
	slices.Sort(all)
	all = slices.Compact(all)
	within := c
	c.width = len(all)
	for _, v := range c.values {
		a, _ := slices.BinarySearch(all, v[0])
		b, _ := slices.BinarySearch(all, v[1])
		c.ranks = append(c.ranks, [2]int{a, b})
	}
	t.columns = append(t.columns, c, within)
	across := s
	across.Name += ", across sites"
	s.Name += ", within sites"
	t.names = append(t.names, across, s)
}

// addWords takes every word that makes a difference in enough sites, and all of
// them for the trained classifier.
func (t *battery) addWords(ps []*pair) {
	per := make([][2]map[string]float64, len(ps))
	differs := map[string]int{}
	for i, p := range ps {
		per[i] = [2]map[string]float64{wordsOf(p.text[0].all()), wordsOf(p.text[1].all())}
		seen := map[string]bool{}
		for _, m := range per[i] {
			for w := range m {
				if !seen[w] && per[i][0][w] != per[i][1][w] {
					differs[w]++
				}
				seen[w] = true
			}
		}
	}
	words := slices.Sorted(maps.Keys(differs))
	t.words = len(words)
	index := map[string]int{}
	for k, w := range words {
		index[w] = k
		if differs[w] < leastPairs {
			continue
		}
		c := column{}
		for i := range ps {
			c.values = append(c.values, [2]float64{per[i][0][w], per[i][1][w]})
		}
		t.add("the word "+w, c)
	}
	t.tokens, t.at = make([][]float64, len(ps)), make([][]int, len(ps))
	for i := range ps {
		for _, w := range words {
			if d := min(1, per[i][1][w]) - min(1, per[i][0][w]); d != 0 {
				t.tokens[i], t.at[i] = append(t.tokens[i], d), append(t.at[i], index[w])
			}
		}
	}
}

// each gives what every test reaches when the variants of the sites that are
// flipped change their labels.
func (t *battery) each(flip []bool) []float64 {
	out := make([]float64, 0, len(t.names))
	for _, c := range t.columns {
		if c.ranks == nil {
			out = append(out, c.within(flip))
		} else {
			out = append(out, c.across(flip))
		}
	}
	return append(out, t.byWords(flip), t.byFigures(flip))
}

// within gives the share of sites that are told right by which variant has more,
// or by which has less, the better of both; equals count half.
func (c column) within(flip []bool) float64 {
	more, fewer := 0, 0
	for i, v := range c.values {
		switch {
		case v[0] == v[1]:
		case (v[1] > v[0]) != flip[i]:
			more++
		default:
			fewer++
		}
	}
	n := len(c.values)
	return 0.5 + math.Abs(float64(more-fewer))/float64(2*n)
}

// across gives the balanced accuracy of the best threshold.
func (c column) across(flip []bool) float64 {
	balance := make([]int, c.width) // by rank: bad less good
	for i, r := range c.ranks {
		good, bad := r[0], r[1]
		if flip[i] {
			good, bad = bad, good
		}
		balance[bad]++
		balance[good]--
	}
	sum, most := 0, 0
	for _, b := range balance {
		sum += b
		most = max(most, sum, -sum)
	}
	return 0.5 + float64(most)/float64(2*len(c.ranks))
}

func sign(flipped bool) float64 {
	if flipped {
		return -1
	}
	return 1
}

// byWords is naive Bayes over the presence of words: each site is told by the
// odds that all others give.
func (t *battery) byWords(flip []bool) float64 {
	bad, good := make([]float64, t.words), make([]float64, t.words)
	count := func(i int, by float64) {
		for k, w := range t.at[i] {
			if t.tokens[i][k]*sign(flip[i]) > 0 {
				bad[w] += by
			} else {
				good[w] += by
			}
		}
	}
	for i := range t.at {
		count(i, 1)
	}
	right := 0.0
	for i := range t.at {
		count(i, -1)
		score := 0.0
		for k, w := range t.at[i] {
			score += t.tokens[i][k] * sign(flip[i]) * math.Log((bad[w]+1)/(good[w]+1))
		}
		right += told(score)
		count(i, 1)
	}
	return right / float64(len(t.at))
}

// byFigures weighs each figure by its mean difference in standard deviations over
// all other sites.
func (t *battery) byFigures(flip []bool) float64 {
	n := len(flip)
	scores := make([]float64, n)
	for _, c := range t.figures {
		sum, squares := 0.0, 0.0
		for i, v := range c.values {
			d := (v[1] - v[0]) * sign(flip[i])
			sum += d
			squares += d * d
		}
		for i, v := range c.values {
			d := (v[1] - v[0]) * sign(flip[i])
			rest, restSquares := sum-d, squares-d*d
			if restSquares > 1e-9 {
				scores[i] += d * rest / restSquares
			}
		}
	}
	right := 0.0
	for _, s := range scores {
		right += told(s)
	}
	return right / float64(n)
}

// told is 1 for a site that is told right, 0 for wrong, a half for no answer.
func told(score float64) float64 {
	switch {
	case score > 1e-12:
		return 1
	case score < -1e-12:
		return 0
	}
	return 0.5
}

// Tell writes a leak with its strongest shortcuts.
func (l Leak) Tell(w io.Writer) {
	fmt.Fprintf(w,
		"%d sites, %d shortcuts tried: p = %.4f (single features %.4f, trained %.4f; a leak below %g)\n",
		l.Sites, len(l.Each), l.P, l.Single, l.Trained, LeastP)
	for _, s := range l.Each[:min(len(l.Each), 12)] {
		fmt.Fprintf(w, "  %-48s %5.1f %% right, %4.1f deviations", s.Name, 100*s.Balanced, s.Z)
		if s.More+s.Fewer > 0 {
			fmt.Fprintf(w, "; bad has more in %d sites, less in %d", s.More, s.Fewer)
		}
		fmt.Fprintln(w)
	}
}
