package report_test

import (
	"context"
	"io/fs"
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

	"assay/internal/report"
)

// A tab is a page in a real browser, with what it complained about and asked for.
type tab struct {
	ctx      context.Context
	mu       sync.Mutex
	requests []string
	console  []string
}

// browser starts chromium, or skips: ASSAY_CHECK=1 makes a machine without it a
// failure.
func browser(t *testing.T) *tab {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("ASSAY_CHECK") == "1" {
			t.Fatal("chromium is not installed: ./check installs it")
		}
		t.Skip("chromium is not installed")
	}
	if testing.Short() {
		t.Skip("-short: no browser is started")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.ExecPath(path))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 15*time.Minute) // a browser that hangs, however busy the machine
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
	require.NoError(t, chromedp.Do(b.ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+file)))
}

// arrive waits until a click has led to a page, and its script has run.
func (b *tab) arrive(t *testing.T, name string) {
	t.Helper()
	there := "document.readyState === 'complete' && location.pathname.endsWith(" + strconv.Quote("/"+name) + ")"
	require.Eventually(t, func() bool {
		ok, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool](there))
		return err == nil && ok
	}, 30*time.Second, 50*time.Millisecond, "the browser did not come to %s", name)
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

// pagesOf gives each kind of page of a site once.
func pagesOf(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	seen := map[string]int{}
	require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		require.NoError(t, err)
		require.Less(t, info.Size(), int64(report.MaxPage), name)
		kind := filepath.Dir(name)
		if seen[kind]++; kind == dir || seen[kind] <= 2 {
			files = append(files, name)
		}
		return nil
	}))
	return files
}

func site(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	index, err := report.WriteSite(dir, sample(t))
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "index.html"), index)
	return dir
}

// Every kind of page loads without a complaint or a request, and a payload that
// a model wrote stays text: at phone and desk width, light and dark.
func TestPagesInABrowser(t *testing.T) {
	b := browser(t)
	dir := site(t)
	for _, file := range pagesOf(t, dir) {
		for _, width := range []int64{360, 1600} {
			b.open(t, file, width)
			require.False(t, eval[bool](t, b, "'pwned' in window"), file)
			require.Zero(t, eval[int](t, b, "document.images.length"), file)
			require.Equal(t, 1, eval[int](t, b, "Array.from(document.scripts).filter(s => s.type !== 'application/json').length"), file)
			require.LessOrEqual(t, eval[int](t, b, "document.documentElement.scrollWidth"), int(width), "%s scrolls sideways at %d", file, width)
			for _, href := range eval[[]string](t, b, "Array.from(document.querySelectorAll('a[href]'), a => a.href).filter(h => h.startsWith('file:'))") {
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
	require.NotEmpty(t, b.requests, "the browser told of no request at all: the check above proves nothing")
}

func TestFiltersAndKeys(t *testing.T) {
	b := browser(t)
	dir := site(t)
	b.open(t, filepath.Join(dir, "cases.html"), 1600)
	shown := "Array.from(document.querySelectorAll('#cases tbody tr')).filter(r => !r.hidden).length"
	all := eval[int](t, b, shown)
	require.Positive(t, all)

	// "/" goes to the filter, typing filters, Escape clears.
	// The key alone: a browser drops the character of a key whose default is
	// prevented, and the protocol would send it all the same.
	_, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: "rawKeyDown", Key: "/", Code: "Slash"})
	require.NoError(t, err)
	require.Equal(t, "q", eval[string](t, b, "document.activeElement.name"))
	require.NoError(t, chromedp.Do(b.ctx, chromedp.KeyEvent("-01-good")))
	require.Equal(t, "-01-good", eval[string](t, b, "document.activeElement.value"))
	some := eval[int](t, b, shown)
	require.Positive(t, some)
	require.Less(t, some, all)
	require.Contains(t, eval[string](t, b, "document.querySelector('form.filter output').textContent"), " of ")
	require.NoError(t, chromedp.Do(b.ctx, chromedp.KeyEvent("\x1b")))
	require.Equal(t, all, eval[int](t, b, shown))

	// A choice.
	bad := eval[int](t, b, `(() => { const s = document.querySelector('select[name=label]'); s.value = 'bad'; s.dispatchEvent(new Event('input', {bubbles: true})); return `+shown+` })()`)
	require.Positive(t, bad)
	require.Less(t, bad, all)

	// Sorting, by the keyboard.
	require.NoError(t, chromedp.Do(b.ctx, chromedp.KeyEvent("\x1b")))
	eval[bool](t, b, "document.querySelectorAll('#cases thead button')[3].focus() || true")
	require.NoError(t, chromedp.Do(b.ctx, chromedp.KeyEvent("\r")))
	require.Equal(t, "ascending", eval[string](t, b, "document.querySelectorAll('#cases thead th')[3].getAttribute('aria-sort')"))
	require.True(t, eval[bool](t, b, `(() => { const v = Array.from(document.querySelectorAll('#cases tbody tr'), r => parseFloat(r.cells[3].dataset.sort)).filter(x => !Number.isNaN(x)); return v.every((x, i) => i === 0 || v[i-1] <= x) && v[0] < v[v.length-1] })()`))
}

// What a filter finds on other pages of the same list is named and linked, and the
// link brings the words along.
func TestSearchAcrossPages(t *testing.T) {
	b := browser(t)
	dir := t.TempDir()
	in := sample(t)
	in.Results = manyReviewers(t, 95, 4)
	_, err := report.WriteSite(dir, in)
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(dir, "cases-2.html"))
	b.open(t, filepath.Join(dir, "cases.html"), 1600)
	last := eval[string](t, b, "(() => { const i = JSON.parse(document.getElementById('index').textContent); return i[i.length-1].rows.at(-1).split(' ')[0] })()")
	find := func(words string) {
		eval[bool](t, b, `(() => { const q = document.querySelector('input[name=q]'); q.value = `+strconv.Quote(words)+`; q.dispatchEvent(new Event('input', {bubbles: true})); return true })()`)
	}
	find(last)
	require.Equal(t, "0 of 94, and 1 on other pages", eval[string](t, b, "document.querySelector('form.filter output').textContent"))
	eval[bool](t, b, "document.querySelector('#elsewhere a').click() || true")
	b.arrive(t, "cases-2.html")
	require.Equal(t, last, eval[string](t, b, "Array.from(document.querySelectorAll('#cases tbody tr')).filter(r => !r.hidden).map(r => r.cells[0].textContent).join()"))
	find("") // no words: nothing is listed
	require.True(t, eval[bool](t, b, "document.getElementById('elsewhere').hidden"))
	find("bad")
	require.Equal(t, 50, eval[int](t, b, "document.querySelectorAll('#elsewhere li').length"))
	require.Contains(t, eval[string](t, b, "document.querySelector('form.filter output').textContent"), "of which 50 are listed")

	// The families of the bench page lead to their cases.
	b.open(t, filepath.Join(dir, "bench.html"), 1600)
	family := eval[string](t, b, "document.querySelector('#families tbody a').textContent")
	eval[bool](t, b, "document.querySelector('#families tbody a').click() || true")
	b.arrive(t, "cases.html")
	require.Equal(t, family+"-", eval[string](t, b, "document.querySelector('input[name=q]').value"))
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
	// Colours are all that differs in the dark.
	for scheme, rules := range map[string]string{"light": `['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']`, "dark": `{type: 'rule', values: ['color-contrast']}`} {
		b.scheme(t, scheme)
		for _, file := range pagesOf(t, dir) {
			b.open(t, file, 1600)
			eval[bool](t, b, string(axe)+"; true")
			faults := eval[[]string](t, b, `axe.run(document, {runOnly: `+rules+`}).then(r => r.violations.map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(' | ')))`)
			require.Empty(t, faults, "%s, %s", file, scheme)
		}
	}
}

// The README's pictures. ASSAY_IMAGES names the folder that they are written to.
func TestScreenshots(t *testing.T) {
	to := os.Getenv("ASSAY_IMAGES")
	if to == "" {
		t.Skip("ASSAY_IMAGES names no folder to write pictures to")
	}
	b := browser(t)
	in := sampleSaying(t, "thorough")
	in.Results, in.Apps = realistic(t)
	dir := t.TempDir()
	_, err := report.WriteSite(dir, in)
	require.NoError(t, err)
	for name, file := range map[string]string{"report-overview": "index.html", "report-project": "projects/go-test-bench.html", "report-bench": "bench.html"} {
		b.open(t, filepath.Join(dir, file), 1200)
		png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(to, name+".png"), png, 0o644))
	}
}
