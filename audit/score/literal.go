package score

import (
	"slices"

	"assay/audit"
)

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
	return &Metrics{Part: Part{Full: l.Full, Halves: l.Halves, Credit: l.Credit, Counted: l.Counted,
		Recall: l.Recall, Precision: Span{l.Precision, l.Precision}, F1: Span{l.F1, l.F1},
		Covered: l.Covered, Held: sum(l.Dimensions).Held, Coverage: l.Coverage, Chance: l.Chance, Lift: l.Lift}, Dimensions: l.Dimensions}
}

// literalHalf and literalStop order the assignment: an augmenting path that adds a
// half costs literalHalf, one that would give up a full match for it costs more
// than literalStop.
const (
	literalHalf = int64(1)<<40 - 1
	literalStop = int64(1) << 40
)

// A literalKey is what the literal score sees of the key and of the locations that are matched
// with it. The locations' CWEs stay; their files may change from one matching to the next.
type literalKey struct {
	key       *key
	locations []location
	class     []int32 // of each location the number of its CWEs
	classes   int
	half      []int32 // of each CWE the hub of all files, from 1; 0 where no location has it
	full      []int32 // of each of the key's hubs that of its file here, from 1; 0 for none
	hubs      int32
	entries   []int32 // those that can be matched at all
	arcFrom   []int32
	arcHub    []int32
	arcCost   []int64

	group   []int32 // of each location: those of the same CWEs in one file, or in files in which no entry has one of these
	inFile  []int32 // of each class its group in the file at hand; below the number of classes for none
	members table   // of each group its locations
	groups  []int32 // that have any
	credit  []float64
	took    []int32
}

func newLiteralKey(k *key, locations []location) *literalKey {
	l := &literalKey{key: k, locations: locations, class: make([]int32, len(locations)), group: make([]int32, len(locations)),
		half: make([]int32, len(k.cwes.list)), full: make([]int32, k.hubs.rows()), arcFrom: []int32{0},
		credit: make([]float64, len(k.list(known))), took: make([]int32, len(k.list(known)))}
	classes := make(map[[maxCWEs]int32]int32)
	for i := range locations {
		cwes := locations[i].cwes
		class, ok := classes[cwes]
		if !ok {
			class = int32(len(classes))
			classes[cwes] = class
			for _, c := range cwes {
				if c != 0 && l.half[c] == 0 {
					l.hubs++
					l.half[c] = l.hubs
				}
			}
		}
		l.class[i] = class
	}
	l.classes, l.inFile = len(classes), make([]int32, len(classes))
	arcs := 0
	for i := range k.list(known) {
		arcs += 2 * k.entries[i].own
	}
	l.arcHub, l.arcCost = make([]int32, 0, arcs), make([]int64, 0, arcs)
	for i := range k.list(known) {
		l.addArcs(int32(i))
	}
	return l
}

// addArcs adds what an entry may take: its CWEs in its file for 1, and anywhere for a half.
func (l *literalKey) addArcs(entry int32) {
	e := &l.key.entries[entry]
	own := e.halves[:e.own]
	inFile := l.key.hubsAt.row(entry) // those of its halves in its file are the first
	for i, c := range own {
		if l.half[c] > 0 {
			h := inFile[i]
			if l.full[h] == 0 {
				l.hubs++
				l.full[h] = l.hubs
			}
			l.arcHub, l.arcCost = append(l.arcHub, l.full[h]-1), append(l.arcCost, 0)
		}
	}
	for _, c := range own {
		if l.half[c] > 0 {
			l.arcHub, l.arcCost = append(l.arcHub, l.half[c]-1), append(l.arcCost, literalHalf)
		}
	}
	if len(l.arcHub) > int(l.arcFrom[len(l.entries)]) {
		l.entries, l.arcFrom = append(l.entries, entry), append(l.arcFrom, int32(len(l.arcHub)))
	}
}

// byFile are the locations in files of the key, by file.
func (l *literalKey) gather(byFile []int32) {
	copy(l.group, l.class)
	clear(l.inFile)
	n := l.classes
	file, first := int32(-1), int32(n)
	for _, i := range byFile {
		if f := l.locations[i].file; f != file {
			file, first = f, int32(n)
		}
		class := l.class[i]
		if l.inFile[class] < first && l.inEntry(i) {
			l.inFile[class] = int32(n)
			n++
		}
		if l.inFile[class] >= first {
			l.group[i] = l.inFile[class]
		}
	}
	l.members.sort(n, l.group)
	l.groups = l.groups[:0]
	for g := range int32(n) {
		if l.members.from[g] < l.members.from[g+1] {
			l.groups = append(l.groups, g)
		}
	}
}

func (l *literalKey) inEntry(i int32) bool {
	return slices.ContainsFunc(l.locations[i].cells[:], func(c int32) bool { return l.fullOf(c) > 0 })
}

// fullOf gives the hub of a cell of the key's, from 1; 0 for none.
func (l *literalKey) fullOf(cell int32) int32 {
	if h := l.key.hub(cell); h >= 0 {
		return l.full[h]
	}
	return 0
}

// match gives the credit of each entry and the location that it took; -1 for none.
// Both hold until the next call. Among equal locations the first is taken.
// The locations in files of the key are given by file, and f is free to use.
func (l *literalKey) match(byFile []int32, f *flow) (credit []float64, took []int32) {
	l.gather(byFile)
	f.reset(len(l.entries), len(l.groups), len(l.arcHub))
	f.hubs = int(l.hubs)
	f.arcFrom, f.arcCost = append(f.arcFrom[:0], l.arcFrom...), append(f.arcCost, l.arcCost...)
	for _, h := range l.arcHub {
		f.arcTo = append(f.arcTo, f.hubNode(h))
	}
	for g, group := range l.groups {
		members := l.members.row(group)
		f.room = append(f.room, int32(len(members)))
		s := &l.locations[members[0]]
		if int(group) >= l.classes {
			for _, c := range s.cells {
				if h := l.fullOf(c); h > 0 {
					f.link(h-1, int32(g))
				}
			}
		}
		for _, c := range s.cwes {
			if c != 0 {
				f.link(l.half[c]-1, int32(g))
			}
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
	credit, took := newLiteralKey(s.key, s.locations).match(s.matcher.byRow.of, &s.matcher.flow)
	l.Counted = len(s.result.Findings) - s.result.Dispositions[Suppressed]
	for e, c := range credit {
		k := s.knownResult(int32(e))
		k.LiteralCredit = c
		if took[e] >= 0 {
			sc := s.scored(int(took[e]))
			sc.Literal, sc.LiteralID = c, k.ID
		}
	}
	counts := s.byDimension(everyEntry, func(k *KnownResult) float64 { return k.LiteralCredit })
	p := sum(counts)
	l.Full, l.Halves, l.Credit = p.Full, p.Halves, p.Credit
	l.Dimensions = counts[:len(audit.Dimensions())]
	l.Covered, l.Coverage, l.Recall = p.Covered, p.Coverage, p.Recall
	l.Precision = Ratio(l.Credit, float64(l.Counted))
	l.F1 = F1(l.Precision, l.Recall)
}
