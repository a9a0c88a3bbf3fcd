package score

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/audit"
	"assay/internal/cwe"
)

// An Input is what [Score] judges.
type Input struct {
	Project    *audit.Project // its Known, Decoys, Reviews, Planted, Tree and Others count; an empty Tree leaves paths unchecked
	Findings   []audit.Finding
	Dimensions map[audit.CWE]audit.Dimension // fixtures/dimensions.md
	Roots      []string                      // folders that stand for the project's root in reported paths
	Rounds     int                           // of the chance level; 0 means DefaultRounds, below 0 none

	// Chances, if there, gives the chance levels in place of draw, whose result follows
	// from Project, Dimensions and lots alone: what was drawn once may be kept.
	Chances func(lots []byte, draw func() Chances) Chances
}

// A Result is one trial, judged.
type Result struct {
	Version      string              `json:"version"` // of the rules: [Version]
	Taxonomy     string              `json:"taxonomy"`
	Project      string              `json:"project"`
	KeyHash      string              `json:"key_hash,omitempty"`
	Reviews      int                 `json:"reviews,omitempty"` // rulings that were at hand
	Findings     []Scored            `json:"findings"`          // in the order of the input
	Known        []KnownResult       `json:"known"`             // in the order of the key
	Dispositions map[Disposition]int `json:"dispositions"`      // sums to the findings
	Metrics      Metrics             `json:"metrics"`
	Literal      Literal             `json:"literal"`
	Rates        Rates               `json:"rates"` // where the key labels both ways
}

// Score judges findings against a project's key. It returns an error where there
// is nothing to judge by: no project, a key without known vulnerabilities or with
// a broken entry, no map of dimensions. Findings may be none: that is a result.
func Score(in Input) (*Result, error) {
	s, err := newScorer(&in)
	if err != nil {
		return nil, err
	}
	s.place()
	s.pair()
	s.explain()
	s.measure()
	s.literal()
	s.result.Rates = s.rates()
	s.chance()
	return s.result, nil
}

type scorer struct {
	in         *Input
	key        *key
	locations  []location // of the findings that have a CWE: by all that they and their findings say, so that the order of the input has no say
	order      []int32    // of each location its finding
	matcher    matcher    // of the findings; its scratch serves the literal score too
	paired     *pairing
	severities []audit.Severity // of each known vulnerability that of the finding that it took
	hit        []bool           // of each decoy whether a finding hit it
	result     *Result
}

func newScorer(in *Input) (*scorer, error) {
	switch {
	case in.Project == nil:
		return nil, errors.New("score: no project")
	case len(in.Project.Known) == 0:
		return nil, fmt.Errorf("%s: the key has no known vulnerability: nothing can be found", in.Project.Pos)
	case len(in.Dimensions) == 0:
		return nil, errors.New("score: the map CWE -> dimension is empty: read fixtures/dimensions.md first")
	}
	k, err := newKey(in.Project, in.Dimensions, in.Findings)
	if err != nil {
		return nil, err
	}
	s := &scorer{in: in, key: k, matcher: matcher{key: k, of: known},
		severities: make([]audit.Severity, len(in.Project.Known)), hit: make([]bool, len(in.Project.Decoys))}
	s.result = &Result{
		Version: Version, Taxonomy: cwe.Version(), Project: in.Project.Name, KeyHash: in.Project.KeyHash, Reviews: len(in.Project.Reviews),
		Findings:     make([]Scored, len(in.Findings)),
		Known:        make([]KnownResult, len(in.Project.Known)),
		Dispositions: make(map[Disposition]int),
	}
	return s, nil
}

type target struct {
	path  string
	err   error
	lines int   // of the file; more than any where they are not known
	file  int32 // the key's number; -1 for files that it does not name
	rank  int32 // among the paths of findings
}

func (s *scorer) place() {
	paths, ranked := NewPaths(s.in.Project.Tree, s.in.Project.Others, s.in.Roots), map[string]bool{}
	about := s.components()
	targets := map[string]*target{}
	var of []*target // of each location
	s.locations, s.order = make([]location, 0, len(s.in.Findings)), make([]int32, 0, len(s.in.Findings))
	for i := range s.in.Findings {
		sc := &s.result.Findings[i]
		sc.Finding = s.in.Findings[i]
		f := &sc.Finding
		at := targets[f.File]
		if at == nil {
			at = s.target(paths, f.File)
			targets[f.File], ranked[at.path] = at, true
		}
		sc.Path = at.path
		switch {
		case f.Suppressed != "":
			sc.Disposition, sc.Match = Suppressed, Match{Detail: f.Suppressed}
		case at.err != nil:
			sc.Disposition, sc.Match = MissingPath, Match{Detail: at.err.Error()}
		case f.Lines.Start > at.lines:
			sc.Disposition, sc.Match = PastEnd, Match{Detail: fmt.Sprintf("line %d of a file with %d lines", f.Lines.Start, at.lines)}
		default:
			sp := location{name: s.key.names.of[FunctionName(f.Function)], at: usable(f.Lines)}
			sp.cwes, sc.Ignored = s.key.counting(f)
			s.key.place(&sp, at.file)
			if sp.cwes[0] == 0 {
				sc.Disposition = NoCWE
				continue
			}
			if list := about[sp.file]; len(list) > 0 {
				sp.says = s.says(list, f)
			}
			s.locations, s.order, of = append(s.locations, sp), append(s.order, int32(i)), append(of, at)
		}
	}
	s.numberNamed()
	ranks := numbered(ranked)
	for _, at := range targets {
		at.rank = ranks.of[at.path]
	}
	rows := make([]int32, len(s.order))
	for i, at := range of {
		rows[i] = at.rank
	}
	s.sort(len(ranked), rows)
}

func (s *scorer) target(paths *Paths, file string) *target {
	t := &target{lines: math.MaxInt}
	t.path, t.err = paths.Resolve(file)
	if f, ok := s.in.Project.Tree[t.path]; ok {
		t.lines = f.Lines
	}
	t.file = s.key.find(t.path)
	return t
}

// sort orders the locations by path (rows say in which of n), then by all that they and
// their findings say.
func (s *scorer) sort(n int, rows []int32) {
	var sorted table
	sorted.sort(n, rows)
	byFinding := func(a, b int32) int {
		return cmp.Or(compareFindings(&s.in.Findings[s.order[a]], &s.in.Findings[s.order[b]]), int(a-b))
	}
	locations, order := make([]location, 0, len(rows)), make([]int32, 0, len(rows))
	var row []placed
	for r := range int32(n) {
		row = inOrder(row[:0], sorted.row(r), s.locations, byFinding)
		for _, p := range row {
			locations, order = append(locations, s.locations[p.index]), append(order, s.order[p.index])
		}
	}
	s.locations, s.order = locations, order
}

func (s *scorer) scored(i int) *Scored { return &s.result.Findings[s.order[i]] }

// An about is a component that an entry or a decoy in a manifest is about.
type about struct {
	name  string // folded
	entry int32
}

func (s *scorer) components() map[int32][]about {
	in := map[int32][]about{}
	for i := range s.key.entries {
		if e := &s.key.entries[i]; e.component != "" {
			in[e.file] = append(in[e.file], about{e.component, int32(i)})
		}
	}
	return in
}

// says gives the number of the set of components that a finding names, as they come; 0
// for none.
func (s *scorer) says(list []about, f *audit.Finding) int32 {
	text := folded(f.Title + " | " + f.Function + " | " + f.Description)
	var set []int32
	for _, a := range list {
		if strings.Contains(text, a.name) {
			set = append(set, a.entry)
		}
	}
	if len(set) == 0 {
		return 0
	}
	s.key.named = append(s.key.named, set)
	return int32(len(s.key.named))
}

// numberNamed gives equal sets of components one number, and each its own whichever
// finding comes first.
func (s *scorer) numberNamed() {
	came := s.key.named
	named := slices.Clone(came)
	slices.SortFunc(named, slices.Compare[[]int32])
	s.key.named = slices.CompactFunc(named, slices.Equal[[]int32])
	for i := range s.locations {
		if n := s.locations[i].says; n > 0 {
			at, _ := slices.BinarySearchFunc(s.key.named, came[n-1], slices.Compare[[]int32])
			s.locations[i].says = int32(at + 1)
		}
	}
}

// counting gives the first three distinct CWEs, and those that follow.
func counting(cwes []audit.CWE) (first [maxCWEs]int32, rest []audit.CWE) {
	n := 0
	for _, c := range cwes {
		switch {
		case c <= 0 || c > math.MaxInt32 || slices.Contains(first[:n], int32(c)):
		case n < maxCWEs:
			first[n] = int32(c)
			n++
		case !slices.Contains(rest, c):
			rest = append(rest, c)
		}
	}
	return first, rest
}

func (s *scorer) pair() {
	s.paired = s.matcher.match(s.locations)
	for i := range s.in.Project.Known {
		k := &s.in.Project.Known[i]
		s.result.Known[i] = KnownResult{ID: k.ID, File: k.File, Dimension: k.Dimension, Finding: -1, Corroborated: len(k.Corroborated) > 0}
	}
}

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
