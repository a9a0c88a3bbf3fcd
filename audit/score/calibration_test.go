package score

import (
	"math"
	"math/rand/v2"
	"testing"

	"assay/audit"

	"github.com/stretchr/testify/require"
)

func sure(n int, confidence float64, outcome audit.Outcome) Answer {
	return Answer{Case: &audit.Case{App: "a", Query: string(rune('a' + n%20)), Number: 3, Label: audit.Bad}, Trial: n, Outcome: outcome, Confidence: confidence}
}

// Worked by hand: four answers at 0.9, three right; two at 0.6, none right.
func TestCalibrationByHand(t *testing.T) {
	as := []Answer{sure(0, .9, audit.OutcomeCorrect), sure(1, .9, audit.OutcomeCorrect), sure(2, .9, audit.OutcomeCorrect), sure(3, .9, audit.OutcomeWrong),
		sure(4, .6, audit.OutcomeWrong), sure(5, .6, audit.OutcomeWrong),
		sure(6, 0, audit.OutcomeCorrect), sure(7, .9, audit.OutcomeRefused)}
	c, err := CalibrationOf(as)
	require.NoError(t, err)
	require.Equal(t, []int{6, 1}, []int{c.Answers, c.Without})
	require.Len(t, c.Bins, 2)
	require.InDelta(t, .8, c.Bins[1].Low, 1e-12)
	require.InDelta(t, .75, c.Bins[1].Right.Value.V, 1e-12)
	require.InDelta(t, (4*.9+2*.6)/6, c.Said.V, 1e-12)
	require.InDelta(t, .5, c.Right.V, 1e-12)
	require.InDelta(t, (4*.15+2*.6)/6, c.Gap.V, 1e-12)
	require.InDelta(t, (3*.01+.81+2*.36)/6, c.Brier.V, 1e-12)
}

// Each tenth belongs to the bin that ends with it, however it rounds.
func TestCalibrationEdges(t *testing.T) {
	for i := 1; i <= 10; i++ {
		c, err := CalibrationOf([]Answer{sure(0, float64(i)/10, audit.OutcomeCorrect)})
		require.NoError(t, err)
		require.InDelta(t, float64(i)/10, c.Bins[0].High, 1e-9)
	}
	c, err := CalibrationOf([]Answer{sure(0, 1e-300, audit.OutcomeWrong)})
	require.NoError(t, err)
	require.Zero(t, c.Bins[0].Low)
	for _, bad := range []float64{-.1, 1.1, math.NaN(), math.Inf(1)} {
		_, err := CalibrationOf([]Answer{sure(0, bad, audit.OutcomeCorrect)})
		require.ErrorContains(t, err, "expected 0 to 1")
	}
	c, err = CalibrationOf(nil)
	require.NoError(t, err)
	require.False(t, c.Gap.Defined || c.Brier.Defined)
}

// Of a reviewer whose word can be believed the gap is small; of one that is always
// 95 % sure and half right it is 45 points. The order of the answers is nothing.
func TestCalibrationTellsThemApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var honest, boastful []Answer
	for i := range 4000 {
		p := .5 + .5*rng.Float64()
		o, b := audit.OutcomeWrong, audit.OutcomeWrong
		if rng.Float64() < p {
			o = audit.OutcomeCorrect
		}
		if i%2 == 0 {
			b = audit.OutcomeCorrect
		}
		honest, boastful = append(honest, sure(i, p, o)), append(boastful, sure(i, .95, b))
	}
	c, err := CalibrationOf(honest)
	require.NoError(t, err)
	require.Less(t, c.Gap.V, .04)
	rng.Shuffle(len(honest), func(i, j int) { honest[i], honest[j] = honest[j], honest[i] })
	again, err := CalibrationOf(honest)
	require.NoError(t, err)
	require.InDelta(t, c.Gap.V, again.Gap.V, 1e-12)
	c, err = CalibrationOf(boastful)
	require.NoError(t, err)
	require.InDelta(t, .45, c.Gap.V, 1e-9)
}
