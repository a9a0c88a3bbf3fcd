//go:build unix

package score_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit/score"
)

// The chance level of a large report beside its match: the same findings scored with
// and without it.
func BenchmarkChance(b *testing.B) {
	p, fs := bigAudit(5000, 20000, 500, 400)
	dims := realDimensions(b)
	for _, c := range []struct {
		name   string
		rounds int
	}{{"match", -1}, {"chance", 0}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			before := cpuTime(b)
			for b.Loop() {
				r, err := score.Score(score.Input{Project: p, Findings: fs, Dimensions: dims, Rounds: c.rounds})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(r.Metrics.Chance.Mean.V, "mean")
				b.ReportMetric(float64(r.Metrics.Chance.Rounds), "rounds")
				b.ReportMetric(r.Literal.Chance.P99.V, "literal-p99")
				b.ReportMetric(r.Metrics.Chance.P99.V, "p99")
			}
			b.ReportMetric(float64((cpuTime(b)-before).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

// A large report's chance level ends early and says what all rounds say.
func TestChanceEndsEarly(t *testing.T) {
	p, fs := bigAudit(4000, 6000, 300, 400)
	level := func(rounds int) *score.Result {
		r, err := score.Score(score.Input{Project: p, Findings: fs, Dimensions: realDimensions(t), Rounds: rounds})
		require.NoError(t, err)
		return r
	}
	few, whole := level(0), level(100)
	require.Less(t, few.Metrics.Chance.Rounds, 100)
	require.Equal(t, 100, whole.Metrics.Chance.Rounds, "rounds that are asked for are drawn")
	require.InDelta(t, whole.Metrics.Chance.Mean.V, few.Metrics.Chance.Mean.V, 0.0025)
	require.InDelta(t, whole.Metrics.Chance.P99.V, few.Metrics.Chance.P99.V, 0.005)
	require.InDelta(t, whole.Literal.Chance.P99.V, few.Literal.Chance.P99.V, 0.005)
}
