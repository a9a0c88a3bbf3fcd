package score_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

// A family of two goods and two bads: the first bad is the first good but for a line,
// the second the second.
func pairsFamily() []*audit.Case {
	c := func(n int, l audit.Label, code string) *audit.Case {
		return &audit.Case{App: "a", Query: "q", Number: n, Label: l, Code: code}
	}
	return []*audit.Case{
		c(1, audit.Good, "x\ncheck\ny\n"), c(2, audit.Good, "p\nguard\nq\nr\n"),
		c(3, audit.Bad, "x\ny\n"), c(4, audit.Bad, "p\nq\nr\n"),
	}
}

func TestPairsAreToldApartWhereBothAreRight(t *testing.T) {
	for name, tt := range map[string]struct {
		outcomes []audit.Outcome // of the four
		pairs    score.Value
		answers  int
	}{
		"all right": {[]audit.Outcome{"correct", "correct", "correct", "correct"},
			score.Of(1), 2},
		"everything is called flawed": {[]audit.Outcome{"wrong", "wrong", "correct", "correct"},
			score.Of(0), 2},
		"the other good is wrong": {[]audit.Outcome{"wrong", "correct", "wrong", "correct"},
			score.Of(0.5), 2},
		"a good without an answer": {[]audit.Outcome{"errored", "correct", "correct", "correct"},
			score.Of(1), 1},
	} {
		t.Run(name, func(t *testing.T) {
			var as []score.Answer
			for i, c := range pairsFamily() {
				as = append(as, score.Answer{Case: c, Outcome: tt.outcomes[i]})
			}
			b, err := score.BenchOf(as)
			require.NoError(t, err)
			require.Equal(t, tt.pairs, b.Pairs.Value)
			require.Equal(t, tt.answers, b.Pairs.Answers)
		})
	}
}

func TestErrorsAreWrongAnswersInAHundred(t *testing.T) {
	var as []score.Answer
	for i, c := range pairsFamily() {
		as = append(as, score.Answer{Case: c, Outcome: []audit.Outcome{"correct", "correct",
			"correct", "wrong"}[i]})
	}
	b, err := score.BenchOf(as)
	require.NoError(t, err)
	require.InDelta(t, 25, b.Errors.Value.V, 1e-9)
	require.InDelta(t, 100*(1-b.Accuracy.High.V), b.Errors.Low.V, 1e-9,
		"more right answers are fewer errors")
}
