package score

import (
	"fmt"
)

// TrialSummary is what several trials of one auditor on one project come to together.
// An entry counts as found in a trial where it was matched in full.
type TrialSummary struct {
	N       int           `json:"n"`       // trials that count
	Entries []EntryTrials `json:"entries"` // in the order of the key

	// PassAt[k-1] is pass@k: the chance that at least one of k trials drawn without
	// replacement found an entry, 1 - C(n-c, k)/C(n, k) for an entry that c of n
	// trials found (Chen et al., "Evaluating Large Language Models Trained on
	// Code", 2021), as the mean over the entries. PassAt[0] is the mean recall of
	// full matches, PassAt[n-1] the recall of the union.
	PassAt []float64 `json:"pass_at"`
	// PassAll[k-1] is pass^k: the chance that all of k trials did, C(c, k)/C(n, k)
	// (Yao et al., "tau-bench", 2024). PassAll[n-1] is the recall of the
	// intersection.
	PassAll []float64 `json:"pass_all"`

	Union        TrialSet `json:"union"`        // what at least one trial found
	Intersection TrialSet `json:"intersection"` // what every trial found
}

// An EntryTrials is how often one entry was found.
type EntryTrials struct {
	ID    string `json:"id"`
	Found int    `json:"found"` // of N trials
}

// A TrialSet is a set of findings made from those of several trials.
type TrialSet struct {
	Known int `json:"known"` // entries matched in full
	// claims that match no entry in full: file, function, lines and CWEs, each once
	Others   int   `json:"others"`
	Recall   Value `json:"recall"`   // Known / entries of the key
	Findings int   `json:"findings"` // Known + Others
}

// OverTrials puts the results of the trials that count together. It is an error
// where there are none, or where they were made by other keys or rules than each
// other (a *[MismatchError]).
func OverTrials(results []*Result) (TrialSummary, error) {
	if len(results) == 0 {
		return TrialSummary{}, fmt.Errorf("score: no trial that counts")
	}
	if err := checkComparable(results); err != nil {
		return TrialSummary{}, err
	}
	t := TrialSummary{N: len(results)}
	credits := Credits(results, false)
	for _, k := range results[0].Known {
		e := EntryTrials{ID: k.ID}
		for _, c := range credits[k.ID] {
			if c == 1 {
				e.Found++
			}
		}
		t.Entries = append(t.Entries, e)
	}
	for k := 1; k <= t.N; k++ {
		at, all := 0.0, 0.0
		for _, e := range t.Entries {
			at += 1 - without(t.N-e.Found, t.N, k)
			all += without(e.Found, t.N, k)
		}
		t.PassAt = append(t.PassAt, at/float64(len(t.Entries)))
		t.PassAll = append(t.PassAll, all/float64(len(t.Entries)))
	}
	t.sets(results)
	return t, nil
}

// without returns C(c, k)/C(n, k): the probability that k elements drawn from n without
// replacement are all among c of them.
func without(c, n, k int) float64 {
	p := 1.0
	for i := range k {
		if c <= i {
			return 0
		}
		p *= float64(c-i) / float64(n-i)
	}
	return p
}

// sets computes the union and intersection of the trials.
func (t *TrialSummary) sets(results []*Result) {
	for _, e := range t.Entries {
		if e.Found > 0 {
			t.Union.Known++
		}
		if e.Found == t.N {
			t.Intersection.Known++
		}
	}
	claimed := map[string]int{}
	for _, r := range results {
		seen := map[string]bool{}
		for i := range r.Findings {
			f := &r.Findings[i]
			if f.Disposition == Matched || f.Disposition == Duplicate ||
				f.Disposition == Suppressed {
				continue
			}
			if print := f.Fingerprint(); !seen[print] {
				seen[print] = true
				claimed[print]++
			}
		}
	}
	for _, n := range claimed {
		t.Union.Others++
		if n == t.N {
			t.Intersection.Others++
		}
	}
	for _, s := range []*TrialSet{&t.Union, &t.Intersection} {
		s.Findings = s.Known + s.Others
		s.Recall = Ratio(float64(s.Known), float64(len(t.Entries)))
	}
}
