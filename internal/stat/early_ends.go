package stat

import (
	"fmt"
	"slices"
)

// Ends are how the runs of one project ended, those that were tried again
// included.
type Ends struct {
	Project              string
	Baseline, Now        int // runs
	BaselineEarly, Early int // of these, how many ended early
}

// earlyAlpha is what early ends may spend of the suite's 1 %, at each of its looks.
const earlyAlpha = 0.0001

// An EarlyEndsTest says whether runs end early more often than they did.
type EarlyEndsTest struct {
	Decision Decision   // Drop where they do; NoDrop; NotSettled where there are more, and chance explains it
	Rate     [2]float64 // share of runs that ended early, baseline and now; NaN without runs
	P, Alpha float64    // chance of as many were nothing changed, and what it is held against
}

// EarlyEnds tests for a rise of early ends, over all projects: runs of one project
// could as well have ended on the other side (Fisher's exact test, by projects;
// see [Exchange]). Projects without a run on a side say nothing. It returns an
// error for numbers below 0, and more early ends than runs.
func EarlyEnds(ends []Ends) (EarlyEndsTest, error) {
	var strata []Stratum
	var early, runs [2]float64
	for _, e := range ends {
		if e.BaselineEarly < 0 || e.Early < 0 || e.BaselineEarly > e.Baseline || e.Early > e.Now {
			return EarlyEndsTest{}, fmt.Errorf("%s: %d of %d and %d of %d runs ended early: want 0 to all", e.Project, e.BaselineEarly, e.Baseline, e.Early, e.Now)
		}
		if e.Baseline == 0 || e.Now == 0 {
			continue
		}
		strata = append(strata, Stratum{zeros(e.BaselineEarly, e.Baseline), zeros(e.Early, e.Now)})
		early[0], runs[0] = early[0]+float64(e.BaselineEarly), runs[0]+float64(e.Baseline)
		early[1], runs[1] = early[1]+float64(e.Early), runs[1]+float64(e.Now)
	}
	t := EarlyEndsTest{Decision: NoDrop, Rate: [2]float64{early[0] / runs[0], early[1] / runs[1]}, P: 1, Alpha: earlyAlpha}
	if len(strata) == 0 {
		return t, nil
	}
	var err error
	if t.P, err = Exchange(strata); err != nil {
		return t, err
	}
	switch {
	case t.P <= t.Alpha:
		t.Decision = Drop
	case t.P <= 0.05:
		t.Decision = NotSettled
	}
	return t, nil
}

// zeros gives n ones of which the first k are 0.
func zeros(k, n int) []int {
	return append(make([]int, k, n), slices.Repeat([]int{1}, n-k)...)
}
