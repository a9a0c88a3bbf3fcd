package score

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/audit"
	"assay/internal/cwe"
)

// An Input is what [Score] judges.
type Input struct {
	// its Known, Decoys, Reviews, Planted, Tree and Others count; an empty Tree leaves paths
	// unchecked
	Project    *audit.Project
	Findings   []audit.Finding
	Dimensions map[audit.CWE]audit.Dimension // fixtures/dimensions.md
	// folders that stand for the project's root in reported paths
	Roots []string
	// random placements for the chance level; 0 means 200, below 0 none
	Rounds int
}

// A Result is one trial, judged.
type Result struct {
	Version  string `json:"version"` // of the rules: [Version]
	Taxonomy string `json:"taxonomy"`
	Project  string `json:"project"`
	KeyHash  string `json:"key_hash,omitempty"`
	Reviews  int    `json:"reviews,omitempty"` // rulings that were at hand
	// the key holds all that is wrong: other findings are false
	Whole        bool                `json:"whole,omitempty"`
	Findings     []Scored            `json:"findings"`     // in the order of the input
	Known        []EntryResult       `json:"known"`        // in the order of the key
	Dispositions map[Disposition]int `json:"dispositions"` // sums to the findings
	Metrics      Metrics             `json:"metrics"`
	Methodology  MethodologyScore    `json:"literal"`
	Rates        Rates               `json:"rates"` // where the key labels both ways
}

// Score judges findings against a project's key. It returns an error where there
// is nothing to judge by: no project, a key without vulnerabilities or with a broken
// entry, no map of dimensions. A planted project may hold decoys alone. Findings may be
// none: that is a result.
func Score(in Input) (*Result, error) {
	p := in.Project
	switch {
	case p == nil:
		return nil, errors.New("score: no project")
	case len(p.Vulnerabilities) == 0 && (!p.Planted || len(p.Decoys) == 0):
		return nil, fmt.Errorf("%s: the key has no known vulnerability: nothing can be found",
			p.Pos)
	case len(in.Dimensions) == 0:
		return nil, errors.New(
			"score: the map CWE -> dimension is empty: read fixtures/dimensions.md first")
	}
	k, err := newKey(p, in.Dimensions)
	if err != nil {
		return nil, err
	}
	s := &scorer{in: &in, key: k, took: make([]*claim, len(p.Vulnerabilities)),
		hit: make([]bool, len(p.Decoys)),
		result: &Result{
			Version: Version, Taxonomy: cwe.Version(), Project: p.Name, KeyHash: p.KeyHash,
			Reviews: len(p.Reviews), Whole: p.Planted,
			Findings: make([]Scored, len(in.Findings)), Known: make([]EntryResult, len(p.Vulnerabilities)),
			Dispositions: map[Disposition]int{},
		}}
	for i := range p.Vulnerabilities {
		v := &p.Vulnerabilities[i]
		s.result.Known[i] = EntryResult{ID: v.ID, File: v.File, Dimension: v.Dimension, Finding: -1,
			Corroborated: len(v.Corroborated) > 0}
	}
	s.claim()
	s.pairs = k.match(s.claims, known)
	s.explain()
	s.measure()
	s.literal()
	s.result.Rates = s.rates()
	s.chance()
	if p.Mended {
		s.result.mend()
	}
	return s.result, nil
}

type scorer struct {
	in  *Input
	key *key
	// of the findings that can match, sorted by all that they say: their order in the report
	// does not matter
	claims []claim
	pairs  []pair   // of each claim
	took   []*claim // of each vulnerability the claim that it was matched with
	hit    []bool   // of each decoy whether a finding hit it
	result *Result
}

// claim brings the findings' paths under the root, and sorts out what cannot match.
func (s *scorer) claim() {
	paths := NewPaths(s.in.Project.Tree, s.in.Project.Others, s.in.Roots)
	for i := range s.in.Findings {
		sc := &s.result.Findings[i]
		sc.Finding = s.in.Findings[i]
		f := &sc.Finding
		c := claim{finding: i}
		c.cwes, sc.Ignored = numbersOf(f.CWEs)
		var err error
		sc.Path, err = paths.Resolve(f.File)
		file, listed := s.in.Project.Tree[sc.Path]
		switch {
		case f.Suppressed != "":
			sc.Disposition, sc.Match = Suppressed, Match{Detail: f.Suppressed}
		case err != nil:
			sc.Disposition, sc.Match = MissingPath, Match{Detail: err.Error()}
		case listed && f.Lines.Start > file.Lines:
			sc.Disposition, sc.Match = PastEnd, Match{Detail: fmt.Sprintf(
				"line %d of a file with %d lines", f.Lines.Start, file.Lines)}
		case c.cwes[0] == 0 && !s.in.Project.Planted:
			sc.Disposition = NoCWE
		default:
			c.candidates, c.about = s.key.candidates(c.cwes), folded(f.Title+" | "+f.Function+" | "+
				f.Description)
			c.places = []place{{sc.Path, FunctionName(f.Function), usable(f.Lines)}}
			for _, o := range f.Others[:min(len(f.Others), maxPlaces-1)] {
				if p, err := paths.Resolve(o.File); err == nil {
					c.places = append(c.places, place{p, "", usable(o.Lines)})
				}
			}
			s.claims = append(s.claims, c)
		}
	}
	slices.SortStableFunc(s.claims, func(a, b claim) int {
		p, q := a.places[0], b.places[0]
		return cmp.Or(strings.Compare(p.file, q.file), cmp.Compare(p.at.start, q.at.start),
			cmp.Compare(p.at.end, q.at.end),
			strings.Compare(p.function, q.function), slices.Compare(a.cwes[:], b.cwes[:]),
			compareFindings(&s.in.Findings[a.finding], &s.in.Findings[b.finding]))
	})
}

// scored returns the finding of a claim.
func (s *scorer) scored(c *claim) *Scored { return &s.result.Findings[c.finding] }

// compareFindings orders findings by all that they say, so that among findings
// that match alike the choice does not hang on their order.
func compareFindings(a, b *audit.Finding) int {
	return cmp.Or(
		cmp.Compare(b.Severity, a.Severity),
		strings.Compare(a.ID, b.ID),
		strings.Compare(a.RuleID, b.RuleID),
		strings.Compare(a.Function, b.Function),
		strings.Compare(a.File, b.File),
		cmp.Compare(a.Lines.Start, b.Lines.Start),
		cmp.Compare(a.Lines.End, b.Lines.End),
		slices.Compare(a.CWEs, b.CWEs),
		strings.Compare(string(a.Dimension), string(b.Dimension)),
		strings.Compare(a.Title, b.Title),
		strings.Compare(a.Description, b.Description),
		cmp.Compare(a.Confidence, b.Confidence),
	)
}
