package auditor_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/findings"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/patterns"
	"assay/internal/seal"
)

const publishedTable = "# auditor\tagent\n# source\tsomewhere\n# licence\tMIT\n# model\tm-1\n# date\t2026-01-02\n" +
	"project\ttrial\tcommit\tUSD\tseconds\ttokens in\ttokens out\n" +
	"demo\t1\tabc\t0.5\t60\t100\t20\ndemo\t2\tabc\t\t\t\t\n\n" +
	"project\ttrial\tfile\tlines\tCWEs\tseverity\n" +
	"demo\t1\ta.py\t12-18\t89,564\tHIGH\ndemo\t1\tb.py\t\t\t\n"

func TestPublishedRuns(t *testing.T) {
	read := func(table string) ([]*auditor.Recording, fstest.MapFS, error) {
		fsys := fstest.MapFS{"published/agent.tsv": {Data: []byte(table)}}
		recs, err := auditor.Recordings(fsys, ".")
		return recs, fsys, err
	}
	recs, fsys, err := read(publishedTable)
	require.NoError(t, err)
	require.Len(t, recs, 2)
	run, err := auditor.Replay(recs[0], fsys, nil).Audit(context.Background(), audit.AuditTask{})
	require.NoError(t, err)
	require.Equal(t, audit.Usage{TokensIn: 100, TokensOut: 20, USD: 0.5, Priced: true}, run.Usage)
	require.Equal(t, "1m0s", run.Duration.String())
	require.Equal(t, "m-1", run.Model)
	require.Equal(t, []audit.CWE{89, 564}, run.Report.Findings[0].CWEs)
	require.Equal(t, audit.Range{Start: 12, End: 18}, run.Report.Findings[0].Lines)
	require.Empty(t, run.Report.Findings[1].CWEs, "a finding without a CWE is kept")
	run, err = auditor.Replay(recs[1], fsys, nil).Audit(context.Background(), audit.AuditTask{})
	require.NoError(t, err)
	require.Empty(t, run.Report.Findings)
	require.False(t, run.Usage.Priced)

	texts := strings.NewReplacer("severity\n", "severity\tfunction\tdescription\n",
		"HIGH\n", "HIGH\tlist\tthe name is pasted in\n", "b.py\t\t\t\n", "b.py\t\t\t\t\t\n")
	recs, fsys, err = read(texts.Replace(publishedTable))
	require.NoError(t, err)
	run, err = auditor.Replay(recs[0], fsys, nil).Audit(context.Background(), audit.AuditTask{})
	require.NoError(t, err)
	require.Equal(t, "list", run.Report.Findings[0].Function)
	require.Equal(t, "the name is pasted in", run.Report.Findings[0].Description)

	for _, c := range []struct{ old, new, want string }{
		{"12-18", "about 12",
			`agent.tsv:11: the lines are "about 12": expected a form like 12 or 12-18`},
		{"89,564", "SQL", `agent.tsv:11: "SQL" is no CWE`},
		{"HIGH", "ERROR", `agent.tsv:11: "ERROR" is no severity`},
		{"demo\t1\ta.py", "demo\t7\ta.py",
			`agent.tsv:11: trial "7" of "demo" is not in the table of trials`},
		{"0.5", "-1", `agent.tsv:7: "-1" is no number of 0 or more`},
		{"demo\t2\t", "demo\t1\t", "agent.tsv:8: trial 1 of demo stands twice"},
		{"demo\t2\tabc", "demo\tabc", "agent.tsv:8: expected a line of the head, or a row"},
		{"auditor\tagent", "auditor\tother", `agent.tsv:1: the head has auditor "other"`},
		{"licence\tMIT", "licence\t", "under which licence"},
	} {
		_, _, err := read(strings.Replace(publishedTable, c.old, c.new, 1))
		require.ErrorContains(t, err, c.want)
	}
}

func TestPublishedRunsAreOfThePins(t *testing.T) {
	fsys := house(t)
	for _, rec := range allRecordings(t, fsys, true) {
		page := "fixtures/projects/" + rec.Project + ".md"
		if text, err := fs.ReadFile(fsys, page); err == nil {
			require.Contains(t, string(text), rec.Commit, "%s: %s is pinned to another commit",
				rec.Path(), rec.Project)
		}
	}
}

// What is shown of published runs is computed from their findings: an entry of the key that
// moves out of reach costs exactly the auditors that found it.
func TestAnEntryMovesTheRunsThatFoundIt(t *testing.T) {
	fsys := house(t)
	dims, err := fixture.ReadDimensions(fsys, "fixtures/dimensions.md")
	require.NoError(t, err)
	scored := func(p *audit.Project) (credit map[string]float64, found map[string]bool) {
		credit, found = map[string]float64{}, map[string]bool{}
		for _, rec := range allRecordings(t, fsys, true) {
			if rec.Project != p.Name {
				continue
			}
			require.Equal(t, p.Commit, rec.Commit)
			run, err := auditor.Replay(rec, fsys, nil).Audit(context.Background(),
				audit.AuditTask{})
			require.NoError(t, err)
			r, err := score.Score(score.Input{Project: p, Findings: run.Report.Findings,
				Dimensions: dims, Rounds: -1})
			require.NoError(t, err)
			name := fmt.Sprint(rec.Auditor, " ", rec.Trial)
			credit[name], found[name] = r.Metrics.Credit, r.Known[0].Credit > 0
		}
		return credit, found
	}
	p, err := fixture.ReadProject(fsys, "fixtures/projects/vampi.md")
	require.NoError(t, err)
	before, found := scored(p)
	require.Greater(t, len(before), 40)
	p.Vulnerabilities = slices.Clone(p.Vulnerabilities)
	p.Vulnerabilities[0].File, p.Vulnerabilities[0].CWEs, p.Vulnerabilities[0].OtherFiles = "openapi_specs/openapi3.yml", []audit.CWE{1037}, nil
	after, _ := scored(p)
	moved := 0
	for name, was := range before {
		require.Equal(t, found[name], after[name] < was, name)
		if found[name] {
			moved++
		}
	}
	require.Positive(t, moved)
	require.Less(t, moved, len(before))
}

// TestPatternsRecording: the recording of patterns on the pinned projects is what it finds
// there now. ASSAY_UPDATE=1 writes it.
func TestPatternsRecording(t *testing.T) {
	mirror := os.Getenv("ASSAY_MIRROR")
	if mirror == "" {
		t.Skip("the projects' sources are not here: set ASSAY_MIRROR to local clones")
	}
	fsys := house(t)
	names, err := fixture.Projects(fsys, "fixtures/projects")
	require.NoError(t, err)
	var trials, rows strings.Builder
	for _, name := range names {
		p, err := fixture.ReadProject(fsys, "fixtures/projects/"+name+".md")
		require.NoError(t, err)
		clone, err := seal.Fetch(t.Context(), p, t.TempDir(), mirror)
		require.NoError(t, err)
		dir := filepath.Join(t.TempDir(), "src")
		_, err = clone.Export(t.Context(), dir)
		require.NoError(t, err)
		run, err := patterns.Auditor{Format: findings.SARIF}.Audit(t.Context(),
			audit.AuditTask{Dir: dir})
		require.NoError(t, err)
		fmt.Fprintf(&trials, "%s\t1\t%s\t\t\t\t\n", name, p.Commit)
		for _, f := range run.Report.Findings {
			cwes := strings.ReplaceAll(strings.ReplaceAll(audit.JoinCWEs(f.CWEs), "CWE-", ""), " ",
				"")
			fmt.Fprintln(&rows, strings.Join([]string{name, "1", f.File, f.Lines.String(), cwes,
				f.Severity.String(), f.Function, f.RuleID}, "\t"))
		}
	}
	head := []string{"auditor\tpatterns", "source\trecorded for this repository on sealed exports",
		"licence\tthat of this repository",
		"date\t2026-11-24", "rules\t" + patterns.Version(), "notes\tthe description is the rule"}
	text := "# " + strings.Join(head, "\n# ") +
		"\nproject\ttrial\tcommit\tUSD\tseconds\ttokens in\ttokens out\n" + trials.String() +
		"\nproject\ttrial\tfile\tlines\tCWEs\tseverity\tfunction\tdescription\n" + rows.String()
	const file = "fixtures/recordings/published/patterns.tsv"
	if os.Getenv("ASSAY_UPDATE") != "" {
		require.NoError(t, os.WriteFile(filepath.Join("../..", file), []byte(text), 0o644))
	}
	have, err := fs.ReadFile(fsys, file)
	require.NoError(t, err)
	require.Equal(t, text, string(have), "write it with ASSAY_UPDATE=1")
}
