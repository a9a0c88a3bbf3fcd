package score

import (
	"maps"
	"math"
	"slices"

	"assay/audit"
)

// A TwinAnswer is what a reviewer said of a case and of one of its twins: the
// same code changed by machine so that the label stays.
type TwinAnswer struct {
	Kind       string // how the twin was made
	Case, Twin audit.Outcome
}

// A Flip says how often a verdict did not survive one kind of twin.
type Flip struct {
	Kind    string `json:"kind"`
	Asked   int    `json:"asked"`   // twins where both have an answer
	Flipped int    `json:"flipped"` // of these, with another verdict
	Share   Value  `json:"share"`   // Flipped / Asked
}

// Flips counts by kind, in the order of the kinds' names. A pair with a side that
// has no answer says nothing and is left out.
func Flips(pairs []TwinAnswer) []Flip {
	at := map[string]*Flip{}
	for _, p := range pairs {
		if math.IsNaN(right(p.Case)) || math.IsNaN(right(p.Twin)) {
			continue
		}
		f := at[p.Kind]
		if f == nil {
			f = &Flip{Kind: p.Kind}
			at[p.Kind] = f
		}
		f.Asked++
		if p.Case != p.Twin {
			f.Flipped++
		}
	}
	var out []Flip
	for _, kind := range slices.Sorted(maps.Keys(at)) {
		f := at[kind]
		f.Share = Ratio(float64(f.Flipped), float64(f.Asked))
		out = append(out, *f)
	}
	return out
}
