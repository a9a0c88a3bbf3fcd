package report_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/record"
	"assay/internal/report"
	"assay/internal/store"

	"github.com/stretchr/testify/require"
)

// sample is a report's input with everything in it: two auditors on a project,
// three records of one of them, reviewers over real cases, and a payload wherever
// others write.
func sample(t *testing.T) report.SiteInput { return sampleSaying(t, hostile) }

// sampleSaying is a sample in which others wrote words.
func sampleSaying(t *testing.T, words string) report.SiteInput {
	t.Helper()
	in := audits(t, words)
	corpus := readCorpus(t)
	in.Apps = corpus.Apps
	in.Results = results(t, corpus.Cases(), words)
	return in
}

// readCorpus gives the repository's cases, read once for all tests.
func readCorpus(t *testing.T) *fixture.Corpus {
	t.Helper()
	corpus, err := corpusOnce()
	require.NoError(t, err)
	return corpus
}

var corpusOnce = sync.OnceValues(func() (*fixture.Corpus, error) {
	return fixture.ReadCorpus(os.DirFS(corpusRoot), "tests", false)
})

// audits is the part of a sample that records make.
func audits(t *testing.T, words string) report.SiteInput {
	t.Helper()
	p, dims, goals := project(t, "go-test-bench")
	all := score.AsFindings(p)
	evil := audit.Finding{ID: words, Title: words, Description: words + " again", File: words,
		Function: words, CWEs: []audit.CWE{89}, Suppressed: ""}
	return report.SiteInput{Made: day, Projects: map[string]*audit.Project{p.Name: p},
		Records: []*record.Record{
			recordOf(t, "agent", day, p, dims, goals, all[:30], all[4:30]),
			recordOf(t, "agent", day.Add(24*time.Hour), p, dims, goals, all[:36], all[6:40]),
			recordOf(t, "agent", day.Add(48*time.Hour), p, dims, goals,
				append(all[2:34:34], evil), all[6:40]),
			recordOf(t, words, day.Add(49*time.Hour), p, dims, goals, append(all[20:22:22], evil)),
		}}
}

// results lets four reviewers answer the corpus, and reads it back from a store.
func results(t *testing.T, cases []*audit.Case, words string) *report.BenchResults {
	t.Helper()
	byID := map[string]*audit.Case{}
	var evs []store.Evaluation
	for i, c := range cases {
		byID[c.ID()] = c
		for k, model := range []string{"careful", "quick", "silent", words} {
			e := store.Evaluation{Time: day, TestFile: "tests/" + c.ID() + ".md", Model: model,
				Prompt: "evaluation-prompt", Expected: c.Label, App: c.App, Query: c.Query,
				Family: c.Family(), Run: "r", Trial: c.ID() + model, Outcome: audit.OutcomeCorrect,
				Status: audit.Answered, Actual: string(c.Label), CaseHash: "h",
				Violates: c.Violates, Explanation: words, Usage: audit.Usage{TokensIn: 900,
					TokensOut: 80, USD: 0.0003 * float64(1+k*7), Priced: true},
				Latency: time.Second}
			switch {
			case model == "silent" && i%5 == 0:
				e.Outcome, e.Status, e.Actual, e.Detail = audit.OutcomeRefused, audit.Refused, "refused", words
			case (i+k)%[]int{7, 5, 3, 9}[k] == 0:
				e.Outcome, e.Actual = audit.OutcomeWrong, map[audit.Label]string{audit.Good: "bad",
					audit.Bad: "good"}[c.Label]
			}
			evs = append(evs, e)
		}
	}
	return answered(t, evs, report.Key{Cases: byID})
}

// manyReviewers gives n reviewers over four families of each of apps applications.
func manyReviewers(t *testing.T, n, apps int) *report.BenchResults {
	t.Helper()
	var evs []store.Evaluation
	for m := range n {
		for c := range 24 * apps {
			e := evaluation(10*c, day)
			e.Model, e.Trial, e.App, e.Query = fmt.Sprintf("model-%04d", m), fmt.Sprint(m,
				c), fmt.Sprint("app", c/24), fmt.Sprint("query-", c/6%4)
			e.Family, e.TestFile = e.App+"/"+e.Query, fmt.Sprintf("tests/%s/%s-%02d-%s.md", e.App,
				e.Query, c%6+1, e.Expected)
			evs = append(evs, e)
		}
	}
	return answered(t, evs, report.Key{})
}

// evaluation is the i-th answer: ten models, 720 cases, then the next trial.
func evaluation(i int, start time.Time) store.Evaluation {
	model, c, trial := i%10, i/10%720, i/7200
	number := c%6 + 1
	label, violates := audit.Bad, []int{1, 2}
	if number <= 2 {
		label, violates = audit.Good, nil
	}
	app, query := fmt.Sprint("app", c/6%5), fmt.Sprint("query-", c/30)
	e := store.Evaluation{Time: start.Add(time.Duration(i) * time.Millisecond), Run: "r",
		Trial: fmt.Sprint(i), Index: trial,
		Model: fmt.Sprint("model-", model), Prompt: "evaluation-prompt", App: app, Query: query,
		Family:   app + "/" + query,
		TestFile: fmt.Sprintf("tests/%s/%s-%02d-%s.md", app, query, number, label), Expected: label,
		Actual:  string(label),
		Outcome: audit.OutcomeCorrect, Status: audit.Answered, Violates: violates,
		Reason: store.ReasonRight, CaseHash: "h",
		Explanation: "The statement joins the tenant's rows without a predicate on the tenant, so that rows of others show.",
		Reply:       `{"verdict":"bad","explanation":"...","violates":[1,2]}`,
		Usage: audit.Usage{TokensIn: 900, TokensOut: 80,
			USD: 0.0004 * float64(model+1), Priced: true}, Latency: 800 * time.Millisecond}
	switch h := (i * 2654435761) >> 7 % 100; {
	case h < 5+model*3:
		e.Outcome, e.Actual, e.Reason = audit.OutcomeWrong, "good", store.ReasonUnknown
		if label == audit.Good {
			e.Actual = "bad"
		}
	case h == 99:
		e.Outcome, e.Status, e.Actual, e.Explanation = audit.OutcomeRefused, audit.Refused, "refused", ""
	}
	return e
}

// answered keeps evaluations in a store and reads them back.
func answered(t *testing.T, evs []store.Evaluation, key report.Key) *report.BenchResults {
	t.Helper()
	where := filepath.Join(t.TempDir(), "results.db")
	st, err := store.Open(context.Background(), where)
	require.NoError(t, err)
	require.NoError(t, st.Put(context.Background(), evs...))
	require.NoError(t, st.Close())
	st, err = store.OpenReadOnly(context.Background(), where)
	require.NoError(t, err)
	defer st.Close()
	r, err := report.LoadResults(context.Background(), st, store.Query{}, key, true)
	require.NoError(t, err)
	return r
}
