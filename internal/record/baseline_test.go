package record

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

// A baseline falls only for a reason, whichever figure of the gate falls.
func TestABaselineMovesDownForAReasonOnly(t *testing.T) {
	dir := t.TempDir()
	ten := make([]score.DimensionCount, 10)
	rec := func(recall, precision, f1 float64) *Record {
		v := func(f float64) score.Value { return score.Value{V: f, Defined: true} }
		return &Record{Suite: "Regression", Date: time.Unix(1e9, 0), Auditor: "a", Project: "p", Trials: []Trial{{Result: &score.Result{Literal: score.Literal{Dimensions: ten}, Metrics: score.Metrics{Dimensions: ten, Part: score.Part{Recall: v(recall), Precision: score.Span{Low: v(precision), High: v(precision)}, F1: score.Span{Low: v(f1), High: v(f1)}}}}}}}
	}
	require.NoError(t, WriteBaseline(dir, rec(0.5, 0.5, 0.5), ""))
	require.NoError(t, WriteBaseline(dir, rec(0.5, 0.6, 0.55), ""), "up needs no reason")

	err := WriteBaseline(dir, rec(0.6, 0.4, 0.48), "")
	require.ErrorIs(t, err, ErrLower)
	require.ErrorContains(t, err, "precision 40.0 % after 60.0 %, F1 48.0 % after 55.0 %")
	require.NotContains(t, err.Error(), "recall")
	kept, err := Baseline(os.DirFS(dir), ".", "a", "p")
	require.NoError(t, err)
	require.InDelta(t, 0.6, kept.Trials[0].Result.Metrics.Precision.Low.V, 1e-9, "what was there stays")

	require.NoError(t, WriteBaseline(dir, rec(0.6, 0.4, 0.48), "the new rules find more and err more"))
	kept, err = Baseline(os.DirFS(dir), ".", "a", "p")
	require.NoError(t, err)
	require.Equal(t, []string{"baseline lowered: precision 40.0 % after 60.0 %, F1 48.0 % after 55.0 %: the new rules find more and err more"}, kept.Notes)
}

// Runs print the name of a record's text; that name reads the record.
func TestARecordIsReadByTheNameThatRunsPrint(t *testing.T) {
	dir := t.TempDir()
	name, err := (&Record{Suite: "Regression", Auditor: "a", Project: "p", Date: time.Unix(0, 0).UTC()}).Write(dir)
	require.NoError(t, err)
	require.Equal(t, ".txt", filepath.Ext(name))
	r, err := Read(os.DirFS(dir), filepath.Base(name))
	require.NoError(t, err)
	require.Equal(t, "a", r.Auditor)
}

// Names may be longer than file systems take: records and baselines of two that begin alike
// stand beside each other.
func TestLongNamesFitTheirFiles(t *testing.T) {
	dir := t.TempDir()
	ten := make([]score.DimensionCount, 10)
	for _, end := range []string{"1", "2"} {
		name := strings.Repeat("n", 300) + end
		r := &Record{Suite: "Regression", Auditor: name, Project: name, Date: time.Unix(0, 0).UTC(), Trials: []Trial{{Result: &score.Result{Literal: score.Literal{Dimensions: ten}, Metrics: score.Metrics{Dimensions: ten}}}}}
		text, err := r.Write(dir)
		require.NoError(t, err)
		require.NoError(t, WriteTranscripts(text, []Transcript{{Name: "trial-01"}}))
		require.NoError(t, WriteBaseline(dir, r, ""))
		require.NoError(t, (&BenchBaseline{Reviewer: name, Prompt: name, Score: score.Version, Answers: []BenchAnswer{{Case: "a/b-01-good"}}}).Write(dir, ""))
	}
	rs, err := ReadAll(dir)
	require.NoError(t, err)
	require.Len(t, rs, 2)
	for _, r := range rs {
		base, err := Baseline(os.DirFS(dir), ".", r.Auditor, r.Project)
		require.NoError(t, err)
		require.Equal(t, r.Auditor, base.Auditor)
	}
}

// What is no record of a suite on a project is refused, and not left out where figures are told.
func TestARecordIsOfASuiteAndAProject(t *testing.T) {
	for want, r := range map[string]Record{
		`r.json: the suite is "Bench": expected Smoke or Regression`: {Suite: "Bench", Project: "p", Auditor: "a", Date: time.Unix(0, 0)},
		"r.json: names no suite, project, auditor or date":           {Suite: "Smoke", Auditor: "a", Date: time.Unix(0, 0)},
	} {
		b, err := json.Marshal(&r)
		require.NoError(t, err)
		_, err = Read(fstest.MapFS{"r.json": {Data: b}}, "r.json")
		require.ErrorContains(t, err, want)
	}
}

// A folder whose name has the signs of a pattern is a folder like others, and a record
// keeps the name of its file: a second one of the same second has a number.
func TestRecordsAreThereWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	r := &Record{Date: time.Unix(1.7e9, 0), Suite: "Regression", Project: "..", Auditor: "a/../b"}
	first, err := r.Write(dir)
	require.NoError(t, err)
	require.NoError(t, os.Remove(first), "of a killed process, the figures alone")
	second, err := r.Write(dir)
	require.NoError(t, err)
	third, err := r.Write(dir)
	require.NoError(t, err)
	require.Len(t, map[string]bool{first: true, second: true, third: true}, 3)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 5, "nothing temporary, and no text without figures")
	_, err = r.Write(filepath.Join(second, "x"))
	require.Error(t, err)
}

// TestNamesOfBaselinesStayInTheirFolder, whoever named the auditor.
func TestNamesOfBaselinesStayInTheirFolder(t *testing.T) {
	for _, name := range []string{"..", ".", "../..", "/etc/x", "a/../../b", "", "..\x00"} {
		require.Regexp(t, `^baselines/[^/]*[^/.][^/]*/[^/]*[^/.][^/]*\.json$`, BaselinePath("baselines", name, name), name)
	}
}

func TestRecordsOfAFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[a]*")
	r := &Record{Suite: "Regression", Auditor: "a", Project: "p", Date: time.Unix(0, 0).UTC()}
	for range 2 {
		_, err := r.Write(dir)
		require.NoError(t, err)
	}
	rs, err := ReadAll(dir)
	require.NoError(t, err)
	require.Len(t, rs, 2)
	require.Equal(t, []string{"19700101T000000-regression-p-a", "19700101T000000-regression-p-a-2"}, []string{rs[0].Name(), rs[1].Name()})
	second, err := Read(os.DirFS(dir), rs[1].Name()+".txt")
	require.NoError(t, err)
	require.Equal(t, rs[1].Name(), second.Name(), "read alone")
}

// Two names can give one file: neither is taken for the other, and the error says what
// can be done about it.
func TestABaselineIsOfWhoIsAskedFor(t *testing.T) {
	dir := t.TempDir()
	answers := []BenchAnswer{{Case: "a/b-01-good", Outcome: audit.OutcomeCorrect}}
	require.NoError(t, (&BenchBaseline{Reviewer: "lab/model", Prompt: "p", Score: score.Version, Answers: answers}).Write(dir, ""))
	_, err := ReadBench(os.DirFS(dir), ".", "lab:model", "p")
	require.EqualError(t, err, "bench/lab_model/p.json:1: the baseline is of lab/model with the prompt p: expected lab:model with p; remove the file, or, where both names give it, rename one of the two")
	require.ErrorContains(t, (&BenchBaseline{Reviewer: "lab:model", Prompt: "p", Score: score.Version, Answers: answers}).Write(dir, ""), "rename one of the two")

	r := Record{Suite: "Regression", Date: time.Unix(0, 0), Auditor: "a b", Project: "p", Trials: []Trial{{}}}
	require.NoError(t, WriteBaseline(dir, &r, ""))
	r.Auditor = "a+b"
	require.EqualError(t, WriteBaseline(dir, &r, ""), "a_b/p.json:1: the baseline is of a b on p: expected a+b on p; remove the file, or, where both names give it, rename one of the two")
}

// What an earlier judge made is no baseline to compare with, and gives way to a new one.
func TestABaselineOfAnEarlierJudgeIsReplaced(t *testing.T) {
	dir := t.TempDir()
	b := BenchBaseline{Reviewer: "m", Prompt: "p", Score: "1", Answers: []BenchAnswer{{Case: "a/b-01-good", Outcome: audit.OutcomeCorrect}}}
	require.NoError(t, b.Write(dir, ""))
	_, err := ReadBench(os.DirFS(dir), ".", "m", "p")
	require.ErrorContains(t, err, "ask again and make a new baseline")
	b.Score = score.Version
	require.NoError(t, b.Write(dir, ""))
	_, err = ReadBench(os.DirFS(dir), ".", "m", "p")
	require.NoError(t, err)
}

// Figures that name fewer than the ten dimensions are a damaged record, and no reason to
// panic where they are judged.
func TestARecordTellsOfAllDimensions(t *testing.T) {
	b, err := json.Marshal(&Record{Suite: "Regression", Auditor: "a", Project: "p", Date: time.Unix(0, 0), Trials: []Trial{{Result: &score.Result{}}}})
	require.NoError(t, err)
	_, err = Read(fstest.MapFS{"r.json": {Data: b}}, "r.json")
	require.ErrorContains(t, err, "r.json: the result of trial 1 does not tell of all 10 dimensions")
}
