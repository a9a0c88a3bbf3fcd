package stat

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// None of 5 and 4 of 5 runs: of C(10,4) = 210 ways to place four early ends,
// C(5,4) = 5 put all of them on the new side (Fisher's exact test). Ten and nine of
// ten: C(20,9) ways, of which ten.
func TestEarlyEndsByHand(t *testing.T) {
	e, err := EarlyEnds([]Ends{{"a", 5, 5, 0, 4}})
	require.NoError(t, err)
	require.InDelta(t, 5.0/210, e.P, 1e-12)
	require.Equal(t, NotSettled, e.Decision)
	require.Equal(t, [2]float64{0, 0.8}, e.Rate)

	e, err = EarlyEnds([]Ends{{"a", 10, 10, 0, 9}})
	require.NoError(t, err)
	require.InEpsilon(t, 10.0/167960, e.P, 1e-9)
	require.Equal(t, Drop, e.Decision)

	// By projects: a project in which all runs end early on both sides says nothing.
	e, err = EarlyEnds([]Ends{{"a", 5, 5, 0, 4}, {"b", 40, 3, 40, 3}, {"c", 0, 7, 0, 7}})
	require.NoError(t, err)
	require.InDelta(t, 5.0/210, e.P, 1e-12)

	e, err = EarlyEnds([]Ends{{"a", 5, 5, 4, 0}})
	require.NoError(t, err)
	require.Equal(t, NoDrop, e.Decision, "fewer early ends are no drop")

	e, err = EarlyEnds(nil)
	require.NoError(t, err)
	require.Equal(t, NoDrop, e.Decision)
	require.True(t, math.IsNaN(e.Rate[0]))

	_, err = EarlyEnds([]Ends{{"a", 5, 5, 0, 6}})
	require.ErrorContains(t, err, "want 0 to all")
}
