package score

import (
	"cmp"
	"slices"

	"assay/audit"
	"assay/internal/cwe"
)

// explain gives every finding that was matched, or could not be, its fate and
// reason, and every entry its finding.
func (s *scorer) explain() {
	var duplicates []int
	for i := range s.spots {
		sc, sp := &s.result.Findings[i], &s.spots[i]
		if sc.Fate != "" {
			continue
		}
		if e := s.paired.entry[i]; e >= 0 {
			s.credit(i, e)
			continue
		}
		if e := s.paired.near[i]; e >= 0 {
			sc.Fate, sc.Reason = Duplicate, s.key.full1(e, sp)
			duplicates = append(duplicates, i)
			continue
		}
		if d := s.decoyOf(sp); d >= 0 {
			sc.Fate, sc.Reason = DecoyHit, s.decoys.full1(d, sp)
			continue
		}
		sc.Fate, sc.Reason = s.elsewhere(sp)
	}
	s.free(duplicates)
	if len(s.in.Reviews) > 0 {
		s.review()
	}
}

func (s *scorer) credit(i int, e int32) {
	sc, sp := &s.result.Findings[i], &s.spots[i]
	k := &s.result.Known[s.key.entries[e].known]
	k.Finding = i
	if s.paired.half[i] {
		sc.Fate, sc.Reason, k.Credit = Half, s.key.half1(e, sp), 0.5
		return
	}
	sc.Fate, sc.Reason, k.Credit = Matched, s.key.full1(e, sp), 1
}

// full1 says why sp matches entry e in full.
func (k *key) full1(e int32, sp *spot) Reason {
	en := &k.entries[e]
	r := Reason{Entry: en.id, Distance: -1, By: ByFile}
	if !en.at.none() && !sp.at.none() {
		r.Distance = int(en.at.gap(sp.at))
	}
	switch {
	case r.Distance >= 0 && r.Distance <= maxGap:
		r.By = ByLines
	case sp.name > 0 && slices.Contains(en.functions, sp.name):
		r.By = ByFunction
	}
	if c := en.shared(sp); c != 0 {
		r.CWE, r.EntryCWE, r.Relation = c, c, cwe.Same
		return r
	}
	for _, n := range sp.cwes {
		c := audit.CWE(n)
		if c == 0 || !slices.Contains(en.accepts, c) {
			continue
		}
		for _, own := range en.cwes {
			if rel := cwe.Relate(int(c), int(own)); rel != cwe.Unrelated {
				r.CWE, r.EntryCWE, r.Relation = c, own, rel
				return r
			}
		}
	}
	return r
}

// shared gives the first of sp's CWEs that is the entry's own; 0 for none.
func (e *entry) shared(sp *spot) audit.CWE {
	for _, n := range sp.cwes {
		if c := audit.CWE(n); c != 0 && slices.Contains(e.cwes, c) {
			return c
		}
	}
	return 0
}

// half1 says why sp takes half of entry e.
func (k *key) half1(e int32, sp *spot) Reason {
	en := &k.entries[e]
	r := Reason{Entry: en.id, Distance: -1, By: ByAlso, Relation: cwe.Same}
	if en.file == sp.file {
		r.By = ByFile
		if !en.at.none() && !sp.at.none() {
			r.Distance = int(en.at.gap(sp.at))
		}
	}
	r.CWE = en.shared(sp)
	r.EntryCWE = r.CWE
	return r
}

// elsewhere tells misplaced from off-key. A misplaced finding's reason names the
// entry that it comes nearest to: one of the same file, else the first by ID.
func (s *scorer) elsewhere(sp *spot) (Fate, Reason) {
	for _, c := range sp.cwes {
		h, ok := s.key.hubOf[inFile(sp.file, c)]
		if c == 0 || !ok {
			continue
		}
		r := s.key.half1(s.key.hubs[h][0], sp)
		r.Detail = "another finding took the entry"
		if len(s.key.hubs[h]) > 1 {
			r.Detail = "other findings took all such entries of the file"
		}
		return Misplaced, r
	}
	for _, n := range sp.cwes {
		c := audit.CWE(n)
		if list := s.key.own[c]; c != 0 && len(list) > 0 {
			return Misplaced, Reason{Entry: s.key.entries[list[0]].id, CWE: c, EntryCWE: c, Relation: cwe.Same,
				Distance: -1, Detail: "another file"}
		}
	}
	return OffKey, Reason{Distance: -1}
}

// free lets up to three duplicates of each vulnerability go uncounted: the
// nearest, then by what they say.
func (s *scorer) free(duplicates []int) {
	slices.SortFunc(duplicates, func(a, b int) int {
		if c := cmp.Compare(s.paired.near[a], s.paired.near[b]); c != 0 {
			return c
		}
		if c := cmp.Compare(s.gapTo(a), s.gapTo(b)); c != 0 {
			return c
		}
		if c := compareSpots(&s.spots[a], &s.spots[b]); c != 0 {
			return c
		}
		return compareFindings(&s.in.Findings[a], &s.in.Findings[b])
	})
	for _, i := range duplicates {
		k := &s.result.Known[s.key.entries[s.paired.near[i]].known]
		s.result.Findings[i].Free = k.Duplicates < maxFree
		k.Duplicates++
	}
}

func (s *scorer) gapTo(i int) int32 {
	return s.key.entries[s.paired.near[i]].at.distance(s.spots[i].at)
}
