package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
	"assay/internal/report"
	"assay/internal/store"

	"github.com/stretchr/testify/require"
)

// write makes the pages and holds each to what every page must keep: its size, and
// no element that somebody's words brought along.
func write(t *testing.T, in report.SiteInput) (dir string, pages map[string]string) {
	t.Helper()
	dir, pages = t.TempDir(), map[string]string{}
	_, err := report.WriteSite(dir, in)
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Less(t, len(b), report.MaxPage, name)
		text := string(b)
		require.NotRegexp(t,
			regexp.MustCompile(
				`(?i)<(img|iframe|object|embed|base|form action|a href="javascript)`), text, name)
		require.Equal(t, strings.Count(text, "<script"),
			strings.Count(text, `<script type="application/json"`)+1, name)
		rel, err := filepath.Rel(dir, name)
		require.NoError(t, err)
		pages[rel] = text
		return nil
	}))
	return dir, pages
}

// fillWords puts words into every string below v, whatever its type means.
func fillWords(v reflect.Value, words string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fillWords(v.Elem(), words)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillWords(v.Field(i), words)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			fillWords(v.Index(i), words)
		}
		if v.Len() == 0 && v.Type().Elem().Kind() == reflect.String {
			v.Set(reflect.Append(v, reflect.ValueOf(words).Convert(v.Type().Elem())))
		}
	case reflect.String:
		v.SetString(words)
	}
}

// A record in which every single text is hostile, the names of dispositions, verdicts and
// dimensions included, as a forged or damaged file may have them.
func TestRecordsHostileInEveryField(t *testing.T) {
	p, dims, goals := project(t, "go-test-bench")
	long := 3000
	if testing.Short() {
		long = 500 // more than any cell holds
	}
	for _, words := range []string{hostile, strings.Repeat("\u202e😀\x1b[31m\x00\xff", long), "",
		"../../../etc/passwd", "javascript:window.pwned=1"} {
		good := recordOf(t, "agent", day, p, dims, goals, nil)
		r := audits(t, hostile).Records[2]
		fillWords(reflect.ValueOf(r), words)
		r.Suite, r.Trials[0].Invalid = "Regression", ""
		in := report.SiteInput{Made: day, Records: []*record.Record{good, r},
			Projects: map[string]*audit.Project{p.Name: p}, Notes: []string{words}}
		_, pages := write(t, in)
		require.Contains(t, pages["index.html"], "go-test-bench", "the other record is still there")
		seen(t, pages)
		for _, format := range []string{"text", "csv", "benchfmt", "json"} {
			out := as(t, format, in)
			require.NotContains(t, out, "\x1b[", format)
			if format != "csv" && format != "json" { // which quote
				require.NotContains(t, out, "\n### FAKE", format)
			}
		}
		require.True(t, json.Valid([]byte(as(t, "json", in))))
		d, err := report.DiffRecords(good, r, rulesForTools)
		if err == nil {
			var b bytes.Buffer
			require.NoError(t, d.Text(&b))
		}
	}
}

// seen holds that no page has a character that changes what a reader sees without
// being seen.
func seen(t *testing.T, pages map[string]string) {
	t.Helper()
	for name, page := range pages {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		require.True(t, utf8.ValidString(page), name)
		for i, r := range page {
			if audit.Invisible(r) && r != '\n' && r != '\t' && r != '\r' {
				t.Fatalf("%s: %U at byte %d: %q", name, r, i,
					page[max(0, i-40):min(len(page), i+40)])
			}
		}
	}
}

// What is hidden in a page is shown as in the terminal, and stays what it is where
// a script reads it.
func TestNothingIsHiddenInAPage(t *testing.T) {
	p, dims, goals := project(t, "go-test-bench")
	const tricky = "safe\u202e\u2066 \u200bzero\u200d\ufeff\u2060\u00ad\u180e\U000e0041\u2028\u3164end"
	r := recordOf(t, "agent", day, p, dims, goals, nil)
	fillWords(reflect.ValueOf(r), tricky)
	r.Suite, r.Trials[0].Invalid = "Regression", ""
	in := report.SiteInput{Made: day, Records: []*record.Record{r},
		Projects: map[string]*audit.Project{p.Name: p}, Notes: []string{tricky}}
	_, pages := write(t, in)
	seen(t, pages)
	found := regexp.MustCompile(`safe.{0,80}`).FindString(pages["index.html"] +
		strings.Join(slices.Collect(maps.Values(pages)), ""))
	require.Contains(t, found, `safe\u202e\u2066`, "as in the terminal")
	require.Contains(t, found, `\u200bzero\u200d\ufeff`, "as in the terminal")
}

// An answer of ten megabytes, and words that try everything, in every text of an
// evaluation.
func TestEvaluationsHostileInEveryField(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: large reports")
	}
	var evs []store.Evaluation
	for _, words := range []string{hostile, strings.Repeat("<b>&\"'😀\x00", 1<<20),
		"\u202e\x1b]0;x\x07"} {
		for _, label := range []audit.Label{audit.Good, audit.Bad} {
			e := store.Evaluation{Time: day, Outcome: audit.OutcomeCorrect, Status: audit.Answered}
			fillWords(reflect.ValueOf(&e), words)
			short := words[:min(60, len(words))]
			e.Model, e.App, e.Query, e.Prompt, e.Twin, e.CaseHash = short, short, short, short, "", short
			e.Run, e.Trial, e.Expected, e.Actual, e.Outcome, e.Status = "r", fmt.Sprint(len(evs)), label, string(label), audit.OutcomeCorrect, audit.Answered
			e.TestFile = "tests/" + short + "/" + short + "-01-" + string(label) + ".md"
			evs = append(evs, e)
		}
	}
	in := report.SiteInput{Results: answered(t, evs, report.Key{}), Made: day}
	_, pages := write(t, in)
	require.Equal(t, 3, len(pages)-5, "a page for each application")
	for _, format := range []string{"text", "csv", "benchfmt", "json"} {
		require.NotContains(t, as(t, format, in), "\x1b", format)
	}
}

// Findings whose words grow when they are escaped are all in the page; what they say
// of themselves is cut, and the page says so.
func TestFindingsThatGrow(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: large reports")
	}
	p, dims, goals := project(t, "go-test-bench")
	var fs []audit.Finding
	for i := range 900 {
		fs = append(fs, audit.Finding{ID: fmt.Sprint(i), Title: fmt.Sprintf("finding-%03d-", i) +
			strings.Repeat("'", 400), Description: fmt.Sprint(i, strings.Repeat("<", 5000)),
			File: "a.go", CWEs: []audit.CWE{79}})
	}
	_, pages := write(t,
		report.SiteInput{Made: day,
			Records:  []*record.Record{recordOf(t, "agent", day, p, dims, goals, fs)},
			Projects: map[string]*audit.Project{p.Name: p}})
	page := pages[filepath.Join("projects", "go-test-bench.html")]
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`"finding-\d+-`).FindAllString(page, -1) {
		seen[m] = true
	}
	require.Len(t, seen, 900)
	require.Contains(t, page, "is cut after")
}

// More findings than a page has room for: it says of both what is cut and what is left out.
func TestFindingsBeyondAPage(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: large reports")
	}
	p, dims, goals := project(t, "go-test-bench")
	var fs []audit.Finding
	for i := range 6000 {
		fs = append(fs, audit.Finding{ID: fmt.Sprint(i), Title: fmt.Sprint("title ", i,
			strings.Repeat("-", 250)), Description: fmt.Sprint(i, strings.Repeat(" word", 200)),
			File: "a.go", CWEs: []audit.CWE{79}})
	}
	_, pages := write(t,
		report.SiteInput{Made: day,
			Records:  []*record.Record{recordOf(t, "agent", day, p, dims, goals, fs)},
			Projects: map[string]*audit.Project{p.Name: p}})
	page := pages[filepath.Join("projects", "go-test-bench.html")]
	require.Regexp(t,
		`What rows say when they are opened is cut after 60 bytes. The first \d+ of 6000 rows are shown.`, page)
}

// A case for each of many files: lists are paged, and no page is too large.
func TestManyCases(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: large reports")
	}
	var evs []store.Evaluation
	for i := range 3100 {
		e := evaluation(0, day)
		e.Trial, e.Query = fmt.Sprint(i), fmt.Sprintf("%s-%04d", strings.Repeat("long", 20), i)
		e.Family, e.TestFile = e.App+"/"+e.Query, fmt.Sprintf("tests/%s/%s-01-good.md",
			e.App, e.Query)
		evs = append(evs, e)
	}
	_, pages := write(t, report.SiteInput{Made: day, Results: answered(t, evs, report.Key{})})
	require.Contains(t, pages["cases.html"], "long-3099", "all of them in one table")
	require.Contains(t, pages["index.html"], "nothing can be said of any", "there is no bad case")
}

// More reviewers than a page holds: the best are shown, the others are counted, and
// every one is in the files for programs.
func TestManyReviewers(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: large reports")
	}
	in := report.SiteInput{Results: manyReviewers(t, 700, 1), Made: day}
	_, pages := write(t, in)
	require.Contains(t, pages["index.html"],
		"The 100 reviewers with the highest balanced accuracy are shown, of 700")
	require.Equal(t, 700, strings.Count(as(t, "csv", in), ",balanced accuracy,")/2,
		"over all and over the one application")
}

// More auditors than a page holds.
func TestManyAuditors(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: large reports")
	}
	p, dims, goals := project(t, "go-test-bench")
	one := recordOf(t, "agent", day, p, dims, goals, nil)
	in := report.SiteInput{Made: day, Projects: map[string]*audit.Project{p.Name: p}}
	for i := range 300 {
		r := *one
		r.Auditor = fmt.Sprintf("agent-with-a-name-of-some-length-%03d", i)
		in.Records = append(in.Records, &r)
	}
	_, pages := write(t, in)
	require.Contains(t, pages["auditors.html"], "40 of 300 auditors are shown")
	require.Contains(t, pages[filepath.Join("projects", "go-test-bench.html")],
		"of 300 auditors are shown")
}

// Agents that used their tools at length, trial by trial: the page shows what there is
// room for, all findings among it, and says that the rest is in the records.
func TestTranscriptsThatGrow(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: large reports")
	}
	p, dims, goals := project(t, "go-test-bench")
	for _, letter := range []string{"x", "<", "\""} {
		var ts []record.Transcript
		for trial := range 8 {
			var events strings.Builder
			for i := range 150 {
				fmt.Fprintf(&events,
					"{\"type\":\"item.completed\",\"item\":{\"type\":\"command_execution\",\"id\":\"%d\",\"command\":\"grep -r %d\",\"aggregated_output\":%q}}\n", i, i, fmt.Sprint(trial, " ", i, strings.Repeat(letter, 3000)))
			}
			run := audit.AuditRun{Events: []byte(events.String()),
				Stdout: []byte(strings.Repeat(letter, 30_000))}
			ts = append(ts, record.NewTranscript(trial, 0, "/src", &run,
				func(b []byte) []byte { return b }))
		}
		in := report.SiteInput{Made: day, Records: []*record.Record{recordOf(t, "agent", day, p, dims,
			goals, score.AsFindings(p))}, Projects: map[string]*audit.Project{p.Name: p},
			Transcripts: func(*record.Record) ([]record.Transcript, error) { return ts, nil }}
		_, pages := write(t, in)
		page := pages[filepath.Join("projects", "go-test-bench.html")]
		require.Regexp(t, `<h2>Findings <small>[1-9]\d`, page)
		require.Contains(t, page, "What rows say when they are opened is cut after")
	}
}

// Figures that no JSON can hold, as an agent may state its seconds and others its costs,
// leave a page whole: its script reads what stands in it.
func TestFiguresBeyondAllNumbers(t *testing.T) {
	p, dims, goals := project(t, "go-test-bench")
	run := audit.AuditRun{Events: []byte(
		"{\"type\":\"turn\",\"turn\":1,\"seconds\":1e308}\n{\"type\":\"turn\",\"turn\":2,\"seconds\":1e308}\n")}
	kept := record.NewTranscript(0, 0, "/src", &run, func(b []byte) []byte { return b })
	run.Events = bytes.ReplaceAll(run.Events, []byte(":1e308"), []byte(":-1e308"))
	run.Events = append(run.Events, bytes.ReplaceAll(run.Events, []byte(`"turn":2`),
		[]byte(`"turn":1`))...)
	below := record.NewTranscript(0, 1, "/src", &run, func(b []byte) []byte { return b })
	var evs []store.Evaluation
	for i := range 60 {
		e := evaluation(10*i+i%2, day)
		e.Usage.USD, e.Trial = math.MaxFloat64, fmt.Sprint(i)
		evs = append(evs, e)
	}
	in := report.SiteInput{Made: day, Results: answered(t, evs, report.Key{}),
		Records:  []*record.Record{recordOf(t, "agent", day, p, dims, goals, nil)},
		Projects: map[string]*audit.Project{p.Name: p},
		Transcripts: func(*record.Record) ([]record.Transcript,
			error) {
			return []record.Transcript{kept, below}, nil
		}}
	_, pages := write(t, in)
	for name, page := range pages {
		for _, data := range regexp.MustCompile(
			`(?s)<script type="application/json"[^>]*>(.*?)</script>`).FindAllStringSubmatch(page,
			-1) {
			require.True(t, json.Valid([]byte(data[1])), "%s: %.200s", name, data[1])
		}
	}
}
