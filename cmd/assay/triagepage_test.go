package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/suite"
)

// TestTriageOnAPhone: the page of triage fits 390 pixels in a real browser, has the style of
// reports, and shows the code of a clone that is at hand.
func TestTriageOnAPhone(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: no browser is started")
	}
	path, err := exec.LookPath("chromium")
	if errors.Is(err, exec.ErrNotFound) && os.Getenv("ASSAY_CHECK") != "1" {
		t.Skip("chromium is not installed")
	}
	require.NoError(t, err)

	repo, cache := t.TempDir(), t.TempDir()
	git := func(args ...string) string {
		cmd := exec.Command("git",
			append([]string{"-C", repo, "-c", "user.name=a", "-c", "user.email=a@example.com"},
				args...)...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return strings.TrimSpace(string(out))
	}
	require.NoError(t, os.WriteFile(filepath.Join(repo, "a.go"),
		[]byte("package a\n\nfunc f() { run(input) } // "+strings.Repeat("wide ", 60)+"\n"), 0o644))
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "a")
	p := &audit.Project{Name: "shop", Title: "Shop", Commit: git("rev-parse", "HEAD"),
		Tree: audit.Tree{"a.go": {Path: "a.go", Lines: 3}}}
	t.Setenv("ASSAY_CACHE", cache)
	require.Nil(t, suite.Held(t.Context(), p), "no clone is at hand")
	git("clone", "-q", "--bare", repo, filepath.Join(cache, "shop-"+p.Commit[:12]+".git"))
	clone := suite.Held(t.Context(), p)
	require.NotNil(t, clone)

	finding := score.Scored{Path: "a.go", Finding: audit.Finding{CWEs: []audit.CWE{78},
		File: "a.go", Lines: audit.Range{Start: 3, End: 3}, Title: "input runs"}}
	s := &sitting{triage: &triage{project: p, by: "a reader", to: io.Discard,
		source: func(name string) ([]byte, error) { return clone.File(t.Context(), name) }},
		l: &loopback{token: "token"}, out: filepath.Join(t.TempDir(), "shop.reviews.md"),
		open: []score.Scored{finding}, skipped: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.show)
	mux.HandleFunc("POST /rule", s.rule)
	server := httptest.NewServer(mux)
	defer server.Close()

	ctx, stop := chromedp.NewExecAllocator(context.Background(),
		append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox,
			chromedp.ExecPath(path))...)
	defer stop()
	ctx, cancel := chromedp.NewContext(ctx)
	defer cancel()
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(390, 900),
		chromedp.Navigate(server.URL)))
	eval := func(js string) string {
		v, err := chromedp.Run(ctx, chromedp.Evaluate[string](js))
		require.NoError(t, err, js)
		return v
	}
	require.Equal(t, "390", eval("String(document.documentElement.scrollWidth)"),
		"nothing is wider than the screen")
	require.Equal(t, "t true f false a arguable s skip",
		eval("Array.from(document.querySelectorAll('.rule button')).filter(b => b.getBoundingClientRect().left >= 0).map(b => b.textContent).join(' ')"))
	require.Contains(t, eval("document.querySelector('pre.source .finding').textContent"),
		"func f() { run(input) }")
	require.NotEqual(t, "",
		eval("getComputedStyle(document.documentElement).getPropertyValue('--panel')"),
		"the style of reports")
	require.NotEqual(t, eval("getComputedStyle(document.body).backgroundColor"),
		eval("getComputedStyle(document.querySelector('header.top')).backgroundColor"))
	if to := os.Getenv("ASSAY_IMAGES"); to != "" {
		png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(to, "triage-390.png"), png, 0o644))
	}
}
