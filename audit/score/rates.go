package score

import (
	"maps"
	"slices"

	"assay/audit"
)

// Rates are the rates of vulnerable and safe code called flawed, by CWE.
//
// For a project, vulnerable code is a vulnerability of the key, by its first CWE, and counts as
// called flawed if it was matched in full; safe code is a decoy, by its first CWE, and counts
// if a finding hit it. In Bench, vulnerable code is a trial of a bad case, under each of its
// CWEs; safe code is a trial of a good case, under each CWE of the bad cases of its family.
// Unanswered trials are left out.
type Rates struct {
	CWEs []Rate `json:"cwes"` // ascending
	// Mean has the sums of all counts, and of each rate the mean over the CWEs that
	// are labelled both ways, each of one weight; undefined where there is none.
	Mean Rate `json:"mean"`
}

// A Rate is one row of Rates.
type Rate struct {
	CWE audit.CWE `json:"cwe,omitempty"` // 0 in the mean
	TP  int       `json:"tp"`            // flaws that were found
	FN  int       `json:"fn"`            // flaws that were not
	FP  int       `json:"fp"`            // safe code that was called flawed
	TN  int       `json:"tn"`            // safe code that was not
	TPR Value     `json:"tpr"`           // TP / (TP + FN)
	FPR Value     `json:"fpr"`           // FP / (FP + TN)
	// Difference is TPR minus FPR: 0 for whoever calls everything flawed, or as much
	// of it by lot.
	Difference Value `json:"difference"`
}

// Rows returns the mean, if it is defined, followed by the rows of all CWEs.
func (r Rates) Rows() []Rate {
	if !r.Mean.Difference.Defined {
		return nil
	}
	return append([]Rate{r.Mean}, r.CWEs...)
}

// Name is the row's CWE, or "mean".
func (r Rate) Name() string {
	if r.CWE == 0 {
		return "mean"
	}
	return r.CWE.String()
}

// RateMetrics are the columns of [Rates].
func RateMetrics() []Metric[*Rate] {
	return []Metric[*Rate]{
		count("TP", false, func(r *Rate) int { return r.TP }), count("FN", false,
			func(r *Rate) int { return r.FN }),
		count("FP", false, func(r *Rate) int { return r.FP }), count("TN", false,
			func(r *Rate) int { return r.TN }),
		{Name: "TPR", Of: valueOf(func(r *Rate) Value { return r.TPR })},
		{Name: "FPR", Of: valueOf(func(r *Rate) Value { return r.FPR })},
		{Name: "TPR minus FPR", Of: valueOf(func(r *Rate) Value { return r.Difference })},
	}
}

type tally map[audit.CWE]*Rate

// add counts code under a CWE.
func (t tally) add(c audit.CWE, flawed, called bool) {
	r := t[c]
	if r == nil {
		r = &Rate{CWE: c}
		t[c] = r
	}
	switch {
	case flawed && called:
		r.TP++
	case flawed:
		r.FN++
	case called:
		r.FP++
	default:
		r.TN++
	}
}

// rates returns the rates of all CWEs.
func (t tally) rates() Rates {
	rates := Rates{CWEs: []Rate{}}
	n, tpr, fpr := 0.0, 0.0, 0.0
	for _, c := range slices.Sorted(maps.Keys(t)) {
		r := *t[c]
		r.TPR, r.FPR = Ratio(float64(r.TP), float64(r.TP+r.FN)), Ratio(float64(r.FP),
			float64(r.FP+r.TN))
		if r.TPR.Defined && r.FPR.Defined {
			r.Difference = Of(r.TPR.V - r.FPR.V)
			n, tpr, fpr = n+1, tpr+r.TPR.V, fpr+r.FPR.V
		}
		rates.CWEs = append(rates.CWEs, r)
		m := &rates.Mean
		m.TP, m.FN, m.FP, m.TN = m.TP+r.TP, m.FN+r.FN, m.FP+r.FP, m.TN+r.TN
	}
	rates.Mean.TPR, rates.Mean.FPR, rates.Mean.Difference = Ratio(tpr, n), Ratio(fpr,
		n), Ratio(tpr-fpr, n)
	return rates
}

// rates returns the rates of a report.
func (s *scorer) rates() Rates {
	t := tally{}
	for i := range s.in.Project.Vulnerabilities {
		t.add(s.in.Project.Vulnerabilities[i].CWEs[0], true, s.result.Known[i].Credit == 1)
	}
	for i := range s.in.Project.Decoys {
		t.add(s.in.Project.Decoys[i].CWEs[0], false, s.hit[i])
	}
	return t.rates()
}

// ratesOf returns the rates of a reviewer's answers.
func ratesOf(answers []Answer) Rates {
	families := map[string]map[audit.CWE]bool{}
	for i := range answers {
		c := answers[i].Case
		if c.Label == audit.Bad && len(c.CWEs) > 0 {
			family := c.Family()
			if families[family] == nil {
				families[family] = map[audit.CWE]bool{}
			}
			for _, w := range c.CWEs {
				families[family][w] = true
			}
		}
	}
	t := tally{}
	for i := range answers {
		a := &answers[i]
		correct := a.Outcome == audit.OutcomeCorrect
		if !correct && a.Outcome != audit.OutcomeWrong {
			continue
		}
		if a.Case.Label == audit.Bad {
			for _, w := range a.Case.CWEs {
				t.add(w, true, correct)
			}
			continue
		}
		for w := range families[a.Case.Family()] {
			t.add(w, false, !correct)
		}
	}
	return t.rates()
}
