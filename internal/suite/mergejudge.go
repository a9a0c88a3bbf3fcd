package suite

import (
	"errors"
	"fmt"
	"io"
	"os"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/auditor"
	"assay/internal/run"
	"assay/internal/store"
)

// judge judges the joined rows as Bench judges its leaves, and prints its summary.
func (m Merge) judge(w io.Writer, whole *store.Run, rows []store.Evaluation) error {
	if len(rows) == 0 {
		return fmt.Errorf("%s: no shard holds an answer, and a run of nothing proves nothing", audit.Invalid)
	}
	b, err := m.bench()
	if err != nil {
		return err
	}
	if err := b.adopt(rows, whole.Outcomes[audit.OutcomeSkipped] > 0); err != nil {
		return err
	}
	if skipped := whole.Outcomes[audit.OutcomeSkipped]; skipped > 0 {
		if b.skipped() != skipped {
			return fmt.Errorf("%s: %d trials were planned and not asked: to carry on, run the shards again: %s", audit.Invalid, skipped, whole.Command)
		}
		b.suite.summary.note("%d of %d trials were not asked", skipped, whole.Planned)
		b.suite.summary.do("to carry on, run the shards again", whole.Command)
	}
	fmt.Fprintln(w, accounting(func(o audit.Outcome) int { return whole.Outcomes[o] }))
	var t failures
	for _, v := range b.asked() {
		b.judgeOne(&t, v)
		if n := b.misses(v); m.Strict && n > 0 {
			t.Errorf("%s: -strict: %d misses", v.reviewer, n)
		}
	}
	v := view{width: screenWidth, lines: screenLines}
	if f, ok := w.(*os.File); ok {
		v = screenOf(f)
	}
	b.suite.summary.print(w, v)
	return errors.Join(t...)
}

// bench reads what answers are judged by.
func (m Merge) bench() (*bench, error) {
	e, err := checkout(m.Root, Config{Strict: m.Strict})
	if err != nil {
		return nil, err
	}
	b := &bench{engine: newEngine(&Suite{}, e, "Bench"), recorded: map[variant]int{}}
	if b.goals, err = e.goals(); err != nil {
		return nil, err
	}
	readers, err := auditor.Readers(e.root.own, "fixtures/recordings")
	if err != nil {
		return nil, err
	}
	for _, r := range readers {
		if rs := r.Read(defaultPrompt); rs != nil {
			b.recorded[variant{r.Name(), defaultPrompt}] = len(rs.Readings)
		}
	}
	corpus, err := fixture.ReadCorpus(e.root.own, "tests", false)
	if err != nil {
		return nil, err
	}
	b.subjects = casesOf(corpus)
	return b, nil
}

// adopt makes leaves of rows. Where trials were skipped, of which there is no row,
// each variant has a leaf for each case. A row of a case that stands otherwise
// here is an error: the key that judges must be that of the run.
func (b *bench) adopt(rows []store.Evaluation, all bool) error {
	cases := map[string]*subject{}
	for i := range b.subjects {
		cases[b.subjects[i].id] = &b.subjects[i]
	}
	leaves := map[variant]map[string]*leaf{}
	trials := map[variant]int{}
	var order []variant
	for _, ev := range rows {
		v := variant{ev.Model, ev.Prompt}
		if leaves[v] == nil {
			leaves[v] = map[string]*leaf{}
			order = append(order, v)
		}
		id := ev.CaseID()
		s := cases[id]
		if s == nil || ev.Twin == "" && run.CaseHash(s.ask.Case) != ev.CaseHash {
			return fmt.Errorf("%s: the case stands otherwise here than where the shard ran: judge with the same commit", ev.TestFile)
		}
		l := leaves[v][id]
		if l == nil {
			l = &leaf{variant: v, subject: s}
			leaves[v][id] = l
		}
		l.adopt(ev)
		trials[v] = max(trials[v], len(l.results))
	}
	for _, v := range order {
		for i := range b.subjects {
			l := leaves[v][b.subjects[i].id]
			if l == nil && all {
				l = &leaf{variant: v, subject: &b.subjects[i]}
			}
			if l != nil {
				l.fill(trials[v])
				b.leaves = append(b.leaves, l)
			}
		}
	}
	return nil
}

// adopt takes a row as the result of its trial.
func (l *leaf) adopt(ev store.Evaluation) {
	r := run.Result{Outcome: ev.Outcome, Evaluation: ev}
	if ev.Twin != "" {
		l.twins, l.twinResults = append(l.twins, run.Trial{Twin: ev.Twin}), append(l.twinResults, r)
		return
	}
	l.fill(ev.Index + 1)
	l.results[ev.Index] = r
}

// fill adds trials that were skipped, up to n.
func (l *leaf) fill(n int) {
	for len(l.results) < n {
		l.results = append(l.results, run.Result{Outcome: audit.OutcomeSkipped})
	}
}

// skipped counts the trials without a row.
func (b *bench) skipped() (n int) {
	for _, l := range b.leaves {
		for _, r := range l.results {
			if r.Outcome == audit.OutcomeSkipped {
				n++
			}
		}
	}
	return n
}

// misses counts a variant's wrong answers.
func (b *bench) misses(v variant) (n int) {
	for _, a := range b.answers(v, "") {
		if a.Outcome == audit.OutcomeWrong {
			n++
		}
	}
	return n
}

// failures collect what fails.
type failures []error

// Errorf adds one.
func (f *failures) Errorf(format string, args ...any) { *f = append(*f, fmt.Errorf(format, args...)) }

// Logf says nothing: the summary tells what there is to tell.
func (f *failures) Logf(string, ...any) {}

// Attr says nothing.
func (f *failures) Attr(string, string) {}
