package assay

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/findings"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/record"
	"assay/internal/report"
	"assay/internal/run"
	"assay/internal/store"
)

// webGoat gives a key, the map of dimensions, and findings that play the key back
// beside as many that are off by some lines.
func webGoat(b *testing.B) (*audit.Project, map[audit.CWE]audit.Dimension, []audit.Finding) {
	b.Helper()
	p, err := fixture.ReadProject(shipped, "fixtures/projects/webgoat.md")
	require.NoError(b, err)
	dims, err := fixture.ReadDimensions(shipped, "fixtures/dimensions.md")
	require.NoError(b, err)
	fs := score.AsFindings(p)
	for _, f := range fs {
		f.Lines.Start, f.Lines.End = f.Lines.Start+7, f.Lines.End+7
		fs = append(fs, f)
	}
	return p, dims, fs
}

// BenchmarkMatching scores a report against a key, the chance level with it.
func BenchmarkMatching(b *testing.B) {
	p, dims, fs := webGoat(b)
	for b.Loop() {
		_, err := score.Score(score.Input{Project: p, Findings: fs, Dimensions: dims, Rounds: 100})
		require.NoError(b, err)
	}
	b.ReportMetric(float64(len(fs))*float64(b.N)/b.Elapsed().Seconds(), "findings/s")
}

// BenchmarkReading reads the shipped cases, and an auditor's SARIF.
func BenchmarkReading(b *testing.B) {
	b.Run("cases", func(b *testing.B) {
		n := 0
		for b.Loop() {
			c, err := fixture.ReadCorpus(shipped, "tests", true)
			require.NoError(b, err)
			n = len(c.Cases())
		}
		b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "cases/s")
	})
	b.Run("sarif", func(b *testing.B) {
		_, _, fs := webGoat(b)
		var text bytes.Buffer
		require.NoError(b, findings.WriteSARIF(&text, "tool", "1", fs))
		b.SetBytes(int64(text.Len()))
		for b.Loop() {
			r, err := findings.Read("report.sarif", bytes.NewReader(text.Bytes()),
				findings.ReadOptions{})
			require.NoError(b, err)
			require.Len(b, r.Findings, len(fs))
		}
	})
}

// BenchmarkReport writes the pages of twenty records.
func BenchmarkReport(b *testing.B) {
	p, dims, fs := webGoat(b)
	res, err := score.Score(score.Input{Project: p, Findings: fs, Dimensions: dims, Rounds: 100})
	require.NoError(b, err)
	in := report.SiteInput{Made: time.Unix(1.7e9, 0), Projects: map[string]*audit.Project{p.Name: p}}
	for i := range 20 {
		in.Records = append(in.Records, &record.Record{Date: time.Unix(1.7e9+int64(i), 0),
			Suite: "Regression", Project: p.Name, Auditor: fmt.Sprint("auditor-", i),
			Key: p.KeyHash, Score: score.Version,
			Trials: []record.RecordedTrial{{Result: res}}, Judgement: score.Judgement{Verdict: audit.Pass,
				Reasons: []score.Reason{{Verdict: audit.Pass, Text: "all goals are met"}}}})
	}
	for b.Loop() {
		_, err := report.WriteSite(b.TempDir(), in)
		require.NoError(b, err)
	}
}

// A prompt reviewer answers at once: what is left is the engine's own.
type prompter struct{}

func (prompter) Name() string { return "prompter" }

func (prompter) Review(context.Context, audit.ReviewTask) (audit.Review, error) {
	return audit.Review{Status: audit.Answered, Verdict: audit.Good, Explanation: "none"}, nil
}

// BenchmarkEngine asks a reviewer that answers at once every shipped case: plan,
// order, pace, store.
func BenchmarkEngine(b *testing.B) {
	c, err := fixture.ReadCorpus(shipped, "tests", true)
	require.NoError(b, err)
	n := 0
	for b.Loop() {
		st, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "results.db"))
		require.NoError(b, err)
		var items []run.Job
		for _, app := range c.Apps {
			for _, f := range app.Families {
				for _, cs := range f.Cases {
					items = append(items,
						(&run.ReviewTrial{Case: cs, Spec: app.Spec, PromptName: "p", Prompt: "p",
							Reviewer: prompter{}}).Item())
				}
			}
		}
		n = len(items)
		plan, err := run.Prepare(b.Context(), run.Config{Store: st, Budget: 1, Concurrency: 8,
			Run: store.Run{Command: "bench", ScoreVersion: score.Version}}, run.Listed(items))
		require.NoError(b, err)
		r, err := plan.Start(b.Context())
		require.NoError(b, err)
		sum, err := r.Finish()
		require.NoError(b, err)
		require.Zero(b, sum.Unanswered())
		require.NoError(b, st.Close())
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "trials/s")
}
