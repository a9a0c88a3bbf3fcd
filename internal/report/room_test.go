package report_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/report"
	"assay/internal/store"

	"github.com/stretchr/testify/require"
)

// A hundred reviewers of cases with CWEs have more figures by CWE than a page has room
// for: some are left out, and the page says so.
func TestFiguresByCWEOfManyReviewers(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: large reports")
	}
	corpus := readCorpus(t)
	byID := map[string]*audit.Case{}
	var evs []store.Evaluation
	for i, c := range corpus.Cases() {
		if i%3 > 0 {
			continue
		}
		byID[c.ID()] = c
		for k := range 100 {
			e := mockModels[1].answer(c, 0.5, k)
			e.Model, e.Trial = fmt.Sprintf("provider/some-model-%03d", k), fmt.Sprint(k, c.ID())
			evs = append(evs, e)
		}
	}
	in := report.SiteInput{Made: day, Results: answered(t, evs, report.Key{Cases: byID}),
		Apps: corpus.Apps}
	_, pages := write(t, in)
	require.Regexp(t,
		`Of the \d+ reviewers with the highest balanced accuracy: assay report --format csv has all`, pages["reviewers.html"])
	require.Contains(t, pages["reviewers.html"], `id="rates-0"`)
}

// Likewise of auditors of a project with a long key.
func TestFiguresByCWEOfManyAuditors(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: large reports")
	}
	p, dims, goals := project(t, "dataease")
	fs := score.AsFindings(p)
	for i := range fs {
		fs[i].Description = strings.Repeat("What the finding is. ", 100)
	}
	one := recordOf(t, "agent", day, p, dims, goals, fs, fs[1:], fs[2:], fs[3:], fs[4:])
	in := report.SiteInput{Made: day, Projects: map[string]*audit.Project{p.Name: p}}
	for i := range 40 {
		r := *one
		r.Auditor = fmt.Sprint("agent-", i)
		in.Records = append(in.Records, &r)
	}
	_, pages := write(t, in)
	page := pages[filepath.Join("projects", "dataease.html")]
	require.Regexp(t,
		`Figures by CWE are shown of the first \d+ auditors: assay report --format csv has all`,
		page)
	require.Contains(t, page, `id="rates-by-agent-0"`)
}

// The second page of an application's cases is none of another application's.
func TestPagesOfApplicationsOfLikeNames(t *testing.T) {
	var evs []store.Evaluation
	for i := range 600 {
		e := evaluation(0, day)
		e.App, e.Query = []string{"shop", "shop", "shop-2"}[i%3], fmt.Sprintf("q%03d", i)
		e.Trial, e.Explanation = fmt.Sprint(i), strings.Repeat(fmt.Sprint(i, " "), 1000)
		e.Family, e.TestFile = e.App+"/"+e.Query, fmt.Sprintf("tests/%s/%s-01-good.md",
			e.App, e.Query)
		evs = append(evs, e)
	}
	_, pages := write(t, report.SiteInput{Made: day, Results: answered(t, evs, report.Key{})})
	require.Contains(t, pages[filepath.Join("cases", "shop.2.html")], "<h1>shop</h1>")
	require.Contains(t, pages[filepath.Join("cases", "shop-2.html")], "<h1>shop-2</h1>")
}

// Applications whose names differ by case alone, and one without a name beside one that is
// called so, have pages of their own where names of files ignore case, too.
func TestPagesOfApplicationsThatDifferByCase(t *testing.T) {
	var evs []store.Evaluation
	for i, app := range []string{"shop", "Shop", "SHOP", "", "no application"} {
		e := evaluation(0, day)
		e.App, e.Trial, e.TestFile = app, fmt.Sprint(i), fmt.Sprintf("tests/%s/q-01-good.md", app)
		evs = append(evs, e)
	}
	_, pages := write(t, report.SiteInput{Made: day, Results: answered(t, evs, report.Key{})})
	names := map[string]bool{}
	for name := range pages {
		if filepath.Dir(name) == "cases" {
			names[strings.ToLower(name)] = true
		}
	}
	require.Len(t, names, 5)
	require.Contains(t, pages, filepath.Join("cases", "shop.html"))
}

// A case may be a whole file of a foreign corpus: what is too long for a page is cut, and
// told.
func TestACaseThatIsLongerThanAPage(t *testing.T) {
	c := &audit.Case{App: "shop", Query: "q", Number: 1, Label: audit.Good,
		Code: strings.Repeat("if a < b {\n", 200_000)}
	e := evaluation(0, day)
	e.App, e.Query, e.Family, e.TestFile, e.Expected = "shop", "q", "shop/q", "tests/shop/q-01-good.md", audit.Good
	in := report.SiteInput{Made: day, Results: answered(t, []store.Evaluation{e},
		report.Key{Cases: map[string]*audit.Case{c.ID(): c}})}
	_, pages := write(t, in)
	page := pages[filepath.Join("cases", "shop.html")]
	require.Contains(t, page, `if a `)
	require.Contains(t, page, "… (cut)")
}

func TestNotesThatAreLeftOutAreCounted(t *testing.T) {
	var notes []string
	for i := range 25 {
		notes = append(notes, fmt.Sprint("note-", i))
	}
	// whose number is a note, too
	in := report.SiteInput{Made: day, Notes: notes, Results: manyReviewers(t, 101, 1)}
	_, pages := write(t, in)
	require.Contains(t, pages["index.html"], "note-19")
	require.Contains(t, pages["index.html"], "5 notes more: assay report --format text shows all.")
	require.Equal(t, "note-20", notes[20])
}
