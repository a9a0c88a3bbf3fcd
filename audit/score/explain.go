package score

import (
	"cmp"
	"slices"

	"assay/audit"
	"assay/internal/cwe"
)

// explain gives every finding that was matched, or could not be, its disposition and
// reason, and every entry its finding.
func (s *scorer) explain() {
	var duplicates []int
	for i := range s.locations {
		sc, sp := &s.result.Findings[i], &s.locations[i]
		if sc.Disposition != "" {
			continue
		}
		if e := s.paired.entry[i]; e >= 0 {
			s.credit(i, e)
			continue
		}
		if e := s.paired.near[i]; e >= 0 {
			sc.Disposition, sc.Match = Duplicate, s.key.fullMatch(e, sp)
			duplicates = append(duplicates, i)
			continue
		}
		if d := s.decoyOf(sp); d >= 0 {
			sc.Disposition, sc.Match = DecoyHit, s.decoys.fullMatch(d, sp)
			continue
		}
		sc.Disposition, sc.Match = s.elsewhere(sp)
	}
	s.free(duplicates)
	if len(s.in.Reviews) > 0 {
		s.review()
	}
}

func (s *scorer) credit(i int, e int32) {
	sc, sp := &s.result.Findings[i], &s.locations[i]
	k := &s.result.Known[s.key.entries[e].known]
	k.Finding = i
	if s.paired.half[i] {
		sc.Disposition, sc.Match, k.Credit = Half, s.key.halfMatch(e, sp), 0.5
		return
	}
	sc.Disposition, sc.Match, k.Credit = Matched, s.key.fullMatch(e, sp), 1
}

// fullMatch says why sp matches entry e in full.
func (k *key) fullMatch(e int32, sp *location) Match {
	en := &k.entries[e]
	r := Match{Entry: en.id, Distance: -1, By: ByFile}
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
func (e *entry) shared(sp *location) audit.CWE {
	for _, n := range sp.cwes {
		if c := audit.CWE(n); c != 0 && slices.Contains(e.cwes, c) {
			return c
		}
	}
	return 0
}

// halfMatch says why sp takes half of entry e.
func (k *key) halfMatch(e int32, sp *location) Match {
	en := &k.entries[e]
	r := Match{Entry: en.id, Distance: -1, By: ByAlso, Relation: cwe.Same}
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
func (s *scorer) elsewhere(sp *location) (Disposition, Match) {
	for _, c := range sp.cwes {
		h, ok := s.key.hubOf[inFile(sp.file, c)]
		if c == 0 || !ok {
			continue
		}
		r := s.key.halfMatch(s.key.hubs[h][0], sp)
		r.Detail = "another finding took the entry"
		if len(s.key.hubs[h]) > 1 {
			r.Detail = "other findings took all such entries of the file"
		}
		return Misplaced, r
	}
	for _, n := range sp.cwes {
		c := audit.CWE(n)
		if list := s.key.own[c]; c != 0 && len(list) > 0 {
			return Misplaced, Match{Entry: s.key.entries[list[0]].id, CWE: c, EntryCWE: c, Relation: cwe.Same,
				Distance: -1, Detail: "another file"}
		}
	}
	return OffKey, Match{Distance: -1}
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
		if c := compareLocations(&s.locations[a], &s.locations[b]); c != 0 {
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
	return s.key.entries[s.paired.near[i]].at.distance(s.locations[i].at)
}
