package score

import (
	"slices"

	"assay/audit"
)

// Literal is the score by the methodology's literal: a finding with one of an
// entry's CWEs earns 1 in the entry's file and 0.5 anywhere else; lines,
// functions, decoys and duplicates have no say. Each entry takes one finding and
// each finding one entry, most of value 1 first, then most of 0.5; that is the
// most credit that can be had.
//
// It is kept for comparison with figures that were made that way. Its chance
// level is high: a list of common CWEs scores without a look at the code.
type Literal struct {
	Full      int     `json:"full"`
	Halves    int     `json:"halves"`
	Credit    float64 `json:"credit"`
	Counted   int     `json:"counted"` // all findings that are not suppressed
	Recall    Value   `json:"recall"`
	Precision Value   `json:"precision"` // Credit / Counted
	F1        Value   `json:"f1"`

	Covered    []audit.Dimension `json:"covered"` // dimensions with a match of value 1
	Coverage   Value             `json:"coverage"`
	Dimensions []DimensionCount  `json:"dimensions"` // Findings is left at 0 here
	Chance     Chance            `json:"chance"`
	Lift       Value             `json:"lift"`
}

// Metrics gives the literal score in the words of ours, for tables that show both.
// What the literal knows nothing of is undefined.
func (l *Literal) Metrics() *Metrics {
	held := []audit.Dimension{}
	for _, d := range l.Dimensions {
		if d.Known > 0 {
			held = append(held, d.Dimension)
		}
	}
	return &Metrics{Part: Part{Full: l.Full, Halves: l.Halves, Credit: l.Credit, Counted: l.Counted,
		Recall: l.Recall, Precision: Span{l.Precision, l.Precision}, F1: Span{l.F1, l.F1},
		Covered: l.Covered, Held: held, Coverage: l.Coverage, Chance: l.Chance, Lift: l.Lift}, Dimensions: l.Dimensions}
}

// literalHalf and literalStop order the assignment: an augmenting path that adds a
// half costs literalHalf, one that would give up a full match for it costs more
// than literalStop.
const (
	literalHalf = int64(1)<<40 - 1
	literalStop = int64(1) << 40
)

// A literalKey is the key as the literal sees it.
type literalKey struct {
	full    map[fileCWE]int32 // to hubs
	half    map[fileCWE]int32 // to hubs, with file -1
	hubs    int
	arcFrom []int32
	arcTo   []int32 // hub
	arcCost []int64
}

func newLiteralKey(k *key) *literalKey {
	l := &literalKey{full: make(map[fileCWE]int32), half: make(map[fileCWE]int32), arcFrom: []int32{0}}
	hub := func(m map[fileCWE]int32, at fileCWE) int32 {
		h, ok := m[at]
		if !ok {
			h = int32(l.hubs)
			l.hubs++
			m[at] = h
		}
		return h
	}
	for i := range k.entries {
		e := &k.entries[i]
		for _, c := range e.cwes {
			l.arcTo = append(l.arcTo, hub(l.full, inFile(e.file, int32(c))))
			l.arcCost = append(l.arcCost, 0)
		}
		for _, c := range e.cwes {
			l.arcTo = append(l.arcTo, hub(l.half, inFile(-1, int32(c))))
			l.arcCost = append(l.arcCost, literalHalf)
		}
		l.arcFrom = append(l.arcFrom, int32(len(l.arcTo)))
	}
	return l
}

// match gives the credit of each entry and the location that it took; -1 for none.
// Spots are grouped by file and CWEs; among equal ones the first in order is
// taken, which tie (nil: as they come) settles.
func (l *literalKey) match(locations []location, tie func(a, b int32) int) (credit []float64, took []int32) {
	groups, groupHubs := l.groups(locations, tie)
	f := &flow{knowns: len(l.arcFrom) - 1, groups: len(groups), hubs: l.hubs, arcFrom: l.arcFrom, arcCost: l.arcCost}
	f.arcTo = make([]int32, len(l.arcTo))
	for a, h := range l.arcTo {
		f.arcTo[a] = f.hubNode(h)
	}
	byHub := make([][]int32, l.hubs)
	for g := range groups {
		f.room = append(f.room, int32(len(groups[g].members)))
		for _, h := range groupHubs[g] {
			byHub[h] = append(byHub[h], int32(g))
		}
	}
	f.setLinks(byHub)
	f.prepare()
	f.run(literalStop)
	return l.read(f, groups)
}

// groups gives locations with equal file and CWEs as one, and the hubs of each.
func (l *literalKey) groups(locations []location, tie func(a, b int32) int) (groups []group, hubs [][]int32) {
	flat := make([]location, len(locations))
	for i := range locations {
		flat[i] = location{file: locations[i].file, cwes: locations[i].cwes}
	}
	groups = grouped(flat, func(s *location) bool { return s.cwes[0] != 0 }, compareLocations)
	hubs = make([][]int32, len(groups))
	for g := range groups {
		if tie != nil && len(groups[g].members) > 1 {
			slices.SortFunc(groups[g].members, tie)
		}
		s := &groups[g].location
		for _, c := range s.cwes {
			if h, ok := l.full[inFile(s.file, c)]; ok && c != 0 {
				hubs[g] = append(hubs[g], h)
			}
			if h, ok := l.half[inFile(-1, c)]; ok && c != 0 {
				hubs[g] = append(hubs[g], h)
			}
		}
	}
	return groups, hubs
}

func (l *literalKey) read(f *flow, groups []group) (credit []float64, took []int32) {
	credit, took = make([]float64, f.knowns), make([]int32, f.knowns)
	used := make([]int, len(groups))
	waiting := make([][]int32, f.hubs)
	for k := range took {
		took[k] = -1
		if a := f.via[k]; a >= 0 {
			credit[k] = 1
			if f.arcCost[a] > 0 {
				credit[k] = 0.5
			}
			h := l.arcTo[a]
			waiting[h] = append(waiting[h], int32(k))
		}
	}
	for h, ks := range waiting {
		for at := f.hubFrom[h]; at < f.hubFrom[h+1]; at++ {
			for range f.linkUse[at] {
				g := f.linkTo[at]
				took[ks[0]] = groups[g].members[used[g]]
				used[g]++
				ks = ks[1:]
			}
		}
	}
	return credit, took
}

// literal scores by the literal. Suppressed findings and those whose file or line
// is not there take no part; the latter count in precision's denominator.
func (s *scorer) literal() {
	l := &s.result.Literal
	credit, took := newLiteralKey(s.key).match(s.locations, func(a, b int32) int {
		fa, fb := &s.in.Findings[a], &s.in.Findings[b]
		if c := compareLocations(&s.locations[a], &s.locations[b]); c != 0 {
			return c
		}
		return compareFindings(fa, fb)
	})
	l.Counted = len(s.result.Findings) - s.result.Dispositions[Suppressed]
	for _, d := range audit.Dimensions() {
		l.Dimensions = append(l.Dimensions, DimensionCount{Dimension: d})
	}
	for e, c := range credit {
		k := &s.result.Known[s.key.entries[e].known]
		k.LiteralCredit = c
		l.Credit += c
		at := slices.Index(audit.Dimensions(), k.Dimension)
		d := new(DimensionCount)
		if at >= 0 {
			d = &l.Dimensions[at]
		}
		d.Known++
		d.Credit += c
		if took[e] < 0 {
			continue
		}
		sc := &s.result.Findings[took[e]]
		sc.Literal, sc.LiteralID = c, k.ID
		if c == 1 {
			l.Full++
			d.Full++
		} else {
			l.Halves++
			d.Halves++
		}
	}
	held := 0
	for i := range l.Dimensions {
		d := &l.Dimensions[i]
		d.Recall = Ratio(d.Credit, float64(d.Known))
		if d.Known > 0 {
			held++
		}
		if d.Full > 0 {
			l.Covered = append(l.Covered, d.Dimension)
		}
	}
	l.Coverage = Ratio(float64(len(l.Covered)), float64(held))
	l.Recall = Ratio(l.Credit, float64(len(credit)))
	l.Precision = Ratio(l.Credit, float64(l.Counted))
	l.F1 = F1(l.Precision, l.Recall)
}
