package score

import (
	"slices"

	"assay/audit"
)

// Metrics are the figures of one trial. Shares are 0 to 1.
type Metrics struct {
	Part // the whole key

	Unmatched     Reviewed `json:"off_key"`   // unmatched findings by what was said of them
	WrongLocation Reviewed `json:"misplaced"` // those at a wrong location
	// Precision, narrowed by the share of true ones in the review sample; decides nothing
	Precision95 Span `json:"precision_95"`

	// all ten, in the methodology's order
	Dimensions []DimensionCount `json:"dimensions"`
	// missing paths / findings less suppressed; undefined without a tree
	HallucinatedPaths Value `json:"hallucinated_paths"`

	Corroborated Part `json:"corroborated"` // entries that something beside the key corroborates

	// by the trials of FiguresOf; zero in a single result
	Consumed Consumed `json:"consumed,omitzero"`
}

// Reviewed counts findings by what a person said of them.
type Reviewed struct {
	True int `json:"true"`
	// those too that repeat a ruled one more than three times
	False int `json:"false"`
	// the same flaw as an entry, or the same as a ruled finding: free
	Same int `json:"same,omitempty"`
	// false at precision's low end, left out at its high end
	Arguable int `json:"arguable,omitempty"`
	Open     int `json:"open"`
}

// A DimensionCount is what was found in one dimension.
type DimensionCount struct {
	Dimension audit.Dimension `json:"dimension"`
	Known     int             `json:"known"`
	Full      int             `json:"full"`
	Halves    int             `json:"halves"`
	Credit    float64         `json:"credit"`
	Recall    Value           `json:"recall"` // Credit / Known
	// counted findings whose first CWE the map puts here
	Findings int `json:"findings"`
}

// everyEntry reports true.
func everyEntry(*EntryResult) bool { return true }

// measure computes the metrics.
func (s *scorer) measure() {
	m := &s.result.Metrics
	m.Part, m.Dimensions = s.part(everyEntry)
	s.countFindings()
	for i := range s.claims {
		c := &s.claims[i]
		at := slices.Index(audit.Dimensions(), s.in.Dimensions[c.cwes[0]])
		if at >= 0 && !s.scored(c).Free {
			m.Dimensions[at].Findings++
		}
	}

	m.Precision = s.precision(m.Credit, m.Counted)
	m.F1 = m.Precision.f1(m.Recall)
	m.Corroborated = s.corroborated()
	m.Precision95 = m.Precision
	if beside := m.Unmatched.plus(m.WrongLocation); !s.in.Project.Planted && beside.Open > 0 &&
		beside.True+beside.False > 0 {
		low, high := s.result.sampled(s.result.Sample())
		high = min(high, float64(beside.True)+min(float64(beside.Open), m.Credit))
		m.Precision95 = Span{Ratio(m.Credit+low, float64(m.Counted)),
			Ratio(m.Credit+high, float64(m.Counted-beside.Arguable))}
	}
}

// precision returns the precision of a part of the report. A table of fixes says nothing of
// findings beside it: while one of them is not ruled on, precision is undefined.
func (s *scorer) precision(credit float64, counted int) Span {
	beside := s.result.Metrics.Unmatched.plus(s.result.Metrics.WrongLocation)
	if s.in.Project.Planted {
		// The key is whole: what it lacks is false, unless somebody ruled it true; then it does
		// not count.
		p := Ratio(credit, float64(counted-beside.True))
		return Span{p, p}
	}
	if s.in.Project.OfFixes() && beside.Open > 0 {
		return Span{}
	}
	return beside.precision(credit, counted)
}

// countFindings counts the findings by disposition.
func (s *scorer) countFindings() {
	m := &s.result.Metrics
	for i := range s.result.Findings {
		f := &s.result.Findings[i]
		s.result.Dispositions[f.Disposition]++
		if f.Disposition != Suppressed && !f.Free {
			m.Counted++
		}
		switch f.Disposition {
		case Unmatched:
			m.Unmatched.add(f)
		case WrongLocation:
			m.WrongLocation.add(f)
		}
	}
	if len(s.in.Project.Tree) > 0 {
		reported := len(s.result.Findings) - s.result.Dispositions[Suppressed]
		m.HallucinatedPaths = Ratio(float64(s.result.Dispositions[MissingPath]), float64(reported))
	}
}

// add counts a finding by its review.
func (r *Reviewed) add(f *Scored) {
	switch {
	case f.Free:
		r.Same++
	case f.Review == "":
		r.Open++
	case f.Review == string(audit.RuledTrue):
		r.True++
	case f.Review == string(audit.RuledArguable):
		r.Arguable++
	default:
		r.False++
	}
}

// plus returns the sum of two counts.
func (r Reviewed) plus(o Reviewed) Reviewed {
	return Reviewed{r.True + o.True, r.False + o.False, r.Same + o.Same, r.Arguable + o.Arguable,
		r.Open + o.Open}
}

// byDimension counts entries by what they earned: in the ten dimensions, and last in none
// of them.
func (s *scorer) byDimension(in func(*EntryResult) bool,
	credit func(*EntryResult) float64) []DimensionCount {
	dimensions := audit.Dimensions()
	counts := make([]DimensionCount, len(dimensions)+1)
	for i, d := range dimensions {
		counts[i].Dimension = d
	}
	for i := range s.result.Known {
		k := &s.result.Known[i]
		if !in(k) {
			continue
		}
		c := &counts[len(dimensions)]
		if at := slices.Index(dimensions, k.Dimension); at >= 0 {
			c = &counts[at]
		}
		c.Known++
		c.Credit += credit(k)
		switch credit(k) {
		case 1:
			c.Full++
		case 0.5:
			c.Halves++
		}
	}
	for i := range counts {
		counts[i].Recall = Ratio(counts[i].Credit, float64(counts[i].Known))
	}
	return counts
}

// sum returns the sum of the dimensions.
func sum(counts []DimensionCount) Part {
	var p Part
	for _, c := range counts {
		p.Known, p.Full, p.Halves, p.Credit = p.Known+c.Known, p.Full+c.Full, p.Halves+c.Halves,
			p.Credit+c.Credit
		if c.Dimension == "" {
			continue
		}
		if c.Known > 0 {
			p.Held = append(p.Held, c.Dimension)
		}
		if c.Full > 0 {
			p.Covered = append(p.Covered, c.Dimension)
		}
	}
	p.Recall = Ratio(p.Credit, float64(p.Known))
	p.Coverage = Ratio(float64(len(p.Covered)), float64(len(p.Held)))
	return p
}
