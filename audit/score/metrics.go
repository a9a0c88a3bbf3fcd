package score

import (
	"slices"

	"assay/audit"
)

// Metrics are the figures of one trial. Shares are 0 to 1.
type Metrics struct {
	Known  int     `json:"known"`  // entries of the key
	Full   int     `json:"full"`   // of these matched in full
	Halves int     `json:"halves"` // of these matched by half
	Credit float64 `json:"credit"` // Full + Halves/2

	Counted   int      `json:"counted"`   // findings less free duplicates and suppressed ones
	OffKey    Reviewed `json:"off_key"`   // how far off-key findings were reviewed
	Misplaced Reviewed `json:"misplaced"` // misplaced ones: false unless a review says true

	Recall      Value `json:"recall"`       // Credit / Known
	Precision   Span  `json:"precision"`    // (Credit + true ones) / Counted; unreviewed off-key all false, all true
	Precision95 Span  `json:"precision_95"` // the same, narrowed by the share of true ones in the review sample
	F1          Span  `json:"f1"`           // of Precision's ends with Recall

	Covered    []audit.Dimension `json:"covered"`    // dimensions with a full match
	Held       []audit.Dimension `json:"held"`       // dimensions that the key holds
	Coverage   Value             `json:"coverage"`   // Covered / Held; shown as len(Covered) of ten
	Dimensions []DimensionCount  `json:"dimensions"` // all ten, in the methodology's order

	SeverityJudged    int   `json:"severity_judged"`    // full matches where both sides state a severity
	SeverityAccuracy  Value `json:"severity_accuracy"`  // of these with the entry's severity
	HallucinatedPaths Value `json:"hallucinated_paths"` // missing paths / findings less suppressed; undefined without a tree

	Chance       Chance `json:"chance"`       // recall at places drawn by lot
	Lift         Value  `json:"lift"`         // Recall / Chance.Mean
	Corroborated Part   `json:"corroborated"` // entries that something beside the key corroborates
}

// Reviewed counts findings by what a person said of them.
type Reviewed struct {
	True  int `json:"true"`
	False int `json:"false"`
	Open  int `json:"open"`
}

// A DimensionCount is what was found in one dimension.
type DimensionCount struct {
	Dimension audit.Dimension `json:"dimension"`
	Known     int             `json:"known"`
	Full      int             `json:"full"`
	Halves    int             `json:"halves"`
	Credit    float64         `json:"credit"`
	Recall    Value           `json:"recall"`   // Credit / Known
	Findings  int             `json:"findings"` // counted findings whose first CWE the map puts here
}

func (s *scorer) measure() {
	m := &s.result.Metrics
	all := s.part(func(*KnownResult) bool { return true })
	m.Known, m.Full, m.Halves, m.Credit = all.Known, all.Full, all.Halves, all.Credit
	m.Recall, m.Covered, m.Held, m.Coverage = all.Recall, all.Covered, all.Held, all.Coverage
	m.SeverityJudged, m.SeverityAccuracy = all.SeverityJudged, all.SeverityAccuracy
	s.countFindings()
	s.countDimensions()

	m.Precision = m.precision(float64(m.OffKey.True), float64(m.OffKey.True+m.OffKey.Open))
	m.F1 = m.Precision.f1(m.Recall)
	m.Corroborated = s.corroborated()
	m.Precision95 = m.Precision
	if m.OffKey.Open > 0 && m.OffKey.True+m.OffKey.False > 0 {
		m.Precision95 = m.precision(s.result.sampled(s.result.Sample()).bounds())
	}
}

func (s *scorer) countFindings() {
	m := &s.result.Metrics
	for i := range s.result.Findings {
		f := &s.result.Findings[i]
		if f.Disposition != Suppressed && !f.Free {
			m.Counted++
		}
		switch f.Disposition {
		case OffKey:
			m.OffKey.add(f.Review)
		case Misplaced:
			m.Misplaced.add(f.Review)
		}
	}
	if len(s.in.Project.Tree) > 0 {
		reported := len(s.result.Findings) - s.result.Dispositions[Suppressed]
		m.HallucinatedPaths = Ratio(float64(s.result.Dispositions[MissingPath]), float64(reported))
	}
}

func (r *Reviewed) add(review string) {
	switch review {
	case "true":
		r.True++
	case "false":
		r.False++
	default:
		r.Open++
	}
}

func (s *scorer) countDimensions() {
	m := &s.result.Metrics
	for _, d := range audit.Dimensions() {
		m.Dimensions = append(m.Dimensions, DimensionCount{Dimension: d})
	}
	at := func(d audit.Dimension) *DimensionCount {
		i := slices.Index(audit.Dimensions(), d)
		if i < 0 {
			return new(DimensionCount)
		}
		return &m.Dimensions[i]
	}
	for _, k := range s.result.Known {
		c := at(k.Dimension)
		c.Known++
		c.Credit += k.Credit
		switch k.Credit {
		case 1:
			c.Full++
		case 0.5:
			c.Halves++
		}
	}
	for i := range s.result.Findings {
		f := &s.result.Findings[i]
		if f.Disposition == Suppressed || f.Free || s.locations[i].cwes[0] == 0 {
			continue
		}
		at(s.in.Dimensions[audit.CWE(s.locations[i].cwes[0])]).Findings++
	}
	for i := range m.Dimensions {
		c := &m.Dimensions[i]
		c.Recall = Ratio(c.Credit, float64(c.Known))
	}
}
