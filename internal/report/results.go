package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/audit"
	"assay/internal/store"
)

// A Variant is a reviewer with a prompt.
type Variant struct{ Model, Prompt string }

// String returns "model" or "model@prompt".
func (s Variant) String() string {
	if s.Prompt == "" {
		return s.Model
	}
	return s.Model + "@" + s.Prompt
}

// BenchResults are the evaluations of a results.db as a report needs them.
//
// The trials of a variant are those of its newest run, with the runs that this one continues.
// A trial that was asked again there has its last outcome, and what all of its attempts took.
// Rows of no run are a trial each. Of each case the newest form counts, told by its hash.
type BenchResults struct {
	Variants []*VariantResults // by model, then prompt
	Rows     int               // evaluations that were read
	Old      int               // of these, of an earlier form of their case
	Past     []Past            // the runs of reviewers, newest first
	NoPast   error             // why there is none: another program's file has no runs
	Odd      int               // of these, nothing can be judged by: see OddWhy
	// OddWhy says what is wrong with the first odd one.
	OddWhy string
}

// VariantResults are the answers of one variant.
type VariantResults struct {
	Variant
	Short   string                  // the model, with the prompt where the model has several
	Cases   map[string]*CaseResults // by case ID
	Answers int                     // trials that began
	Skipped int                     // planned trials that did not begin
	Run     string                  // the newest one; "" for rows of no run
	planned int                     // cases of the run; 0 where it does not say
	used    []*spent                // by trial, over all cases
}

// spent is what trials took.
type spent struct {
	usage   audit.Usage
	latency time.Duration
}

// add adds the usage of an evaluation.
func (s *spent) add(e *store.Evaluation) {
	if *s == (spent{}) {
		s.usage.Priced = true // a sum is priced if all parts are
	}
	s.usage = s.usage.Add(e.Usage)
	s.latency += e.Latency
}

// CaseResults are the answers of one variant to one case.
type CaseResults struct {
	Case   *audit.Case
	Hash   string
	Trials []*ReviewAnswer
	// the newest answers with their words, newest first, at most tellings of them
	Told   []Telling
	newest [tellings]int64 // IDs of the newest answers, newest first
	used   spent           // by Trials, with all attempts
}

// A ReviewAnswer is one answer, as little as figures need. Equal ones are shared.
type ReviewAnswer struct {
	Index   int // from 0
	Outcome audit.Outcome
	Violate []int
}

// A Telling is an answer as a page has it, with its words.
type Telling struct {
	ID          int64  `json:"-"`
	Outcome     string `json:"outcome"`
	Actual      string `json:"actual"`
	Violates    string `json:"violates,omitempty"`
	CWEs        string `json:"cwes,omitempty"`
	Sure        string `json:"sure,omitempty"`
	Reason      string `json:"reason,omitempty"`
	Explanation string `json:"explanation,omitempty"`
	Detail      string `json:"detail,omitempty"`
	Reply       string `json:"reply,omitempty"` // of the newest answer alone, its beginning
	Facts       string `json:"facts"`
}

const (
	// tellings is how many answers of a variant to a case are kept with their words: a
	// page of a case shows them, and a run of a million trials must fit in memory.
	tellings   = 3
	shortMost  = 80      // characters of a name
	wordsMost  = 4000    // bytes of an answer
	trialsMost = 100_000 // of one case
)

// A Key finds the cases that evaluations are about, by ID. Without one they are taken as
// their file names say.
type Key struct {
	Cases map[string]*audit.Case
}

// ErrNoEvaluations means that a store has no evaluations; it may have audits.
var ErrNoEvaluations = errors.New("no evaluations: expected those of a run of go test -run Bench")

// LoadResults reads what q chooses, with words also explanations and the trend; a row of a
// case that the key does not hold is taken as its file name says.
func LoadResults(ctx context.Context, st store.Store, q store.Query,
	key Key, words bool) (*BenchResults, error) {
	l, err := newestRuns(ctx, st, q, key)
	if err != nil {
		return nil, err
	}
	if l.r.Rows == 0 {
		return nil, ErrNoEvaluations
	}
	if len(l.r.Variants) == 0 && l.r.Odd > 0 {
		return nil, fmt.Errorf("none of %d evaluations can be judged: %s", l.r.Rows, l.r.OddWhy)
	}
	if err := l.r.addUp(ctx, st); err != nil {
		return nil, err
	}
	if words && q.Run == "" {
		l.r.Past, l.r.NoPast = pastOf(ctx, st, key)
	}
	if err := l.read(ctx, st, words); err != nil {
		return nil, err
	}
	slices.SortFunc(l.r.Variants, func(a, b *VariantResults) int {
		return cmp.Or(strings.Compare(a.Model, b.Model), strings.Compare(a.Prompt, b.Prompt))
	})
	l.r.shorten()
	return l.r, nil
}

// newestRuns reads what q chooses, without words: the run that it names or, of each
// variant, the newest one.
func newestRuns(ctx context.Context, st store.Store, q store.Query, key Key) (*loader, error) {
	l := newLoader(key)
	if q.Run != "" {
		return l, l.readRun(ctx, st, q, nil)
	}
	latest, err := st.Latest(ctx)
	if err != nil {
		return nil, err
	}
	if latest == nil {
		return l, l.readRun(ctx, st, q, nil)
	}
	byRun := map[string]map[Variant]bool{}
	for _, v := range latest {
		if byRun[v.Run] == nil {
			byRun[v.Run] = map[Variant]bool{}
		}
		byRun[v.Run][Variant{v.Model, v.Prompt}] = true
	}
	for _, run := range slices.Sorted(maps.Keys(byRun)) {
		q.Run, q.NoRun = run, run == ""
		if err := l.readRun(ctx, st, q, byRun[run]); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// readRun reads the rows of a run and of those that it continues: those of the given variants,
// or all of them.
func (l *loader) readRun(ctx context.Context, st store.Store, q store.Query,
	of map[Variant]bool) error {
	l.run, q.Continued = q.Run, true
	for e, err := range st.Summaries(ctx, q) {
		if err != nil {
			return err
		}
		if of == nil || of[Variant{e.Model, e.Prompt}] {
			l.add(&e)
		}
	}
	return nil
}

// addUp counts the trials of each variant, and those that its run planned and did not begin.
func (r *BenchResults) addUp(ctx context.Context, st store.Store) error {
	var runs []store.Run
	if slices.ContainsFunc(r.Variants, func(s *VariantResults) bool { return s.Run != "" }) {
		var err error
		if runs, err = st.Runs(ctx); err != nil {
			return err
		}
	}
	for _, s := range r.Variants {
		for _, c := range s.Cases {
			s.Answers += len(c.Trials)
		}
		for i := range runs {
			if runs[i].ID == s.Run {
				var trials int
				trials, s.planned = runs[i].PlannedOf(s.Model, s.Prompt)
				s.Skipped = max(0, trials-s.Answers)
			}
		}
	}
	return nil
}

// shorten sets short names that are still unique.
func (r *BenchResults) shorten() {
	prompts, names := map[string]int{}, map[string]int{}
	for _, s := range r.Variants {
		prompts[s.Model]++
	}
	for _, s := range r.Variants {
		s.Short = s.Model
		if prompts[s.Model] > 1 {
			s.Short = s.String()
		}
		if s.Short = clip(s.Short, shortMost); strings.TrimSpace(s.Short) == "" {
			s.Short = "no name"
		}
		names[s.Short]++
	}
	for i, s := range r.Variants {
		if names[s.Short] > 1 {
			s.Short = fmt.Sprintf("%s (%d)", s.Short, i+1)
		}
	}
}

type loader struct {
	r        *BenchResults
	run      string // whose rows are read
	key      Key
	again    map[int64]func(*store.Evaluation) // what is read again with its words, by ID
	variants map[Variant]*VariantResults
	trials   map[trialKey]*ReviewAnswer
	of       map[fileKey]*audit.Case
}

// newLoader returns an empty loader.
func newLoader(key Key) *loader {
	return &loader{r: &BenchResults{}, key: key, again: map[int64]func(*store.Evaluation){},
		variants: map[Variant]*VariantResults{},
		trials:   map[trialKey]*ReviewAnswer{}, of: map[fileKey]*audit.Case{}}
}

// variant returns the results of an evaluation's variant.
func (l *loader) variant(e *store.Evaluation) *VariantResults {
	k := Variant{e.Model, e.Prompt}
	s := l.variants[k]
	if s == nil {
		k = Variant{strings.Clone(e.Model), strings.Clone(e.Prompt)}
		s = &VariantResults{Variant: k, Short: k.String(), Cases: map[string]*CaseResults{},
			Run: l.run}
		l.variants[k] = s
		l.r.Variants = append(l.r.Variants, s)
	}
	return s
}

// A trialKey identifies equal trials: lists shared by store.Summaries are equal if they begin
// at the same address.
type trialKey struct {
	index   int
	outcome audit.Outcome
	first   *int
	n       int
}

type fileKey struct {
	app, file string
	expected  audit.Label
}

// trial returns the trial of an evaluation, shared with equal ones.
func (l *loader) trial(e *store.Evaluation, index int) *ReviewAnswer {
	k := trialKey{index: index, outcome: e.Outcome, n: len(e.Violates)}
	if k.n > 0 {
		k.first = &e.Violates[0]
	}
	t := l.trials[k]
	if t == nil {
		t = &ReviewAnswer{index, e.Outcome, e.Violates}
		l.trials[k] = t
	}
	return t
}

// add adds an evaluation.
func (l *loader) add(e *store.Evaluation) {
	l.r.Rows++
	if err := odd(e); err != nil {
		l.r.Odd++
		l.r.OddWhy = cmp.Or(l.r.OddWhy, err.Error())
		return
	}
	l.addCase(e)
}

// addCase adds an evaluation to its case.
func (l *loader) addCase(e *store.Evaluation) {
	s := l.variant(e)
	fk := fileKey{e.App, e.TestFile, e.Expected}
	c, ok := l.of[fk]
	if !ok {
		c = l.caseOf(e)
		l.of[fk] = c
	}
	id := c.ID()
	cr := s.Cases[id]
	if cr == nil {
		cr = &CaseResults{Case: c, Hash: e.CaseHash}
		s.Cases[id] = cr
	}
	if e.Twin != "" {
		return // a machine-made variant that an earlier Assay asked
	}
	if cr.Hash != e.CaseHash { // rows come oldest first: the newest form wins
		l.r.Old += len(cr.Trials)
		cr.Hash, cr.Trials, cr.newest, cr.used = e.CaseHash, nil, [tellings]int64{}, spent{}
	}
	index, again := len(cr.Trials), -1
	if l.run != "" {
		index = e.Index
		again = slices.IndexFunc(cr.Trials, func(t *ReviewAnswer) bool { return t.Index == index })
	}
	if t := l.trial(e, index); again >= 0 {
		cr.Trials[again] = t // the last attempt decides
	} else {
		cr.Trials = append(cr.Trials, t)
	}
	for len(s.used) <= index {
		s.used = append(s.used, &spent{})
	}
	s.used[index].add(e)
	cr.used.add(e)
	copy(cr.newest[1:], cr.newest[:])
	cr.newest[0] = e.ID
}

// odd returns why an evaluation cannot be used.
func odd(e *store.Evaluation) error {
	switch {
	case e.Expected != audit.Good && e.Expected != audit.Bad:
		return fmt.Errorf("evaluation %d has the expected_result %q: expected good or bad", e.ID,
			clip(string(e.Expected), 60))
	case strings.HasPrefix(e.TestFile, "fixtures/planted/"):
		return fmt.Errorf(
			"evaluation %d is of a module review, which areas replaced: go test -run Regression -filter areas", e.ID)
	case e.Index < 0 || e.Index > trialsMost:
		return fmt.Errorf("evaluation %d has the trial_index %d: expected 0 to %d", e.ID,
			e.Index, trialsMost)
	case !slices.Contains(outcomes, e.Outcome):
		return fmt.Errorf(
			"evaluation %d has the outcome %q: expected one of %q; a later Assay may have written it", e.ID, clip(string(e.Outcome), 60), outcomes)
	}
	return nil
}

var outcomes = audit.Outcomes()

// read reads again, with their words where words are wanted, the newest answers of each
// variant to each case.
func (l *loader) read(ctx context.Context, st store.Store, words bool) error {
	for _, s := range l.r.Variants {
		for _, c := range s.Cases {
			for _, id := range c.newest {
				if id != 0 && words {
					l.again[id] = c.tell
				}
			}
		}
	}
	for e, err := range st.ByID(ctx, slices.Sorted(maps.Keys(l.again))) {
		if err != nil {
			return err
		}
		l.again[e.ID](&e)
	}
	for _, s := range l.r.Variants {
		for _, c := range s.Cases {
			slices.SortFunc(c.Told, func(a, b Telling) int { return cmp.Compare(b.ID, a.ID) })
		}
	}
	return nil
}

// tell keeps the texts of an answer.
func (c *CaseResults) tell(e *store.Evaluation) {
	t := tellingOf(e)
	if e.ID == c.newest[0] && e.Reply != e.Explanation {
		t.Reply = clipWords(e.Reply, wordsMost)
	}
	c.Told = append(c.Told, t)
}

// clipWords returns a text, cut after most bytes.
func clipWords(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + " … (cut)"
}

// caseOf returns the corpus's case of a row, or one made from the row's file name.
func (l *loader) caseOf(e *store.Evaluation) *audit.Case {
	stem := strings.TrimSuffix(path.Base(strings.ReplaceAll(e.TestFile, `\`, "/")), ".md")
	id := e.App + "/" + stem
	if c := l.key.Cases[id]; c != nil && c.Label == e.Expected {
		return c
	}
	c := &audit.Case{App: e.App, Query: e.Query, Label: e.Expected,
		Pos: audit.Pos{File: e.TestFile}}
	if parts := strings.Split(stem, "-"); len(parts) >= 2 {
		c.Number, _ = strconv.Atoi(parts[len(parts)-2])
	}
	if c.ID() != id {
		c.Query = stem // a name of another kind: the whole of it tells cases apart
	}
	return c
}
