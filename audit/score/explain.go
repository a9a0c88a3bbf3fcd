package score

import (
	"slices"
)

// A repeat is a claim that says again what another one took.
type repeat struct {
	*claim
	distance int
}

// explain says what became of each claim.
func (s *scorer) explain() {
	repeats := map[*entry][]repeat{}
	for i := range s.claims {
		c, p := &s.claims[i], &s.pairs[i]
		sc := s.scored(c)
		switch {
		case p.entry != nil && p.partial:
			sc.Disposition, sc.Match = Partial, s.key.reason(p.entry, c, standIn)
			s.credit(p.entry, c, 0.5)
		case p.entry != nil:
			sc.Disposition, sc.Match = Matched, s.key.reason(p.entry, c, oneStepOff)
			s.credit(p.entry, c, 1)
		case p.near != nil:
			sc.Disposition, sc.Match = Duplicate, s.key.reason(p.near.entry, c, oneStepOff)
			repeats[p.near.entry] = append(repeats[p.near.entry], repeat{c, p.near.distance})
		case p.decoy != nil:
			sc.Disposition, sc.Match = DecoyHit, s.key.reason(p.decoy, c, oneStepOff)
			s.hit[p.decoy.index] = true
		}
	}
	s.free(repeats)
	for e, list := range repeats {
		s.result.Known[e.index].Duplicates = len(list)
	}
	for i := range s.claims {
		if c := &s.claims[i]; s.scored(c).Disposition == "" {
			s.unmatched(c)
		}
	}
	if len(s.in.Project.Reviews) > 0 {
		s.review()
	}
}

// credit credits an entry with a finding.
func (s *scorer) credit(e *entry, c *claim, credit float64) {
	k := &s.result.Known[e.index]
	k.Finding, k.Credit, s.took[e.index] = c.finding, credit, c
}

// free lets up to three of the claims that repeat an entry go uncounted, the nearest, then
// by what they say.
func (s *scorer) free(repeats map[*entry][]repeat) {
	for _, list := range repeats {
		slices.SortStableFunc(list, func(a, b repeat) int { return a.distance - b.distance })
		for _, r := range list[:min(len(list), maxFree)] {
			s.scored(r.claim).Free = true
		}
	}
}

// unmatched explains a claim that neither matches an entry nor hits a decoy. It is a
// duplicate where it shows another end of a vulnerability that another finding took, in a
// file that the entry lists under Also.
func (s *scorer) unmatched(c *claim) {
	sc := s.scored(c)
	near := c.inFiles(c.partial)
	var shown *entry
	for _, e := range near {
		k := &s.result.Known[e.index]
		if !c.in(e.File) && k.Credit > 0 &&
			(shown == nil || s.result.Known[shown.index].Duplicates >= maxFree &&
				k.Duplicates < maxFree) {
			shown = e
		}
	}
	switch {
	case shown != nil:
		k := &s.result.Known[shown.index]
		sc.Disposition, sc.Match, sc.Free = Duplicate, s.key.reason(shown, c,
			standIn), k.Duplicates < maxFree
		k.Duplicates++
	case len(near) > 0:
		sc.Disposition, sc.Match = WrongLocation, s.key.reason(near[0], c, standIn)
		sc.Match.Detail = "another finding took the entry"
		if len(near) > 1 {
			sc.Match.Detail = "other findings took all such entries of the file"
		}
	case c.other != nil:
		sc.Disposition, sc.Match = WrongLocation, Match{Entry: c.other.ID, Distance: -1,
			Detail: "another file"}
		s.key.relate(&sc.Match, c.other, c, standIn)
	default:
		sc.Disposition, sc.Match = Unmatched, Match{Distance: -1}
	}
}

// reason returns why a claim matches an entry: its best place, and its first CWE that is close
// enough to the entry's.
func (k *key) reason(e *entry, c *claim, least weakness) Match {
	r := Match{Entry: e.ID, Distance: -1, By: ByAlso}
	held := false
	for _, p := range c.places {
		d, ok := e.holds(p, c.about)
		s := e.scopeAt(p)
		if s == nil || r.By != ByAlso && (!ok || held && (r.Distance < 0 || d >= r.Distance)) {
			continue
		}
		held, r.By, r.Distance = ok, ByFile, -1
		if !s.at.none() && !p.at.none() {
			r.Distance = d
		}
		switch {
		case least == standIn || !ok: // partial: beside the scope
		case d <= e.gap:
			r.By = ByLines
		case slices.Contains(s.functions, p.function):
			r.By = ByFunction
		case e.component != "":
			r.By = ByName
		}
	}
	k.relate(&r, e, c, least)
	return r
}

// relate fills in which of the claim's CWEs names the entry's weakness: one of its own
// before others.
func (k *key) relate(r *Match, e *entry, c *claim, least weakness) {
	for _, least := range []weakness{ownCWE, least} {
		for _, n := range c.cwes {
			if n == 0 || k.relation(e, n) < least {
				continue
			}
			for _, own := range e.CWEs {
				if r.Relation = relate(n, own); r.Relation != "" && (least < ownCWE || n == own) {
					r.CWE, r.EntryCWE = n, own
					return
				}
			}
		}
	}
	if k.project.Planted && e.kind == known {
		r.Detail = "another weakness than the site's"
	}
}

// classified reports whether the finding that a vulnerability took names its weakness.
func (s *scorer) classified(v int) bool {
	c := s.took[v]
	return c != nil && s.result.Known[v].Credit == 1 &&
		slices.ContainsFunc(s.key.entries, func(e *entry) bool {
			return e.kind == known && e.index == v && s.key.weakness(e, c.cwes) > 0
		})
}
