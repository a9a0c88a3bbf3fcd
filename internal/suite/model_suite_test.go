package suite

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/findings"
	"assay/audit/fixture"
	"assay/internal/record"
	"assay/internal/run/testdata/mockapi"
)

// TestAModelAudits: a model that nobody wrote a section for audits a project and
// the smoke fixture, with two prompts; each has a record of its own, with what it
// cost.
func TestAModelAudits(t *testing.T) {
	h := newHouse(t)
	h.repository(20)
	h.copy("fixtures/prompts/audit-prompt.txt")
	h.write("fixtures/prompts/terse.txt", "Be quick: look for injection.")
	p, err := fixture.ReadProject(os.DirFS(h.dir), "fixtures/projects/demo.md")
	require.NoError(t, err)
	var fs []audit.Finding
	for _, k := range p.Vulnerabilities {
		fs = append(fs, audit.Finding{ID: k.ID, CWEs: k.CWEs, Severity: k.Severity, File: k.File,
			Lines: k.Lines, Title: k.Title, Dimension: k.Dimension})
	}
	s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
		if !strings.Contains(string(r.Body), `"tool_calls"`) {
			return mockapi.Reply{Calls: []mockapi.Call{{Name: "list", Arguments: "{}"}}, Cost: 0.01}
		}
		report := findings.TextReport{Root: ".", Coverage: audit.Dimensions(), Findings: fs}
		if strings.Contains(r.Prompt, "Be quick") {
			report.Findings = fs[:5]
		}
		var b strings.Builder
		_ = findings.WriteText(&b, report)
		if strings.Contains(r.Prompt, "SmokeTestVulnApp") {
			return mockapi.Reply{Content: smokeReport(), Cost: 0.03}
		}
		return mockapi.Reply{Content: b.String(), Cost: 0.03}
	})
	t.Cleanup(s.Close)
	t.Setenv("ASSAY_BASE_URL", s.BaseURL)
	t.Setenv("ASSAY_API_KEY", canary)

	f := play(t, "TestRegression", h.suite("-auditor", "gpt-4o-mini", "-prompt",
		"audit-prompt,terse").Regression)
	require.NotNil(t, f.leaf("TestRegression/demo/gpt-4o-mini+terse"), f.complaints())
	rs, err := record.ReadAll(h.path("records"))
	require.NoError(t, err)
	require.Len(t, rs, 2)
	byName := map[string]*record.Record{}
	for _, r := range rs {
		byName[r.Auditor] = r
	}
	whole, terse := byName["gpt-4o-mini"], byName["gpt-4o-mini+terse"]
	require.NotNil(t, whole)
	require.NotNil(t, terse)
	require.NotEqual(t, whole.Prompt, terse.Prompt)
	require.InDelta(t, 1, whole.Trials[0].Result.Metrics.Recall.V, 1e-9)
	require.Less(t, terse.Trials[0].Result.Metrics.Recall.V, 0.5)
	require.InDelta(t, 0.04, whole.Trials[0].Usage.USD, 1e-9)
	require.Equal(t, int64(2), whole.Trials[0].Usage.Turns)
	require.Equal(t, "gpt-4o-mini", whole.Model)

	f = play(t, "TestSmoke", h.suite("-auditor", "gpt-4o-mini").Smoke)
	require.Empty(t, f.complaints())
	require.Equal(t, "5/5", f.leaf("TestSmoke/gpt-4o-mini").attrs["found"])

	asked := len(s.Requests())
	f = play(t, "TestRegression", h.suite("-auditor", "gpt-4o-mini", "-reuse").Regression)
	require.Len(t, s.Requests(), asked, "-reuse pays for no audit again: %s", f.complaints())

	f = play(t, "TestRegression", h.suite("-auditor", "gpt-4o-mini", "-trials", "5",
		"-budget", "0.088").Regression)
	require.Contains(t, strings.Join(f.complaints(), "\n"), "the budget of $0.09 is used up")
	require.Len(t, s.Requests(), asked+4, "two audits of 0.04 USD, and no turn of a third")
	asked = len(s.Requests())
	f = play(t, "TestRegression", h.suite("-auditor", "gpt-4o-mini", "-budget", "0").Regression)
	require.Empty(t, f.complaints(), "it is the estimate alone")
	require.Len(t, s.Requests(), asked, "-budget 0 sends nothing")
}

// TestAModelWhoseProviderFails: the cause stands in the complaint.
func TestAModelWhoseProviderFails(t *testing.T) {
	h := newHouse(t)
	h.copy("fixtures/prompts/audit-prompt.txt")
	url, _ := server(t, 401)
	t.Setenv("ASSAY_API_KEY", canary)
	for base, cause := range map[string]string{url: "the key in ASSAY_API_KEY was refused",
		"http://nowhere.invalid/v1": "nowhere.invalid"} {
		t.Setenv("ASSAY_BASE_URL", base)
		f := play(t, "TestSmoke", h.suite("-auditor", "gpt-4o-mini").Smoke)
		require.Contains(t, strings.Join(f.complaints(), "\n"), cause)
		require.NotContains(t, everything(f), canary)
	}
	t.Setenv("ASSAY_BASE_URL", "http://nowhere.invalid/v1")
	f := play(t, "TestSmoke", h.suite("-auditor", "nobody-priced", "-budget", "none").Smoke)
	require.Contains(t, strings.Join(f.complaints(), "\n"), "nowhere.invalid",
		"one without a price is asked too")
}

// TestBenchOfAServerThatIsNotThere: though one case is asked, the fault is known as
// one that stays after three tries of eight, and the summary tells it.
func TestBenchOfAServerThatIsNotThere(t *testing.T) {
	h := newHouse(t)
	h.corpus(1)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	t.Setenv("ASSAY_BASE_URL", gone.URL+"/v1")
	s := h.suite("-model", "gpt-4o-mini", "-filter", "01-good")
	f := play(t, "TestBench", s.Bench)
	require.NotEmpty(t, f.complaints())
	require.Contains(t, everything(f), "connection refused (3 times running at "+gone.URL+
		"/v1): expected a server there")
	var out strings.Builder
	s.summary.print(&out, view{all: true, width: screenWidth})
	require.Contains(t, out.String(), "1 trial errored, the first: ")
	require.Contains(t, out.String(), "connection refused")
}
