package report_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/findings"
	"assay/audit/score"
	"assay/internal/auditor"
	"assay/internal/report"
)

// A tab is a page in a real browser, with what it complained about and asked for.
type tab struct {
	ctx      context.Context
	mu       sync.Mutex
	requests []string
	console  []string
}

// chromium is started once for all tests of the package, and ends with it.
var chromium = sync.OnceValues(func() (context.Context, error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, err
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox,
		chromedp.ExecPath(path))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, _ = chromedp.NewContext(ctx)
	ends = func() { _ = chromedp.Cancel(ctx); stop() }
	return ctx, chromedp.Do(ctx)
})

var ends = func() {}

func TestMain(m *testing.M) {
	status := m.Run()
	ends()
	os.Exit(status)
}

// browser opens a tab, or skips: ASSAY_CHECK=1 makes a machine without chromium a
// failure.
func browser(t *testing.T) *tab {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: no browser is started")
	}
	whole, err := chromium()
	if errors.Is(err, exec.ErrNotFound) && os.Getenv("ASSAY_CHECK") != "1" {
		t.Skip("chromium is not installed")
	}
	require.NoError(t, err, "./check installs chromium")
	ctx, cancel := chromedp.NewContext(whole)
	t.Cleanup(cancel)
	// a browser that hangs, however busy the machine
	ctx, cancel = context.WithTimeout(ctx, 15*time.Minute)
	t.Cleanup(cancel)
	b := &tab{ctx: ctx}
	requests := chromedp.Events(ctx, network.RequestWillBeSent)
	go func() {
		for ev, err := range requests {
			if err != nil {
				return
			}
			b.mu.Lock()
			b.requests = append(b.requests, ev.Request.URL)
			b.mu.Unlock()
		}
	}()
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			b.mu.Lock()
			b.console = append(b.console, string(m.Type)+": "+m.Text)
			b.mu.Unlock()
		}
	}()
	return b
}

func (b *tab) open(t *testing.T, file string, width int64) {
	t.Helper()
	require.NoError(t, chromedp.Do(b.ctx, chromedp.EmulateViewport(width, 900),
		chromedp.Navigate("file://"+file)))
}

// arrive waits until a click has led to a page, and its script has run.
func (b *tab) arrive(t *testing.T, name string) {
	t.Helper()
	b.until(t, "location.pathname.endsWith("+strconv.Quote("/"+name)+")")
}

// until waits until a page is loaded of which the condition is true.
func (b *tab) until(t *testing.T, condition string) {
	t.Helper()
	there := "document.readyState === 'complete' && " + condition
	require.Eventually(t, func() bool {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](there))
		return err == nil && ok // an error: one page gives way to the next
	}, browserWait, browserStep, "the browser did not come to %s", condition)
}

func eval[T any](t *testing.T, b *tab, js string) T {
	t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	require.NoError(t, err, js)
	return v
}

// scheme turns dark or light on.
func (b *tab) scheme(t *testing.T, s string) {
	t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: s}}})
	require.NoError(t, err)
}

// pagesOf gives each kind of page of a site once, with each of its tabs.
func pagesOf(t *testing.T, dir string) (pages []string) {
	t.Helper()
	seen := map[string]bool{}
	require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if kind := filepath.Dir(name); kind == dir || !seen[kind] {
			seen[kind] = true
			pages = append(pages, name)
		}
		return nil
	}))
	return pages
}

// tabsOf opens the tabs of the page at hand one after another; a page without any is
// looked at once.
func (b *tab) tabsOf(t *testing.T, look func(tab string)) {
	t.Helper()
	n := eval[int](t, b, "document.querySelectorAll('[role=tab]').length")
	for i := range max(1, n) {
		name := eval[string](t, b,
			fmt.Sprintf(
				"(() => { const b = document.querySelectorAll('[role=tab]')[%d]; if (b) b.click(); return b ? b.textContent : '' })()", i))
		look(name)
	}
}

// browserWait is how long a test waits for the browser, looking every browserStep.
const browserWait, browserStep = 30 * time.Second, 50 * time.Millisecond

func site(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	index, err := report.WriteSite(dir, sample(t))
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "index.html"), index)
	return dir
}

// highest is how many pixels of height a page has at most, with each of its tabs.
const highest = 6000

// Every kind of page loads without a complaint or a request, and a payload that
// a model wrote stays text; at phone and desk width nothing scrolls sideways and no
// page is higher than it may be.
func TestPagesInABrowser(t *testing.T) {
	b := browser(t)
	dir := site(t)
	for _, file := range pagesOf(t, dir) {
		for _, width := range []int64{390, 1440} {
			b.open(t, file, width)
			require.False(t, eval[bool](t, b, "'pwned' in window"), file)
			require.Zero(t, eval[int](t, b, "document.images.length"), file)
			require.Equal(t, 1,
				eval[int](t, b,
					"Array.from(document.scripts).filter(s => s.type !== 'application/json').length"), file)
			b.tabsOf(t, func(tab string) {
				require.LessOrEqual(t, eval[int](t, b, "document.documentElement.scrollWidth"),
					int(width), "%s %s scrolls sideways at %d", file, tab, width)
				require.LessOrEqual(t, eval[int](t, b, "document.documentElement.scrollHeight"),
					highest, "%s %s is too high at %d", file, tab, width)
			})
			for _, href := range eval[[]string](t, b,
				"Array.from(document.querySelectorAll('a[href]'), a => a.href).filter(h => h.startsWith('file:'))") {
				name, _, _ := strings.Cut(strings.TrimPrefix(href, "file://"), "#")
				require.FileExists(t, name, "a link of %s", file)
			}
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(t, b.console)
	for _, r := range b.requests {
		require.True(t, strings.HasPrefix(r, "file://"+dir) && strings.HasSuffix(r, ".html"), r)
	}
	require.NotEmpty(t, b.requests,
		"the browser told of no request at all: the check above proves nothing")
}

// shown gives the text of a table's rows that are on the page.
func (b *tab) shown(t *testing.T, table string) []string {
	t.Helper()
	return eval[[]string](t, b, "Array.from(document.querySelectorAll('#"+table+
		" tbody tr'), r => r.textContent)")
}

// told gives what a table's form says of its rows: "12 of 660".
func (b *tab) told(t *testing.T, table string) string {
	t.Helper()
	return eval[string](t, b, "document.querySelector('form[data-table="+table+
		"] output').textContent")
}

func TestFiltersAndKeys(t *testing.T) {
	b := browser(t)
	dir := site(t)
	b.open(t, filepath.Join(dir, "cases.html"), 1440)
	all := b.told(t, "cases")
	require.Len(t, b.shown(t, "cases"), 25, "a page of them")

	// "/" goes to the filter, typing filters, Escape clears.
	// The key alone: a browser drops the character of a key whose default is
	// prevented, and the protocol would send it all the same.
	_, err := chromedp.Call(b.ctx, input.DispatchKeyEvent,
		input.DispatchKeyEventParams{Type: "rawKeyDown", Key: "/", Code: "Slash"})
	require.NoError(t, err)
	require.Equal(t, "q", eval[string](t, b, "document.activeElement.name"))
	require.NoError(t, chromedp.Do(b.ctx, chromedp.KeyEvent("-01-good")))
	require.Equal(t, "-01-good", eval[string](t, b, "document.activeElement.value"))
	require.NotEqual(t, all, b.told(t, "cases"))
	for _, row := range b.shown(t, "cases") {
		require.Contains(t, row, "-01-good")
	}
	require.NoError(t, chromedp.Do(b.ctx, chromedp.KeyEvent("\x1b")))
	require.Equal(t, all, b.told(t, "cases"))

	// A choice, and the next page of its rows.
	first := eval[string](t, b,
		`(() => { const s = document.querySelector('select[name=label]'); s.value = 'bad'; s.dispatchEvent(new Event('input', {bubbles: true})); return document.querySelector('#cases tbody tr').id })()`)
	require.Contains(t, first, "-bad")
	require.NotEqual(t, first,
		eval[string](t, b,
			`(() => { Array.from(document.querySelectorAll('nav.rows > button')).at(-1).click(); return document.querySelector('#cases tbody tr').id })()`))

	// Sorting, by the keyboard: over all rows and not those of the page alone.
	require.NoError(t, chromedp.Do(b.ctx, chromedp.KeyEvent("\x1b")))
	eval[bool](t, b, "document.querySelectorAll('#cases thead button')[3].focus() || true")
	require.NoError(t, chromedp.Do(b.ctx, chromedp.KeyEvent("\r")))
	require.Equal(t, "ascending",
		eval[string](t, b,
			"document.querySelectorAll('#cases thead th')[3].getAttribute('aria-sort')"))
	require.True(t,
		eval[bool](t, b,
			`Array.from(document.querySelectorAll('#cases tbody tr'), r => r.cells[3].textContent.startsWith('0/')).every(Boolean)`), "the wrong ones come first")

	// A reviewer: the cases that it missed, and their answers are its own.
	eval[bool](t, b,
		`(() => { const [of] = document.querySelectorAll('#two select'); of.selectedIndex = 1; of.dispatchEvent(new Event('input', {bubbles: true})); return true })()`)
	require.True(t,
		eval[bool](t, b,
			`Array.from(document.querySelectorAll('#cases tbody tr'), r => Number(r.cells[2].textContent.split('/')[0]) < Number(r.cells[2].textContent.split('/')[1])).every(Boolean)`))
	missed := b.told(t, "cases")
	require.NotEqual(t, all, missed)
	name := eval[string](t, b,
		"document.querySelectorAll('#cases thead th')[2].querySelector('button').textContent")
	require.Equal(t, name,
		eval[string](t, b,
			"new URLSearchParams(document.querySelector('#cases tbody a').getAttribute('href').split('?')[1]).get('a')"))
	b.open(t, filepath.Join(dir, "index.html"), 1440)
	b.open(t, filepath.Join(dir, "cases.html")+"#cases?of="+url.QueryEscape(name)+"&how=missed",
		1440)
	require.Equal(t, missed, b.told(t, "cases"), "by its address")

	// Two reviewers: the cases on which they differ, and their answers alone.
	n := eval[int](t, b,
		`(() => { const [of, how] = document.querySelectorAll('#two select'); of.selectedIndex = 1; how.selectedIndex = 5; of.dispatchEvent(new Event('input', {bubbles: true})); return document.querySelectorAll('#cases tbody tr').length })()`)
	require.Positive(t, n)
	require.True(t,
		eval[bool](t, b,
			`Array.from(document.querySelectorAll('#cases tbody tr'), r => r.cells[2].textContent !== r.cells[3].textContent).every(Boolean)`))
	to := eval[string](t, b, "document.querySelector('#cases tbody a').getAttribute('href')")
	eval[bool](t, b, "document.querySelector('#cases tbody a').click() || true")
	file, anchor, _ := strings.Cut(to, "#")
	id, _, _ := strings.Cut(anchor, "?")
	b.arrive(t, file)
	id, err = url.PathUnescape(id)
	require.NoError(t, err)
	require.Equal(t, id, eval[string](t, b, "document.querySelector('#case h2').textContent"))
	require.Equal(t, 2, eval[int](t, b, "document.querySelectorAll('#case .card').length"))
	require.NoError(t, chromedp.Do(b.ctx, chromedp.KeyEvent("j")))
	require.NotEqual(t, id, eval[string](t, b, "document.querySelector('#case h2').textContent"))
}

// A bad case's page: what it violates in words, its lines that its nearest good has
// not, the difference, and each answer with its prompt and what it cost.
func TestACaseInABrowser(t *testing.T) {
	b := browser(t)
	in := sample(t)
	in.Prompts = map[string]string{"evaluation-prompt": "Judge it."}
	dir := t.TempDir()
	_, err := report.WriteSite(dir, in)
	require.NoError(t, err)
	var bads []*audit.Case // of one file, and of a change to several
	for _, a := range in.Apps {
		for _, f := range a.Families {
			for _, c := range f.Cases {
				if c.Label == audit.Bad && len(c.Violates) > 0 &&
					(audit.SplitBlocks(c.Language, c.Code) != nil) == (len(bads) == 1) &&
					len(bads) < 2 {
					bads = append(bads, c)
				}
			}
		}
	}
	require.Len(t, bads, 2)
	for _, bad := range bads {
		b.open(t, filepath.Join(dir, "cases", bad.App+".html")+"#"+url.PathEscape(bad.ID()), 1440)
		text := eval[string](t, b, "document.querySelector('#case').textContent")
		require.Contains(t, text, "What it violates")
		require.Contains(t, text, bad.Description)
		code := eval[string](t, b,
			"Array.from(document.querySelectorAll('#case .code > span'), l => l.textContent.slice(String(l.querySelector('.ln').textContent).length)).join('')")
		require.Equal(t, strings.TrimRight(bad.Code, "\n"), strings.TrimRight(code, "\n"),
			"the code, character for character")
		require.Equal(t, len(audit.SplitBlocks(bad.Language, bad.Code)),
			eval[int](t, b, "document.querySelectorAll('#case .code > .file').length"))
		require.Positive(t, eval[int](t, b, "document.querySelectorAll('#case .flaw').length"))
		require.Positive(t,
			eval[int](t, b,
				"document.querySelectorAll('#case .diff .minus, #case .diff .plus').length"))
		require.Contains(t, text, "900 tokens in, 80 out")
		require.Contains(t, text, "0.0003 USD")
		eval[bool](t, b,
			"(() => { const d = Array.from(document.querySelectorAll('.card details')).find(d => d.textContent.includes('prompt')); d.open = true; return new Promise(r => setTimeout(() => r(true))) })()")
		sent := eval[string](t, b,
			"Array.from(document.querySelectorAll('.card details')).find(d => d.open).querySelector('.words').textContent")
		var spec *audit.Spec
		for _, a := range in.Apps {
			if a.App == bad.App {
				spec = a.Spec
			}
		}
		require.Equal(t, auditor.Prompt(audit.ReviewTask{Spec: spec.Prompt, Prompt: "Judge it.",
			Language: bad.Language, Code: bad.Code}), sent, "as a reviewer is sent it")
	}
}

// A project's page: choices, rows that open with their source, links to the pin, and
// a link that leads to one entry.
func TestAProjectInABrowser(t *testing.T) {
	b := browser(t)
	in := sample(t)
	in.Source = func(project, path string) ([]byte, error) {
		return []byte(strings.Repeat("a line of source\n", 900)), nil
	}
	key := in.Projects["go-test-bench"]
	last := key.Vulnerabilities[len(key.Vulnerabilities)-1]
	in.Records[2].Judgement.Lost = []score.EntryChange{{ID: last.ID}}
	dir := t.TempDir()
	_, err := report.WriteSite(dir, in)
	require.NoError(t, err)
	file := filepath.Join(dir, "projects", "go-test-bench.html")
	b.open(t, file+"#"+last.ID, 1440)
	require.Equal(t, last.ID, eval[string](t, b, "document.querySelector('#known tr.here').id"),
		"whatever page of the table it is on")
	href := eval[string](t, b, "document.querySelector('#known tr.here a').href")
	require.True(t,
		strings.HasPrefix(href, "https://github.com/Contrast-Security-OSS/go-test-bench/blob/"+
			key.Commit+"/"+last.File), href)
	require.Contains(t,
		eval[string](t, b,
			"new Promise(r => setTimeout(() => r(document.querySelector('#known tr.here pre.source').textContent)))"), "a line of source")
	require.Positive(t,
		eval[int](t, b, "document.querySelectorAll('#known tr.here .entry').length"))

	b.open(t, filepath.Join(dir, "index.html"), 1440)
	b.open(t, file+"#known?since the baseline=lost", 1440)
	require.Equal(t, fmt.Sprintf("1 of %d", len(key.Vulnerabilities)), b.told(t, "known"),
		"although nothing was gained")
	sarif := func(table string) []audit.Finding {
		text := eval[string](t, b, `(() => { let got; const make = URL.createObjectURL; URL.createObjectURL = (blob) => { got = blob; return make(blob) };
			Array.from(document.querySelectorAll('nav[data-table=`+table+`] .downloads button')).find(b => b.textContent === 'SARIF').click(); return got.text() })()`)
		r, err := findings.Read("page.sarif", strings.NewReader(text), findings.ReadOptions{})
		require.NoError(t, err)
		return r.Findings
	}
	lost := sarif("known")
	require.Len(t, lost, 1)
	require.Equal(t, last.File, lost[0].File)
	require.Contains(t, lost[0].Description+lost[0].Title, last.Title)

	b.open(t, filepath.Join(dir, "index.html"), 1440)
	b.open(t, file+"#findings?counts as=open for review", 1440)
	require.True(t, eval[bool](t, b, "!document.querySelector('#all-findings').hidden"))
	require.Regexp(t, "^[1-9][0-9]* of ", b.told(t, "findings"))
	require.NotEmpty(t, sarif("findings"), "what is shown can be had as SARIF that is read back")
}

// One file holds the whole report, and its links lead from part to part.
func TestASingleFileInABrowser(t *testing.T) {
	b := browser(t)
	file := filepath.Join(t.TempDir(), "report.html")
	var out bytes.Buffer
	require.NoError(t, report.WriteSingle(&out, sample(t)))
	require.NoError(t, os.WriteFile(file, out.Bytes(), 0o600))
	b.open(t, file, 1440)
	require.Equal(t, "Overview", eval[string](t, b, "document.querySelector('h1').textContent"))
	follow := func(click, head string) {
		eval[bool](t, b, "document.querySelector("+strconv.Quote(click)+").click() || true")
		require.Eventually(t, func() bool {
			h, err := chromedp.Run(b.ctx,
				chromedp.Evaluate[string]("document.querySelector('h1').textContent"))
			return err == nil && h == head
		}, 30*time.Second, 20*time.Millisecond, head)
	}
	follow("header a[href='cases.html']", "Cases")
	app := eval[string](t, b, "document.querySelector('#cases tbody th').textContent.split('/')[0]")
	follow("#cases tbody a", app)
	follow("header a[href='auditors.html']", "Auditors")
	follow("#matrix tbody th a", "go-test-bench")
	require.False(t, eval[bool](t, b, "'pwned' in window"))
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(t, b.console)
}

// axe-core finds no fault, in light and dark. It is skipped where ./check has not
// fetched it.
func TestAccessible(t *testing.T) {
	axe, err := os.ReadFile("testdata/axe/node_modules/axe-core/axe.min.js")
	if err != nil {
		if os.Getenv("ASSAY_CHECK") == "1" {
			t.Fatalf("%v: ./check fetches axe-core", err)
		}
		t.Skip("axe-core is not here: ./check fetches it")
	}
	b := browser(t)
	dir := site(t)
	// Colours are all that differs in the dark, and what is shown at a phone's width.
	for _, look := range []struct {
		scheme, rules string
		width         int64
	}{
		{"light", `['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']`, 1440},
		{"light", `['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']`, 390},
		{"dark", `{type: 'rule', values: ['color-contrast']}`, 1440},
	} {
		b.scheme(t, look.scheme)
		for _, file := range pagesOf(t, dir) {
			b.open(t, file, look.width)
			eval[bool](t, b, string(axe)+"; true")
			// all tabs at once
			eval[bool](t, b,
				"document.querySelectorAll('[role=tabpanel]').forEach(s => { s.hidden = false }) || true")
			faults := eval[[]string](t, b, `axe.run(document, {runOnly: `+look.rules+
				`}).then(r => r.violations.map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(' | ')))`)
			require.Empty(t, faults, "%s, %s at %d", file, look.scheme, look.width)
		}
	}
}

// TestScreenshots writes pictures to look at, if ASSAY_IMAGES names a folder for them: each
// page with each of its tabs, light and dark, as wide as a desk and a phone. ASSAY_PAGES
// limits them to pages whose name begins so. report-overview is the picture of the documents.
func TestScreenshots(t *testing.T) {
	to := os.Getenv("ASSAY_IMAGES")
	if to == "" {
		t.Skip("ASSAY_IMAGES names no folder to write pictures to")
	}
	b := browser(t)
	in := realisticAudits(t)
	in.Results, in.Apps = realistic(t)
	in.Prompts = map[string]string{"evaluation-prompt": "Judge it."}
	dir := t.TempDir()
	_, err := report.WriteSite(dir, in)
	require.NoError(t, err)
	save := func(name string, take func() ([]byte, error)) {
		png, err := take()
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(to, name+".png"), png, 0o644))
	}
	for name, file := range map[string]string{"overview": "index.html", "auditors": "auditors.html",
		"project": "projects/vampi.html", "reviewers": "reviewers.html", "cases": "cases.html",
		"case": "cases/lettings.html#lettings%2Fapprove-quote-03-bad", "cost": "cost.html",
		"glossary": "glossary.html"} {
		if !strings.HasPrefix(name, os.Getenv("ASSAY_PAGES")) {
			continue
		}
		for _, scheme := range []string{"light", "dark"} {
			b.scheme(t, scheme)
			if name == "overview" && scheme == "light" {
				b.open(t, filepath.Join(dir, file), 1200)
				save("report-"+name,
					func() ([]byte, error) {
						return chromedp.Run(b.ctx,
							chromedp.CaptureScreenshot())
					})
			}
			for _, width := range []int64{1440, 390} {
				b.open(t, filepath.Join(dir, file), width)
				b.tabsOf(t, func(tab string) {
					save(fmt.Sprintf("%s-%d-%s-%s", name, width, scheme,
						strings.ReplaceAll(strings.ToLower(tab), " ", "-")),
						func() ([]byte, error) {
							return chromedp.Run(b.ctx,
								chromedp.FullScreenshot(100))
						})
				})
			}
		}
	}
}
