package fixes

import (
	"fmt"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/stat"
)

// A PairOutcome is what a trial of each tree of a pair says of an entry.
type PairOutcome string

// The outcomes of pairs.
const (
	ToldApart PairOutcome = "told apart"        // reported where vulnerable, and not where mended
	Blind     PairOutcome = "blind to the mend" // reported in both
	Missed    PairOutcome = "missed"            // reported in neither
	Reversed  PairOutcome = "reversed"          // reported where mended alone
)

// Outcomes lists the outcomes in the order in which they are shown.
var Outcomes = []PairOutcome{ToldApart, Blind, Missed, Reversed}

// A FixPair is what one trial of the two targets of a pair says of one entry.
type FixPair struct {
	Table, Fix string
	Trial      int // from 0
	Outcome    PairOutcome
}

// Pairs joins the trials of a vulnerable target with those of the mended one, trial by trial.
// Entries without a clean twin, or that nobody read, are in no pair; nor is a trial that has
// no result on one side.
func Pairs(vulnerable *Target, bad, good []*score.Result) (pairs []FixPair) {
	twin := *vulnerable
	twin.Mended = true
	counted, _ := twin.Entries()
	for i := range min(len(bad), len(good)) {
		if bad[i] == nil || good[i] == nil {
			continue
		}
		before, after := Reported(bad[i]), Reported(good[i])
		for _, f := range counted {
			outcome := map[[2]bool]PairOutcome{{true, false}: ToldApart, {true, true}: Blind,
				{false, false}: Missed,
				{false, true}:  Reversed}[[2]bool{before[f.ID], after[f.ID]}]
			pairs = append(pairs, FixPair{vulnerable.Table.Name, f.ID, i, outcome})
		}
	}
	return pairs
}

// Reported returns the entries that a result reports, by ID.
func Reported(r *score.Result) map[string]bool {
	found := map[string]bool{}
	for _, k := range r.Known {
		if k.Finding >= 0 {
			found[k.ID] = true
		}
	}
	return found
}

// A PairSummary is what pairs come to.
type PairSummary struct {
	Pairs        int
	Of           map[PairOutcome]int
	Repositories int
	// share of the pairs; over repositories where there are several, else over fixes
	ToldApart stat.Interval
}

// Summarize counts the outcomes of pairs. It returns an error where there are none.
func Summarize(pairs []FixPair) (PairSummary, error) {
	s := PairSummary{Pairs: len(pairs), Of: map[PairOutcome]int{}}
	repositories := map[string]bool{}
	for _, p := range pairs {
		s.Of[p.Outcome]++
		repositories[p.Table] = true
	}
	s.Repositories = len(repositories)
	var obs []stat.Observation
	for _, p := range pairs {
		o := stat.Observation{Cluster: p.Table}
		if s.Repositories == 1 {
			o.Cluster = p.Fix
		}
		if p.Outcome == ToldApart {
			o.Value = 1
		}
		obs = append(obs, o)
	}
	var err error
	s.ToldApart, err = stat.Proportion(obs, 0.95)
	return s, err
}

// String returns the headline with what stands beside it: "told apart 5 of 10 (50 %, 24 to
// 76 % over its fixes); found 7, of these also where mended 2; reversed 1, missed 2".
func (s PairSummary) String() string {
	over := "over the fixes of one repository"
	if s.Repositories > 1 {
		over = fmt.Sprintf("over %d repositories", s.Repositories)
	}
	n := func(o PairOutcome) int { return s.Of[o] }
	return fmt.Sprintf(
		"told apart %d of %d (%.0f %%, %.0f to %.0f %% %s); found %d, also where mended %d; reversed %d, missed %d",
		n(ToldApart), s.Pairs, 100*s.ToldApart.Center, 100*s.ToldApart.Lo, 100*s.ToldApart.Hi, over,
		n(ToldApart)+n(Blind), n(Blind), n(Reversed), n(Missed))
}

// A Beside counts the findings that match no entry: nobody knows whether they are right.
type Beside struct {
	Unknown, Inside, Judged int // Inside: in lines that the change adds; Judged: ruled by a person
	Wrong                   int // missing paths, and lines behind the end of a file
}

// BesideKey counts the findings of a result that match no entry. changed holds the lines that
// a change adds, by file.
func BesideKey(r *score.Result, changed map[string][]audit.Range) (b Beside) {
	for i := range r.Findings {
		f := &r.Findings[i]
		switch f.Disposition {
		case score.MissingPath, score.PastEnd:
			b.Wrong++
			continue
		case score.Suppressed, score.Matched, score.Duplicate, score.DecoyHit:
			continue
		}
		b.Unknown++
		if f.Review != "" {
			b.Judged++
		}
		for _, lines := range changed[f.Path] {
			if lines.Overlaps(f.Finding.Lines) {
				b.Inside++
				break
			}
		}
	}
	return b
}

// Ahead returns the entries that a result of an earlier day reports and whose fix is younger:
// the auditor knew them before their fix.
func (t *Benchmark) Ahead(r *score.Result, ran time.Time) (ids []string) {
	reported := Reported(r)
	for _, f := range t.Fixes {
		if reported[f.ID] && strings.Compare(f.Date, ran.UTC().Format(time.DateOnly)) > 0 {
			ids = append(ids, f.ID)
		}
	}
	return ids
}
