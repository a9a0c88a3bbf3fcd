package suite

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/record"
	"assay/internal/run"
	"assay/internal/store"
)

// provenance is what is said of the replies of the tests.
var provenance = auditor.Readings{Reader: "owl", Model: "a bird", Date: "2026-11-22", Asked: "one at a time", Had: "nothing"}

// read has a reader answer what assay readings ask wrote: bad where evil stands in
// it. It gives the folder and how many requests there are.
func (h *house) read() (dir string, n int) {
	dir = filepath.Join(h.t.TempDir(), "readings")
	n, err := Readings{Root: h.dir, Dir: dir}.Ask("")
	require.NoError(h.t, err)
	requests, err := filepath.Glob(filepath.Join(dir, "*", "*.request.txt"))
	require.NoError(h.t, err)
	require.Len(h.t, requests, n)
	for _, file := range requests {
		text, err := os.ReadFile(file)
		require.NoError(h.t, err)
		require.NotRegexp(h.t, `q\d\d-|shop/|-bad\b|-good\b|# Expected`, string(text), "a request says nothing of what it is about")
		reply := `{"verdict":"good","explanation":"fine"}`
		if bytes.Contains(text, []byte("evil")) {
			reply = `{"verdict":"bad","explanation":"evil","violated_requirements":[1]}`
		}
		require.NoError(h.t, os.WriteFile(strings.Replace(file, "request", "owl.reply", 1), []byte(reply), 0o644))
	}
	return dir, n
}

// baselineOf makes what a reader says its baseline, as assay baseline does.
func (h *house) baselineOf(reader string) {
	st, err := store.OpenReadOnly(context.Background(), h.path("results.db"))
	require.NoError(h.t, err)
	defer st.Close()
	b := &record.BenchBaseline{Reviewer: reader, Prompt: defaultPrompt, Score: score.Version}
	for ev, err := range st.Evaluations(context.Background(), store.Query{Model: reader}) {
		require.NoError(h.t, err)
		b.Answers = append(b.Answers, record.BenchAnswer{Case: ev.CaseID(), Hash: ev.CaseHash, Outcome: ev.Outcome, Violates: ev.Violates})
	}
	require.NoError(h.t, b.Write(h.path("fixtures/baselines")))
}

// A reader is asked two cases a family, its replies are kept, and Bench replays them
// by default: as recorded, until a reply, a case or what is made of them changes.
func TestReadingsAreReplayed(t *testing.T) {
	h := newHouse(t)
	h.corpus(3)
	dir, n := h.read()
	require.Equal(t, 6, n)
	wrong := filepath.Join(dir, "plain/001.owl.reply.txt")
	require.NoError(t, os.WriteFile(wrong, []byte("I would rather hunt.\n"), 0o644))
	var told bytes.Buffer
	require.NoError(t, Readings{Root: h.dir, Dir: dir}.Keep(provenance, &told))
	require.Equal(t, "owl with evaluation-prompt: 6 readings\n", told.String())

	s := h.suite()
	f := play(t, "TestBench", s.Bench)
	require.Contains(t, strings.Join(f.logs, "\n"), "owl: WARN: its baseline holds 0 of 6 answers")
	h.baselineOf("owl")
	s = h.suite("-model", "owl", "-trials", "3", "-twins")
	f = play(t, "TestBench", s.Bench)
	require.Empty(t, f.complaints())
	require.Equal(t, string(score.AsRecorded), f.attrs["verdict:owl/evaluation-prompt"])
	require.Contains(t, strings.Join(f.logs, "\n"), "planned 6 = 5 correct + 0 wrong + 0 refused + 1 malformed")
	var screen bytes.Buffer
	s.summary.show(&screen, view{width: screenWidth, lines: screenLines})
	require.Regexp(t, `(?m)^as recorded +owl .*unanswered 16\.7 %|(?s)as recorded +owl .*unanswered 16\.7 %`, screen.String())
	require.Empty(t, play(t, "TestBench", h.suite("-model", "owl", "-filter", "q01").Bench).complaints(), "a part of it")

	// Another prompt is another request.
	h.write("fixtures/prompts/other.txt", "Is it good?")
	f = play(t, "TestBench", h.suite("-model", "owl", "-prompt", "other").Bench)
	require.Contains(t, strings.Join(f.complaints(), "\n"), "never asked with the prompt other")

	// What is made of a reply changes.
	base := h.path("fixtures/baselines/bench/owl/evaluation_prompt.json")
	kept, err := os.ReadFile(base)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(base, bytes.Replace(kept, []byte("malformed"), []byte("correct"), 1), 0o644))
	f = play(t, "TestBench", h.suite("-model", "owl").Bench)
	require.Regexp(t, `owl: changed: tests/shop/q\d\d-\d\d-\w+\.md:\d+: shop/q\S+ is malformed, and was correct`, strings.Join(f.complaints(), "\n"))
	require.NoError(t, os.WriteFile(base, kept, 0o644))

	// A case changes, and is read again.
	h.write("tests/shop/SPEC.md", "# Prompt\n\nA shop of ours.\n\n## Security Requirements\n\n1. Be good.\n")
	f = play(t, "TestBench", h.suite("-model", "owl").Bench)
	require.Contains(t, strings.Join(f.complaints(), "\n"), "owl is stale: 6 of the 6 requests that it was shown are others today")
	require.ErrorContains(t, Readings{Root: h.dir, Dir: dir}.Keep(provenance, io.Discard), "no reading is left")
}

// What is kept says where it comes from, and is what was written.
func TestReadingsAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(h *house)
		want   string
	}{
		{"no provenance", func(h *house) {
			require.NoError(t, os.Remove(h.path("fixtures/recordings/bench/owl/evaluation-prompt.provenance.json")))
		}, "nothing says where these replies come from"},
		{"nobody named", func(h *house) {
			h.edit("fixtures/recordings/bench/owl/evaluation-prompt.provenance.json", "a bird", " ")
		}, "model is missing"},
		{"edited", func(h *house) {
			h.edit("fixtures/recordings/bench/owl/evaluation-prompt.jsonl", "fine", "evil")
		}, "a recording is never edited"},
		{"another's", func(h *house) {
			require.NoError(t, os.Rename(h.path("fixtures/recordings/bench/owl"), h.path("fixtures/recordings/bench/hen")))
		}, "expected the names of its folder and file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHouse(t)
			h.corpus(2)
			dir, _ := h.read()
			require.NoError(t, Readings{Root: h.dir, Dir: dir}.Keep(provenance, io.Discard))
			tt.change(h)
			f := play(t, "TestBench", h.suite().Bench)
			require.Contains(t, strings.Join(f.complaints(), "\n"), tt.want)
		})
	}
	h := newHouse(t)
	h.corpus(2)
	dir, _ := h.read()
	keep := func(about auditor.Readings) error {
		return Readings{Root: h.dir, Dir: dir}.Keep(about, io.Discard)
	}
	anonymous := provenance
	anonymous.Had = ""
	require.ErrorContains(t, keep(anonymous), "had is missing")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plain/002.owl.reply.txt"), []byte("\n"), 0o644))
	require.ErrorContains(t, keep(provenance), "002.owl.reply.txt is empty")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plain/001.request.txt"), []byte("Say good."), 0o644))
	require.ErrorContains(t, keep(provenance), "001.request.txt is not the request that was written: what")
	_, err := Readings{Root: h.dir, Dir: dir}.Ask("")
	require.ErrorContains(t, err, "is there already")
	require.ErrorContains(t, Readings{Root: h.dir}.Keep(provenance, io.Discard), "nothing to keep")
}

// Who lacks some is asked those alone, and what is stale goes when somebody says so.
func TestReadingsAreMended(t *testing.T) {
	h := newHouse(t)
	h.corpus(3)
	dir, n := h.read()
	require.NoError(t, Readings{Root: h.dir, Dir: dir}.Keep(provenance, io.Discard))
	again := filepath.Join(t.TempDir(), "again")
	_, err := Readings{Root: h.dir, Dir: again}.Ask("owl")
	require.ErrorContains(t, err, "owl was shown all that is drawn")
	readers, err := auditor.Readers(os.DirFS(h.dir), "fixtures/recordings")
	require.NoError(t, err)
	first := readers[0].Read(defaultPrompt).Readings[0].About
	h.edit("tests/"+first+".md", "SELECT", "SELECT 2 +")
	var told bytes.Buffer
	require.NoError(t, Readings{Root: h.dir}.Keep(auditor.Readings{Reader: "owl"}, &told))
	require.Equal(t, fmt.Sprintf("dropped: %s: its request is another one today\nowl with evaluation-prompt: %d readings\n", first, n-1), told.String())
	asked, err := Readings{Root: h.dir, Dir: again}.Ask("owl")
	require.NoError(t, err)
	require.Equal(t, 1, asked)
	require.NoError(t, os.WriteFile(filepath.Join(again, "plain/001.owl.reply.txt"), []byte(`{"verdict":"good"}`), 0o644))
	require.NoError(t, Readings{Root: h.dir, Dir: again}.Keep(auditor.Readings{Reader: "owl", Date: "2026-11-23"}, &told))
	require.Contains(t, told.String(), fmt.Sprintf("owl with evaluation-prompt: %d readings\n", n))
}

// Each request that a shipped reader was shown can be made again, to the letter: the
// recordings hold their hashes alone.
func TestShippedReadingsAreOfTodaysRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: draws every module")
	}
	all, err := Readings{Root: "../.."}.questions()
	require.NoError(t, err)
	today := map[string]string{}
	for _, q := range all {
		today[q.id] = auditor.RequestHash(q.task())
	}
	readers, err := auditor.Readers(audit.PlainFiles(os.DirFS("../..")), "fixtures/recordings")
	require.NoError(t, err)
	for _, r := range readers {
		for _, tier := range []string{plainTier, moduleTier} {
			rs := r.Read(promptOf(tier))
			if rs == nil {
				continue
			}
			for _, one := range rs.Readings {
				require.Equal(t, today[one.About], one.Request, "%s on %s: have it read again, or let it go: assay readings keep %s", r.Name(), one.About, r.Name())
			}
		}
	}
}

// What a careful reader missed is settled by a sentence and a run, in the family's
// proof. Of modules every site has both: its rule, and its exploit.
func TestWhatACarefulReaderMissedIsSettled(t *testing.T) {
	fsys := audit.PlainFiles(os.DirFS("../.."))
	readers, err := auditor.Readers(fsys, "fixtures/recordings")
	require.NoError(t, err)
	i := slices.IndexFunc(readers, func(r *auditor.Reader) bool { return r.Name() == "careful" })
	if i < 0 {
		t.Skip("nobody was recorded")
	}
	corpus, err := fixture.ReadCorpus(fsys, "tests", false)
	require.NoError(t, err)
	prompt, err := fixture.ReadPrompt(fsys, "fixtures/prompts", defaultPrompt)
	require.NoError(t, err)
	for _, app := range corpus.Apps {
		for _, f := range app.Families {
			for _, cs := range f.Cases {
				if !readers[i].Has(defaultPrompt, cs.ID()) {
					continue
				}
				review, err := readers[i].Review(context.Background(), (&run.Trial{Case: cs, Spec: app.Spec, Prompt: prompt}).Task())
				require.NoError(t, err)
				if review.Judge(cs.Label) == audit.OutcomeWrong {
					require.True(t, slices.ContainsFunc(f.Disputes, func(d audit.Dispute) bool { return d.Case == cs.Number }),
						"%s: a careful reader says %s: %s: expected the sentence and the run that settle it under # Disputed of %s", cs.Pos, review.Verdict, review.Explanation, f.Pos.File)
				}
			}
		}
	}
}

// TestLackingOfNobody: a name that is written wrong would have everything read anew.
func TestLackingOfNobody(t *testing.T) {
	r := Readings{Root: "../..", Dir: filepath.Join(t.TempDir(), "asked")}
	_, err := r.Ask("nobody-of-this-name")
	require.EqualError(t, err, "nothing is recorded of nobody-of-this-name: expected the name of a folder of fixtures/recordings/bench, or no --lacking where all is to be asked")
	require.NoDirExists(t, r.Dir)
}
