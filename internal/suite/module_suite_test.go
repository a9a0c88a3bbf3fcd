package suite

import (
	"context"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/planted"
	"assay/internal/record"
	"assay/internal/report"
	"assay/internal/run"
	"assay/internal/run/testdata/mockapi"
	"assay/internal/store"
)

// planted copies a planted project into the house, with the prompt for modules.
func (h *house) planted(name string) *planted.Project {
	dir := path.Join(plantedDir, name)
	own := os.DirFS("../..")
	require.NoError(h.t, fs.WalkDir(own, dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.Contains(name, "/exploits/") && !strings.Contains(name, "/functional/") {
			h.copy(name)
		}
		return err
	}))
	h.copy("fixtures/prompts/module-prompt.txt")
	p, err := planted.Read(os.DirFS(h.path(plantedDir)), name)
	require.NoError(h.t, err)
	return p
}

// answer names every bad site of a module but the first n, as somebody would who
// knew the key.
func answer(m *audit.Module, n int) mockapi.Reply {
	var vs []audit.Violation
	for _, s := range m.Sites {
		if !s.Bad {
			continue
		}
		if n--; n < 0 {
			v := audit.Violation{File: s.File, Lines: s.Lines, CWEs: s.CWEs[:1], Why: "it is wrong"}
			if len(s.Rules) > 0 {
				v.Rule = s.Rules[0]
			}
			vs = append(vs, v)
		}
	}
	return mockapi.Reply{Content: `{"violations":` + audit.FormatViolations(vs) + "}"}
}

// asked gives the module that a request is about.
func asked(t *testing.T, ms []*audit.Module, prompt string) *audit.Module {
	i := slices.IndexFunc(ms, func(m *audit.Module) bool {
		return !slices.ContainsFunc(m.Files, func(f audit.Block) bool { return !strings.Contains(prompt, "## "+f.Path+"\n") }) && strings.Count(prompt, "\n## ") >= len(m.Files)
	})
	require.GreaterOrEqual(t, i, 0)
	return ms[i]
}

func TestBenchOfModules(t *testing.T) {
	h := newHouse(t)
	p := h.planted("workshop")
	ms, err := p.DrawModules(5)
	require.NoError(t, err)
	require.Len(t, ms, 4)
	miss := 0
	srv := mockapi.New(func(r mockapi.Request) mockapi.Reply {
		switch m := asked(t, ms, r.Prompt); m.Name {
		case "papers":
			return answer(m, miss)
		case "orders":
			return mockapi.Reply{Content: "I would rather talk about the weather."}
		default:
			return answer(m, 0)
		}
	})
	defer srv.Close()
	t.Setenv("ASSAY_BASE_URL", srv.BaseURL)
	args := []string{"-tier", "module", "-seed", "5", "-seeds", "1", "-model", "some/model", "-budget", "none"}

	miss = 1
	s := h.suite(args...)
	f := play(t, "TestBench", s.Bench)
	const at = "TestBench/some~model/module-prompt/workshop@5/"
	require.Empty(t, f.leaf(at+"accounts").skipped)
	require.Empty(t, f.leaf(at+"stock").skipped)
	require.Regexp(t, `^MISS fixtures/planted/workshop/project\.md:\d+: workshop@5/papers\nfixtures/planted/workshop/project\.md:\d+: [A-Z]+-\d+ \(\S+:\d\S*\) is not named: [^\n]+$`, f.leaf(at+"papers").skipped)
	require.Regexp(t, `^NO ANSWER .*malformed: it holds no list of violations`, f.leaf(at+"orders").skipped)
	require.Contains(t, strings.Join(f.complaints(), "\n"), "INVALID", "a quarter without an answer proves nothing")
	require.Len(t, srv.Requests(), 5, "one request a module, and one more for the malformed reply")
	for _, r := range srv.Requests() {
		require.NotRegexp(t, `site:[A-Z]+-\d|Decoy|planted|workshop@`, r.Prompt)
		require.Regexp(t, `(?m)^1\. `, r.Prompt, "the rules stand above")
	}

	// The answer is kept whole, and not paid for again.
	st, err := store.OpenReadOnly(context.Background(), h.path("results.db"))
	require.NoError(t, err)
	for ev, err := range st.Evaluations(context.Background(), store.Query{}) {
		require.NoError(t, err)
		require.True(t, ev.OfModule())
		require.Equal(t, "workshop@5", ev.App)
		if ev.Query == "papers" {
			vs, err := audit.ParseViolations(ev.Explanation)
			require.NoError(t, err)
			require.Contains(t, ev.Reply, vs[0].Why)
			require.Equal(t, audit.OutcomeWrong, ev.Outcome)
		}
	}
	require.NoError(t, st.Close())
	play(t, "TestBench", h.suite(args...).Bench)
	require.Len(t, srv.Requests(), 7, "the malformed one alone is asked again, twice")

	// The results set reviewers against each other, site by site.
	play(t, "TestBench", h.suite("-tier", "module", "-seed", "5", "-seeds", "1", "-model", "control-nothing").Bench)
	st, err = store.OpenReadOnly(context.Background(), h.path("results.db"))
	require.NoError(t, err)
	defer st.Close()
	results, err := report.LoadResults(context.Background(), st, store.Query{}, report.Key{Module: Modules(os.DirFS(h.dir))}, false)
	require.NoError(t, err)
	require.Empty(t, results.Variants)
	require.Zero(t, results.Odd, results.OddWhy)
	model, err := results.Find("some/model")
	require.NoError(t, err)
	nothing, err := results.Find("control-nothing@module-prompt")
	require.NoError(t, err)
	d, err := report.DiffVariants(nothing, model)
	require.NoError(t, err)
	var told strings.Builder
	require.NoError(t, d.Text(&told))
	require.Regexp(t, `^some/model@module-prompt is better by \d+\.\d points of balanced accuracy .*\nover \d\d sites of 3 modules`, told.String(), "the fourth has no answer")
	bad, one := 0, 0
	for _, m := range ms {
		for _, site := range m.Sites {
			if site.Bad && m.Name != "orders" {
				bad++
			}
		}
	}
	for _, a := range model.Modules {
		if a.Answered() {
			one += len(a.Violations)
		}
	}
	require.Equal(t, bad-1, one, "all but the one that was not named")
	require.Len(t, d.AlsoB, bad-1)
	_, err = report.LoadResults(context.Background(), st, store.Query{}, report.Key{}, false)
	require.ErrorContains(t, err, "no planted projects are at hand")

	// A part of the modules runs, and asks, only what it names.
	f = play(t, "TestBench", h.suite(append(args, "-filter", "stock")...).Bench)
	require.Empty(t, f.complaints())
	require.Nil(t, f.leaf(at+"papers"))
}

// The gate holds the errors at sites against the baseline's, over the same modules.
func TestModulesAreHeldAgainstTheirBaseline(t *testing.T) {
	h := newHouse(t)
	p := h.planted("workshop")
	ms, err := p.DrawModules(5)
	require.NoError(t, err)
	srv := mockapi.New(func(r mockapi.Request) mockapi.Reply { return answer(asked(t, ms, r.Prompt), 99) })
	defer srv.Close()
	t.Setenv("ASSAY_BASE_URL", srv.BaseURL)
	args := []string{"-tier", "module", "-seed", "5", "-seeds", "1", "-model", "m", "-budget", "none"}
	f := play(t, "TestBench", h.suite(args...).Bench)
	require.Empty(t, f.complaints(), "without a baseline there is nothing that it could be worse than")

	b := &record.BenchBaseline{Reviewer: "m", Prompt: "module-prompt", Score: score.Version}
	for _, m := range ms {
		a := record.BenchAnswer{Case: m.ID(), Hash: run.ModuleHash(m), Outcome: audit.OutcomeCorrect}
		for _, s := range m.Sites {
			if s.Bad {
				a.Violations = append(a.Violations, audit.Violation{File: s.File, Lines: s.Lines, CWEs: s.CWEs})
			}
		}
		b.Answers = append(b.Answers, a)
	}
	require.NoError(t, b.Write(h.path("fixtures/baselines")))
	f = play(t, "TestBench", h.suite(args...).Bench)
	require.Empty(t, f.complaints())
	require.Contains(t, strings.Join(f.logs, "\n"), "m: WARN: balanced accuracy 50.0 %, at the baseline 100.0 %: a drop of 50.0 points, not settled",
		"four modules settle nothing: all that changed may be one request's doing")
}

func TestTierIsChecked(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-tier", "modules"}, `-tier is "modules": expected plain or module`},
		{[]string{"-tier", "module", "-twins"}, "modules have no twins"},
	} {
		s := newHouse(t).suite(tt.args...)
		_, err := s.environment()
		require.ErrorContains(t, err, tt.want)
	}
}
