package record

import (
	"encoding/json"
	"errors"
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

// A baseline is a frozen list of trials: a later run of the same auditor adds its own, up
// to twelve, whatever they found. Another version of it moves the baseline by --accept
// alone, and the first one stays as anchor.
func TestABaselineIsAListOfTrials(t *testing.T) {
	dir := t.TempDir()
	ten := make([]score.DimensionCount, 10)
	day := 0
	rec := func(prompt string, recalls ...float64) *Record {
		day++
		r := &Record{Suite: "Regression", Date: time.Unix(1e9, 0).AddDate(0, 0, day).UTC(),
			Auditor: "a", Project: "p", Key: "k", Score: score.Version, Prompt: prompt}
		for i, v := range recalls {
			r.Trials = append(r.Trials, RecordedTrial{Seconds: float64(day*100 + i),
				Result: &score.Result{Methodology: score.MethodologyScore{Dimensions: ten},
					Metrics: score.Metrics{Dimensions: ten,
						Part: score.Part{Recall: score.Of(v)}}}})
		}
		return r
	}
	first := rec("one", 0.8, 0.6)
	first.Trials = append(first.Trials, RecordedTrial{Invalid: "timed out"})
	b, err := WriteBaseline(dir, first, false)
	require.NoError(t, err)
	require.Len(t, b.Trials, 2, "invalid trials stay out")

	b, err = WriteBaseline(dir, rec("one", 0.2), false)
	require.NoError(t, err, "a lower run is no reason to refuse")
	require.Len(t, b.Trials, 3)
	b, err = WriteBaseline(dir, first, false)
	require.NoError(t, err)
	require.Len(t, b.Trials, 3, "a run is not added twice")
	require.Equal(t, []Accepted{{"", first.Date, 2}, {"", first.Date.AddDate(0, 0, 1), 1}},
		b.Accepted)

	_, err = WriteBaseline(dir, rec("two", 0.3, 0.3), false)
	require.ErrorIs(t, err, ErrOther)
	require.ErrorContains(t, err, "--accept moves it to this one (prompt)")
	b, err = WriteBaseline(dir, rec("two", 0.3, 0.3), true)
	require.NoError(t, err)
	require.Len(t, b.Trials, 2)
	points, ok := b.Drop()
	require.True(t, ok)
	require.InDelta(t, 100*(1.6/3-0.3), points, 1e-9)
	b, err = WriteBaseline(dir, rec("three", 0.1), true)
	require.NoError(t, err)
	require.Equal(t, 1e9, float64(b.Anchor.Date.AddDate(0, 0, -1).Unix()),
		"the first baseline stays the anchor")

	many := make([]float64, 20)
	b, err = WriteBaseline(dir, rec("three", many...), false)
	require.NoError(t, err)
	require.Len(t, b.Trials, 12)
	read, err := Baseline(os.DirFS(dir), ".", "a", "p")
	require.NoError(t, err)
	require.Len(t, read.Trials, 12)

	other := rec("four", 0.1)
	other.Key = "another key"
	b, err = WriteBaseline(dir, other, false)
	require.NoError(t, err, "a baseline by another key is replaced")
	require.Len(t, b.Trials, 1)
	_, err = WriteBaseline(dir, &Record{Auditor: "a", Project: "p",
		Trials: []RecordedTrial{{Invalid: "x"}}}, false)
	require.ErrorContains(t, err, "no trial counts")
}

// Runs print the name of a record's text; that name reads the record.
func TestARecordIsReadByTheNameThatRunsPrint(t *testing.T) {
	dir := t.TempDir()
	name, err := (&Record{Suite: "Regression", Auditor: "a", Project: "p",
		Date: time.Unix(0, 0).UTC()}).Write(dir)
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
		r := &Record{Suite: "Regression", Auditor: name, Project: name, Date: time.Unix(0, 0).UTC(),
			Trials: []RecordedTrial{{Result: &score.Result{Methodology: score.MethodologyScore{Dimensions: ten},
				Metrics: score.Metrics{Dimensions: ten}}}}}
		text, err := r.Write(dir)
		require.NoError(t, err)
		require.NoError(t, WriteTranscripts(text, []Transcript{{Name: "trial-01"}}))
		_, err = WriteBaseline(dir, r, false)
		require.NoError(t, err)
		require.NoError(t, (&BenchBaseline{Reviewer: name, Prompt: name, Score: score.Version,
			Answers: []BenchAnswer{{Case: "a/b-01-good"}}}).Write(dir))
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
		`r.json: the suite is "Bench": expected Smoke or Regression`: {Suite: "Bench", Project: "p",
			Auditor: "a", Date: time.Unix(0, 0)},
		"r.json: names no suite, project, auditor or date": {Suite: "Smoke", Auditor: "a",
			Date: time.Unix(0, 0)},
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

// TestTranscriptsAreThereWholeOrNotAtAll checks that transcripts of which one cannot be
// written leave nothing, and that the next record removes what a killed process left.
func TestTranscriptsAreThereWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "r.txt")
	require.Error(t,
		WriteTranscripts(name, []Transcript{{Name: "trial-01"}, {Name: "no/such/folder"}}))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoError(t, WriteTranscripts(name, []Transcript{{Name: "trial-01"}, {Name: "trial-02"}}))
	ts, err := ReadTranscripts(name)
	require.NoError(t, err)
	require.Len(t, ts, 2)

	killed, young := filepath.Join(dir, ".assay-1.tmp"), filepath.Join(dir, ".assay-2.tmp")
	require.NoError(t, errors.Join(os.Mkdir(killed, 0o700), os.WriteFile(young, nil, 0o600)))
	require.NoError(t, os.WriteFile(filepath.Join(killed, "run.json"), nil, 0o600))
	require.NoError(t, os.Chtimes(killed, time.Unix(1, 0), time.Unix(1, 0)))
	_, err = (&Record{Date: time.Unix(1.7e9, 0), Suite: "Regression",
		Project: "p", Auditor: "a"}).Write(dir)
	require.NoError(t, err)
	require.NoDirExists(t, killed)
	require.FileExists(t, young)
}

// TestNamesOfBaselinesStayInTheirFolder, whoever named the auditor.
func TestNamesOfBaselinesStayInTheirFolder(t *testing.T) {
	for _, name := range []string{"..", ".", "../..", "/etc/x", "a/../../b", "", "..\x00"} {
		require.Regexp(t, `^baselines/[^/]*[^/.][^/]*/[^/]*[^/.][^/]*\.json$`,
			BaselinePath("baselines", name, name), name)
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
	require.Equal(t, []string{"19700101T000000-regression-p-a", "19700101T000000-regression-p-a-2"},
		[]string{rs[0].Name(), rs[1].Name()})
	second, err := Read(os.DirFS(dir), rs[1].Name()+".txt")
	require.NoError(t, err)
	require.Equal(t, rs[1].Name(), second.Name(), "read alone")
}

// Two names can give one file: neither is taken for the other, and the error says what
// can be done about it.
func TestABaselineIsOfWhoIsAskedFor(t *testing.T) {
	dir := t.TempDir()
	answers := []BenchAnswer{{Case: "a/b-01-good", Outcome: audit.OutcomeCorrect}}
	require.NoError(t, (&BenchBaseline{Reviewer: "lab/model", Prompt: "p", Score: score.Version,
		Answers: answers}).Write(dir))
	_, err := ReadBench(os.DirFS(dir), ".", "lab:model", "p")
	require.EqualError(t, err,
		"bench/lab_model/p.json:1: the baseline is of lab/model with the prompt p: expected lab:model with p; remove the file, or, where both names give it, rename one of the two")
	require.ErrorContains(t,
		(&BenchBaseline{Reviewer: "lab:model", Prompt: "p", Score: score.Version,
			Answers: answers}).Write(dir), "rename one of the two")

	r := Record{Suite: "Regression", Date: time.Unix(0, 0), Auditor: "a b", Project: "p",
		Trials: []RecordedTrial{{}}}
	_, err = WriteBaseline(dir, &r, false)
	require.NoError(t, err)
	r.Auditor = "a+b"
	_, err = WriteBaseline(dir, &r, false)
	require.EqualError(t, err,
		"a_b/p.json:1: the baseline is of a b on p: expected a+b on p; remove the file, or, where both names give it, rename one of the two")
}

// What an earlier judge made is no baseline to compare with, and gives way to a new one.
func TestABaselineOfAnEarlierJudgeIsReplaced(t *testing.T) {
	dir := t.TempDir()
	b := BenchBaseline{Reviewer: "m", Prompt: "p", Score: "1",
		Answers: []BenchAnswer{{Case: "a/b-01-good", Outcome: audit.OutcomeCorrect}}}
	require.NoError(t, b.Write(dir))
	_, err := ReadBench(os.DirFS(dir), ".", "m", "p")
	require.ErrorContains(t, err, "ask again and make a new baseline")
	b.Score = score.Version
	require.NoError(t, b.Write(dir))
	_, err = ReadBench(os.DirFS(dir), ".", "m", "p")
	require.NoError(t, err)
}

// Figures that name fewer than the ten dimensions are a damaged record, and no reason to
// panic where they are judged.
func TestARecordTellsOfAllDimensions(t *testing.T) {
	b, err := json.Marshal(&Record{Suite: "Regression", Auditor: "a", Project: "p",
		Date: time.Unix(0, 0), Trials: []RecordedTrial{{Result: &score.Result{}}}})
	require.NoError(t, err)
	_, err = Read(fstest.MapFS{"r.json": {Data: b}}, "r.json")
	require.ErrorContains(t, err,
		"r.json: the result of trial 1 does not tell of all 10 dimensions")
}
