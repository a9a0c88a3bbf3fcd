package report_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assay/audit"
	"assay/audit/findings"
	"assay/audit/score"
	"assay/internal/record"
	"assay/internal/report"
	"assay/internal/store"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	_ "modernc.org/sqlite"
)

func as(t *testing.T, format string, in report.SiteInput) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, report.WriteAs(&b, format, &in))
	return b.String()
}

// Every format tells the same figure, and a payload stays inside its cell.
func TestFormatsAgree(t *testing.T) {
	in := sample(t)
	recall := in.Records[2].Figures().Recall
	require.NotEqual(t, recall, in.Records[2].Counting()[0].Metrics.Recall, "the trials differ")
	require.Contains(t, as(t, "text", in), recall.String())
	for _, format := range []string{"text", "benchfmt"} {
		require.NotContains(t, as(t, format, in), "\n### FAKE", format)
	}

	rows, err := csv.NewReader(strings.NewReader(as(t, "csv", in))).ReadAll()
	require.NoError(t, err)
	require.Contains(t, rows, []string{"Regression", "go-test-bench", "agent", "", "recall",
		trim(recall.V), "", "", ""})

	type fact struct {
		Auditor   string
		Stability *score.Stability
	}
	var facts struct{ Audits []fact }
	require.NoError(t, json.Unmarshal([]byte(as(t, "json", in)), &facts))
	require.Len(t, facts.Audits, 2)

	// what several trials found, counted by hand
	found, trials := map[string]int{}, in.Records[2].Counting()
	for _, trial := range trials {
		for _, k := range trial.Known {
			if k.Credit == 1 {
				found[k.ID]++
			}
		}
	}
	want := score.Stability{Known: len(trials[0].Known), Union: len(found)}
	for _, n := range found {
		if n == len(trials) {
			want.All++
		}
	}
	want.Some = want.Union - want.All
	require.Positive(t, want.Some)
	require.Contains(t, facts.Audits, fact{"agent", &want})
	require.Nil(t, facts.Audits[0].Stability, "a single trial")
	for name, n := range map[string]int{"all trials": want.All, "some trials": want.Some,
		"any trial": want.Union} {
		require.Contains(t, rows, []string{"Regression", "go-test-bench", "agent", "",
			"found in " + name, fmt.Sprint(n), "", "", ""})
		require.Regexp(t, fmt.Sprintf(
			`(?m)^BenchmarkRegression/project=go-test-bench/auditor=agent 1 .*\b%d found-in-%s\b`,
			n, strings.ReplaceAll(name, " ", "-")), as(t, "benchfmt", in))
	}
	require.Regexp(t, fmt.Sprintf(`(?m)^Regression +go-test-bench +agent .* %d +%d +%d$`, want.All,
		want.Some, want.Union), as(t, "text", in))
	require.ErrorContains(t, report.WriteAs(&bytes.Buffer{}, "pdf", &in), "expected text")
}

// golang.org/x/perf, which benchstat is made of, reads the benchmark format: names
// part into project, auditor, model and the like, units are known to be shares.
func TestBenchfmtIsReadByBenchstat(t *testing.T) {
	in := sample(t)
	text := as(t, "benchfmt", in)
	got, samples, better := map[string]map[string]float64{}, map[string]int{}, map[string]string{}
	for r := benchfmt.NewReader(strings.NewReader(text), "report"); r.Scan(); {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			require.Equal(t, 1, rec.Iters)
			name := rec.Name.String()
			if got[name] == nil { // else a further trial
				got[name] = map[string]float64{}
			}
			for _, v := range rec.Values {
				got[name][v.Unit] = v.Value
				if v.Unit == "recall" {
					samples[name]++
				}
			}
			base, parts := rec.Name.Parts()
			require.Contains(t, []string{"Regression", "Smoke", "Bench"}, string(base))
			for _, p := range parts {
				require.Regexp(t, `^/(project|auditor|app|model|prompt)=.`, string(p))
			}
		case *benchfmt.UnitMetadata:
			better[rec.Unit] = rec.Value
		default:
			t.Fatalf("not understood: %v", rec)
		}
	}
	m := in.Records[2].Counting()
	require.InDelta(t, m[len(m)-1].Metrics.Recall.V,
		got["Regression/project=go-test-bench/auditor=agent"]["recall"], 1e-6)
	require.Equal(t, len(m), samples["Regression/project=go-test-bench/auditor=agent"],
		"every trial is a sample")
	require.Equal(t, "higher", better["recall"])
	require.Equal(t, "lower", better["errors-per-100"])
	for _, figures := range got {
		for unit := range figures {
			require.Contains(t, better, unit)
		}
	}
	byBenchstat(t, text)
	ls := in.Results.Variants
	require.Len(t, got, 2+len(ls)*(1+len(in.Apps)),
		"each reviewer over all and over each application, and two auditors")
}

// byBenchstat has benchstat itself compare the file with itself, where it is
// installed.
func byBenchstat(t *testing.T, text string) {
	bin, err := exec.LookPath("benchstat")
	if err != nil {
		return
	}
	file := filepath.Join(t.TempDir(), "bench.txt")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	out, err := exec.Command(bin, "-filter", ".unit:recall", file, file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "Regression/project=go-test-bench/auditor=agent")
}

// Where the public schema of SARIF 2.1.0 is at hand (it is not ours to commit), an
// editor's file of what was missed is held against it.
func TestMissedKeepsTheSchema(t *testing.T) {
	path := os.Getenv("ASSAY_SARIF_SCHEMA")
	if path == "" {
		t.Skip("ASSAY_SARIF_SCHEMA names no copy of sarif-schema-2.1.0.json")
	}
	in := audits(t, hostile)
	in.Records = in.Records[:1]
	var doc any
	require.NoError(t, json.Unmarshal([]byte(as(t, "sarif", in)), &doc))
	schema, err := jsonschema.NewCompiler().Compile(path)
	require.NoError(t, err)
	require.NoError(t, schema.Validate(doc))
}

func trim(v float64) string {
	b,
		_ := json.Marshal(float64(int(v*1e6+0.5)) / 1e6)
	return string(b)
}

func TestMissedAsSARIF(t *testing.T) {
	in := audits(t, hostile)
	require.ErrorContains(t, report.WriteAs(&bytes.Buffer{}, "sarif", &in), "expected one")
	in.Records = in.Records[:1]
	r, err := findings.Read("missed.sarif", strings.NewReader(as(t, "sarif", in)),
		findings.ReadOptions{})
	require.NoError(t, err)
	missed := map[string]bool{}
	for _, f := range r.Findings {
		missed[f.ID] = true
	}
	for i, k := range in.Records[0].Trials[0].Result.Known {
		if k.Credit == 1 || in.Records[0].Trials[1].Result.Known[i].Credit == 1 {
			require.False(t, missed[k.ID], k.ID)
		} else {
			require.True(t, missed[k.ID], k.ID)
		}
	}
}

// A file with the seven columns alone gives the pages.
func TestSevenColumns(t *testing.T) {
	where := filepath.Join(t.TempDir(), "results.db")
	db, err := sql.Open("sqlite", where)
	require.NoError(t, err)
	_, err = db.Exec(`CREATE TABLE evaluations (id INTEGER PRIMARY KEY AUTOINCREMENT, timestamp DATETIME, test_file TEXT, model_name TEXT, expected_result TEXT, actual_result TEXT, explanation TEXT);
INSERT INTO evaluations (timestamp, test_file, model_name, expected_result, actual_result, explanation) VALUES
 ('2026-01-02 03:04:05', 'tests/shop/list-orders-01-good.md', 'm1', 'good', 'good', 'fine'),
 ('2026-01-02 03:04:06', 'tests/shop/list-orders-03-bad.md', 'm1', 'bad', 'GOOD', 'looked fine'),
 ('2026-01-02 03:04:07', 'tests/shop/list-orders-03-bad.md', 'm2', 'bad', 'bad', 'no tenant'),
 ('2026-01-02 03:04:08', 'tests/shop/list-orders-01-good.md', 'm2', 'good', 'gibberish', '')`)
	require.NoError(t, err)
	require.NoError(t, db.Close())

	st, err := store.OpenReadOnly(context.Background(), where)
	require.NoError(t, err)
	defer st.Close()
	r, err := report.LoadResults(context.Background(), st, store.Query{}, report.Key{}, true)
	require.NoError(t, err)
	require.Len(t, r.Variants, 2)
	require.Equal(t, "looked fine",
		r.Variants[0].Cases["shop/list-orders-03-bad"].Told[0].Explanation)
	require.Equal(t, audit.OutcomeMalformed,
		r.Variants[1].Cases["shop/list-orders-01-good"].Trials[0].Outcome)
	dir := t.TempDir()
	_, err = report.WriteSite(dir, report.SiteInput{Results: r, Made: day})
	require.NoError(t, err)
	b, err := os.ReadFile(filepath.Join(dir, "index.html"))
	require.NoError(t, err)
	require.Contains(t, string(b), "m2")
	require.Contains(t, string(b), "m1 said good: looked fine", "a wrong answer in its words")
	require.FileExists(t, filepath.Join(dir, "cases", "shop.html"))
}

// Cases of no application have figures of their own, and are not taken for all.
func TestCasesOfNoApplication(t *testing.T) {
	var evs []store.Evaluation
	for i, file := range []string{"tests/shop/q-01-good.md", "q-02-good.md"} {
		e := evaluation(0, day)
		e.TestFile, e.Trial, e.App, e.Expected = file, fmt.Sprint(i), []string{"shop",
			""}[i], audit.Good
		e.Outcome = []audit.Outcome{audit.OutcomeCorrect, audit.OutcomeWrong}[i]
		evs = append(evs, e)
	}
	in := report.SiteInput{Results: answered(t, evs, report.Key{}), Made: day}
	csv := as(t, "csv", in)
	for app, accuracy := range map[string]string{"all": "0.5", "shop": "1", "not stated": "0"} {
		require.Regexp(t, "(?m)^Bench,"+app+",model-0,evaluation-prompt,accuracy,"+accuracy+
			",", csv)
	}
	require.Equal(t, 1, strings.Count(csv, "Bench,all,model-0,evaluation-prompt,accuracy,"))
	_, pages := write(t, in)
	require.Regexp(t, `not stated</th><td class="num">undefined`, pages["reviewers.html"])
}

// Empty is an error, and names do not leave the folder or meet in one file.
func TestSiteOfNothingAndOfOddNames(t *testing.T) {
	_, err := report.WriteSite(t.TempDir(), report.SiteInput{})
	require.ErrorContains(t, err, "nothing to report")

	p, dims, goals := project(t, "go-test-bench")
	dir := t.TempDir()
	a := recordOf(t, "../../x", day, p, dims, goals, nil)
	b, c := recordOf(t, "..//..x", day, p, dims, goals, nil), recordOf(t, ".._.._x", day, p,
		dims, goals, nil)
	require.Equal(t, a.Name(), c.Name())
	_, err = report.WriteSite(dir, report.SiteInput{Records: []*record.Record{a, b, c}, Made: day})
	require.NoError(t, err)
	page, err := os.ReadFile(filepath.Join(dir, "projects", "go-test-bench.html"))
	require.NoError(t, err)
	anchors := regexp.MustCompile(`<details id="(by-[^"]*)"`).FindAllStringSubmatch(string(page),
		-1)
	require.Len(t, anchors, 3)
	require.NotEqual(t, anchors[0][1], anchors[1][1])
	require.NotEqual(t, anchors[1][1], anchors[2][1])
}

// Answers to an earlier form of a case count nowhere, and of two databases a case
// whose form differs is left out of the comparison.
func TestEarlierFormsAreLeftOut(t *testing.T) {
	load := func(hashes ...string) *report.BenchResults {
		where := filepath.Join(t.TempDir(), "results.db")
		st, err := store.Open(context.Background(), where)
		require.NoError(t, err)
		for i, h := range hashes {
			for k, label := range []audit.Label{audit.Good, audit.Bad} {
				require.NoError(t,
					st.Put(context.Background(), store.Evaluation{Time: day, Run: "r",
						Trial: string(rune('a' + 2*i + k)), Index: i, TestFile: "tests/shop/q-0" +
							string(rune('1'+k)) + "-" + string(label) + ".md",
						App: "shop", Query: "q", Family: "shop/q", Model: "m", Expected: label,
						Actual: "good", Outcome: audit.OutcomeCorrect,
						Status: audit.Answered, CaseHash: h}))
			}
		}
		r, err := report.LoadResults(context.Background(), st, store.Query{}, report.Key{}, false)
		require.NoError(t, err)
		require.NoError(t, st.Close())
		return r
	}
	r := load("old", "new", "new")
	require.Equal(t, 2, r.Old)
	require.Len(t, r.Variants[0].Cases["shop/q-01-good"].Trials, 2)
	_, err := report.DiffVariants(r.Variants[0], load("other").Variants[0])
	require.Error(t, err, "no case of the same form is left")
	d, err := report.DiffVariants(r.Variants[0], load("new").Variants[0])
	require.NoError(t, err)
	require.Empty(t, d.Changed)
	require.Equal(t, 2, d.Comparison.Cases)
}

// Reviewers whose names are blank are told apart, and not by a number alone.
func TestReviewersWithoutANameAreToldApart(t *testing.T) {
	var evs []store.Evaluation
	for i, model := range []string{"", " "} {
		e := evaluation(0, day)
		e.Model, e.Prompt, e.Trial = model, "", fmt.Sprint(i)
		evs = append(evs, e)
	}
	r := answered(t, evs, report.Key{})
	require.Len(t, r.Variants, 2)
	require.Equal(t, "no name (1)", r.Variants[0].Short)
	require.Equal(t, "no name (2)", r.Variants[1].Short)
}

// A case that one side did not answer is wrong there.
func TestUnansweredCasesAreWrong(t *testing.T) {
	variant := func(outcomes ...audit.Outcome) *report.VariantResults {
		v := &report.VariantResults{Cases: map[string]*report.CaseResults{}}
		for i, o := range outcomes {
			c := &audit.Case{App: "shop", Query: "q", Number: i + 1, Label: audit.Bad}
			v.Cases[c.ID()] = &report.CaseResults{Case: c, Trials: []*report.ReviewAnswer{{Outcome: o}}}
		}
		return v
	}
	d, err := report.DiffVariants(variant(audit.OutcomeErrored, audit.OutcomeWrong,
		audit.OutcomeCorrect, audit.OutcomeCorrect),
		variant(audit.OutcomeCorrect, audit.OutcomeCorrect, audit.OutcomeWrong,
			audit.OutcomeMalformed))
	require.NoError(t, err)
	require.Equal(t, []string{"shop/q-01-bad", "shop/q-02-bad"}, d.AlsoB)
	require.Equal(t, []string{"shop/q-03-bad", "shop/q-04-bad"}, d.AlsoA)
}

// TestBenchstatShowsAnInterval: six trials of a reviewer are six samples, of which benchstat's
// own library makes an interval.
func TestBenchstatShowsAnInterval(t *testing.T) {
	var evs []store.Evaluation
	for i := range 6 * 24 {
		e := evaluation(10*(i%24), day)
		e.Index, e.Trial = i/24, fmt.Sprint(i)
		if e.Outcome, e.Actual = audit.OutcomeCorrect, string(e.Expected); (i*7+i/24)%9 == 0 {
			e.Outcome, e.Actual = audit.OutcomeWrong, "good"
		}
		evs = append(evs, e)
	}
	var b bytes.Buffer
	require.NoError(t, report.WriteAs(&b, "benchfmt",
		&report.SiteInput{Results: answered(t, evs, report.Key{}), Made: day}))
	samples := map[string][]float64{}
	for r := benchfmt.NewReader(&b, "report"); r.Scan(); {
		if res, ok := r.Result().(*benchfmt.Result); ok &&
			strings.HasPrefix(string(res.Name), "Bench/app=all/") {
			for _, v := range res.Values {
				samples[v.Unit] = append(samples[v.Unit], v.Value)
			}
		}
	}
	for _, unit := range []string{"balanced-accuracy", "errors-per-100", "cost", "tokens"} {
		require.Len(t, samples[unit], 6, unit)
		s := benchmath.AssumeNothing.Summary(benchmath.NewSample(samples[unit],
			&benchmath.DefaultThresholds), 0.95)
		require.Empty(t, s.Warnings, "%s: an interval", unit)
		require.LessOrEqual(t, s.Lo, s.Center, unit)
		require.GreaterOrEqual(t, s.Hi, s.Center, unit)
		require.False(t, math.IsInf(s.Hi, 1), unit)
	}
}
