package report

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/stat"
	"assay/internal/store"
)

// A Seat is a reviewer with a prompt.
type Seat struct{ Model, Prompt string }

// String gives "model" or "model@prompt".
func (s Seat) String() string {
	if s.Prompt == "" {
		return s.Model
	}
	return s.Model + "@" + s.Prompt
}

// Results are the evaluations of a results.db as a report needs them.
//
// Of each case the newest form counts, told by its hash: an answer to an earlier
// form is an answer to another question. All answers to the newest form are
// trials of it, in the order in which they were stored, whatever run made them.
type Results struct {
	Seats []*SeatResults // by model, then prompt
	Rows  int            // evaluations that were read
	Old   int            // of these, of an earlier form of their case
	Odd   int            // of these, with an expected result that is neither good nor bad: nothing can be judged by them
}

// SeatResults are the answers of one seat.
type SeatResults struct {
	Seat
	Cases   map[string]*CaseResults // by case ID
	Answers int
	Usage   audit.Usage
	Latency time.Duration // sum
	asked   bool
	byCase  map[*audit.Case]*CaseResults
}

// CaseResults are the answers of one seat to one case.
type CaseResults struct {
	Case   *audit.Case
	Hash   string
	Trials []*Trial
	Told   []Telling       // the newest answers with their words, newest first, at most tellings of them
	Twins  []TwinVerdict   // verdicts on machine-made variants
	newest [tellings]int64 // IDs of the newest answers, newest first
}

// A Trial is one answer, as little as figures need. Equal ones are shared.
type Trial struct {
	Outcome audit.Outcome
	Right   store.Reason
	Violate []int
}

// A Telling is an answer with its words.
type Telling struct {
	ID          int64
	Time        time.Time
	Outcome     audit.Outcome
	Actual      string
	Explanation string
	Detail      string
	Violates    []int
	CWEs        []audit.CWE
	Confidence  float64
	Right       store.Reason
	Seconds     float64
}

// A TwinVerdict is what a seat said of one variant.
type TwinVerdict struct {
	Kind    string
	Outcome audit.Outcome
}

// tellings is how many answers of a seat to a case are kept with their words: a
// page of a case shows them, and a run of a million trials must fit in memory.
const tellings = 3

// Words says whether a reader of results keeps explanations.
type Words bool

// LoadResults reads what q chooses. cases are the corpus by case ID; a row of a
// case that is not among them is taken as its file name says. An empty store is
// an error.
func LoadResults(ctx context.Context, st store.Store, q store.Query, cases map[string]*audit.Case, words Words) (*Results, error) {
	l := &loader{r: &Results{}, cases: cases, seats: map[Seat]*SeatResults{}, made: map[string]*audit.Case{}, trials: map[trialKey]*Trial{}, of: map[fileKey]*audit.Case{}}
	for e, err := range st.Brief(ctx, q) {
		if err != nil {
			return nil, err
		}
		l.add(&e)
	}
	if l.r.Rows == 0 {
		return nil, fmt.Errorf("no evaluations: expected those of a run of go test -run Bench")
	}
	if words {
		if err := l.r.readWords(ctx, st); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(l.r.Seats, func(a, b *SeatResults) int {
		return cmp.Or(strings.Compare(a.Model, b.Model), strings.Compare(a.Prompt, b.Prompt))
	})
	return l.r, nil
}

type loader struct {
	r      *Results
	cases  map[string]*audit.Case
	made   map[string]*audit.Case // for rows of cases that the corpus does not hold
	seats  map[Seat]*SeatResults
	trials map[trialKey]*Trial
	of     map[fileKey]*audit.Case
}

// A trialKey tells equal trials: lists that store.Brief shares are equal where
// they begin at the same place.
type trialKey struct {
	outcome audit.Outcome
	right   store.Reason
	first   *int
	n       int
}

type fileKey struct {
	app, file string
	expected  audit.Label
}

func (l *loader) trial(e *store.Evaluation) *Trial {
	k := trialKey{outcome: e.Outcome, right: e.Reason, n: len(e.Violates)}
	if k.n > 0 {
		k.first = &e.Violates[0]
	}
	t := l.trials[k]
	if t == nil {
		t = &Trial{e.Outcome, e.Reason, e.Violates}
		l.trials[k] = t
	}
	return t
}

func (l *loader) add(e *store.Evaluation) {
	l.r.Rows++
	if e.Expected != audit.Good && e.Expected != audit.Bad {
		l.r.Odd++
		return
	}
	s := l.seats[Seat{e.Model, e.Prompt}]
	if s == nil {
		s = &SeatResults{Seat: Seat{strings.Clone(e.Model), strings.Clone(e.Prompt)}, Cases: map[string]*CaseResults{}, byCase: map[*audit.Case]*CaseResults{}}
		l.seats[s.Seat] = s
		l.r.Seats = append(l.r.Seats, s)
	}
	fk := fileKey{e.App, e.TestFile, e.Expected}
	c := l.of[fk]
	if c == nil {
		c = l.caseOf(e)
		l.of[fk] = c
	}
	cr := s.byCase[c]
	if cr == nil {
		cr = &CaseResults{Case: c, Hash: e.CaseHash}
		s.byCase[c], s.Cases[c.ID()] = cr, cr
	}
	if e.Twin != "" {
		cr.Twins = append(cr.Twins, TwinVerdict{e.Twin, e.Outcome})
		return
	}
	if cr.Hash != e.CaseHash { // rows come oldest first: the newest form wins
		l.r.Old += len(cr.Trials)
		s.Answers -= len(cr.Trials)
		cr.Hash, cr.Trials, cr.newest = e.CaseHash, nil, [tellings]int64{}
	}
	cr.Trials = append(cr.Trials, l.trial(e))
	if s.Answers++; s.asked {
		s.Usage = s.Usage.Add(e.Usage)
	} else {
		s.Usage, s.asked = e.Usage, true // a sum is priced when every part is
	}
	s.Latency += e.Latency
	copy(cr.newest[1:], cr.newest[:])
	cr.newest[0] = e.ID
}

// readWords reads the newest answers of each seat to each case again, with their
// words.
func (r *Results) readWords(ctx context.Context, st store.Store) error {
	of := map[int64]*CaseResults{}
	var ids []int64
	for _, s := range r.Seats {
		for _, c := range s.Cases {
			for _, id := range c.newest {
				if id != 0 {
					of[id] = c
					ids = append(ids, id)
				}
			}
		}
	}
	slices.Sort(ids)
	for e, err := range st.ByID(ctx, ids) {
		if err != nil {
			return err
		}
		c := of[e.ID]
		c.Told = append(c.Told, Telling{e.ID, e.Time, e.Outcome, e.Actual, clipWords(e.Explanation), clipWords(e.Detail),
			e.Violates, e.CWEs, e.Doubt, e.Reason, e.Latency.Seconds()})
	}
	for _, s := range r.Seats {
		for _, c := range s.Cases {
			slices.SortFunc(c.Told, func(a, b Telling) int { return cmp.Compare(b.ID, a.ID) })
		}
	}
	return nil
}

// clipWords keeps one answer from filling a page.
func clipWords(s string) string {
	const most = 4000
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + " … (cut)"
}

// caseOf gives the corpus's case of a row, or one made of the row's file name.
func (l *loader) caseOf(e *store.Evaluation) *audit.Case {
	stem := strings.TrimSuffix(path.Base(strings.ReplaceAll(e.TestFile, `\`, "/")), ".md")
	id := e.App + "/" + stem
	if c := l.cases[id]; c != nil && c.Label == e.Expected {
		return c
	}
	if c := l.made[id+"\x00"+string(e.Expected)]; c != nil {
		return c
	}
	c := &audit.Case{App: e.App, Query: e.Query, Label: e.Expected, Pos: audit.Pos{File: e.TestFile}}
	if parts := strings.Split(stem, "-"); len(parts) >= 2 {
		c.Number, _ = strconv.Atoi(parts[len(parts)-2])
	}
	if c.ID() != id {
		c.Query = stem // a name of another kind: the whole of it tells cases apart
	}
	l.made[id+"\x00"+string(e.Expected)] = c
	return c
}

// Score gives the seat's answers as audit/score judges them: of the application,
// or of all where app is empty.
func (s *SeatResults) Score(app string) []score.Answer {
	var as []score.Answer
	for _, id := range sortedKeys(s.Cases) {
		cr := s.Cases[id]
		if app != "" && cr.Case.App != app {
			continue
		}
		for i, t := range cr.Trials {
			as = append(as, score.Answer{Case: cr.Case, Trial: i, Outcome: t.Outcome, Violates: t.Violate})
		}
	}
	return as
}

// Flips says how often the seat's verdicts did not survive a twin: each twin is
// held against the first trial of its case.
func (s *SeatResults) Flips() []score.Flip {
	var pairs []score.TwinAnswer
	for _, id := range sortedKeys(s.Cases) {
		cr := s.Cases[id]
		if len(cr.Trials) == 0 {
			continue
		}
		for _, t := range cr.Twins {
			pairs = append(pairs, score.TwinAnswer{Kind: t.Kind, Case: cr.Trials[0].Outcome, Twin: t.Outcome})
		}
	}
	return score.Flips(pairs)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Find gives the seat that name means: "model@prompt", or a model with one prompt
// alone. The error names what there is.
func (r *Results) Find(name string) (*SeatResults, error) {
	var found []*SeatResults
	for _, s := range r.Seats {
		if s.String() == name {
			return s, nil
		}
		if s.Model == name {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, fmt.Errorf("no answers of %q: expected one of %s", name, r.names())
	}
	return nil, fmt.Errorf("%q answered with %d prompts: expected one of %s", name, len(found), r.names())
}

func (r *Results) names() string {
	var ns []string
	for _, s := range r.Seats {
		ns = append(ns, strconv.Quote(s.String()))
	}
	return strings.Join(ns, ", ")
}

// A SeatDiff sets reviewer A against reviewer B on the same cases.
type SeatDiff struct {
	A, B       string
	Comparison stat.Comparison // how A stands to B
	FiguresA   *score.Bench
	FiguresB   *score.Bench
	AlsoA      []string // cases that A gets right in every trial and B in none
	AlsoB      []string // the other way
	Changed    []string // cases whose form differs between the two: left out
	OnlyA      int      // cases that B was not asked
	OnlyB      int
}

// DiffSeats compares two seats, of the same results or of two. Cases whose text
// differs between the two are left out and named.
func DiffSeats(a, b *SeatResults) (*SeatDiff, error) {
	d, as, bs, err := compareSeats(a, b)
	if err != nil {
		return nil, err
	}
	if d.FiguresA, err = score.BenchOf(as); err != nil {
		return nil, err
	}
	d.FiguresB, err = score.BenchOf(bs)
	return d, err
}

// compareSeats is DiffSeats without the figures of either side, and gives the
// answers that were compared.
func compareSeats(a, b *SeatResults) (d *SeatDiff, as, bs []score.Answer, err error) {
	d = &SeatDiff{A: a.String(), B: b.String()}
	for _, id := range sortedKeys(a.Cases) {
		x, y := a.Cases[id], b.Cases[id]
		switch {
		case y == nil:
			d.OnlyA++
			continue
		case x.Hash != "" && y.Hash != "" && x.Hash != y.Hash:
			d.Changed = append(d.Changed, id)
			continue
		}
		as = appendTrials(as, x)
		bs = appendTrials(bs, y)
		switch {
		case x.all(audit.OutcomeCorrect) && y.none(audit.OutcomeCorrect):
			d.AlsoA = append(d.AlsoA, id)
		case y.all(audit.OutcomeCorrect) && x.none(audit.OutcomeCorrect):
			d.AlsoB = append(d.AlsoB, id)
		}
	}
	for id := range b.Cases {
		if a.Cases[id] == nil {
			d.OnlyB++
		}
	}
	if d.Comparison, err = score.CompareReviewers(as, bs); err != nil {
		return nil, nil, nil, fmt.Errorf("%s against %s: %w", d.A, d.B, err)
	}
	return d, as, bs, nil
}

func appendTrials(as []score.Answer, c *CaseResults) []score.Answer {
	for i, t := range c.Trials {
		as = append(as, score.Answer{Case: c.Case, Trial: i, Outcome: t.Outcome, Violates: t.Violate})
	}
	return as
}

func (c *CaseResults) all(o audit.Outcome) bool {
	return len(c.Trials) > 0 && !slices.ContainsFunc(c.Trials, func(t *Trial) bool { return t.Outcome != o })
}

func (c *CaseResults) none(o audit.Outcome) bool {
	return !slices.ContainsFunc(c.Trials, func(t *Trial) bool { return t.Outcome == o })
}
