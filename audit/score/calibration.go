package score

import (
	"fmt"
	"math"

	"assay/audit"
	"assay/internal/stat"
)

// A Calibration says whether the confidence that a reviewer states can be
// believed: of answers that it is 80 % sure of, 80 % should be right.
type Calibration struct {
	Answers int             `json:"answers"` // that state a confidence
	Without int             `json:"without"` // answers that state none
	Bins    []ConfidenceBin `json:"bins"`    // ascending; those without an answer are left out
	Said    Value           `json:"said"`    // mean confidence
	Right   Value           `json:"right"`   // share of right answers
	// Gap is the expected calibration error: the mean over the bins, by answers, of
	// the distance between confidence and share of right answers (C. Guo, G. Pleiss,
	// Y. Sun, K. Weinberger, On Calibration of Modern Neural Networks, ICML 2017).
	Gap Value `json:"gap"`
	// Brier is the mean squared distance between confidence and what came of it, 0
	// to 1, 0 the best (G. W. Brier, Monthly Weather Review 78 (1950) 1-3).
	Brier Value `json:"brier"`
}

// A ConfidenceBin are the answers whose confidence lies above Low and is at most
// High.
type ConfidenceBin struct {
	Low   float64  `json:"low"`
	High  float64  `json:"high"`
	Said  float64  `json:"said"`  // mean confidence
	Right Estimate `json:"right"` // share of right answers, families as clusters
}

const confidenceBins = 10

// CalibrationOf holds stated confidence against what came of it. Trials without an
// answer are in none of it. A confidence outside 0 to 1 is an error, as is
// whatever [BenchOf] refuses.
func CalibrationOf(answers []Answer) (*Calibration, error) {
	r, err := newTrialTable(answers)
	if err != nil {
		return nil, err
	}
	c := &Calibration{Bins: []ConfidenceBin{}}
	var said [confidenceBins]float64
	var obs [confidenceBins][]stat.Observation
	var sum, correct, squares float64
	for i := range answers {
		a := &answers[i]
		v := right(a.Outcome)
		switch {
		case !(a.Confidence >= 0 && a.Confidence <= 1):
			return nil, fmt.Errorf("%s: %s: confidence %g: expected 0 to 1", a.Case.Pos, a.Case.ID(), a.Confidence)
		case math.IsNaN(v):
			continue
		case a.Confidence == 0:
			c.Without++
			continue
		}
		// The edge belongs to the bin below it; the small part keeps 0.7 in its own.
		bin := min(confidenceBins-1, int(math.Ceil(a.Confidence*confidenceBins-1e-9))-1)
		bin = max(0, bin)
		said[bin] += a.Confidence
		obs[bin] = append(obs[bin], stat.Observation{Cluster: r.of(a.Case).family, Group: a.Group, Bad: a.Case.Label == audit.Bad, Value: v})
		sum, correct = sum+a.Confidence, correct+v
		squares += (a.Confidence - v) * (a.Confidence - v)
		c.Answers++
	}
	gap, n := 0.0, float64(c.Answers)
	for i, os := range obs {
		if len(os) == 0 {
			continue
		}
		e, err := estimate(os, stat.Proportion)
		if err != nil {
			return nil, err
		}
		b := ConfidenceBin{Low: float64(i) / confidenceBins, High: float64(i+1) / confidenceBins, Said: said[i] / float64(len(os)), Right: e}
		gap += float64(len(os)) * math.Abs(b.Said-b.Right.Value.V)
		c.Bins = append(c.Bins, b)
	}
	c.Said, c.Right, c.Gap, c.Brier = Ratio(sum, n), Ratio(correct, n), Ratio(gap, n), Ratio(squares, n)
	return c, nil
}
