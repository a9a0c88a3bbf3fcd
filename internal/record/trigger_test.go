package record_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/record"
)

// TestOurTriggers holds fixtures/triggers.md to what each kind of change needs.
func TestOurTriggers(t *testing.T) {
	rules, err := fixture.ReadTriggers(os.DirFS("../.."), "fixtures/triggers.md")
	require.NoError(t, err)
	for paths, want := range map[string]struct{ suite, rule string }{
		"fixtures/prompts/evaluation-prompt.txt":    {"full", "fixtures/prompts/**"},
		"agents/audit/deep/prompt.md":               {"full", "agents/**"},
		"fixtures/goals.md":                         {"full", "fixtures/*.md"},
		"tests/shop/SPEC.md":                        {"full", "tests/**"},
		"go.mod":                                    {"full", "go.mod"},
		"audit/fixture/project.go":                  {"full", "audit/**"},
		"smoke-test-fixture/SmokeTestVulnApp.java":  {"smoke", "smoke-test-fixture/**"},
		"internal/report/html.go":                   {"smoke", "**/*.go"},
		"README.md":                                 {"none", "**/*.md"},
		"docs/gate.md LICENSE":                      {"none", "docs/**"},
		"docs/gate.md internal/report/html.go":      {"smoke", "**/*.go"},
		"internal/report/html.go README.md go.sum":  {"full", "go.sum"},
		"Makefile":                                  {"full", ""},
		"README.md surprise/here.bin internal/x.go": {"full", ""},
	} {
		d, err := record.Decide(rules, strings.Fields(paths))
		require.NoError(t, err)
		require.Equal(t, want.suite, d.Suite, paths)
		require.Len(t, d.Paths, len(strings.Fields(paths)))
		why := d.Why()
		if want.rule == "" {
			require.Nil(t, why.Rule, paths)
			require.Contains(t, why.String(), "no rule matches ")
			continue
		}
		require.Equal(t, want.rule, why.Rule.Glob, paths)
		require.Regexp(t, `^fixtures/triggers\.md:\d+: `, why.String())
	}
}

// TestTheJudgeNeedsTheFullSuite: each package that decides what is measured.
func TestTheJudgeNeedsTheFullSuite(t *testing.T) {
	rules, err := fixture.ReadTriggers(os.DirFS("../.."), "fixtures/triggers.md")
	require.NoError(t, err)
	for _, name := range strings.Fields(
		"cwe suite record auditor stat run run/river seal planted patterns fixes box events") {
		d, err := record.Decide(rules, []string{"internal/" + name + "/x.go"})
		require.NoError(t, err)
		require.Equal(t, "full", d.Suite, name)
	}
}

func TestDecideRefuses(t *testing.T) {
	rule := audit.Trigger{Glob: "**", Suite: "none", Pos: audit.Pos{File: "triggers.md", Line: 4}}
	_, err := record.Decide(nil, []string{"a"})
	require.ErrorContains(t, err, "no rules")
	_, err = record.Decide([]audit.Trigger{rule}, nil)
	require.ErrorContains(t, err, "no changed path")
}

func TestReadPaths(t *testing.T) {
	for in, want := range map[string][]string{
		"a.go\nb/c d.md\n":                      {"a.go", "b/c d.md"},
		"a.go\r\nb.md":                          {"a.go", "b.md"},
		"\"docs/\\303\\244.md\"\n\"a\\tb\"\n":   {"docs/ä.md", "a\tb"},
		"docs/ä.md\x00a\nb\x00":                 {"docs/ä.md", "a\nb"},
		"./a.go\n":                              {"a.go"},
		"":                                      nil,
		"\n\n":                                  nil,
		"\ufeff./a.go\r\nb/../c.md\n":           {"a.go", "c.md"},
		"./a\tb\x00":                            {"a\tb"},
		"AI prompts/x.md\nUX/a b.md\nQA x.md\n": {"AI prompts/x.md", "UX/a b.md", "QA x.md"},
		"CD covers/x.md\nAD campaign/a b.md\n":  {"CD covers/x.md", "AD campaign/a b.md"},
		"AD campaign/x.md\x00":                  {"AD campaign/x.md"},
	} {
		got, err := record.ReadPaths(strings.NewReader(in))
		require.NoError(t, err)
		require.True(t, slices.Equal(want, got), "%q: %q", in, got)
	}
	// What is not understood must not look like a change of something else, that needs nothing.
	for in, want := range map[string]string{
		"a\n\"b\n":                       `line 2 of the paths: "\"b" is no quoted path`,
		"a\nM\tfixtures/goals.md\n":      `line 2 of the paths: "M\tfixtures/goals.md" is no quoted path: expected what git diff --name-only prints`,
		" M fixtures/goals.md\n":         "is no quoted path",
		"?? fixtures/new.md\n":           "is no quoted path",
		"AD fixtures/new.md\n":           "expected what git diff --name-only prints, with -z where a name looks like a status of git",
		"MM \"fixtures/a b.md\"\n":       "is no quoted path",
		"CD a.md -> fixtures/goals.md\n": "is no quoted path",
		"fixtures\\goals.md\n":           "is no quoted path",
		"R  a.md -> fixtures/goals.md\n": "is no quoted path",
		"/repo/fixtures/goals.md\n":      "does not begin at the repository's root",
		"../fixtures/goals.md\x00a.md":   "does not begin at the repository's root",
	} {
		_, err := record.ReadPaths(strings.NewReader(in))
		require.ErrorContains(t, err, want)
	}
}

func TestSinceLastFull(t *testing.T) {
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	at := func(day string, edit func(*record.Record)) *record.Record {
		d, err := time.Parse(time.DateOnly, day)
		require.NoError(t, err)
		r := &record.Record{Suite: "Regression", Full: true, Date: d, Auditor: "claude",
			Project: "dvja", Judgement: score.Judgement{Verdict: audit.Fail}}
		if edit != nil {
			edit(r)
		}
		return r
	}
	old := at("2026-01-02", nil)
	for name, c := range map[string]struct {
		records []*record.Record
		suite   string
		why     string
	}{
		"none": {nil, "full", "no record of a full run"},
		"yesterday": {[]*record.Record{old, at("2026-03-30", nil)}, "none",
			"of 2026-03-30 (claude on dvja)"},
		"the order": {[]*record.Record{at("2026-03-30", nil), old}, "none", "2026-03-30"},
		"a month": {[]*record.Record{at("2026-02-28", nil)}, "full",
			"2026-02-28 (claude on dvja): a month old"},
		"nearly a month": {[]*record.Record{at("2026-03-04", nil)}, "none", "2026-03-04"},
		"a replay": {[]*record.Record{old,
			at("2026-03-30", func(r *record.Record) { r.Replay = true })}, "full", "2026-01-02"},
		"a smoke test": {[]*record.Record{old,
			at("2026-03-30", func(r *record.Record) { r.Suite = "Smoke" })}, "full", "2026-01-02"},
		"a part": {[]*record.Record{old,
			at("2026-03-30", func(r *record.Record) { r.Full = false })}, "full", "2026-01-02"},
		"of -beside": {[]*record.Record{old,
			at("2026-03-30", func(r *record.Record) { r.SideOf = "new" })}, "full", "2026-01-02"},
		"proving nothing": {[]*record.Record{old,
			at("2026-03-30", func(r *record.Record) { r.Judgement.Verdict = audit.Invalid })},
			"full", "2026-01-02"},
		"a wrong clock": {[]*record.Record{old, at("2036-03-30", nil)}, "full", "2026-01-02"},
		"another zone":  {[]*record.Record{old, at("2026-04-01", nil)}, "none", "2026-04-01"},
		"a control": {[]*record.Record{old,
			at("2026-03-30", func(r *record.Record) { r.Control = "paths alone" })},
			"full", "2026-01-02"},
	} {
		suite, why := record.SinceLastFull(c.records, now)
		require.Equal(t, c.suite, suite, name)
		require.Contains(t, why, c.why, name)
	}
}

// TestMethodologyTriggers: what the methodology's section 4 names needs the full
// suite, wherever it lies, and so does what instructs an agent.
func TestMethodologyTriggers(t *testing.T) {
	rules, err := fixture.ReadTriggers(os.DirFS("../.."), "fixtures/triggers.md")
	require.NoError(t, err)
	for _, path := range []string{"agent.md", "code-audit/agent.md", "coverage_matrix.md",
		"references/checklists/coverage_matrix.md",
		"references/checklists/java.md", "java.md", "references/languages/go.md",
		"references/frameworks/spring.md", "modules/spring.md", "references/kotlin.md",
		"sinks_sources.md",
		"core/sinks_sources.md", "taint_analysis.md", "core/taint_analysis.md", "SKILL.md",
		"skills/audit/SKILL.md", "AGENTS.md", "CLAUDE.md",
		".claude/agents/audit.md", "sub/.claude/settings.json", "agents/auditor.md"} {
		d, err := record.Decide(rules, []string{path})
		require.NoError(t, err)
		require.Equal(t, record.SuiteFull, d.Suite, path)
	}
	d, err := record.Decide(rules, []string{"docs/guide.md"})
	require.NoError(t, err)
	require.Equal(t, record.SuiteNone, d.Suite)
}
