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
	"assay/audit/score"
	"assay/internal/store"
)

// A Merge joins the results of the shards of one run.
type Merge struct {
	Root   string   // folder with tests/ and fixtures/; what it lacks of settings is what is shipped
	Out    string   // the file that holds all of them afterwards; it must not be there yet
	Strict bool     // what is not settled fails, and so does every miss
	Files  []string // the results.db of every shard
}

// Run joins the files and judges the whole as Bench would have judged it in one
// process; what it prints goes to w. It returns an error where the verdict is FAIL
// or INVALID, and where a shard is missing.
func (m Merge) Run(ctx context.Context, w io.Writer) error {
	if _, err := os.Stat(m.Out); err == nil {
		return fmt.Errorf("%s is there already: remove it, or name another file with -o", m.Out)
	}
	var parts []part
	audited := 0
	for _, name := range m.Files {
		p, err := readPart(ctx, name)
		if err != nil {
			return err
		}
		audited += p.audited
		if p.run.ID != "" {
			parts = append(parts, p)
		}
	}
	if len(parts) > 0 || audited == 0 {
		if err := belongTogether(parts); err != nil {
			return err
		}
	}
	to, err := store.Open(ctx, m.Out)
	if err != nil {
		return err
	}
	var whole store.Run
	var rows []store.Evaluation
	carried, err := m.carry(ctx, to)
	if err == nil && len(parts) > 0 {
		whole, rows, err = join(ctx, to, parts)
	}
	if err := errors.Join(err, to.Close()); err != nil {
		return err
	}
	if carried > 0 {
		fmt.Fprintf(w, "%s: %d audits of %d files: kept, and not judged here: their records say what they are worth\n", m.Out, carried, len(m.Files))
	}
	if len(parts) == 0 {
		return nil
	}
	for _, p := range parts {
		if p.older > 0 {
			fmt.Fprintf(w, "%s also holds %d older runs: kept, and not judged\n", p.file, p.older)
		}
	}
	fmt.Fprintf(w, "%s: run %s, joined of %d shards\n", m.Out, whole.ID, len(parts))
	return m.judge(w, &whole, rows)
}

// A part is the newest run of one shard's file.
type part struct {
	file         string
	run          store.Run
	command      string // without the shard, and without where it ran
	index, total int
	older        int // runs of the file that are kept and not judged
	audited      int // runs of audits: Smoke's and Regression's
}

// carry copies the runs of audits with all that they hold, and counts their audits.
func (m Merge) carry(ctx context.Context, to store.Store) (n int, err error) {
	for _, name := range m.Files {
		from, err := store.OpenReadOnly(ctx, name)
		if err != nil {
			return n, err
		}
		k, err := carryFrom(ctx, to, from)
		if err := errors.Join(err, from.Close()); err != nil {
			return n, fmt.Errorf("%s: %w", name, err)
		}
		n += k
	}
	return n, nil
}

func carryFrom(ctx context.Context, to, from store.Store) (n int, err error) {
	runs, err := from.Runs(ctx)
	if err != nil {
		return 0, err
	}
	for _, r := range slices.Backward(runs) {
		if r.Suite == "Bench" {
			continue
		}
		if err := to.Begin(ctx, r); err != nil {
			return n, fmt.Errorf("run %s: %w", r.ID, err)
		}
		for a, err := range from.Audits(ctx, store.Query{Run: r.ID, Kept: true}) {
			if err == nil {
				a.Attempts, err = from.Attempts(ctx, a.Run, a.Trial)
			}
			if err == nil {
				err = to.PutAudit(ctx, a)
			}
			if err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

// ofShard is how shard.command begins the command of a run that is one of several.
var ofShard = regexp.MustCompile(`^TEST_SHARD_INDEX=(\d+) TEST_TOTAL_SHARDS=(\d+) `)

// where are the parts of a command that tell on which machine it ran: shards of one
// run may have their root, their results and the compiled suites in other folders.
var where = regexp.MustCompile(`\bASSAY_(?:ROOT|DB|CACHE|MIRROR)=(?:'[^']*'|\S+) |\S*/(?:\S*\.test )`)

func readPart(ctx context.Context, name string) (part, error) {
	st, err := store.OpenReadOnly(ctx, name)
	if err != nil {
		return part{}, err
	}
	defer st.Close()
	all, err := st.Runs(ctx)
	if err != nil {
		return part{}, err
	}
	runs := benchOf(slices.Clone(all))
	p := part{file: name, audited: len(all) - len(runs), older: len(runs) - 1}
	if len(runs) == 0 {
		if p.audited == 0 {
			return p, fmt.Errorf("%s holds no run: expected the results.db of a shard", name)
		}
		return p, nil
	}
	p.run = runs[0]
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

// benchOf gives the runs of Bench.
func benchOf(runs []store.Run) []store.Run {
	return slices.DeleteFunc(runs, func(r store.Run) bool { return r.Suite != "Bench" })
}

// belongTogether checks that the parts are all the shards of one run.
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

// join copies everything that the parts hold, and adds a run that is their sum.
func join(ctx context.Context, to store.Store, parts []part) (whole store.Run, rows []store.Evaluation, err error) {
	// The whole is the newest run of the file: what looks for one takes it, and not
	// the part that began last.
	now := time.Now().UTC().Truncate(time.Millisecond)
	whole = store.Run{Started: now, Ended: now, Command: parts[0].command, ScoreVersion: score.Version, State: "finished", Outcomes: map[audit.Outcome]int{}, Usage: audit.Usage{Priced: true}}
	seen := map[string]string{}
	for _, p := range parts {
		own, err := copyRuns(ctx, to, p)
		if err != nil {
			return whole, nil, err
		}
		for _, ev := range own {
			if other := seen[ev.Trial]; other != "" {
				return whole, nil, fmt.Errorf("%s and %s hold the same trial of %s: expected shards of one run", other, p.file, ev.TestFile)
			}
			seen[ev.Trial] = p.file
		}
		rows = append(rows, own...)
		addPart(&whole, p.run)
	}
	whole.ID = fmt.Sprintf("%s-joined-%d", whole.Started.Format("20060102T150405Z"), time.Now().UnixNano()%1e9)
	if err := to.Begin(ctx, whole); err != nil {
		return whole, nil, err
	}
	return whole, rows, reuse(ctx, to, whole.ID, seen, rows)
}

// addPart adds a part's account to that of the whole.
func addPart(whole *store.Run, r store.Run) {
	if !r.Started.Before(whole.Started) {
		whole.Started = r.Started.Add(time.Millisecond)
		whole.Ended = whole.Started
	}
	if r.State != "finished" {
		whole.State = r.State
	}
	whole.Planned += r.Planned
	for o, n := range r.Outcomes {
		whole.Outcomes[o] += n
	}
	whole.Reused = whole.Planned - whole.Outcomes[audit.OutcomeSkipped] // all of its rows are those of other runs
	whole.Usage = whole.Usage.Add(r.Usage)
}

// copyRuns copies the runs of a part's file with their rows and attempts, and
// gives the rows of its newest run, with those that it reused.
func copyRuns(ctx context.Context, to store.Store, p part) (newest []store.Evaluation, err error) {
	from, err := store.OpenReadOnly(ctx, p.file)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	runs, err := from.Runs(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Backward(benchOf(runs)) {
		if err := to.Begin(ctx, r); err != nil {
			return nil, fmt.Errorf("%s: run %s: %w", p.file, r.ID, err)
		}
		var batch []store.Evaluation
		for ev, err := range from.Evaluations(ctx, store.Query{Run: r.ID}) {
			if err != nil {
				return nil, err
			}
			if r.ID == p.run.ID {
				newest = append(newest, ev)
			}
			if ev.Run != r.ID {
				continue // reused: it was copied with its own run
			}
			if ev.Attempts, err = from.Attempts(ctx, ev.Run, ev.Trial); err != nil {
				return nil, err
			}
			if batch = append(batch, ev); len(batch) == 500 {
				if err := to.Put(ctx, batch...); err != nil {
					return nil, err
				}
				batch = batch[:0]
			}
		}
		if err := to.Put(ctx, batch...); err != nil {
			return nil, err
		}
	}
	return newest, nil
}

// reuse records the rows as those of the whole run, by the numbers that they have
// in the new file.
func reuse(ctx context.Context, to store.Store, id string, trials map[string]string, rows []store.Evaluation) error {
	of := map[string]bool{}
	for _, ev := range rows {
		of[ev.Run+" "+ev.Trial] = true
	}
	var evs []store.Evaluation
	for ev, err := range to.Evaluations(ctx, store.Query{}) {
		if err != nil {
			return err
		}
		if of[ev.Run+" "+ev.Trial] {
			evs = append(evs, ev)
		}
	}
	if len(evs) != len(trials) {
		return fmt.Errorf("%d of %d rows arrived in the joined file", len(evs), len(trials))
	}
	return to.Reuse(ctx, id, evs)
}
