package score

// mend turns the result of a tree in which the entries are mended around: an entry that is not
// reported is right, and a finding that matches one hits a decoy. Recall is the share of the
// entries that are right, so that the gate can treat both trees of a fix alike; nothing else
// is known there, and chance says nothing.
func (r *Result) mend() {
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Disposition == Matched || f.Disposition == Duplicate {
			r.Dispositions[f.Disposition]--
			f.Disposition = DecoyHit
			r.Dispositions[DecoyHit]++
		}
	}
	right := 0
	for i := range r.Known {
		k := &r.Known[i]
		if k.Credit, k.MethodologyCredit = 0, 0; k.Finding < 0 {
			k.Credit, k.MethodologyCredit = 1, 1
			right++
		}
	}
	n := len(r.Known)
	r.Metrics = Metrics{Dimensions: r.Metrics.Dimensions,
		HallucinatedPaths: r.Metrics.HallucinatedPaths,
		Part: Part{Known: n, Full: right, Credit: float64(right), Counted: r.Metrics.Counted,
			Recall: Ratio(float64(right), float64(n))}}
	for i := range r.Metrics.Dimensions {
		d := &r.Metrics.Dimensions[i]
		d.Full = d.Known - d.Full
		d.Credit, d.Recall = float64(d.Full), Ratio(float64(d.Full), float64(d.Known))
	}
	r.Methodology = MethodologyScore{Credit: float64(right), Recall: r.Metrics.Recall,
		Dimensions: r.Metrics.Dimensions}
}
