package stat

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// An Item is one entry of a key, or one case, with what became of it in each trial:
// 1 found or right, 0 not, 0.5 half a credit, NaN no answer.
type Item struct {
	ID string
	// items that may go right and wrong together: the entries of one file, the variants of one
	// query
	Family string
	// what one request asked about: an entry's project, an area; empty where each case is asked
	// alone
	Group         string
	Bad           bool // an entry, or a bad case
	Baseline, Now []float64
}

// TrialCounts is a number of trials on either side.
type TrialCounts struct{ Baseline, Now int }

// byFamily returns the family of an item.
func byFamily(it Item) string { return it.Family }

// byGroup returns the group of an item.
func byGroup(it Item) string { return it.Group }

// ofBaseline returns the baseline's values of an item.
func ofBaseline(it Item) []float64 { return it.Baseline }

// ofNow returns the new values of an item.
func ofNow(it Item) []float64 { return it.Now }

// checked returns items sorted by what they belong to and ID, or an error for one that is invalid.
func checked(items []Item, by func(Item) string, values string, valid func(float64) bool) ([]Item,
	error) {
	if len(items) == 0 {
		return nil, ErrEmpty
	}
	items = slices.Clone(items)
	slices.SortFunc(items,
		func(a, b Item) int { return cmp.Or(cmp.Compare(by(a), by(b)), cmp.Compare(a.ID, b.ID)) })
	for i, it := range items {
		if it.ID == "" || it.Family == "" || by(it) == "" {
			return nil, fmt.Errorf("%q of %q in family %q: all must be named", it.ID,
				by(it), it.Family)
		}
		if i > 0 && items[i-1].ID == it.ID && by(items[i-1]) == by(it) {
			return nil, fmt.Errorf("%s of %s: named twice", it.ID, by(it))
		}
		for _, v := range slices.Concat(it.Baseline, it.Now) {
			if !valid(v) {
				return nil, fmt.Errorf("%s of %s: value %g: must be %s", it.ID, by(it), v, values)
			}
		}
	}
	return items, nil
}

// sameTrials checks that all items have the same numbers of trials.
func sameTrials(items []Item) error {
	first := items[0]
	for _, it := range items {
		if len(it.Baseline) != len(first.Baseline) || len(it.Now) != len(first.Now) {
			return fmt.Errorf(
				"%s of %s: %d baseline and %d new trials, %s has %d and %d: all share the runs, and a case marks those without an answer with NaN",
				it.ID, it.Family, len(it.Baseline), len(it.Now), first.ID, len(first.Baseline),
				len(first.Now))
		}
	}
	return nil
}

// runsOf cuts sorted items where the name changes.
func runsOf(items []Item, name func(Item) string) (runs [][]Item) {
	for lo, hi := 0, 0; lo < len(items); lo = hi {
		for hi = lo; hi < len(items) && name(items[hi]) == name(items[lo]); hi++ {
		}
		runs = append(runs, items[lo:hi])
	}
	return runs
}

// addScores adds an item's weighted values to those of the runs; the center where there is no
// answer.
func addScores(runs, values []float64, center, weight float64) {
	for i := range runs {
		v := center
		if i < len(values) && !math.IsNaN(values[i]) {
			v = values[i]
		}
		runs[i] += weight * v
	}
}

// index returns 1 for bad and 0 for good.
func index(bad bool) int {
	if bad {
		return 1
	}
	return 0
}

// answered returns the number of values that are not NaN.
func answered(values []float64) int {
	n := 0
	for _, v := range values {
		if !math.IsNaN(v) {
			n++
		}
	}
	return n
}

// mean returns the mean of the values that are not NaN.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			sum += v
		}
	}
	return sum / float64(answered(values))
}
