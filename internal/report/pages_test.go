package report_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"assay/internal/report"
)

// realisticSite writes the pages of published runs shown as yours, and of reviewers.
func realisticSite(t *testing.T) string {
	t.Helper()
	in := realisticAudits(t)
	in.Results, in.Apps = realistic(t)
	dir := t.TempDir()
	_, err := report.WriteSite(dir, in)
	require.NoError(t, err)
	return dir
}

// texts returns the text of each element that a selector finds.
func (b *tab) texts(t *testing.T, selector string) []string {
	t.Helper()
	return eval[[]string](t, b, "Array.from(document.querySelectorAll("+quote(selector)+
		"), e => e.innerText.trim())")
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `\'`) + "'" }

// TestOverviewAnswers: the first screen says who is best, whether that is real, what it costs,
// where it fails and what changed since the baseline, and every answer is the figure of its page.
func TestOverviewAnswers(t *testing.T) {
	b := browser(t)
	dir := realisticSite(t)
	b.open(t, filepath.Join(dir, "index.html"), 1440)
	require.Less(t,
		eval[int](t, b,
			"Math.round(document.querySelector('dl.answers').getBoundingClientRect().bottom)"), 900,
		"the answers are on the first screen")
	require.Equal(t, []string{"Best", "Is it real?", "Cost", "Fails at", "Since the baseline"},
		b.texts(t, "section.ranking:first-of-type dl.answers dt"))
	answers := b.texts(t, "section.ranking:first-of-type dl.answers dd")
	require.Regexp(t,
		`^audit-skill-small: recall [\d.]+ % \([\d. to]+\) on 13 projects, \d+ vulnerabilities\.`,
		answers[0])
	require.Contains(t, answers[0], "Best recorded: ")
	require.Regexp(t, `conclusive\s*Better than audit-skill`, answers[1])
	require.Regexp(t, `\$[\d.]+ a project, \$[\d.]+ in all, \$[\d.]+ a vulnerability found`,
		answers[2])
	require.Regexp(t,
		`Of \d+ vulnerabilities \d+ were found in all trials, \d+ in some, \d+ in none`, answers[3])
	require.Regexp(t, `^FAIL\s*audit-skill: recall 3\d\.\d %, was 5\d\.\d %`, answers[4],
		"the drop over all projects, although each project passes")

	rows := b.texts(t, "#table-auditors tbody tr")
	require.Len(t, rows, 7, "yours, and five recorded ones")
	rank := map[string]int{}
	for _, r := range b.texts(t, "#table-reviewers tbody tr") {
		rank[regexp.MustCompile(`^\d+`).FindString(r)]++
	}
	require.Equal(t, 2, rank["3"], "two reviewers that cannot be told apart share a rank: %v", rank)
	require.Equal(t, len(rows),
		eval[int](t, b, "document.querySelectorAll('#table-auditors svg.mark circle').length"),
		"each has its interval")
	require.Contains(t, b.texts(t, "section.ranking p.note a"), "15 more")

	// "38 more" leads to all that were lost, and their number is the one that the link states.
	more := eval[string](t, b,
		"Array.from(document.querySelectorAll('.changes a')).find(a => / more$/.test(a.textContent)).href")
	lost := eval[string](t, b,
		"Array.from(document.querySelectorAll('.changes li')).find(li => / more/.test(li.textContent)).textContent.match(/lost \\((\\d+)\\)/)[1]")
	b.open(t, strings.TrimPrefix(more, "file://"), 1440)
	require.Regexp(t, "^"+lost+" of ", b.told(t, "known"))
}

// TestChartsOfAuditors: recall over cost and over findings, recorded auditors in grey and yours
// in the colour that they have on every page, with the union of the trials as a further dot.
func TestChartsOfAuditors(t *testing.T) {
	b := browser(t)
	dir := realisticSite(t)
	colour := func(page, name string) string {
		b.open(t, filepath.Join(dir, page), 1440)
		return eval[string](t, b,
			"Array.from(document.querySelectorAll('th')).find(th => th.innerText.trim().startsWith("+quote(name)+") && th.querySelector('i.dot')).querySelector('i.dot').className")
	}
	for _, name := range []string{"audit-skill-small", "claude-sonnet-4.5"} {
		first := colour("index.html", name)
		require.Regexp(t, `^dot v\d$`, first)
		require.Equal(t, first, colour("cost.html", name), name)
	}
	require.Equal(t, colour("index.html", "audit-skill-small"),
		colour("auditors.html", "audit-skill-small"))
	require.Equal(t, "dot vx", colour("auditors.html", "gpt-5.5-agentic-v1"),
		"recorded ones are grey")
	require.Equal(t, []string{"Recall over cost, 13 projects, 434 vulnerabilities",
		"Recall over findings, 13 projects, 434 vulnerabilities"},
		b.texts(t, "#compared figcaption"))
	for _, n := range []string{"1", "2"} {
		chart := "#compared .charts figure:nth-child(" + n + ") "
		require.Equal(t, 2,
			eval[int](t, b, "document.querySelectorAll("+quote(chart+"circle.union:not(.vx)")+
				").length"), "the unions of yours")
		require.Greater(t,
			eval[int](t, b, "document.querySelectorAll("+quote(chart+"circle.vx:not(.union)")+
				").length"), 10)
		require.True(t, eval[bool](t, b, "Array.from(document.querySelectorAll("+
			quote(chart+"circle.union:not(.vx)")+
			")).every(u => u.previousElementSibling.previousElementSibling !== null && +u.getAttribute('cy') < Math.max(...Array.from(document.querySelectorAll("+quote(chart)+" + 'circle.' + u.classList[0] + ':not(.union)'), c => +c.getAttribute('cy'))))"), "a union finds more than a trial")
	}
	b.open(t, filepath.Join(dir, "index.html"), 1440)
	ticks := b.texts(t, "section.ranking:last-of-type svg.chart text.soft.end")
	require.NotContains(t, ticks, "0 %", "the axis shows the span of the data")
	b.open(t, filepath.Join(dir, "auditors.html")+"#vulnerabilities?audit-skill=found in some",
		1440)
	shares := eval[[]string](t, b,
		"(() => { const i = Array.from(document.querySelectorAll('#vulnerabilities thead th')).findIndex(th => th.querySelector('button').textContent === 'audit-skill'); return Array.from(document.querySelectorAll('#vulnerabilities tbody tr'), r => r.cells[i].textContent) })()")
	require.NotEmpty(t, shares)
	for _, s := range shares {
		require.Regexp(t, `^(1/2|1/3|2/3)$`, s, "how many trials found each")
	}
}

// TestAddressesFollowTheState: tab, filter, choice, order, page and selection are in the
// address, and a browser that opens it shows the same; the link can be copied, and a run chosen.
func TestAddressesFollowTheState(t *testing.T) {
	b := browser(t)
	dir := realisticSite(t)
	b.open(t, filepath.Join(dir, "auditors.html"), 1440)
	hash := func() string { return eval[string](t, b, "decodeURIComponent(location.hash)") }
	eval[bool](t, b, "document.getElementById('vulnerabilities-tab-tab').click() || true")
	require.Equal(t, "#vulnerabilities-tab", hash())
	eval[bool](t, b,
		`(() => { const f = document.querySelector('form[data-table=vulnerabilities]'); f.elements.severity.value = 'HIGH'; f.elements.q.value = 'the'; f.dispatchEvent(new Event('input')); return true })()`)
	eval[bool](t, b,
		`Array.from(document.querySelectorAll('#vulnerabilities thead button')).find(b => b.textContent === 'dimension').click() || true`)
	eval[bool](t, b,
		`Array.from(document.querySelectorAll('#vulnerabilities thead button')).find(b => b.textContent === 'dimension').click() || true`)
	eval[bool](t, b,
		`Array.from(document.querySelectorAll('nav[data-table=vulnerabilities] > button')).at(-1).click() || true`)
	require.Equal(t, "#vulnerabilities?q=the&severity=HIGH&sort=-dimension&page=2", hash())
	rows, address := b.shown(t, "vulnerabilities"), eval[string](t, b, "location.href")
	require.NotEmpty(t, rows)
	b.open(t, filepath.Join(dir, "index.html"), 1440)
	b.open(t, strings.TrimPrefix(address, "file://"), 1440)
	require.Equal(t, rows, b.shown(t, "vulnerabilities"), "the same rows in the same order")
	require.True(t,
		eval[bool](t, b,
			"document.getElementById('vulnerabilities-tab-tab').getAttribute('aria-selected') === 'true'"))

	// The link that is copied is the address; where the clipboard is closed it can be selected.
	copied := eval[string](t, b,
		`new Promise(done => { Object.defineProperty(navigator, 'clipboard', { value: { writeText: (t) => { done(t); return Promise.resolve(); } }, configurable: true }); document.querySelector('button.copy').click() })`)
	require.Equal(t, address, copied)

	// A case: the selection and the reviewer whose answers are shown.
	b.open(t, filepath.Join(dir, "cases", "lettings.html"), 1440)
	require.NoError(t, chromedp.Do(b.ctx, chromedp.KeyEvent("j")))
	eval[bool](t, b,
		`(() => { const s = document.querySelectorAll('#choose select')[1]; s.selectedIndex = 2; s.dispatchEvent(new Event('change', { bubbles: true })); return true })()`)
	title := eval[string](t, b, "document.querySelector('#case h2').textContent")
	require.Equal(t, "#"+title+"?a=gpt-5-mini@evaluation-prompt", hash())

	// A run.
	b.open(t, filepath.Join(dir, "index.html"), 1440)
	eval[bool](t, b,
		`(() => { const s = document.querySelector('select[data-go]'); s.selectedIndex = s.options.length - 1; s.dispatchEvent(new Event('change')); return true })()`)
	b.until(t, "location.pathname.includes('/runs/')")
	require.Contains(t, b.texts(t, "#table-auditors")[0], "audit-skill")
	require.NotContains(t, b.texts(t, "#table-auditors")[0], "audit-skill-small",
		"it is of the newest run alone")
	require.Regexp(t, `recall 5\d\.\d %`, b.texts(t, "dl.answers dd")[0], "the figures of that run")
}

// TestEveryHeadIsDefined: each column head of each table has its definition as a tooltip and a
// link to the glossary, which has the term.
func TestEveryHeadIsDefined(t *testing.T) {
	b := browser(t)
	dir := realisticSite(t)
	b.open(t, filepath.Join(dir, "glossary.html"), 1440)
	terms := eval[map[string]string](t, b,
		"Object.fromEntries(Array.from(document.querySelectorAll('dl.glossary dt'), d => [d.id, d.nextElementSibling.textContent]))")
	for _, id := range []string{"errors", "balanced-accuracy", "specificity", "pairs",
		"chance-level", "conclusive", "union"} {
		require.NotEmpty(t, terms[id], id)
	}
	heads := 0
	for _, file := range pagesOf(t, dir) {
		b.open(t, file, 1440)
		for _, h := range eval[[][]string](t, b,
			"Array.from(document.querySelectorAll('table thead th'), th => [th.innerText, th.title, (th.querySelector('a.what') || { href: '' }).href])") {
			heads++
			at, id, _ := strings.Cut(strings.TrimPrefix(h[2], "file://"), "#")
			require.Equal(t, filepath.Join(dir, "glossary.html"), at,
				"%s: %q has no link to its definition", file, h[0])
			require.Equal(t, terms[id], h[1], "%s: the tooltip of %q", file, h[0])
			require.NotEmpty(t, h[1], "%s: %q", file, h[0])
		}
	}
	require.Greater(t, heads, 100)
}

// TestCasesOpenOnWhatMatters: the page of cases shows those that some reviewer got wrong, until
// any is chosen.
func TestCasesOpenOnWhatMatters(t *testing.T) {
	b := browser(t)
	dir := realisticSite(t)
	b.open(t, filepath.Join(dir, "cases.html"), 1440)
	some := b.told(t, "cases")
	require.True(t,
		eval[bool](t, b,
			`Array.from(document.querySelectorAll('#cases tbody tr'), r => Array.from(r.querySelectorAll('td.num'), c => c.textContent.split('/')).some(([a, b]) => +a < +b)).every(Boolean)`))
	eval[bool](t, b,
		`(() => { const how = document.querySelectorAll('#two select')[1]; how.value = 'any'; how.dispatchEvent(new Event('input', { bubbles: true })); return true })()`)
	require.NotEqual(t, some, b.told(t, "cases"))
	require.Equal(t, "714 of 714", b.told(t, "cases"))
	require.Equal(t, "#cases?how=any", eval[string](t, b, "location.hash"))
}
