package score

import (
	"cmp"
	"slices"

	"assay/audit"
)

// explain gives every finding that was matched, or could not be, its disposition and
// reason, and every entry its finding.
func (s *scorer) explain() {
	for i := range s.locations {
		if e := s.paired.entry[i]; e >= 0 {
			s.credit(i, e)
		}
	}
	var duplicates []int
	var also []shown
	for i := range s.locations {
		sc, sp := &s.result.Findings[i], &s.locations[i]
		if sc.Disposition != "" {
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
		if entries := s.shownIn(sp); len(entries) > 0 {
			sc.Disposition = Duplicate
			also = append(also, shown{i, entries})
			continue
		}
		sc.Disposition, sc.Match = s.elsewhere(sp)
	}
	s.free(duplicates)
	s.freeAlso(also)
	if len(s.in.Project.Reviews) > 0 {
		s.review()
	}
}

// A shown is a finding that shows another end of the entries.
type shown struct {
	finding int
	entries []int32
}

// shownIn gives the entries that another finding took and that list the location's
// file under Also, with one of their CWEs: the finding shows another end of the
// same flaw.
func (s *scorer) shownIn(sp *location) []int32 {
	var found []int32
	for _, c := range sp.cwes {
		if c == 0 {
			break
		}
		h := s.key.hubIn(sp.file, c)
		if h < 0 {
			continue
		}
		for _, e := range s.key.hubs[h] {
			if en := &s.key.entries[e]; en.file != sp.file && s.result.Known[en.known].Credit > 0 {
				found = append(found, e)
			}
		}
	}
	return found
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
	case r.Distance >= 0 && r.Distance <= int(en.reach()):
		r.By = ByLines
	case sp.name > 0 && slices.Contains(en.functions, sp.name):
		r.By = ByFunction
	case k.says(e, sp):
		r.By = ByName
	}
	if c := en.shared(sp); c != 0 {
		r.CWE, r.EntryCWE, r.Relation = c, c, Same
		return r
	}
	for _, n := range sp.cwes {
		c := audit.CWE(n)
		if c == 0 || !slices.Contains(en.accepts, c) {
			continue
		}
		for _, own := range en.cwes {
			if rel := relate(c, own); rel != "" {
				r.CWE, r.EntryCWE, r.Relation = c, own, rel
				return r
			}
		}
	}
	return r
}

// says reports whether sp names the component that entry e is about.
func (k *key) says(e int32, sp *location) bool {
	return sp.says > 0 && int(sp.says) <= len(k.named) && slices.Contains(k.named[sp.says-1], e)
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

// named gives the first of sp's CWEs that is the entry's own, or that stands for
// one of its own, with that one.
func (e *entry) named(sp *location) (c, own audit.CWE, r Relation) {
	if c := e.shared(sp); c != 0 {
		return c, c, Same
	}
	for _, n := range sp.cwes {
		if c := audit.CWE(n); c != 0 && slices.Contains(e.halves, c) {
			for _, own := range e.cwes {
				if r := relate(c, own); r != "" {
					return c, own, r
				}
			}
		}
	}
	return 0, 0, ""
}

// halfMatch says why sp takes half of entry e.
func (k *key) halfMatch(e int32, sp *location) Match {
	en := &k.entries[e]
	r := Match{Entry: en.id, Distance: -1, By: ByAlso}
	if en.file == sp.file {
		r.By = ByFile
		if !en.at.none() && !sp.at.none() {
			r.Distance = int(en.at.gap(sp.at))
		}
	}
	r.CWE, r.EntryCWE, r.Relation = en.named(sp)
	return r
}

// elsewhere tells misplaced from off-key. A misplaced finding's reason names the
// entry that it comes nearest to: one of the same file, else the first by ID.
func (s *scorer) elsewhere(sp *location) (Disposition, Match) {
	for _, c := range sp.cwes {
		h := s.key.hubIn(sp.file, c)
		if c == 0 || h < 0 {
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
			r := Match{Entry: s.key.entries[list[0]].id, Distance: -1, Detail: "another file"}
			r.CWE, r.EntryCWE, r.Relation = s.key.entries[list[0]].named(sp)
			return Misplaced, r
		}
	}
	return OffKey, Match{Distance: -1}
}

// free lets up to three duplicates of each vulnerability go uncounted: the
// nearest, then by what they say.
func (s *scorer) free(duplicates []int) {
	s.sortByNearness(duplicates, s.key, s.paired.near)
	for _, i := range duplicates {
		k := &s.result.Known[s.key.entries[s.paired.near[i]].known]
		s.result.Findings[i].Free = k.Duplicates < maxFree
		k.Duplicates++
	}
}

// freeAlso does the same for findings in files that entries list under Also, after
// the others: each goes to the first of its entries that has room, or to the first.
func (s *scorer) freeAlso(also []shown) {
	slices.SortFunc(also, func(a, b shown) int { return s.compare(a.finding, b.finding) })
	for _, a := range also {
		sc, sp := &s.result.Findings[a.finding], &s.locations[a.finding]
		e := a.entries[0]
		for _, other := range a.entries {
			if s.result.Known[s.key.entries[other].known].Duplicates < maxFree {
				e = other
				break
			}
		}
		k := &s.result.Known[s.key.entries[e].known]
		sc.Match, sc.Free = s.key.halfMatch(e, sp), k.Duplicates < maxFree
		k.Duplicates++
	}
}

// compare orders findings by place, then by all that they say.
func (s *scorer) compare(a, b int) int {
	if c := compareLocations(&s.locations[a], &s.locations[b]); c != 0 {
		return c
	}
	return compareFindings(&s.in.Findings[a], &s.in.Findings[b])
}

// sortByNearness orders findings by the entry of k that is nearest to each, then by
// how near it is, then by what they say.
func (s *scorer) sortByNearness(findings []int, k *key, near []int32) {
	gap := func(i int) int32 { return k.entries[near[i]].at.distance(s.locations[i].at) }
	slices.SortFunc(findings, func(a, b int) int {
		if c := cmp.Or(cmp.Compare(near[a], near[b]), cmp.Compare(gap(a), gap(b))); c != 0 {
			return c
		}
		return s.compare(a, b)
	})
}
