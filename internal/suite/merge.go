package suite

import (
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

// Run joins the files and judges the whole as Bench would have judged it in one
// process; what it prints goes to w. It returns an error where the verdict is FAIL
// or INVALID, and where a shard is missing.
func (m Merge) Run(ctx context.Context, w io.Writer) error {
	if _, err := os.Stat(m.Out); err == nil {
		return fmt.Errorf("%s is there already: remove it, or name another file with -o", m.Out)
	}
	var parts, benched []part
	for _, name := range m.Files {
		p, err := readPart(ctx, name)
		if err != nil {
			return err
		}
		parts = append(parts, p)
		if p.run.ID != "" {
			benched = append(benched, p)
		}
	}
	if len(benched) > 0 {
		if err := belongTogether(benched); err != nil {
			return err
		}
	}
	to, err := store.Open(ctx, m.Out)
	if err != nil {
		return err
	}
	j, err := join(ctx, to, parts)
	if err := errors.Join(err, to.Close()); err != nil {
		return err
	}
	if j.audits > 0 {
		fmt.Fprintf(w, "%s: %d audits of %d files: kept, and not judged here: their records say what they are worth\n", m.Out, j.audits, len(m.Files))
	}
	if len(benched) == 0 {
		return nil
	}
	for _, p := range benched {
		if p.older > 0 {
			fmt.Fprintf(w, "%s also holds %d older runs: kept, and not judged\n", p.file, p.older)
		}
	}
	fmt.Fprintf(w, "%s: run %s, joined of %d shards\n", m.Out, j.whole.ID, len(benched))
	return m.judge(w, &j.whole, j.rows)
}

// A part is what one shard's file holds.
type part struct {
	file         string
	all          []store.Run // newest first
	run          store.Run   // the newest of Bench; without an ID where there is none
	command      string      // of it, without the shard, and without where it ran
	index, total int
	older        int // runs of Bench that are kept and not judged
}

// ofShard is how shard.command begins the command of a run that is one of several.
var ofShard = regexp.MustCompile(`^TEST_SHARD_INDEX=(\d+) TEST_TOTAL_SHARDS=(\d+) `)

// where are the parts of a command that tell on which machine it ran: shards of one
// run may have their root, their results and the compiled suites ($1) in other folders.
var where = regexp.MustCompile(`\bASSAY_(?:ROOT|DB|CACHE|MIRROR)=(?:'[^']*'|\S+) |\S*/(\S*\.test )`)

func readPart(ctx context.Context, name string) (p part, err error) {
	p.file = name
	st, err := store.OpenReadOnly(ctx, name)
	if err != nil {
		return p, err
	}
	defer st.Close()
	if p.all, err = st.Runs(ctx); err != nil {
		return p, err
	}
	if len(p.all) == 0 {
		return p, fmt.Errorf("%s holds no run: expected the results.db of a shard", name)
	}
	benches := slices.DeleteFunc(slices.Clone(p.all), func(r store.Run) bool { return r.Suite != "Bench" })
	if len(benches) == 0 {
		return p, nil
	}
	p.run, p.older = benches[0], len(benches)-1
	m := ofShard.FindStringSubmatch(p.run.Command)
	if m == nil {
		return p, fmt.Errorf("%s: its newest run (%s, %q) is not that of a shard: expected one of go test -run Bench with TEST_SHARD_INDEX and TEST_TOTAL_SHARDS", name, p.run.ID, p.run.Command)
	}
	p.command = where.ReplaceAllString(p.run.Command[len(m[0]):], "")
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

type joining struct {
	to     store.Store
	whole  store.Run           // the sum of the parts' newest runs of Bench
	rows   []store.Evaluation  // of that run
	counts map[string][]string // the runs that count a row of another one as theirs, by rowOf
	audits int                 // Smoke's and Regression's
}

func rowOf(ev *store.Evaluation) string { return ev.Run + " " + ev.Trial }

// join adds a run that is the sum of the parts' newest ones of Bench, where they have any.
func join(ctx context.Context, to store.Store, parts []part) (*joining, error) {
	now := time.Now().UTC().Truncate(time.Millisecond)
	j := &joining{to: to, counts: map[string][]string{}, whole: store.Run{Started: now, Ended: now, ScoreVersion: score.Version, State: "finished", Outcomes: map[audit.Outcome]int{}, Usage: audit.Usage{Priced: true}}}
	seen := map[string]string{}
	for i := range parts {
		p := &parts[i]
		n := len(j.rows)
		if err := j.copy(ctx, p); err != nil {
			return j, fmt.Errorf("%s: %w", p.file, err)
		}
		for _, ev := range j.rows[n:] {
			if other := seen[ev.Trial]; other != "" {
				return j, fmt.Errorf("%s and %s hold the same trial of %s: expected shards of one run", other, p.file, ev.TestFile)
			}
			seen[ev.Trial] = p.file
		}
		if p.run.ID != "" {
			addPart(&j.whole, p)
		}
	}
	if j.whole.Command == "" {
		return j, nil
	}
	j.whole.ID = fmt.Sprintf("%s-joined-%d", j.whole.Started.Format("20060102T150405Z"), time.Now().UnixNano()%1e9)
	if err := to.Begin(ctx, j.whole); err != nil {
		return j, err
	}
	return j, j.reuse(ctx)
}

// addPart keeps the whole the newest run of the file: what looks for one takes that.
func addPart(whole *store.Run, p *part) {
	r := &p.run
	if !r.Started.Before(whole.Started) {
		whole.Started = r.Started.Add(time.Millisecond)
		whole.Ended = whole.Started
	}
	if r.State != "finished" {
		whole.State = r.State
	}
	whole.Command = where.ReplaceAllString(ofShard.ReplaceAllString(r.Command, ""), "$1")
	whole.Planned += r.Planned
	for o, n := range r.Outcomes {
		whole.Outcomes[o] += n
	}
	whole.Reused = whole.Planned - whole.Outcomes[audit.OutcomeSkipped] // all of its rows are those of other runs
	whole.Usage = whole.Usage.Add(r.Usage)
}

// copy copies all runs of a part; rows are those of its newest of Bench, reused ones too.
func (j *joining) copy(ctx context.Context, p *part) error {
	from, err := store.OpenReadOnly(ctx, p.file)
	if err != nil {
		return err
	}
	defer from.Close()
	for _, r := range slices.Backward(p.all) {
		err := j.to.Begin(ctx, r)
		if err == nil && r.Suite == "Bench" {
			err = j.copyReviews(ctx, from, r.ID, r.ID == p.run.ID)
		} else if err == nil {
			err = j.copyAudits(ctx, from, r.ID)
		}
		if err != nil {
			return fmt.Errorf("run %s: %w", r.ID, err)
		}
	}
	return nil
}

func (j *joining) copyAudits(ctx context.Context, from store.Store, id string) error {
	for a, err := range from.Audits(ctx, store.Query{Run: id, Kept: true}) {
		if err == nil {
			a.Attempts, err = from.Attempts(ctx, a.Run, a.Trial)
		}
		if err == nil {
			err = j.to.PutAudit(ctx, a)
		}
		if err != nil {
			return err
		}
		j.audits++
	}
	return nil
}

func (j *joining) copyReviews(ctx context.Context, from store.Store, id string, newest bool) error {
	var batch []store.Evaluation
	for ev, err := range from.Evaluations(ctx, store.Query{Run: id}) {
		if err != nil {
			return err
		}
		if newest {
			j.rows = append(j.rows, ev)
		}
		if ev.Run != id { // it is copied with its own run
			j.counts[rowOf(&ev)] = append(j.counts[rowOf(&ev)], id)
			continue
		}
		if ev.Attempts, err = from.Attempts(ctx, ev.Run, ev.Trial); err != nil {
			return err
		}
		if batch = append(batch, ev); len(batch) == 500 {
			if err := j.to.Put(ctx, batch...); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return j.to.Put(ctx, batch...)
}

// reuse records which runs count which rows, by the numbers that these have in the new file.
func (j *joining) reuse(ctx context.Context) error {
	for i := range j.rows {
		row := rowOf(&j.rows[i])
		j.counts[row] = append(j.counts[row], j.whole.ID)
	}
	evs := map[string][]store.Evaluation{}
	for ev, err := range j.to.Evaluations(ctx, store.Query{}) {
		if err != nil {
			return err
		}
		for _, run := range j.counts[rowOf(&ev)] {
			evs[run] = append(evs[run], ev)
		}
	}
	if n := len(evs[j.whole.ID]); n != len(j.rows) {
		return fmt.Errorf("%d of %d rows arrived in the joined file", n, len(j.rows))
	}
	var errs error
	for run, of := range evs {
		errs = errors.Join(errs, j.to.Reuse(ctx, run, of))
	}
	return errs
}

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
		n := 0
		for _, v := range b.asked() {
			n += outcomes(b.answers(v, ""))[audit.OutcomeSkipped]
		}
		if n != skipped {
			return fmt.Errorf("%s: %d trials were planned and not asked: to carry on, run the shards again: %s", audit.Invalid, skipped, whole.Command)
		}
		b.suite.summary.note("%d of %d trials were not asked", skipped, whole.Planned)
		b.suite.summary.do("to carry on, run the shards again", whole.Command)
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

// adopt makes leaves of rows and, with all, of what was skipped, of which there is no row. A
// case that stands otherwise here is an error: the key that judges must be that of the run.
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
		b.env.cfg.Trials = max(b.env.cfg.Trials, trials[v])
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

func (l *leaf) adopt(ev store.Evaluation) {
	r := run.Result{Outcome: ev.Outcome, Evaluation: ev}
	if ev.Twin != "" {
		l.twins, l.twinResults = append(l.twins, run.Trial{Twin: ev.Twin}), append(l.twinResults, r)
		return
	}
	l.fill(ev.Index + 1)
	l.results[ev.Index] = r
}

func (l *leaf) fill(n int) {
	for len(l.results) < n {
		l.results = append(l.results, run.Result{Outcome: audit.OutcomeSkipped})
	}
}

type failures []error

func (f *failures) Errorf(format string, args ...any) { *f = append(*f, fmt.Errorf(format, args...)) }

// Logf says nothing: the summary tells what there is to tell.
func (f *failures) Logf(string, ...any) {}

func (f *failures) Attr(string, string) {}
