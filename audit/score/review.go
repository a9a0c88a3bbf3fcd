package score

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"assay/audit"
	"assay/internal/stat"
)

// level is the confidence of every interval of this package.
const level = 0.95

// Fingerprint names what a finding claims, for comparisons of reports: the file
// (path, as resolved; the reported one where that is empty), the function, the
// lines and the counting CWEs in any order. 24 hex digits.
func Fingerprint(f *audit.Finding, path string) string {
	if path == "" {
		path = f.File
	}
	cwes, _ := numbersOf(f.CWEs)
	slices.Sort(cwes[:])
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%d\x00%v", path,
		FunctionName(f.Function), f.Lines.Start, max(f.Lines.Start, f.Lines.End), cwes))
	return hex.EncodeToString(sum[:12])
}

// Reviewable reports whether findings of this disposition wait for a review. For findings that
// matched or hit a decoy the key decides. A duplicate beyond the free ones is false until a row
// rules that it is the same flaw.
func Reviewable(d Disposition) bool { return d == Unmatched || d == WrongLocation }

// repeated is the review of a finding that says again what a ruled one says.
const repeated = "repeated"

// review applies the rulings. A row rules one finding that reports the same: one of
// its CWEs or a step from it, and an overlapping scope, as with entries and by the
// same exact assignment. Like an entry's, up to three that repeat it are free; more
// are false, as are all that repeat one ruled false. Otherwise a thousand variations
// of one true finding would be a thousand true findings.
func (s *scorer) review() {
	var open []claim
	for i := range s.claims {
		if Reviewable(s.scored(&s.claims[i]).Disposition) {
			open = append(open, s.claims[i])
		}
	}
	ruled, repeats := map[*entry]bool{}, map[*entry][]repeat{}
	for i, p := range s.key.match(open, review) {
		sc := s.scored(&open[i])
		switch {
		case p.entry != nil:
			ruled[p.entry] = true
			r := s.ruling(p.entry)
			sc.Review = string(r.Ruling)
			if r.Ruling == audit.RuledSame {
				sc.Review += " " + r.Entry
				sc.Free = true
			}
		case p.near != nil && s.ruling(p.near.entry).Ruling == audit.RuledFalse:
			sc.Review = string(audit.RuledFalse)
		case p.near != nil:
			sc.Review = repeated
			repeats[p.near.entry] = append(repeats[p.near.entry], repeat{&open[i], p.near.distance})
		}
	}
	s.free(repeats)
	s.reviewDuplicates(ruled, repeats)
}

// reviewDuplicates frees duplicates that a row rules the same as an entry, as many
// for each row as it would rule otherwise.
func (s *scorer) reviewDuplicates(ruled map[*entry]bool, repeats map[*entry][]repeat) {
	for i := range s.claims {
		c := &s.claims[i]
		sc := s.scored(c)
		if sc.Disposition != Duplicate || sc.Free {
			continue
		}
		best := nearest(slices.DeleteFunc(c.hits(review), func(h hit) bool {
			return s.ruling(h.entry).Ruling != audit.RuledSame || ruled[h.entry] &&
				len(repeats[h.entry]) >= maxFree
		}))
		if best == nil {
			continue
		}
		if ruled[best.entry] {
			repeats[best.entry] = append(repeats[best.entry], repeat{})
		}
		ruled[best.entry] = true
		sc.Review, sc.Free = string(audit.RuledSame)+" "+s.ruling(best.entry).Entry, true
	}
}

// ruling returns the ruling of a review's entry.
func (s *scorer) ruling(e *entry) *audit.FindingReview { return &s.in.Project.Reviews[e.index] }

// Ruled reports whether a row of the project's reviews rules a finding: then another row
// for it would say the same twice.
func Ruled(p *audit.Project, dims map[audit.CWE]audit.Dimension, f *Scored) bool {
	k, err := newKey(p, dims)
	if err != nil {
		return false
	}
	c := claim{places: []place{{f.Path, FunctionName(f.Finding.Function), usable(f.Finding.Lines)}}}
	c.cwes, _ = numbersOf(f.Finding.CWEs)
	c.candidates = k.candidates(c.cwes)
	return len(c.hits(review)) > 0
}

// Sample returns the findings that a review can affect, as indices into Findings, in the order
// of review. The order follows from a hash of the fingerprints: it cannot be chosen, is the
// same for every run, and makes what was reviewed first a random sample. Reviewed findings are
// included.
func (r *Result) Sample() []int {
	type drawn struct {
		at  uint64
		idx int
	}
	var all []drawn
	for i := range r.Findings {
		if Reviewable(r.Findings[i].Disposition) {
			sum := sha256.Sum256([]byte("review sample 1\x00" + r.Findings[i].Fingerprint()))
			all = append(all, drawn{binary.BigEndian.Uint64(sum[:]), i})
		}
	}
	slices.SortFunc(all, func(a, b drawn) int {
		return cmp.Or(cmp.Compare(a.at, b.at), compareFindings(&r.Findings[a.idx].Finding,
			&r.Findings[b.idx].Finding))
	})
	order := make([]int, len(all))
	for i, d := range all {
		order[i] = d.idx
	}
	return order
}

// sampled returns bounds for the number of true findings in the order, with 95 % confidence:
// hard bounds from the reviewed ones, narrowed by the share of true ones at the beginning of
// the order that was reviewed without a gap. Reviews out of order do not narrow them.
func (r *Result) sampled(order []int) (low, high float64) {
	reviewed := func(as string, of []int) (n float64) {
		for _, i := range of {
			if r.Findings[i].Review == as {
				n++
			}
		}
		return n
	}
	low = reviewed(string(audit.RuledTrue), order)
	high = low + reviewed("", order)
	first := slices.IndexFunc(order, func(i int) bool { return r.Findings[i].Review == "" })
	if first <= 0 { // nothing or all of it was reviewed
		return low, high
	}
	hits := reviewed(string(audit.RuledTrue), order[:first])
	iv, err := stat.ClopperPearson(hits, float64(first), level)
	if err != nil {
		return low, high
	}
	rest := float64(len(order) - first)
	return max(low, hits+math.Floor(iv.Lo*rest)), min(high, hits+math.Ceil(iv.Hi*rest))
}

// A ReviewNeed is the reviews that would decide a goal for precision.
type ReviewNeed struct {
	More     int   // findings that are still to be reviewed; 0 when the goal is settled
	Findings []int // which: indices into Result.Findings, in the order to review them in
}

// Settle returns how many more findings, and which, have to be reviewed to decide whether
// precision reaches goal (0 to 1), if the share of true ones stays as it is (a half before the
// first review). It is an estimate: in the worst case all findings are needed.
func (r *Result) Settle(goal float64) ReviewNeed {
	m := &r.Metrics
	if settled(m.Precision, goal) {
		return ReviewNeed{}
	}
	all := r.unreviewed()
	open := all.Findings
	judged := m.Unmatched.plus(m.WrongLocation)
	share := (float64(judged.True) + 0.5) / (float64(judged.True+judged.False) + 1)
	for n := 1; n < len(open); n++ {
		then := judged
		yes := int(math.Round(share * float64(n)))
		then.Open, then.True, then.False = then.Open-n, then.True+yes, then.False+n-yes
		if settled(then.precision(m.Credit, m.Counted), goal) {
			return ReviewNeed{n, open[:n]}
		}
	}
	return all
}

// unreviewed returns all open findings.
func (r *Result) unreviewed() ReviewNeed {
	open := slices.DeleteFunc(r.Sample(), func(i int) bool { return r.Findings[i].Review != "" })
	return ReviewNeed{len(open), open}
}

// settled reports whether a span decides a goal.
func settled(p Span, goal float64) bool {
	return !p.Low.Defined || p.Low.V >= goal-tiny || p.High.V < goal-tiny
}

// precision returns the span of precision of a report with this credit and number of counted
// findings.
//
// At its low end every unjudged finding is false. At its high end as many of them are true as
// the report has credit: an auditor that is often right where the key decides is trusted that
// far elsewhere, and one that reports at random is not. Arguable findings are false at the low
// end and left out at the high end.
func (r Reviewed) precision(credit float64, counted int) Span {
	sure := credit + float64(r.True)
	low := Ratio(sure, float64(counted))
	if counted == r.Arguable { // with all left out there is no other end
		return Span{low, low}
	}
	return Span{low, Ratio(sure+min(float64(r.Open), credit), float64(counted-r.Arguable))}
}

// tiny is what rounding may put between two figures that are equal.
const tiny = 1e-9
