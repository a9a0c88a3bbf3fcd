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

// Fingerprint names a finding for reviews by what it claims: the file (path, as
// resolved; the reported one where that is empty), the function, the lines and
// the counting CWEs in any order. 24 hex digits.
func Fingerprint(f *audit.Finding, path string) string {
	if path == "" {
		path = f.File
	}
	cwes, _ := counting(f.CWEs)
	slices.Sort(cwes[:])
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%d\x00%v", path, FunctionName(f.Function), f.Lines.Start, max(f.Lines.Start, f.Lines.End), cwes))
	return hex.EncodeToString(sum[:12])
}

// reviewable says which dispositions a review can turn: a decoy hit or a matched finding
// that a person judges otherwise is a mistake of the key, to be mended there.
func reviewable(f Disposition) bool { return f == OffKey || f == Misplaced }

func (s *scorer) review() {
	for i := range s.result.Findings {
		sc := &s.result.Findings[i]
		if !reviewable(sc.Disposition) {
			continue
		}
		if yes, ok := s.in.Reviews[sc.Fingerprint()]; ok {
			sc.Review = fmt.Sprint(yes)
		}
	}
}

// Sample gives the off-key findings, as indices into Findings, in the order in
// which they are to be reviewed. The order is drawn by a hash of the fingerprint:
// nobody chooses it, it is the same for every run, and what was reviewed first is
// a random sample of all. Reviewed findings stand in it too.
func (r *Result) Sample() []int {
	type drawn struct {
		at  uint64
		idx int
	}
	var all []drawn
	for i := range r.Findings {
		if r.Findings[i].Disposition == OffKey {
			sum := sha256.Sum256([]byte("review sample 1\x00" + r.Findings[i].Fingerprint()))
			all = append(all, drawn{binary.BigEndian.Uint64(sum[:]), i})
		}
	}
	slices.SortFunc(all, func(a, b drawn) int {
		return cmp.Or(cmp.Compare(a.at, b.at), compareFindings(&r.Findings[a.idx].Finding, &r.Findings[b.idx].Finding))
	})
	order := make([]int, len(all))
	for i, d := range all {
		order[i] = d.idx
	}
	return order
}

// A sampled is how far the off-key findings have been reviewed.
type sampled struct {
	all   int // off-key findings
	known int // reviewed
	yes   int // of these true
	first int // reviewed without a gap from the front of the sample's order
	hits  int // of these true
}

func (r *Result) sampled(order []int) sampled {
	s := sampled{all: len(order)}
	front := true
	for _, i := range order {
		rev := r.Findings[i].Review
		front = front && rev != ""
		switch {
		case rev == "":
			continue
		case rev == "true":
			s.yes++
			if front {
				s.hits++
			}
		}
		s.known++
		if front {
			s.first++
		}
	}
	return s
}

// bounds gives how many off-key findings are true, with 95 % confidence: hard
// bounds from what was reviewed, narrowed by the share in the sample. Reviews out
// of the drawn order tighten the hard bounds and are never generalised from.
func (s sampled) bounds() (low, high float64) {
	low, high = float64(s.yes), float64(s.all-s.known+s.yes)
	if s.first == 0 || s.first == s.all {
		return low, high
	}
	iv, err := stat.ClopperPearson(float64(s.hits), float64(s.first), level)
	if err != nil {
		return low, high
	}
	rest := float64(s.all - s.first)
	return max(low, float64(s.hits)+math.Floor(iv.Lo*rest)), min(high, float64(s.hits)+math.Ceil(iv.Hi*rest))
}

// A ReviewNeed says what would settle a precision goal.
type ReviewNeed struct {
	More     int   // findings that are still to be reviewed; 0 when the goal is settled
	Findings []int // which: indices into Result.Findings, in the order to review them in
}

// Settle says how many more off-key findings, and which, a person would have to
// review to settle whether precision reaches goal (0 to 1), if the share of true
// ones goes on as it has begun (a half, as long as nothing was reviewed). It is a
// plan, not a promise: at worst all of them are needed.
func (r *Result) Settle(goal float64) ReviewNeed {
	order := r.Sample()
	now := r.sampled(order)
	if r.Metrics.settled(goal, now) {
		return ReviewNeed{}
	}
	var open []int
	for _, i := range order {
		if r.Findings[i].Review == "" {
			open = append(open, i)
		}
	}
	share := (float64(now.yes) + 0.5) / (float64(now.known) + 1)
	for n := 1; n < len(open); n++ {
		then := now
		yes := int(math.Round(share * float64(n)))
		then.known, then.first = then.known+n, min(now.all, then.first+n)
		then.yes, then.hits = then.yes+yes, then.hits+yes
		if r.Metrics.settled(goal, then) {
			return ReviewNeed{n, open[:n]}
		}
	}
	return ReviewNeed{len(open), open}
}

// settled reports whether the 95 % interval of precision lies on one side of the
// goal, given how far the reviews have come.
func (m *Metrics) settled(goal float64, s sampled) bool {
	p := m.precision(s.bounds())
	return !p.Low.Defined || p.Low.V >= goal-tiny || p.High.V < goal-tiny
}

// precision gives the span of precision when between low and high of the off-key
// findings are true.
func (m *Metrics) precision(low, high float64) Span {
	sure := m.Credit + float64(m.Misplaced.True)
	return Span{Ratio(sure+low, float64(m.Counted)), Ratio(sure+high, float64(m.Counted))}
}

// tiny is what rounding may put between two figures that are equal.
const tiny = 1e-9
