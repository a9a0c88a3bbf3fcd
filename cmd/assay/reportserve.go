package main

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"assay/internal/report"
	"assay/internal/store"
)

// A following is a report that is served while its run goes on. Pages ask for /made
// every two seconds; what the report is made of is looked at then, and the report is
// made anew where it changed.
type following struct {
	cmd   *reportCmd
	mu    sync.Mutex
	of    string // state of records and results that the pages show
	made  string
	pages map[string][]byte
}

func (c *reportCmd) serve(ctx context.Context) error {
	l, err := listen(c.Serve)
	if err != nil {
		return err
	}
	return l.serve(ctx, &following{cmd: c}, os.Stdout)
}

// ServeHTTP gives a page, made anew where what it shows has changed.
func (f *following) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.state(); now != f.of || f.pages == nil {
		f.make(context.WithoutCancel(r.Context()), now) // who leaves does not leave others half a report
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "made" {
		fmt.Fprint(w, f.made)
		return
	}
	if name == "" {
		name = "index.html"
	}
	page, ok := f.pages[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(page)
}

// make makes the pages. What cannot be shown yet is said on a page that looks again.
func (f *following) make(ctx context.Context, state string) {
	in, err := f.cmd.input(ctx)
	var pages map[string][]byte
	if err == nil {
		pages, err = report.Pages(*in)
	}
	if err != nil {
		pages = map[string][]byte{"index.html": []byte(`<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="2"><title>Assay</title><h1>Nothing to show yet</h1><p>` + html.EscapeString(err.Error()))}
		state = "" // it is tried again
	} else {
		f.made = in.Made.UTC().Format(time.RFC3339Nano)
	}
	f.of, f.pages = state, pages
}

// state tells records and results apart from what they were: names, sizes, times.
func (f *following) state() string {
	names, err := filepath.Glob(filepath.Join(f.cmd.Records, "*.json"))
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, name := range append(names, f.cmd.DB, f.cmd.DB+"-wal") {
		if info, err := os.Stat(name); err == nil {
			fmt.Fprintln(&b, name, info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

// running tells in words of the newest run, where it has not ended.
func running(ctx context.Context, st store.Store) ([]string, error) {
	runs, err := st.Runs(ctx)
	if err != nil || len(runs) == 0 || runs[0].State != "running" {
		return nil, err
	}
	n, usd := 0, 0.0
	for ev, err := range st.Summaries(ctx, store.Query{Run: runs[0].ID}) {
		if err != nil {
			return nil, err
		}
		n++
		usd += ev.Usage.USD
	}
	suite := runs[0].Suite
	if suite == "" {
		suite = "Bench"
	}
	return []string{fmt.Sprintf("%s, begun %s UTC, has not ended: %d of %d trials, %.2f USD", suite, runs[0].Started.UTC().Format("15:04:05"), n, runs[0].Planned, usd)}, nil
}
