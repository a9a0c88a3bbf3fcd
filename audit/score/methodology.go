package score

import "assay/audit"

// MethodologyScore is the score by the methodology's own words: a finding with one of an
// entry's CWEs earns 1 in the entry's file and 0.5 anywhere else; lines,
// functions, decoys and duplicates have no say. Each entry takes one finding and
// each finding one entry, most of value 1 first, then most of 0.5; that is the
// most credit that can be had.
//
// It is kept for comparison with figures that were made that way. A list of common CWEs
// scores without a look at the code.
type MethodologyScore struct {
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
}

// Metrics returns the methodology score in the form of [Metrics], for tables that show both.
// Figures that it does not define are undefined.
func (l *MethodologyScore) Metrics() *Metrics {
	return &Metrics{Part: Part{Full: l.Full, Halves: l.Halves, Credit: l.Credit, Counted: l.Counted,
		Recall: l.Recall, Precision: Span{l.Precision, l.Precision}, F1: Span{l.F1, l.F1},
		Covered: l.Covered, Held: sum(l.Dimensions).Held, Coverage: l.Coverage},
		Dimensions: l.Dimensions}
}

// literal fills in the methodology score. Suppressed findings and those whose file or line
// is not there take no part; the latter count in precision's denominator.
func (s *scorer) literal() {
	l := &s.result.Methodology
	for i, p := range s.key.matchByLetter(s.claims) {
		if p.entry == nil {
			continue
		}
		k, sc := &s.result.Known[p.index], s.scored(&s.claims[i])
		if k.MethodologyCredit = 1; p.partial {
			k.MethodologyCredit = 0.5
		}
		sc.MethodologyCredit, sc.MethodologyID = k.MethodologyCredit, k.ID
	}
	l.Counted = len(s.result.Findings) - s.result.Dispositions[Suppressed]
	counts := s.byDimension(everyEntry, func(k *EntryResult) float64 { return k.MethodologyCredit })
	p := sum(counts)
	l.Full, l.Halves, l.Credit = p.Full, p.Halves, p.Credit
	l.Dimensions = counts[:len(audit.Dimensions())]
	l.Covered, l.Coverage, l.Recall = p.Covered, p.Coverage, p.Recall
	l.Precision = Ratio(l.Credit, float64(l.Counted))
	l.F1 = F1(l.Precision, l.Recall)
}
