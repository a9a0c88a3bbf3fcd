package score_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
)

// dims is a map large enough for these tests; the real one is a fixture.
var dims = map[audit.CWE]audit.Dimension{
	89: audit.Injection, 564: audit.Injection, 943: audit.Injection, 79: audit.Injection,
	80: audit.Injection,
	78: audit.Injection, 77: audit.Injection, 94: audit.Injection,
	22: audit.FileOps, 23: audit.FileOps, 36: audit.FileOps, 434: audit.FileOps,
	502: audit.Deserialization, 918: audit.SSRF, 639: audit.BusinessLogic, 566: audit.BusinessLogic,
	798: audit.Crypto, 259: audit.Crypto, 327: audit.Crypto, 328: audit.Crypto, 330: audit.Crypto,
	200: audit.DataExposure, 532: audit.DataExposure, 287: audit.Auth, 306: audit.Auth,
	352: audit.Auth,
	862: audit.Auth, 16: audit.Configuration, 614: audit.Configuration, 1104: audit.SupplyChain,
	1395: audit.SupplyChain,
}

func known(id, file string, start, end int, cwes ...audit.CWE) audit.Vulnerability {
	return audit.Vulnerability{ID: id, Dimension: dims[cwes[0]], CWEs: cwes, Severity: audit.High,
		File:  file,
		Lines: audit.Range{Start: start, End: end}}
}

func finding(id, file string, start, end int, cwes ...audit.CWE) audit.Finding {
	return audit.Finding{ID: id, CWEs: cwes, Severity: audit.High, File: file,
		Lines: audit.Range{Start: start, End: end}}
}

// project gives a project whose tree holds the files a.java to e.java with 500
// lines each.
func project(known ...audit.Vulnerability) *audit.Project {
	p := &audit.Project{Name: "synthetic", Vulnerabilities: known, Tree: audit.Tree{},
		Pos: audit.Pos{File: "synthetic.md", Line: 1}}
	for _, f := range []string{"a.java", "b.java", "c.java", "d.java", "src/Deep.java"} {
		p.Tree[f] = audit.TreeFile{Path: f, Lines: 500}
	}
	return p
}

func mustScore(t testing.TB, p *audit.Project, fs ...audit.Finding) *score.Result {
	t.Helper()
	r, err := score.Score(score.Input{Project: p, Findings: fs, Dimensions: dims, Rounds: -1})
	require.NoError(t, err)
	sum := 0
	for _, n := range r.Dispositions {
		sum += n
	}
	require.Equal(t, len(fs), sum, "every finding has exactly one disposition")
	return r
}

func dispositions(r *score.Result) []score.Disposition {
	var out []score.Disposition
	for _, f := range r.Findings {
		out = append(out, f.Disposition)
	}
	return out
}

func TestEveryDispositionWithItsReason(t *testing.T) {
	p := project(
		known("K1", "a.java", 100, 104, 564, 89),
		known("K2", "b.java", 40, 44, 22),
		known("K3", "c.java", 10, 12, 502),
	)
	p.Vulnerabilities[0].Functions = []string{"findByLogin"}
	p.Vulnerabilities[2].OtherFiles = []string{"d.java"}
	p.Decoys = []audit.Decoy{{ID: "D1", Dimension: audit.Injection, CWEs: []audit.CWE{89},
		File: "a.java", Lines: audit.Range{Start: 300, End: 305}}}

	withFunction := finding("function", "a.java", 0, 0, 564)
	withFunction.Function = "UserService::findByLogin(String)"
	withdrawn := finding("suppressed", "a.java", 100, 104, 564)
	withdrawn.Suppressed = "accepted in triage"
	for _, c := range []struct {
		f    audit.Finding
		want score.Disposition
		why  string
	}{
		{finding("own", "a.java", 102, 102, 89), score.Matched,
			"K1; CWE-89; by lines, lines overlap"},
		{finding("near", "a.java", 114, 114, 89), score.Matched,
			"K1; CWE-89; by lines, 10 lines off"},
		{finding("too far", "a.java", 115, 115, 89), score.Partial,
			"K1; CWE-89; by file, 11 lines off"},
		{finding("parent, one step", "a.java", 100, 100, 943), score.Matched,
			"K1; CWE-943, parent of CWE-89; by lines, lines overlap"},
		{finding("sibling, two steps", "a.java", 100, 100, 78), score.Unmatched, ""},
		{withFunction, score.Matched, "K1; CWE-564; by function"},
		{finding("no lines", "a.java", 0, 0, 564), score.Partial, "K1; CWE-564; by file"},
		{finding("51 lines", "a.java", 80, 130, 564), score.Partial, "K1; CWE-564; by file"},
		{finding("50 lines", "a.java", 80, 129, 564), score.Matched,
			"K1; CWE-564; by lines, lines overlap"},
		{finding("parent is no half", "a.java", 0, 0, 943), score.Unmatched, ""},
		{finding("also", "d.java", 400, 400, 502), score.Partial, "K3; CWE-502; by also"},
		{finding("elsewhere", "b.java", 10, 10, 502), score.WrongLocation, "K3; CWE-502; another file"},
		{finding("decoy", "a.java", 300, 300, 89), score.DecoyHit,
			"D1; CWE-89; by lines, lines overlap"},
		{finding("new", "a.java", 100, 104, 918), score.Unmatched, ""},
		{finding("invented", "a.jav", 100, 104, 89), score.MissingPath,
			`"a.jav" is no file of the project`},
		{finding("no file", "", 100, 104, 89), score.MissingPath, "names no file"},
		{finding("past", "a.java", 501, 501, 89), score.PastEnd,
			"line 501 of a file with 500 lines"},
		{finding("none", "a.java", 100, 104), score.NoCWE, ""},
		{finding("fourth CWE", "a.java", 100, 104, 918, 611, 80, 89), score.Unmatched, ""},
		{finding("third CWE", "a.java", 100, 104, 918, 918, 611, 89), score.Matched,
			"K1; CWE-89; by lines, lines overlap"},
		{withdrawn, score.Suppressed, "accepted in triage"},
	} {
		t.Run(c.f.ID, func(t *testing.T) {
			r := mustScore(t, p, c.f)
			require.Equal(t, c.want, r.Findings[0].Disposition)
			require.Equal(t, c.why, r.Findings[0].Match.String())
		})
	}
	r := mustScore(t, p, finding("excess", "a.java", 100, 104, 918, 611, 80, 89, 90))
	require.Equal(t, []audit.CWE{89, 90}, r.Findings[0].Ignored,
		"CWEs that did not count are shown")
}

func TestOneStepNeedsTheSameDimension(t *testing.T) {
	p := project(known("K1", "a.java", 10, 10, 89))
	p.Vulnerabilities[0].Dimension = audit.BusinessLogic
	require.Equal(t, score.Unmatched,
		mustScore(t, p, finding("F", "a.java", 10, 10, 564)).Findings[0].Disposition)
	require.Equal(t, score.Matched,
		mustScore(t, p, finding("F", "a.java", 10, 10, 89)).Findings[0].Disposition)
}

// Known A stands at line 10 and B at line 40. One finding spans both, the other
// hits A alone: giving the first its nearest would lose the second.
func TestGreedyOrderLosesNoMatch(t *testing.T) {
	p := project(known("A", "a.java", 10, 10, 89), known("B", "a.java", 40, 40, 89))
	both, alone := finding("both", "a.java", 10, 40, 89), finding("alone", "a.java", 10, 10, 89)
	for _, fs := range [][]audit.Finding{{both, alone}, {alone, both}} {
		r := mustScore(t, p, fs...)
		require.Equal(t, []score.Disposition{score.Matched, score.Matched}, dispositions(r))
		require.Equal(t, score.Of(1), r.Metrics.Recall)
	}
}

func TestDuplicates(t *testing.T) {
	p := project(known("K1", "a.java", 10, 10, 89), known("K2", "a.java", 200, 200, 89))
	var fs []audit.Finding
	for i := range 6 {
		fs = append(fs, finding("F", "a.java", 10+i, 10+i, 89))
	}
	r := mustScore(t, p, fs...)
	require.Equal(t, []score.Disposition{score.Matched, score.Duplicate, score.Duplicate,
		score.Duplicate, score.Duplicate, score.Duplicate}, dispositions(r),
		"the nearest is the match, and no duplicate takes half of K2")
	require.Equal(t, 3, r.Metrics.Counted, "three of five duplicates are free")
	require.Equal(t, score.Ratio(1, 3), r.Metrics.Precision.High)
	require.Equal(t, 5, r.Known[0].Duplicates)
	require.False(t, r.Findings[5].Free, "the nearest duplicates are the free ones")
}

func TestUndefinedIsNotZero(t *testing.T) {
	p := project(known("K1", "a.java", 10, 10, 89))
	r := mustScore(t, p)
	require.Equal(t, score.Of(0), r.Metrics.Recall)
	require.False(t, r.Metrics.Precision.Low.Defined)
	require.False(t, r.Metrics.F1.High.Defined)
	require.False(t, r.Metrics.SeverityAccuracy.Defined)
	require.False(t, r.Metrics.HallucinatedPaths.Defined)
	require.False(t, r.Metrics.Corroborated.Recall.Defined)
	require.False(t, r.Metrics.Corrected.Defined)
	require.Equal(t, "undefined", r.Metrics.Precision.String())
	b, err := json.Marshal(r.Metrics.Precision)
	require.NoError(t, err)
	require.JSONEq(t, `{"low":null,"high":null}`, string(b))
}

func TestNothingToJudgeByIsAnError(t *testing.T) {
	for _, c := range []struct {
		in   score.Input
		want string
	}{
		{score.Input{}, "no project"},
		{score.Input{Project: project(), Dimensions: dims}, "no known vulnerability"},
		{score.Input{Project: project(known("K", "a.java", 1, 1, 89))}, "dimensions.md"},
		{score.Input{Project: project(known("K", "a.java", 1, 1, 89),
			known("K", "b.java", 1, 1, 89)), Dimensions: dims}, `"K" stands twice`},
		{score.Input{Project: project(known("K", "", 1, 1, 89)), Dimensions: dims},
			"needs an ID, a file and a CWE"},
	} {
		_, err := score.Score(c.in)
		require.ErrorContains(t, err, c.want)
	}
}

func TestAKeyPlayedBackScoresOneEverywhere(t *testing.T) {
	p := project(
		known("K1", "a.java", 10, 12, 89, 564), known("K2", "a.java", 11, 13, 89),
		known("K3", "a.java", 10, 12, 564),
		known("K4", "b.java", 1, 1, 22), known("K5", "c.java", 1, 50, 502, 20, 915, 913))
	p.Vulnerabilities[1].Severity, p.Vulnerabilities[2].Severity = audit.Low, audit.Critical
	p.Vulnerabilities[3].Functions = []string{"read", "write"}
	p.Vulnerabilities[0].Corroborated = []string{"an advisory"}
	r, err := score.Score(score.Input{Project: p, Findings: score.AsFindings(p), Dimensions: dims})
	require.NoError(t, err)
	requirePerfect(t, r)
}

func requirePerfect(t *testing.T, r *score.Result) {
	t.Helper()
	one := score.Of(1)
	m := r.Metrics
	require.Equal(t, one, m.Recall)
	require.Equal(t, score.Span{Low: one, High: one}, m.Precision)
	require.Equal(t, score.Span{Low: one, High: one}, m.F1)
	require.Equal(t, one, m.Coverage)
	require.Equal(t, one, m.SeverityAccuracy)
	require.Equal(t, score.Of(0), m.HallucinatedPaths)
	require.Equal(t, one, r.Methodology.Recall)
	require.Equal(t, one, r.Methodology.Precision)
	require.Equal(t, len(r.Known), r.Dispositions[score.Matched])
	if c := m.Corroborated; c.Known > 0 {
		require.Equal(t, c.Known, c.Counted)
		require.Equal(t, one, c.Recall)
		require.Equal(t, score.Span{Low: one, High: one}, c.Precision)
		require.Equal(t, score.Span{Low: one, High: one}, c.F1)
		require.Equal(t, one, c.Coverage)
		require.Equal(t, one, c.SeverityAccuracy)
	}
	for i, k := range r.Known {
		require.Equal(t, k.ID, r.Findings[k.Finding].Finding.ID, "entry %d takes its own finding",
			i)
	}
}

// Stored findings can be scored again: what scoring reads survives JSON.
func TestStoredFindingsScoreAlike(t *testing.T) {
	p := project(known("K1", "a.java", 10, 12, 89), known("K2", "b.java", 5, 5, 22),
		known("K3", "c.java", 5, 5, 502))
	rng := rand.New(rand.NewPCG(1, 2))
	var fs []audit.Finding
	for range 40 {
		f := finding("F", []string{"a.java", "b.java", "c.java", "x"}[rng.IntN(4)], rng.IntN(30), 0,
			[]audit.CWE{89, 22, 502, 918}[rng.IntN(4)])
		f.Function = []string{"", "read"}[rng.IntN(2)]
		fs = append(fs, f)
	}
	stored, err := json.Marshal(fs)
	require.NoError(t, err)
	var back []audit.Finding
	require.NoError(t, json.Unmarshal(stored, &back))
	a := mustScore(t, p, fs...)
	b := mustScore(t, p, back...)
	require.Empty(t, cmp.Diff(a, b))

	whole, err := json.Marshal(a)
	require.NoError(t, err)
	var r score.Result
	require.NoError(t, json.Unmarshal(whole, &r))
	require.Equal(t, a.Metrics, r.Metrics, "a result survives JSON, undefined figures too")
}
