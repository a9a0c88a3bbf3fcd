package suite

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/record"
	"assay/internal/run"
	"assay/internal/store"
)

// A shop is a small root with one application of twelve cases.
func shop(t *testing.T) (root string, cases []*audit.Case) {
	root = t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	goals, err := os.ReadFile("../../fixtures/goals.md")
	require.NoError(t, err)
	write("fixtures/goals.md", string(goals))
	write("tests/shop/SPEC.md", "# Prompt\n\nA shop.\n\n## Security Requirements\n\n1. Be good.\n")
	for f := range 2 {
		for n := 1; n <= 6; n++ {
			label, violates := "good", ""
			if n > 2 {
				label, violates = "bad", "\n# Violates\n\n1\n"
			}
			write(fmt.Sprintf("tests/shop/q%02d-%02d-%s.md", f, n, label),
				fmt.Sprintf("# Description\n\nx\n\n# Code\n\n```sql\nSELECT %d%d\n```\n\n# Expected\n\n%s\n%s", f, n, label, violates))
		}
	}
	read, err := fixture.ReadCorpus(os.DirFS(root), "tests", false)
	require.NoError(t, err)
	byID := map[string]*audit.Case{}
	for _, c := range read.Cases() {
		byID[c.ID()] = c
	}
	require.Len(t, byID, 12)
	for f := range 2 {
		for n := 1; n <= 6; n++ {
			label := "good"
			if n > 2 {
				label = "bad"
			}
			cases = append(cases, byID[fmt.Sprintf("shop/q%02d-%02d-%s", f, n, label)])
		}
	}
	return root, cases
}

// A shardFile is a results.db as a shard leaves it.
type shardFile struct {
	index, total int
	command      string // "": go test -run Bench
	outcome      func(i int) audit.Outcome
	skip         int // the first cases of this shard were never begun
	unended      bool
	version      string
}

// write makes the file: case i belongs to the shard i modulo total.
func (s shardFile) write(t *testing.T, cases []*audit.Case) string {
	name := filepath.Join(t.TempDir(), fmt.Sprintf("shard-%d.db", s.index))
	ctx := context.Background()
	st, err := store.Open(ctx, name)
	require.NoError(t, err)
	defer func() { require.NoError(t, st.Close()) }()
	if s.command == "" {
		s.command = "go test -run Bench"
	}
	if s.version == "" {
		s.version = score.Version
	}
	r := store.Run{ID: fmt.Sprint("run-", s.index), Started: time.Now(), Ended: time.Now(), State: "finished", ScoreVersion: s.version,
		Command: fmt.Sprintf("TEST_SHARD_INDEX=%d TEST_TOTAL_SHARDS=%d %s", s.index, s.total, s.command), Outcomes: map[audit.Outcome]int{}}
	if s.unended {
		r.Ended = time.Time{}
	}
	var evs []store.Evaluation
	for i, c := range cases {
		if i%s.total != s.index {
			continue
		}
		r.Planned++
		if s.skip > 0 {
			s.skip--
			r.Outcomes[audit.OutcomeSkipped]++
			continue
		}
		o := s.outcome(i)
		r.Outcomes[o]++
		ev := store.Evaluation{Time: time.Now(), TestFile: c.Pos.File, Model: "m", Expected: c.Label, Run: r.ID, Trial: fmt.Sprint("trial-", i), App: c.App, Query: c.Query,
			Family: c.Family(), Prompt: "p", Outcome: o, Status: audit.Answered, Actual: string(c.Label), CaseHash: run.CaseHash(c), Tries: 1,
			Attempts: []audit.Attempt{{HTTPStatus: 200, Usage: audit.Usage{USD: 0.5, Priced: true}}}}
		if o == audit.OutcomeErrored {
			ev.Status = audit.Errored
		}
		evs = append(evs, ev)
	}
	require.NoError(t, st.Begin(ctx, r))
	require.NoError(t, st.Put(ctx, evs...))
	return name
}

func allRight(int) audit.Outcome { return audit.OutcomeCorrect }

// mostlyWrong is right on bads alone: balanced accuracy 50 %.
func mostlyWrong(i int) audit.Outcome {
	if i%6 < 2 {
		return audit.OutcomeWrong
	}
	return audit.OutcomeCorrect
}

func TestMerge(t *testing.T) {
	root, cases := shop(t)
	three := func(o func(int) audit.Outcome) []shardFile {
		return []shardFile{{index: 0, total: 3, outcome: o}, {index: 1, total: 3, outcome: o}, {index: 2, total: 3, outcome: o}}
	}
	edit := func(s []shardFile, i int, f func(*shardFile)) []shardFile { f(&s[i]); return s }
	for _, tt := range []struct {
		name   string
		shards []shardFile
		want   string // of the error; empty: it passes
	}{
		{"all right", three(allRight), ""},
		{"below the goal only together", three(mostlyWrong), "fixtures/goals.md: m p: FAIL: balanced accuracy 50.0 % misses the goal"},
		{"a shard is missing", three(allRight)[:2], "INVALID: 2 of 3 shards, without 3"},
		{"a shard twice", append(three(allRight)[:2], shardFile{index: 0, total: 3, outcome: allRight}), "are both shard 1 of 3"},
		{"another total", edit(three(allRight), 2, func(s *shardFile) { s.total = 4 }), "one of 3 shards, and"},
		{"another command", edit(three(allRight), 2, func(s *shardFile) { s.command = "go test -run Bench -model=other" }), "expected the shards of one run"},
		{"another judge", edit(three(allRight), 1, func(s *shardFile) { s.version = "0" }), "run the shard again"},
		{"killed", edit(three(allRight), 1, func(s *shardFile) { s.unended = true }), "never ended: to carry on: TEST_SHARD_INDEX=1"},
		{"no answer", three(func(int) audit.Outcome { return audit.OutcomeErrored }), "INVALID: none of 12 trials has an answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := Merge{Root: root, Out: filepath.Join(t.TempDir(), "results.db")}
			for _, s := range tt.shards {
				c.Files = append(c.Files, s.write(t, cases))
			}
			err := c.Run(context.Background(), io.Discard)
			if tt.want != "" {
				require.ErrorContains(t, err, tt.want)
				return
			}
			require.NoError(t, err)
			wholeAndOnce(t, c.Out, 12)
			require.ErrorContains(t, c.Run(context.Background(), io.Discard), "is there already")
		})
	}
}

// wholeAndOnce holds a joined file to what it must be: one run, whose rows are all those of
// the shards, each once, with their attempts.
func wholeAndOnce(t *testing.T, name string, want int) {
	ctx := context.Background()
	st, err := store.OpenReadOnly(ctx, name)
	require.NoError(t, err)
	defer st.Close()
	runs, err := st.Runs(ctx)
	require.NoError(t, err)
	require.Len(t, runs, 1)
	require.Equal(t, "go test -run Bench", runs[0].Command)
	require.Equal(t, want, runs[0].Planned)
	require.Equal(t, want, runs[0].Outcomes[audit.OutcomeCorrect])
	seen := map[string]bool{}
	for ev, err := range st.Evaluations(ctx, store.Query{Run: runs[0].ID}) {
		require.NoError(t, err)
		seen[ev.Trial] = true
		as, err := st.Attempts(ctx, ev.Run, ev.Trial)
		require.NoError(t, err)
		require.Len(t, as, 1)
	}
	require.Len(t, seen, want)
}

// TestMergeOfAnotherCorpus: a key that has changed since does not judge.
func TestMergeOfAnotherCorpus(t *testing.T) {
	root, cases := shop(t)
	file := shardFile{index: 0, total: 1, outcome: allRight}.write(t, cases)
	require.NoError(t, os.WriteFile(filepath.Join(root, "tests/shop/q00-01-good.md"), []byte("# Description\n\nx\n\n# Code\n\n```sql\nSELECT 2\n```\n\n# Expected\n\ngood\n"), 0o644))
	c := Merge{Root: root, Out: filepath.Join(t.TempDir(), "results.db"), Files: []string{file}}
	require.ErrorContains(t, c.Run(context.Background(), io.Discard), "the case stands otherwise")
}

// TestMergeOfAPart: a selection is reported and not judged, as in one process.
func TestMergeOfAPart(t *testing.T) {
	root, cases := shop(t)
	file := shardFile{index: 0, total: 1, outcome: mostlyWrong}.write(t, cases[:6])
	c := Merge{Root: root, Out: filepath.Join(t.TempDir(), "results.db"), Files: []string{file}}
	require.NoError(t, c.Run(context.Background(), io.Discard))
	c.Out, c.Strict = filepath.Join(t.TempDir(), "results.db"), true
	require.ErrorContains(t, c.Run(context.Background(), io.Discard), "-strict: 2 misses")
}

// TestMergeOfAStoppedShard: what was planned and not asked proves nothing about the whole.
func TestMergeOfAStoppedShard(t *testing.T) {
	root, cases := shop(t)
	file := shardFile{index: 0, total: 1, outcome: allRight, skip: 3}.write(t, cases)
	err := Merge{Root: root, Out: filepath.Join(t.TempDir(), "results.db"), Files: []string{file}}.Run(context.Background(), io.Discard)
	require.EqualError(t, err, "INVALID: 3 of 12 trials were planned and not asked: to carry on, run the shards again: go test -run Bench")
}

// TestMergeTellsWhatChangedSinceTheBaseline: as in one process, a prompt that
// changed and a case that is gone stand beside the comparison.
func TestMergeTellsWhatChangedSinceTheBaseline(t *testing.T) {
	root, cases := shop(t)
	base := &record.BenchBaseline{Reviewer: "m", Prompt: "p", Score: score.Version, Asked: []record.Asked{{PromptHash: "old"}},
		Answers: []record.BenchAnswer{{Case: "shop/gone-01-good", Hash: "h", Outcome: audit.OutcomeCorrect}}}
	require.NoError(t, base.Write(filepath.Join(root, "fixtures", "baselines"), ""))
	var rows []store.Evaluation
	for _, c := range cases {
		rows = append(rows, store.Evaluation{Model: "m", Prompt: "p", App: c.App, TestFile: c.ID() + ".md", PromptHash: "new", CaseHash: run.CaseHash(c), Outcome: audit.OutcomeCorrect})
	}
	var out strings.Builder
	m := Merge{Root: root}
	b, err := m.bench()
	require.NoError(t, err)
	require.NoError(t, m.judge(&out, b, &store.Run{}, rows))
	require.Contains(t, out.String(), "the prompt changed since the baseline: new, and was old")
	require.Contains(t, out.String(), "1 answers of the baseline are for cases that have changed or gone since, like shop/gone-01-good")
}

// TestMergeOfAudits: they are judged in their own shard, which is said of a file that holds
// nothing else.
func TestMergeOfAudits(t *testing.T) {
	root, _ := shop(t)
	name := filepath.Join(t.TempDir(), "audits.db")
	ctx := context.Background()
	st, err := store.Open(ctx, name)
	require.NoError(t, err)
	require.NoError(t, st.Begin(ctx, store.Run{ID: "audits", Suite: "Regression", Started: time.Now(), Command: "go test -run Regression"}))
	require.NoError(t, st.Close())
	out := filepath.Join(t.TempDir(), "all.db")
	err = Merge{Root: root, Out: out, Files: []string{name}}.Run(ctx, io.Discard)
	require.EqualError(t, err, name+" holds no run of Bench: expected the results.db of one of its shards (audits are judged in their own shard)")
	require.NoFileExists(t, out)
}

// TestMergeThatBreaksOff leaves no file that could be taken for the whole.
func TestMergeThatBreaksOff(t *testing.T) {
	root, cases := shop(t)
	name := shardFile{index: 0, total: 1, outcome: allRight}.write(t, cases)
	ctx, cancel := context.WithCancel(context.Background())
	p, err := readPart(ctx, name)
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), "all.db")
	cancel()
	_, err = Merge{Root: root, Out: out}.join(ctx, &p.run, []part{p})
	require.Error(t, err)
	require.NoFileExists(t, out)
}

// TestMergeCountsTrials: what would settle a comparison is counted on from the trials
// that the shards made.
func TestMergeCountsTrials(t *testing.T) {
	root, cases := shop(t)
	b, err := Merge{Root: root}.bench()
	require.NoError(t, err)
	var rows []store.Evaluation
	for i := range 3 {
		rows = append(rows, store.Evaluation{Model: "m", Prompt: "p", App: "shop", TestFile: cases[0].ID() + ".md", Index: i, CaseHash: run.CaseHash(cases[0]), Outcome: audit.OutcomeCorrect})
	}
	require.NoError(t, b.adopt(rows))
	b.next(variant{"m", "p"}, score.Judgement{Reasons: []score.Reason{{Code: score.CodeUnsettled, More: 2}}})
	require.Equal(t, []step{{"to settle m", "go test -run Bench -model m -prompt p -trials 5"}}, b.suite.summary.next)
	b.next(variant{"beside", "p"}, score.Judgement{Reasons: []score.Reason{{Code: score.CodeUnsettled, More: 3, Beside: true}}})
	require.Len(t, b.suite.summary.next, 1, "more trials of one side do not settle it")
	b.before = "LLM_URL=http://here "
	b.next(variant{"asked", "p"}, score.Judgement{Reasons: []score.Reason{{Code: score.CodeUnsettled, More: 2}}})
	require.Equal(t, step{"to settle asked", "LLM_URL=http://here go test -run Bench -model asked -prompt p -trials 5"}, b.suite.summary.next[1])
}

// TestMergeOfAShardThatWasCarriedOn: what its newest run takes from an older one is judged.
func TestMergeOfAShardThatWasCarriedOn(t *testing.T) {
	root, cases := shop(t)
	ctx := context.Background()
	var files []string
	for i := range 2 {
		files = append(files, shardFile{index: i, total: 2, outcome: allRight}.write(t, cases))
	}
	st, err := store.Open(ctx, files[0])
	require.NoError(t, err)
	runs, err := st.Runs(ctx)
	require.NoError(t, err)
	again := runs[0]
	again.Reused = again.Planned
	again.ID, again.Started, again.Ended = "run-0-again", again.Started.Add(time.Minute), again.Ended.Add(time.Minute)
	require.NoError(t, st.Begin(ctx, again))
	rows := func(st store.Store, run string) (evs []store.Evaluation) {
		for ev, err := range st.Evaluations(ctx, store.Query{Run: run}) {
			require.NoError(t, err)
			evs = append(evs, ev)
		}
		return evs
	}
	require.NoError(t, st.Reuse(ctx, again.ID, rows(st, "run-0")))
	require.NoError(t, st.Close())

	out := filepath.Join(t.TempDir(), "all.db")
	var said strings.Builder
	require.NoError(t, Merge{Root: root, Out: out, Files: files}.Run(ctx, &said))
	require.Contains(t, said.String(), files[0]+" also holds 1 older runs or runs of other suites: not joined, and not judged\n")
	require.Contains(t, said.String(), "planned 12 = 12 correct")
	wholeAndOnce(t, out, 12)
	joined, err := store.OpenReadOnly(ctx, out)
	require.NoError(t, err)
	defer joined.Close()
	runs, err = joined.Runs(ctx)
	require.NoError(t, err)
	require.Equal(t, 6, runs[0].Reused, "what was not paid for anew is still told")
}

// TestMergeTellsACommandThatRuns: without where a shard ran, and with what it ran.
func TestMergeTellsACommandThatRuns(t *testing.T) {
	for command, want := range map[string]string{
		"ASSAY_MODEL=m ASSAY_DB='/a b/s.db' go test -run Bench":  "ASSAY_MODEL=m go test -run Bench",
		"ASSAY_ROOT=/a /b/assay.test -test.run Bench -model=a/b": "assay.test -test.run Bench -model=a/b",
	} {
		_, cases := shop(t)
		p, err := readPart(context.Background(), shardFile{index: 0, total: 2, command: command, outcome: allRight}.write(t, cases))
		require.NoError(t, err)
		require.Equal(t, want, sum([]part{p}).Command)
	}
}
