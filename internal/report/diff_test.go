package report_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/record"
	"assay/internal/report"

	"github.com/stretchr/testify/require"
)

// hostile is what a model may write anywhere.
const hostile = "</script><script>window.pwned=1</script><img src=x onerror=window.pwned=1>\"'`|@all\n### FAKE"

// project reads a real key with what scoring needs beside it.
func project(t *testing.T, name string) (*audit.Project,
	map[audit.CWE]audit.Dimension, score.ProjectGoals) {
	t.Helper()
	fsys := os.DirFS("../..")
	p, err := fixture.ReadProject(fsys, "fixtures/projects/"+name+".md")
	require.NoError(t, err)
	dims, err := fixture.ReadDimensions(fsys, "fixtures/dimensions.md")
	require.NoError(t, err)
	g, err := fixture.ReadGoals(fsys, "fixtures/goals.md")
	require.NoError(t, err)
	goals, err := score.GoalsFor(p, g)
	require.NoError(t, err)
	return p, dims, goals
}

// recordOf scores findings as a run would and makes a record of them.
func recordOf(t *testing.T, auditor string, at time.Time, p *audit.Project,
	dims map[audit.CWE]audit.Dimension, goals score.ProjectGoals,
	trials ...[]audit.Finding) *record.Record {
	t.Helper()
	r := &record.Record{Date: at, Suite: "Regression", Project: p.Name, Auditor: auditor,
		Change: auditor, Commit: p.Commit,
		Key: p.KeyHash, Score: score.Version, Goals: goals, Version: "1.0"}
	for _, fs := range trials {
		res, err := score.Score(score.Input{Project: p, Findings: fs, Dimensions: dims,
			Roots: []string{"/export"}, Rounds: 100})
		require.NoError(t, err)
		r.Trials = append(r.Trials, record.RecordedTrial{Result: res, Seconds: 3})
	}
	j, err := score.Judge(score.Subject{Goals: goals, Now: record.ScoreTrials(r.Trials)},
		score.Rules{Deterministic: true})
	require.NoError(t, err)
	r.Judgement = j
	return r
}

// rulesForTools are those of auditors that do not vary.
var rulesForTools = score.Rules{Deterministic: true}

var day = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

func TestDiffNamesWhatWasLostAndFound(t *testing.T) {
	p, dims, goals := project(t, "go-test-bench")
	all := score.AsFindings(p)
	was := recordOf(t, "tool", day, p, dims, goals, all[:len(all)-1])
	now := recordOf(t, "tool", day.Add(time.Hour), p, dims, goals,
		append(append([]audit.Finding(nil), all[8:len(all)-2]...), all[len(all)-1]))

	d, err := report.DiffRecords(was, now, score.Rules{Deterministic: true})
	require.NoError(t, err)
	require.Equal(t, audit.Fail, d.Judgement.Verdict)
	require.NotEmpty(t, d.Lost)
	require.Equal(t, []string{p.Vulnerabilities[len(p.Vulnerabilities)-1].ID}, ids(d.Found))
	require.Subset(t, ids(d.Lost), []string{p.Vulnerabilities[0].ID})
	require.Empty(t, d.Missed)

	same, err := report.DiffRecords(was, was, score.Rules{Deterministic: true})
	require.NoError(t, err)
	require.Empty(t, same.Lost)
	require.Empty(t, same.Found)
	require.Empty(t, same.New)
	require.Equal(t, []string{p.Vulnerabilities[len(p.Vulnerabilities)-1].ID}, ids(same.Missed))
}

func ids(es []report.EntryDiff) []string {
	var out []string
	for _, e := range es {
		out = append(out, e.ID)
	}
	return out
}

// Records of another version of the rules or the key are refused, and rescoring
// makes them comparable: it gives what scoring anew gives.
func TestRescoreMendsAMismatch(t *testing.T) {
	p, dims, goals := project(t, "go-test-bench")
	found := score.AsFindings(p)[:20]
	for i := range found {
		found[i].File = "/export/" + found[i].File // the export is gone when records are rescored
	}
	fresh := recordOf(t, "tool", day, p, dims, goals, found)
	for name, spoil := range map[string]func(*score.Result){
		"version": func(r *score.Result) { r.Version = "0" },
		"key":     func(r *score.Result) { r.KeyHash = "0000" },
	} {
		t.Run(name, func(t *testing.T) {
			old := recordOf(t, "tool", day.Add(-time.Hour), p, dims, goals, found)
			spoil(old.Trials[0].Result)
			_, err := report.DiffRecords(old, fresh, score.Rules{})
			var mismatch *score.MismatchError
			require.ErrorAs(t, err, &mismatch)
			require.NotEqual(t, "project", mismatch.What)

			again, err := report.Rescore(old, p, dims, goals)
			require.NoError(t, err)
			require.Equal(t, fresh.Trials[0].Result.Metrics.Recall,
				again.Trials[0].Result.Metrics.Recall)
			require.Equal(t, fresh.Trials[0].Result.Dispositions,
				again.Trials[0].Result.Dispositions)
			require.Equal(t, found[0].File, again.Trials[0].Result.Findings[0].Finding.File)
			_, err = report.DiffRecords(again, fresh, score.Rules{})
			require.NoError(t, err)
		})
	}
}

func TestDiffRefusesOtherProjectsAndSuites(t *testing.T) {
	a := &record.Record{Suite: "Regression", Project: "a"}
	_, err := report.DiffRecords(a, &record.Record{Suite: "Regression", Project: "b"},
		score.Rules{})
	require.ErrorContains(t, err, "expected two of the same project")
	_, err = report.DiffRecords(a, &record.Record{Suite: "Smoke", Project: "a"}, score.Rules{})
	require.ErrorContains(t, err, "expected two of the same suite")
	_, err = report.Rescore(a, &audit.Project{Name: "b"}, nil, score.ProjectGoals{})
	require.ErrorContains(t, err, "expected one of b")
}

// What a model wrote can neither forge a line nor markup.
func TestDiffTextIsLiteral(t *testing.T) {
	p, dims, goals := project(t, "go-test-bench")
	evil := score.AsFindings(p)[:3]
	evil = append(evil, audit.Finding{Title: hostile, File: hostile, CWEs: []audit.CWE{9}})
	was := recordOf(t, "tool", day, p, dims, goals, score.AsFindings(p)[:3])
	now := recordOf(t, hostile, day, p, dims, goals, evil)
	d, err := report.DiffRecords(was, now, score.Rules{})
	require.NoError(t, err)
	var text bytes.Buffer
	require.NoError(t, d.Text(&text))
	require.NotContains(t, text.String(), "\n### FAKE")
}
