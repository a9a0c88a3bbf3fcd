package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/run"
	"assay/internal/store"
)

// A Merge joins the results of the shards of one run: the flags of assay merge.
type Merge struct {
	Root   string   `help:"Folder with tests/ and fixtures/." default:"." env:"ASSAY_ROOT" type:"existingdir"`
	Out    string   `help:"The file that holds all of them afterwards; it must not be there yet." short:"o" required:"" type:"path"`
	Strict bool     `help:"What is not settled fails, and so does every miss."`
	Files  []string `arg:"" help:"The results.db of every shard." type:"existingfile"`
}

// Run joins the newest runs of Bench of the files into one and judges it as Bench would have
// judged it in one process; what it prints goes to w. It returns an error where the verdict
// is FAIL or INVALID, and where a shard is missing.
func (m Merge) Run(ctx context.Context, w io.Writer) error {
	if _, err := os.Stat(m.Out); err == nil {
		return fmt.Errorf("%s is there already: remove it, or name another file with -o", m.Out)
	}
	var parts []part
	for _, name := range m.Files {
		p, err := readPart(ctx, name)
		if err != nil {
			return err
		}
		parts = append(parts, p)
	}
	if err := belongTogether(parts); err != nil {
		return err
	}
	b, err := m.bench()
	if err != nil {
		return err
	}
	whole := sum(parts)
	rows, err := m.join(ctx, &whole, parts)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if p.others > 0 {
			fmt.Fprintf(w, "%s also holds %d older runs or runs of other suites: not joined, and not judged\n", p.file, p.others)
		}
	}
	fmt.Fprintf(w, "%s: run %s, joined of %d shards\n", m.Out, whole.ID, len(parts))
	return m.judge(w, b, &whole, rows)
}

// A part is what one shard's file holds.
type part struct {
	file         string
	run          store.Run // the newest of Bench
	command      string    // of it, without the shard, and without where it ran
	index, total int
	others       int // runs beside it
}

// ofShard is how shard.command begins the command of a run that is one of several.
var ofShard = regexp.MustCompile(`^TEST_SHARD_INDEX=(\d+) TEST_TOTAL_SHARDS=(\d+) `)

// where are the parts of a command that tell on which machine it ran: shards of one
// run may have their root, their results and the compiled suites ($1) in other folders.
var where = regexp.MustCompile(`\bASSAY_(?:ROOT|DB|CACHE|MIRROR)=(?:'[^']*'|\S+) |\S*/(\S*\.test )`)

func readPart(ctx context.Context, name string) (p part, err error) {
	st, err := store.OpenReadOnly(ctx, name)
	if err != nil {
		return p, err
	}
	defer st.Close()
	runs, err := st.Runs(ctx)
	if err != nil {
		return p, err
	}
	newest := slices.IndexFunc(runs, func(r store.Run) bool { return r.Suite == "Bench" })
	if newest < 0 {
		return p, fmt.Errorf("%s holds no run of Bench: expected the results.db of one of its shards (audits are judged in their own shard)", name)
	}
	p = part{file: name, run: runs[newest], others: len(runs) - 1}
	m := ofShard.FindStringSubmatch(p.run.Command)
	if m == nil {
		return p, fmt.Errorf("%s: its newest run (%s, %q) is not that of a shard: expected one of go test -run Bench with TEST_SHARD_INDEX and TEST_TOTAL_SHARDS", name, p.run.ID, p.run.Command)
	}
	p.command = where.ReplaceAllString(p.run.Command[len(m[0]):], "$1")
	p.index, _ = strconv.Atoi(m[1])
	p.total, _ = strconv.Atoi(m[2])
	if p.run.Ended.IsZero() {
		return p, fmt.Errorf("%s: its newest run (%s) never ended: to carry on: %s", name, p.run.ID, p.run.Command)
	}
	return p, nil
}

func belongTogether(parts []part) error {
	first := parts[0]
	by := map[int]string{}
	for _, p := range parts {
		switch {
		case p.total != first.total:
			return fmt.Errorf("%s is one of %d shards, and %s one of %d: expected the shards of one run", first.file, first.total, p.file, p.total)
		case p.command != first.command:
			return fmt.Errorf("%s was made by %q and %s by %q: expected the shards of one run", first.file, first.command, p.file, p.command)
		case p.run.ScoreVersion != score.Version:
			return fmt.Errorf("%s: judged by score version %s, and this is %s: run the shard again", p.file, p.run.ScoreVersion, score.Version)
		case by[p.index] != "":
			return fmt.Errorf("%s and %s are both shard %d of %d: expected each once", by[p.index], p.file, p.index+1, p.total)
		}
		by[p.index] = p.file
	}
	var missing []string
	for i := range first.total {
		if by[i] == "" {
			missing = append(missing, strconv.Itoa(i+1))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s: %d of %d shards, without %s: a part proves nothing about the whole", audit.Invalid, len(parts), first.total, strings.Join(missing, ", "))
	}
	return nil
}

// sum gives the run that the parts are together.
func sum(parts []part) store.Run {
	now := time.Now().UTC().Truncate(time.Millisecond)
	whole := store.Run{ID: fmt.Sprintf("%s-joined-%d", now.Format("20060102T150405Z"), now.UnixNano()%1e9), Started: now, Ended: now, Command: parts[0].command,
		ScoreVersion: score.Version, State: "finished", Outcomes: map[audit.Outcome]int{}, Usage: audit.Usage{Priced: true}}
	for i := range parts {
		r := &parts[i].run
		if r.State != "finished" {
			whole.State = r.State
		}
		whole.Planned += r.Planned
		whole.Reused += r.Reused
		for o, n := range r.Outcomes {
			whole.Outcomes[o] += n
		}
		whole.Usage = whole.Usage.Add(r.Usage)
	}
	return whole
}

// join writes the run and its rows to a new file; where it breaks off, it leaves none.
func (m Merge) join(ctx context.Context, whole *store.Run, parts []part) (rows []store.Evaluation, err error) {
	defer func() {
		if err != nil {
			_ = os.Remove(m.Out)
		}
	}()
	to, err := store.Open(ctx, m.Out)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if err := to.Begin(ctx, *whole); err != nil {
		return nil, err
	}
	for _, p := range parts {
		own, err := p.rows(ctx, whole.ID)
		if err == nil {
			err = to.Put(ctx, own...)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.file, err)
		}
		rows = append(rows, own...)
	}
	return rows, nil
}

// rows gives those of the part's run as rows of the run joined, with those that it had taken
// from older ones.
func (p *part) rows(ctx context.Context, joined string) (rows []store.Evaluation, err error) {
	st, err := store.OpenReadOnly(ctx, p.file)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	for ev, err := range st.Evaluations(ctx, store.Query{Run: p.run.ID}) {
		if err == nil {
			ev.Attempts, err = st.Attempts(ctx, ev.Run, ev.Trial)
		}
		if err != nil {
			return nil, err
		}
		ev.Run = joined
		rows = append(rows, ev)
	}
	return rows, nil
}

func (m Merge) judge(w io.Writer, b *bench, whole *store.Run, rows []store.Evaluation) error {
	if skipped := whole.Outcomes[audit.OutcomeSkipped]; skipped > 0 {
		return fmt.Errorf("%s: %d of %d trials were planned and not asked: to carry on, run the shards again: %s", audit.Invalid, skipped, whole.Planned, whole.Command)
	}
	if len(rows) == 0 {
		return fmt.Errorf("%s: no shard holds an answer, and a run of nothing proves nothing", audit.Invalid)
	}
	if err := b.adopt(rows); err != nil {
		return err
	}
	fmt.Fprintln(w, accounting(func(o audit.Outcome) int { return whole.Outcomes[o] }))
	var t failures
	for _, v := range b.asked() {
		b.judgeOne(&t, v)
		if n := outcomes(b.answers(v, ""))[audit.OutcomeWrong]; m.Strict && n > 0 {
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

// bench gives a Bench that has asked nothing, by the fixtures of the folder.
func (m Merge) bench() (*bench, error) {
	e, err := checkout(m.Root, Config{Strict: m.Strict})
	if err != nil {
		return nil, err
	}
	goals, goalsErr := e.goals()
	readers, readersErr := auditor.Readers(e.root.own, "fixtures/recordings")
	corpus, corpusErr := fixture.ReadCorpus(e.root.own, "tests", false)
	if err := errors.Join(goalsErr, readersErr, corpusErr); err != nil {
		return nil, err
	}
	b := &bench{engine: newEngine(&Suite{}, e, "Bench"), goals: goals, subjects: casesOf(corpus), recorded: map[variant]int{}}
	for _, r := range readers {
		if rs := r.Read(defaultPrompt); rs != nil {
			b.recorded[variant{r.Name(), defaultPrompt}] = len(rs.Readings)
		}
	}
	return b, nil
}

// adopt makes leaves of rows. A case that stands otherwise here is an error: the key that
// judges must be that of the run.
func (b *bench) adopt(rows []store.Evaluation) error {
	cases := map[string]*subject{}
	for i := range b.subjects {
		cases[b.subjects[i].id] = &b.subjects[i]
	}
	slices.SortStableFunc(rows, func(a, b store.Evaluation) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Prompt, b.Prompt), cmp.Compare(a.CaseID(), b.CaseID()), cmp.Compare(a.Twin, b.Twin), cmp.Compare(a.Index, b.Index))
	})
	for _, ev := range rows {
		v, s := variant{ev.Model, ev.Prompt}, cases[ev.CaseID()]
		if s == nil || ev.Twin == "" && run.CaseHash(s.ask.Case) != ev.CaseHash {
			return fmt.Errorf("%s: the case stands otherwise here than where the shard ran: judge with the same commit", ev.TestFile)
		}
		if n := len(b.leaves); n == 0 || b.leaves[n-1].variant != v || b.leaves[n-1].subject != s {
			b.leaves = append(b.leaves, &leaf{variant: v, subject: s})
		}
		l, r := b.leaves[len(b.leaves)-1], run.Result{Outcome: ev.Outcome, Evaluation: ev}
		if ev.Twin == "" {
			l.results = append(l.results, r)
		} else {
			l.twins, l.twinResults = append(l.twins, run.Trial{Twin: ev.Twin}), append(l.twinResults, r)
		}
		b.env.cfg.Trials = max(b.env.cfg.Trials, ev.Index+1)
	}
	return nil
}

type failures []error

func (f *failures) Errorf(format string, args ...any) { *f = append(*f, fmt.Errorf(format, args...)) }

// Logf says nothing: the summary tells what there is to tell.
func (f *failures) Logf(string, ...any) {}

func (f *failures) Attr(string, string) {}
