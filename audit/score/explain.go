package score

import (
	"cmp"
	"slices"

	"assay/audit"
)

func (s *scorer) explain() {
	duplicates := slices.Clone(s.paired.near)
	for i := range s.locations {
		if e := s.paired.entry[i]; e >= 0 {
			duplicates[i] = -1
			s.credit(i, e)
		} else if near := duplicates[i]; near >= 0 {
			sc := s.scored(i)
			sc.Disposition, sc.Match = Duplicate, s.key.fullMatch(near, &s.locations[i])
		}
	}
	free := s.free(duplicates)
	for e := range s.key.list(known) {
		s.knownResult(int32(e)).Duplicates = len(free.row(int32(e)))
	}
	for i := range s.locations {
		if s.paired.entry[i] < 0 && s.paired.near[i] < 0 {
			s.unmatched(i)
		}
	}
	if len(s.in.Project.Reviews) > 0 {
		s.review()
	}
}

// free lets up to three of the locations at each entry that is nearest to them go
// uncounted, the nearest, then by what they say. It gives the locations of each entry.
func (s *scorer) free(near []int32) table {
	var t table
	t.sort(len(s.key.entries), near)
	for e := range s.key.entries {
		at, row := s.key.entries[e].at, t.row(int32(e))
		slices.SortStableFunc(row, func(a, b int32) int {
			return cmp.Compare(at.distance(s.locations[a].at), at.distance(s.locations[b].at))
		})
		for _, i := range row[:min(len(row), maxFree)] {
			s.scored(int(i)).Free = true
		}
	}
	return t
}

func (s *scorer) unmatched(i int) {
	sc, sp := s.scored(i), &s.locations[i]
	if d := s.key.nearest(decoy, sp, nil); d >= 0 {
		sc.Disposition, sc.Match, s.hit[s.key.entries[d].index] = DecoyHit, s.key.fullMatch(d, sp), true
		return
	}
	if e := s.shownIn(sp); e >= 0 {
		k := s.knownResult(e)
		sc.Disposition, sc.Match, sc.Free = Duplicate, s.key.halfMatch(e, sp), k.Duplicates < maxFree
		k.Duplicates++
		return
	}
	sc.Disposition, sc.Match = s.elsewhere(sp)
}

// shownIn gives, of the entries that another finding took and that list the location's
// file under Also, with one of their CWEs, the first that has room for a free
// duplicate, or the first; -1 for none. The finding shows another end of the same flaw.
func (s *scorer) shownIn(sp *location) int32 {
	first := int32(-1)
	for _, c := range sp.cells {
		h := s.key.hub(c)
		if h < 0 {
			continue
		}
		for _, e := range s.key.hubs.row(h) {
			en := &s.key.entries[e]
			if k := &s.result.Known[en.index]; en.file == sp.file || k.Credit == 0 {
				continue
			} else if k.Duplicates < maxFree {
				return e
			}
			if first < 0 {
				first = e
			}
		}
	}
	return first
}

func (s *scorer) knownResult(e int32) *KnownResult { return &s.result.Known[s.key.entries[e].index] }

func (s *scorer) credit(i int, e int32) {
	sc, sp := s.scored(i), &s.locations[i]
	at := s.key.entries[e].index
	k := &s.result.Known[at]
	k.Finding, s.severities[at] = int(s.order[i]), sc.Finding.Severity
	if s.paired.half[i] {
		sc.Disposition, sc.Match, k.Credit = Half, s.key.halfMatch(e, sp), 0.5
		return
	}
	sc.Disposition, sc.Match, k.Credit = Matched, s.key.fullMatch(e, sp), 1
}

func (k *key) fullMatch(e int32, sp *location) Match {
	en := &k.entries[e]
	r := Match{Entry: en.ID, Distance: -1, By: ByFile}
	if !en.at.none() && !sp.at.none() {
		r.Distance = int(en.at.gap(sp.at))
	}
	switch {
	case r.Distance >= 0 && r.Distance <= int(k.reach[en.file]):
		r.By = ByLines
	case sp.name > 0 && slices.Contains(en.functions, sp.name):
		r.By = ByFunction
	case sp.says > 0 && slices.Contains(k.named[sp.says-1], e):
		r.By = ByName
	}
	r.CWE, r.EntryCWE, r.Relation = k.relation(en, en.accepts, sp)
	return r
}

// relation gives the first of sp's CWEs that is the entry's own, or else the first of a
// list of the entry's, with the one of its own that it stands to.
func (k *key) relation(e *entry, list []int32, sp *location) (c, own audit.CWE, r Relation) {
	for _, n := range sp.cwes {
		if n != 0 && slices.Contains(e.halves[:e.own], n) {
			return k.cwes.list[n], k.cwes.list[n], Same
		}
	}
	for _, n := range sp.cwes {
		if n == 0 || !slices.Contains(list, n) {
			continue
		}
		for _, own := range e.CWEs {
			if r := relate(k.cwes.list[n], own); r != "" {
				return k.cwes.list[n], own, r
			}
		}
	}
	return 0, 0, ""
}

func (k *key) halfMatch(e int32, sp *location) Match {
	en := &k.entries[e]
	r := Match{Entry: en.ID, Distance: -1, By: ByAlso}
	if en.file == sp.file {
		r.By = ByFile
		if !en.at.none() && !sp.at.none() {
			r.Distance = int(en.at.gap(sp.at))
		}
	}
	r.CWE, r.EntryCWE, r.Relation = k.relation(en, en.halves, sp)
	return r
}

// elsewhere tells misplaced from off-key. A misplaced finding's reason names the
// entry that it comes nearest to: one of the same file, else the first by ID.
func (s *scorer) elsewhere(sp *location) (Disposition, Match) {
	for _, c := range sp.cells {
		h := s.key.hub(c)
		if h < 0 {
			continue
		}
		entries := s.key.hubs.row(h)
		r := s.key.halfMatch(entries[0], sp)
		r.Detail = "another finding took the entry"
		if len(entries) > 1 {
			r.Detail = "other findings took all such entries of the file"
		}
		return Misplaced, r
	}
	for _, n := range sp.cwes {
		if e := s.key.own[n] - 1; e >= 0 {
			en := &s.key.entries[e]
			r := Match{Entry: en.ID, Distance: -1, Detail: "another file"}
			r.CWE, r.EntryCWE, r.Relation = s.key.relation(en, en.halves, sp)
			return Misplaced, r
		}
	}
	return OffKey, Match{Distance: -1}
}
