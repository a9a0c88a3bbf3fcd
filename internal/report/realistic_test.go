package report_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
	"assay/internal/report"
	"assay/internal/store"
	"assay/internal/suite"
)

// corpusRoot is where tests/ lies.
var corpusRoot = "../.."

// A mockModel is a reviewer with a skill: how often it is right where a case is of
// middling difficulty.
type mockModel struct {
	name, prompt      string
	skill             float64 // 0 to 1
	kind              float64 // leaning to "good": bad cases are missed more often
	usd               float64 // of an answer; 0: no price
	seconds           float64
	refuses, breaks   float64 // shares of the trials
	confident, trials int     // confidence is stated in percent, at least this; 0: never
}

var mockModels = []mockModel{
	{"claude-sonnet-4.5", "evaluation-prompt", .97, .00, .0093, 6.1, 0, 0, 70, 3},
	{"gpt-5-mini", "evaluation-prompt", .93, .01, .0011, 8.4, .002, .001, 60, 3},
	{"gpt-5-mini", "terse", .90, .02, .0009, 4.9, .002, .004, 60, 3},
	{"gemini-2.5-flash", "evaluation-prompt", .90, .05, .0007, 3.2, .001, .002, 55, 3},
	{"deepseek/deepseek-v3.2", "evaluation-prompt", .86, .03, .0002, 14.7, 0, .012, 0, 3},
	{"ollama:llama3.1", "evaluation-prompt", .66, .18, 0, 21.5, .004, .051, 80, 1},
}

// realistic answers the corpus as models do: difficulty belongs to the case and its
// family, errors of good models are among those of worse ones, some refuse.
func realistic(t *testing.T) (*report.BenchResults, []*audit.App) {
	t.Helper()
	corpus := readCorpus(t)
	var evs []store.Evaluation
	for _, c := range corpus.Cases() {
		hard := (draw("family", c.Family()) + 2*draw("case", c.ID())) / 3 // 0 to 1
		for _, m := range mockModels {
			for trial := range m.trials {
				evs = append(evs, m.answer(c, hard, trial))
			}
		}
	}
	return answered(t, evs, report.Key{Cases: report.CasesOf(corpus.Apps)}), corpus.Apps
}

// draw gives a number from 0 to 1 that belongs to a name.
func draw(parts ...string) float64 {
	h := fnv.New64a()
	for _, p := range parts {
		fmt.Fprintf(h, "%s\x00", p)
	}
	return rand.New(rand.NewPCG(h.Sum64(), 7)).Float64()
}

func (m *mockModel) answer(c *audit.Case, hard float64, trial int) store.Evaluation {
	key := fmt.Sprint(m.name, m.prompt, c.ID(), trial)
	e := store.Evaluation{Time: day.Add(time.Duration(trial) * time.Hour), TestFile: "tests/" +
		c.ID() + ".md", Model: m.name, Prompt: m.prompt, Expected: c.Label,
		App: c.App, Query: c.Query, Family: c.Family(), Run: "r", Trial: key, Index: trial,
		Status: audit.Answered, CaseHash: "h",
		Usage:   audit.Usage{TokensIn: 1400, TokensOut: 160, USD: m.usd, Priced: m.usd > 0},
		Latency: time.Duration((0.6 + 0.8*draw("time", key)) * m.seconds * float64(time.Second))}
	wrong := (1 - m.skill) * 2 * hard
	switch c.Label {
	case audit.Bad:
		wrong += m.kind
	case audit.Good:
		wrong += (1 - m.skill) / 3
	}
	right := 0.7*draw("case", m.name, m.prompt, c.ID())+0.3*draw("trial", key) > wrong
	switch d := draw("luck", key); {
	case d < m.refuses:
		e.Outcome, e.Status, e.Actual, e.Detail = audit.OutcomeRefused, audit.Refused, "refused", "I can't help with reviewing code that may be used to attack a system."
		return e
	case d < m.refuses+m.breaks:
		e.Outcome, e.Status, e.Actual, e.Detail = audit.OutcomeMalformed, audit.Malformed, "malformed", "no verdict can be read in the reply"
		return e
	}
	e.Outcome, e.Actual = audit.OutcomeCorrect, string(c.Label)
	if !right {
		e.Outcome, e.Actual = audit.OutcomeWrong, map[audit.Label]string{audit.Good: "bad",
			audit.Bad: "good"}[c.Label]
	}
	if m.confident > 0 {
		e.Confidence = float64(m.confident+
			int(float64(99-m.confident)*(0.5*draw("sure", key)+0.5*(1-hard)))) / 100
	}
	e.Explanation = "Every row that the statement gives belongs to the caller's tenant, and parameters are bound."
	if e.Actual == "bad" {
		e.Violates, e.CWEs = c.Violates, c.CWEs
		e.Explanation = "The predicate on the tenant is on the outer join alone, so that rows of other tenants show when the join finds nothing.\nAn attacker who guesses an identifier reads them."
		if e.Reason = store.ReasonRight; c.Label == audit.Good || draw("reason", key) > m.skill {
			e.Violates, e.Reason = []int{9}, store.ReasonWrong
		}
	}
	return e
}

// realisticAudits shows published runs as if they were yours: audit-skill found more in an
// earlier run, which is its baseline, than in the newest; audit-skill-small has no baseline.
func realisticAudits(t *testing.T) report.SiteInput {
	t.Helper()
	j, err := suite.NewJudge(corpusRoot)
	require.NoError(t, err)
	all, keys, err := j.Published(t.Context())
	require.NoError(t, err)
	in := report.SiteInput{Made: day.Add(72 * time.Hour), Projects: keys}
	byModel := map[string][]*record.Record{}
	for _, r := range all {
		byModel[r.Auditor] = append(byModel[r.Auditor], r)
	}
	run := func(model, name, id string, at time.Time,
		baseline []*record.Record) (rs []*record.Record) {
		var subjects []score.Subject
		for _, r := range byModel[model] {
			own := *r
			own.Auditor, own.Run, own.Date, own.Replay = name, id, at, false
			own.Command, own.Change = "sh agent/audit.sh", "shorter instructions"
			s := score.Subject{Name: r.Project, Now: record.ScoreTrials(r.Trials)}
			for _, b := range baseline {
				if b.Project == r.Project {
					s.Baseline = record.ScoreTrials(b.Trials)
				}
			}
			rs, subjects = append(rs, &own), append(subjects, s)
		}
		whole, err := score.JudgeSuite(subjects, score.Rules{})
		require.NoError(t, err)
		for i, r := range rs {
			w := whole
			w.Projects = nil
			r.Judgement, r.Whole = whole.Projects[i], &w
		}
		return rs
	}
	was := run("claude-sonnet-4-6-agentic-v1", "audit-skill", "1", day, nil)
	in.Records = slices.Concat(was, run("claude-haiku-4-5-agentic-v1", "audit-skill", "2",
		day.Add(48*time.Hour), was),
		run("deepseek-v4-flash-agentic-v1", "audit-skill-small", "2", day.Add(48*time.Hour), nil))
	for _, r := range all {
		if !slices.Contains([]string{"claude-haiku-4-5-agentic-v1", "deepseek-v4-flash-agentic-v1"},
			r.Auditor) {
			in.Published = append(in.Published, r)
		}
	}
	return in
}
