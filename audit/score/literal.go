package score

import "assay/audit"

// Literal is the score by the methodology's own words: a finding with one of an
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
// What it knows nothing of is undefined.
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

// A literalKey is what the literal score sees of the key and of the locations that are matched
// with it, with room for a matching. The locations' CWEs stay; their files may change
// from one matching to the next.
type literalKey struct {
	locations []location
	class     []int32          // of each location the number of its CWEs
	cells     map[uint64]int32 // by class and file; a file in which no entry has one of the CWEs is as good as none
	hubsOf    [][]int32        // of each cell; cells below the number of classes are those without a file
	key       *key
	full      []int32 // of each of the key's cells its hub, from 1; 0 for none
	hubs      int32
	entries   []int32 // those that can be matched at all
	arcFrom   []int32
	arcHub    []int32
	arcCost   []int64

	cell    []int32 // of each location
	members table   // of each cell its locations
	groups  []int32 // cells that have any
	flow    flow
	credit  []float64
	took    []int32
}

func newLiteralKey(k *key, locations []location) *literalKey {
	l := &literalKey{locations: locations, class: make([]int32, len(locations)), cell: make([]int32, len(locations)),
		cells: make(map[uint64]int32, len(locations)), key: k, full: make([]int32, len(k.byCWE.numbers)), arcFrom: []int32{0},
		credit: make([]float64, len(k.entries)), took: make([]int32, len(k.entries))}
	half := make(map[int32]int32) // hubs by CWE
	classes := make(map[[maxCWEs]int32]int32)
	for i := range locations {
		cwes := locations[i].cwes
		class, ok := classes[cwes]
		if !ok {
			class = int32(len(l.hubsOf))
			classes[cwes] = class
			var hubs []int32
			for j := 0; j < maxCWEs && cwes[j] != 0; j++ {
				h, ok := half[cwes[j]]
				if !ok {
					h = l.hubs
					l.hubs++
					half[cwes[j]] = h
				}
				hubs = append(hubs, h)
			}
			l.hubsOf = append(l.hubsOf, hubs)
		}
		l.class[i] = class
	}
	arcs := 0
	for i := range k.entries {
		arcs += 2 * len(k.entries[i].cwes)
	}
	l.arcHub, l.arcCost = make([]int32, 0, arcs), make([]int64, 0, arcs)
	for i := range k.entries {
		e := &k.entries[i]
		for _, c := range e.cwes {
			if _, ok := half[int32(c)]; ok {
				at := k.byCWE.cell(e.file, int32(c))
				if l.full[at] == 0 {
					l.hubs++
					l.full[at] = l.hubs
				}
				l.arcHub, l.arcCost = append(l.arcHub, l.full[at]-1), append(l.arcCost, 0)
			}
		}
		for _, c := range e.cwes {
			if h, ok := half[int32(c)]; ok {
				l.arcHub, l.arcCost = append(l.arcHub, h), append(l.arcCost, literalHalf)
			}
		}
		if len(l.arcHub) > int(l.arcFrom[len(l.entries)]) {
			l.entries, l.arcFrom = append(l.entries, int32(i)), append(l.arcFrom, int32(len(l.arcHub)))
		}
	}
	return l
}

// cellOf gives the cell of a location, which is made when it is first asked for.
func (l *literalKey) cellOf(i int) int32 {
	s, class := &l.locations[i], l.class[i]
	if s.file < 0 {
		return class
	}
	at := uint64(class)<<32 | uint64(s.file)
	cell, ok := l.cells[at]
	if !ok {
		var hubs []int32
		for j := 0; j < maxCWEs && s.cwes[j] != 0; j++ {
			if at := l.key.byCWE.cell(s.file, s.cwes[j]); at >= 0 && l.full[at] > 0 {
				hubs = append(hubs, l.full[at]-1)
			}
		}
		if cell = class; len(hubs) > 0 {
			cell = int32(len(l.hubsOf))
			l.hubsOf = append(l.hubsOf, append(hubs, l.hubsOf[class]...))
		}
		l.cells[at] = cell
	}
	return cell
}

// match gives the credit of each entry and the location that it took; -1 for none.
// Both hold until the next call. Among equal locations the first is taken.
func (l *literalKey) match() (credit []float64, took []int32) {
	for i := range l.locations {
		l.cell[i] = l.cellOf(i)
	}
	l.members.sort(len(l.hubsOf), l.cell)
	l.groups = l.groups[:0]
	for c := range int32(len(l.hubsOf)) {
		if l.members.from[c] < l.members.from[c+1] {
			l.groups = append(l.groups, c)
		}
	}
	f := &l.flow
	f.reset(len(l.entries), len(l.groups))
	f.hubs = int(l.hubs)
	f.arcFrom, f.arcCost = l.arcFrom, l.arcCost // the same for every matching, and only read
	f.arcTo = sized(f.arcTo, len(l.arcHub))
	for i, h := range l.arcHub {
		f.arcTo[i] = f.hubNode(h)
	}
	for g, c := range l.groups {
		f.room = append(f.room, int32(len(l.members.row(c))))
		for _, h := range l.hubsOf[c] {
			f.link(h, int32(g))
		}
	}
	f.prepare()
	f.run(literalStop)
	clear(l.credit)
	l.took = all(l.took, len(l.took), -1)
	f.each(func(k, a, g, nth int32) {
		e := l.entries[k]
		l.took[e], l.credit[e] = l.members.row(l.groups[g])[nth], 1
		if f.arcCost[a] > 0 {
			l.credit[e] = 0.5
		}
	})
	return l.credit, l.took
}

// literal fills in the literal score. Suppressed findings and those whose file or line
// is not there take no part; the latter count in precision's denominator.
func (s *scorer) literal() {
	l := &s.result.Literal
	credit, took := newLiteralKey(s.key, s.locations).match()
	l.Counted = len(s.result.Findings) - s.result.Dispositions[Suppressed]
	for e, c := range credit {
		k := &s.result.Known[s.key.entries[e].known]
		k.LiteralCredit = c
		l.Credit += c
		if took[e] < 0 {
			continue
		}
		sc := s.scored(int(took[e]))
		sc.Literal, sc.LiteralID = c, k.ID
		if c == 1 {
			l.Full++
		} else {
			l.Halves++
		}
	}
	l.Dimensions = s.byDimension(func(k *KnownResult) float64 { return k.LiteralCredit })
	held := 0
	for _, d := range l.Dimensions {
		held += min(1, d.Known)
		if d.Full > 0 {
			l.Covered = append(l.Covered, d.Dimension)
		}
	}
	l.Coverage = Ratio(float64(len(l.Covered)), float64(held))
	l.Recall = Ratio(l.Credit, float64(len(credit)))
	l.Precision = Ratio(l.Credit, float64(l.Counted))
	l.F1 = F1(l.Precision, l.Recall)
}
