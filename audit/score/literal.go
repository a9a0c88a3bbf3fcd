package score

import (
	"cmp"
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

// A literalKey is the key as the literal sees it, with room for a matching.
type literalKey struct {
	files   int
	full    map[fileCWE]int32 // to hubs
	half    map[fileCWE]int32 // to hubs, with file -1
	hubs    int
	arcFrom []int32
	arcHub  []int32
	arcCost []int64

	grouping
	flow   flow
	credit []float64
	took   []int32
}

func newLiteralKey(k *key) *literalKey {
	l := &literalKey{files: len(k.files), full: make(map[fileCWE]int32, 2*len(k.entries)), half: make(map[fileCWE]int32), arcFrom: make([]int32, 1, len(k.entries)+1)}
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
			l.arcHub, l.arcCost = append(l.arcHub, hub(l.full, inFile(e.file, int32(c)))), append(l.arcCost, 0)
		}
		for _, c := range e.cwes {
			l.arcHub, l.arcCost = append(l.arcHub, hub(l.half, inFile(-1, int32(c)))), append(l.arcCost, literalHalf)
		}
		l.arcFrom = append(l.arcFrom, int32(len(l.arcHub)))
	}
	return l
}

// match gives the credit of each entry and the location that it took; -1 for none.
// Both hold until the next call. Locations are grouped by file and CWEs; among equal
// ones the first in order is taken, which tie (nil: as they come) settles.
func (l *literalKey) match(locations []location, tie func(a, b int32) int) (credit []float64, took []int32) {
	l.group(locations, l.files+1, func(s *location) (int32, uint64) {
		if s.cwes[0] == 0 {
			return -1, 0
		}
		return s.file + 1, uint64(s.cwes[0])<<32 | uint64(s.cwes[1])
	}, func(a, b *location) int { return cmp.Compare(a.cwes[2], b.cwes[2]) }, tie)
	f := &l.flow
	f.reset(len(l.arcFrom)-1, int(l.groups()))
	f.hubs = l.hubs
	f.arcFrom = append(f.arcFrom[:0], l.arcFrom...)
	f.arcCost = append(f.arcCost, l.arcCost...)
	for _, h := range l.arcHub {
		f.arcTo = append(f.arcTo, f.hubNode(h))
	}
	for g := range l.groups() {
		f.room = append(f.room, int32(len(l.members.row(g))))
		for s, i := l.location(g), 0; i < maxCWEs && s.cwes[i] != 0; i++ {
			if h, ok := l.full[inFile(s.file, s.cwes[i])]; ok {
				f.link(h, g)
			}
			if h, ok := l.half[inFile(-1, s.cwes[i])]; ok {
				f.link(h, g)
			}
		}
	}
	f.prepare()
	f.run(literalStop)
	l.credit, l.took = zeros(l.credit, f.knowns), all(l.took, f.knowns, -1)
	f.each(func(k, a, g, nth int32) {
		l.took[k], l.credit[k] = l.members.row(g)[nth], 1
		if f.arcCost[a] > 0 {
			l.credit[k] = 0.5
		}
	})
	return l.credit, l.took
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
