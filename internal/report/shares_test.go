package report

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

// Who is asked again and says the same has not moved.
func TestAskedAgain(t *testing.T) {
	a, b := &audit.Case{Query: "a"}, &audit.Case{Query: "b"}
	answers := func(trials int, ofB ...audit.Outcome) (as []score.Answer) {
		for n := range trials {
			as = append(as, score.Answer{Case: a, Trial: n, Outcome: audit.OutcomeCorrect},
				score.Answer{Case: b, Trial: n, Outcome: ofB[n%len(ofB)]})
		}
		return as
	}
	once := answers(1, audit.OutcomeWrong)
	require.True(t, maps.Equal(shares(once), shares(answers(3, audit.OutcomeWrong))))
	require.False(t, maps.Equal(shares(once), shares(answers(3, audit.OutcomeCorrect))))
	mixed := []audit.Outcome{audit.OutcomeWrong, audit.OutcomeCorrect, audit.OutcomeCorrect}
	require.True(t, maps.Equal(shares(answers(3, mixed...)), shares(answers(6, mixed...))))
	require.False(t, maps.Equal(shares(once), shares(answers(3, mixed...))))
}
