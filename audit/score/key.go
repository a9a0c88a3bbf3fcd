package score

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/audit"
	"assay/internal/cwe"
)

// A kind is the list of the project that an entry belongs to.
type kind int

const (
	known  kind = iota // vulnerabilities, the only ones with partial matches
	decoy              // code that only looks vulnerable
	review             // rulings on findings that are neither
)

// An entry is a vulnerability, a decoy or a ruling, as matching sees it.
type entry struct {
	audit.Vulnerability // of decoys and rulings what they have in common with a vulnerability
	kind                kind
	index               int // in the project's list
	row                 int // in the key
	at                  lines
	functions           []string // bare names
	scopes              []scope  // its places, the first one by at and functions
	gap                 int      // lines that may lie between a finding and the entry
	component           string   // folded; of an entry in a manifest whose title names one
}

// A scope is a place where a finding matches an entry.
type scope struct {
	file      string
	at        lines
	functions []string
}

// A key is the answer key of a project, ready to be matched against any number of
// findings.
type key struct {
	project *audit.Project
	dims    map[audit.CWE]audit.Dimension
	entries []*entry // by kind, then ID: their order in the fixture does not matter
	byCWE   map[audit.CWE]map[*entry]weakness
	byCWEs  map[[maxCWEs]audit.CWE]*candidates
}

// A weakness says how a CWE of a finding names the weakness of an entry.
type weakness int

const (
	oneStepOff weakness = iota + 1 // a parent or child within the entry's dimension
	standIn                        // a deprecated number or a category that stands for an own CWE
	ownCWE                         // one of the entry's CWEs
)

// candidates are the entries that a list of CWEs can match, by file.
type candidates struct {
	full    map[string][]*entry // wherever the place agrees
	partial map[string][]*entry // vulnerabilities by their files, for credit 0.5
	own     []*entry            // vulnerabilities with one of the very CWEs: the methodology score
	other   *entry              // the first vulnerability that takes partial credit in any file
}

// newKey prepares a project's key for matching.
func newKey(p *audit.Project, dims map[audit.CWE]audit.Dimension) (*key, error) {
	k := &key{project: p, dims: dims, byCWE: map[audit.CWE]map[*entry]weakness{},
		byCWEs: map[[maxCWEs]audit.CWE]*candidates{}}
	for i := range p.Vulnerabilities {
		k.add(known, i, p.Vulnerabilities[i])
	}
	for i, d := range p.Decoys {
		k.add(decoy, i, audit.Vulnerability{ID: d.ID, Title: d.Title, Dimension: d.Dimension, CWEs: d.CWEs,
			Functions: d.Functions, Lines: d.Lines, File: d.File, Pos: d.Pos})
	}
	for i := range p.Reviews {
		r := &p.Reviews[i]
		// The ID orders the rows of a reviews file by what they say, not by their line.
		id := fmt.Sprintf("%s\x00%09d\x00%09d\x00%v\x00%v\x00%s\x00%s\x00%06d", r.File,
			r.Lines.Start, r.Lines.End, r.CWEs, r.Functions, r.Ruling, r.Entry, i)
		of := audit.Vulnerability{ID: id, CWEs: r.CWEs, Functions: r.Functions, Lines: r.Lines,
			File: r.File, Pos: r.Pos}
		if len(r.CWEs) > 0 {
			of.Dimension = dims[r.CWEs[0]]
		}
		k.add(review, i, of)
	}
	slices.SortStableFunc(k.entries, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.ID, b.ID))
	})
	for i, e := range k.entries {
		e.row = i
		if e.ID == "" || e.File == "" || len(e.CWEs) == 0 {
			return nil, fmt.Errorf("%s: entry %q: an entry needs an ID, a file and a CWE", e.Pos,
				e.ID)
		}
		if i > 0 && e.kind == k.entries[i-1].kind && e.ID == k.entries[i-1].ID {
			return nil, fmt.Errorf("%s: entry %q stands twice in the key", p.Pos, e.ID)
		}
	}
	return k, nil
}

// add adds an entry or a decoy.
func (k *key) add(of kind, index int, v audit.Vulnerability) {
	e := &entry{Vulnerability: v, kind: of, index: index, at: usable(v.Lines), gap: maxGap}
	if strict(e.File) && !k.project.Planted {
		e.gap, e.component = 0, component(e.Title)
	}
	for _, f := range e.Functions {
		if f = FunctionName(f); f != "" {
			e.functions = append(e.functions, f)
		}
	}
	e.scopes = []scope{{e.File, e.at, e.functions}}
	for _, p := range e.Places[min(1, len(e.Places)):] {
		e.scopes = append(e.scopes, scope{p.File, usable(p.Lines),
			[]string{FunctionName(p.Function)}})
	}
	k.entries = append(k.entries, e)
}

// candidates returns the entries that CWEs can match. On planted projects the place alone
// decides, so that every site is one.
func (k *key) candidates(cwes [maxCWEs]audit.CWE) *candidates {
	c := k.byCWEs[cwes]
	if c != nil {
		return c
	}
	c = &candidates{full: map[string][]*entry{}, partial: map[string][]*entry{}}
	for _, e := range k.entries {
		w := k.weakness(e, cwes)
		site := k.project.Planted && e.kind != review
		if w > 0 || site {
			for i, s := range e.scopes {
				if !slices.ContainsFunc(e.scopes[:i],
					func(o scope) bool { return o.file == s.file }) {
					c.full[s.file] = append(c.full[s.file], e)
				}
			}
		}
		if e.kind != known {
			continue
		}
		if w == ownCWE {
			c.own = append(c.own, e)
		}
		if w < standIn || site || len(e.Places) > 0 {
			continue
		}
		if c.other == nil {
			c.other = e
		}
		for _, f := range slices.Compact(append([]string{e.File}, e.OtherFiles...)) {
			c.partial[f] = append(c.partial[f], e)
		}
	}
	k.byCWEs[cwes] = c
	return c
}

// weakness returns the closest relation of the CWEs to the entry's; 0 for none.
func (k *key) weakness(e *entry, cwes [maxCWEs]audit.CWE) (closest weakness) {
	for _, c := range cwes {
		if c == 0 {
			continue
		}
		if k.byCWE[c] == nil {
			k.byCWE[c] = map[*entry]weakness{}
			for _, e := range k.entries {
				if w := k.relation(e, c); w > 0 {
					k.byCWE[c][e] = w
				}
			}
		}
		closest = max(closest, k.byCWE[c][e])
	}
	return closest
}

// maxSuccessors is the largest number of weaknesses that a category may stand for. A wider
// category is too unspecific: three of the widest would name half of the catalogue.
const maxSuccessors = 20

// relation returns the relation of one CWE to the entry's. A deprecated number counts as its
// successors. A category is one step away itself, so it only stands for the entry's own CWEs.
func (k *key) relation(e *entry, c audit.CWE) weakness {
	if slices.Contains(e.CWEs, c) {
		return ownCWE
	}
	number, _ := cwe.Lookup(int(c))
	if len(number.Successors) > maxSuccessors {
		number.Successors = nil
	}
	step := k.oneStep(e, c)
	for _, s := range number.Successors {
		if slices.Contains(e.CWEs, audit.CWE(s)) {
			return standIn
		}
		step = step || number.Kind == cwe.Weakness && k.oneStep(e, audit.CWE(s))
	}
	if step {
		return oneStepOff
	}
	return 0
}

// oneStep reports whether a CWE of the entry's dimension is a parent or child of one of its
// own.
func (k *key) oneStep(e *entry, c audit.CWE) bool {
	return e.Dimension != "" && k.dims[c] == e.Dimension &&
		slices.ContainsFunc(e.CWEs, func(own audit.CWE) bool {
			return own != c && cwe.Related(int(own), int(c))
		})
}

// A place is one location of a finding.
type place struct {
	file, function string
	at             lines
}

// A claim is what matching sees of a finding.
type claim struct {
	finding int // its index in the report
	cwes    [maxCWEs]audit.CWE
	places  []place
	about   string // what it says, folded; components are looked for in it
	*candidates
}

// A hit is an entry that a claim matches in full.
type hit struct {
	*entry
	distance int
}

// hits returns the entries of a kind that the claim matches in full, each once, in the
// order of the key.
func (c *claim) hits(of kind) (hits []hit) {
	for _, p := range c.places {
		for _, e := range c.full[p.file] {
			d, ok := e.holds(p, c.about)
			if !ok || e.kind != of {
				continue
			}
			at := slices.IndexFunc(hits, func(h hit) bool { return h.entry == e })
			if at < 0 {
				hits = append(hits, hit{e, d})
			} else {
				hits[at].distance = min(hits[at].distance, d)
			}
		}
	}
	return hits
}

// holds reports whether a place is in one of the entry's scopes, and returns its distance.
func (e *entry) holds(p place, about string) (distance int, ok bool) {
	s := e.scopeAt(p)
	if s == nil {
		return noGap, false
	}
	distance = s.at.distance(p.at)
	return distance, distance <= e.gap || p.function != "" &&
		slices.Contains(s.functions, p.function) ||
		e.at.none() && len(e.functions) == 0 || e.component != "" &&
		strings.Contains(about, e.component)
}

// scopeAt returns the entry's scope in the file of a place that is nearest to it, those with
// its function first; nil for none.
func (e *entry) scopeAt(p place) (found *scope) {
	within := math.MaxInt
	for i := range e.scopes {
		s := &e.scopes[i]
		d := s.at.distance(p.at)
		if p.function != "" && slices.Contains(s.functions, p.function) {
			d -= maxDistance
		}
		if s.file == p.file && d < within {
			found, within = s, d
		}
	}
	return found
}

// nearest returns the hit of least distance, of equal ones the first; nil for none.
func nearest(hits []hit) *hit {
	if len(hits) == 0 {
		return nil
	}
	h := slices.MinFunc(hits, func(a, b hit) int { return a.distance - b.distance })
	return &h
}

// sameWords reports whether the claim says word for word what the entry says: of two that
// are equally near this is the better one.
func (c *claim) sameWords(e *entry) bool {
	p := c.places[0]
	return e.at == p.at && c.cwes[0] == e.CWEs[0] &&
		(p.function == "" && len(e.functions) == 0 || slices.Contains(e.functions, p.function))
}
