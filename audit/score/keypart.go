package score

import "assay/audit"

// A Part holds the figures of a matching for the key or for a part of it.
//
// Findings that matched an entry outside of the part, or repeat such a finding, are not
// counted.
type Part struct {
	Known  int     `json:"known"`  // entries
	Full   int     `json:"full"`   // of these matched in full
	Halves int     `json:"halves"` // of these matched by half
	Credit float64 `json:"credit"` // Full + Halves/2
	// findings less free duplicates, suppressed ones and those that stand aside
	Counted int `json:"counted"`

	Recall Value `json:"recall"` // Credit / Known
	// (Credit + true ones) / Counted: what nobody has judged is false at the low end, as often
	// true as the report has credit at the high
	Precision Span `json:"precision"`
	F1        Span `json:"f1"` // of Precision's ends with Recall

	Covered  []audit.Dimension `json:"covered"`  // dimensions with a full match
	Held     []audit.Dimension `json:"held"`     // dimensions that it holds
	Coverage Value             `json:"coverage"` // Covered / Held

	// full matches that name the entry's weakness or one a step off: on pinned projects all
	Classification Value `json:"classification"`
	// full matches where both sides state a severity
	SeverityJudged   int   `json:"severity_judged"`
	SeverityAccuracy Value `json:"severity_accuracy"` // of these with the entry's severity

	Chance Chance `json:"chance"` // recall at places drawn by lot
	// Recall corrected for chance: (Recall - Chance.Mean) / (1 - Chance.Mean)
	Corrected Value `json:"corrected"`
}

// part returns the figures of a part of the entries, in all and by dimension.
func (s *scorer) part(in func(*EntryResult) bool) (Part, []DimensionCount) {
	counts := s.byDimension(in, func(k *EntryResult) float64 { return k.Credit })
	p, right, named := sum(counts), 0, 0
	for i := range s.result.Known {
		k := &s.result.Known[i]
		if in(k) && s.classified(i) {
			named++
		}
		want, got := s.in.Project.Vulnerabilities[i].Severity, audit.SeverityUnknown
		if c := s.took[i]; c != nil {
			got = s.in.Findings[c.finding].Severity
		}
		if !in(k) || k.Credit != 1 || want == audit.SeverityUnknown ||
			got == audit.SeverityUnknown {
			continue
		}
		p.SeverityJudged++
		if want == got {
			right++
		}
	}
	p.SeverityAccuracy = Ratio(float64(right), float64(p.SeverityJudged))
	p.Classification = Ratio(float64(named), float64(p.Full))
	return p, counts[:len(audit.Dimensions())]
}

// corroborated is the part of the entries that an advisory, a challenge or the
// project's own documents speak of, too. Its chance level is filled in later.
func (s *scorer) corroborated() Part {
	p, _ := s.part(func(k *EntryResult) bool { return k.Corroborated })
	if p.Known == 0 {
		return p
	}
	m := &s.result.Metrics
	p.Counted = m.Counted - s.aside()
	p.Precision = s.precision(p.Credit, p.Counted)
	p.F1 = p.Precision.f1(p.Recall)
	return p
}

// aside counts the findings that matched entries which nothing corroborates, or
// repeat one that did, as far as they count at all.
func (s *scorer) aside() int {
	bare := map[string]bool{}
	for i := range s.result.Known {
		if k := &s.result.Known[i]; !k.Corroborated {
			bare[k.ID] = true
		}
	}
	n := 0
	for i := range s.result.Findings {
		f := &s.result.Findings[i]
		switch f.Disposition {
		case Matched, Partial, Duplicate:
			if !f.Free && bare[f.Match.Entry] {
				n++
			}
		}
	}
	return n
}
