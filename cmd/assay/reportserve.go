package main

import (
	"context"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"assay/audit"
	"assay/internal/report"
	"assay/internal/store"
)

// A following serves a report while its run goes on: pages request /made every two seconds, and
// the report is made again if what it shows has changed.
type following struct {
	cmd   *reportCmd
	mu    sync.Mutex
	of    string // state of records and results that the pages show
	made  string
	pages map[string][]byte
}

// serve serves the report until ctx ends.
func (c *reportCmd) serve(ctx context.Context) error {
	l, err := listen(c.Serve)
	if err != nil {
		return err
	}
	return l.serve(ctx, &following{cmd: c}, os.Stdout)
}

// ServeHTTP serves a page of the report.
func (f *following) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.state(time.Now()); now != f.of || f.pages == nil {
		// who leaves does not leave others half a report
		f.make(context.WithoutCancel(r.Context()), now)
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

// make makes the pages. If nothing can be shown yet, a page says so and checks again.
func (f *following) make(ctx context.Context, state string) {
	in, err := f.cmd.input(ctx)
	var pages map[string][]byte
	if err == nil {
		pages, err = report.Pages(*in)
	}
	if err != nil {
		pages = map[string][]byte{"index.html": []byte(
			`<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="2"><title>Assay</title><h1>Nothing to show yet</h1><p>` + html.EscapeString(err.Error()))}
		state = "" // it is tried again
	} else {
		f.made = in.Made.UTC().Format(time.RFC3339Nano)
	}
	f.of, f.pages = state, pages
}

// unseen is how long pages of results in PostgreSQL are kept, since no file shows their
// changes.
const unseen = 10 * time.Second

// state returns names, sizes and times of records and results; it differs if they have changed.
func (f *following) state(now time.Time) string {
	var b strings.Builder
	records, err := fs.Glob(os.DirFS(f.cmd.Records), "*.json")
	if err != nil {
		return err.Error()
	}
	for i, name := range records {
		records[i] = filepath.Join(f.cmd.Records, name)
	}
	for _, name := range append(records, f.cmd.DB, f.cmd.DB+"-wal") {
		if info, err := os.Stat(name); err == nil {
			fmt.Fprintln(&b, name, info.Size(), info.ModTime().UnixNano())
		}
	}
	if store.OfPostgres(f.cmd.DB) {
		fmt.Fprintln(&b, now.Truncate(unseen))
	}
	return b.String()
}

// ran describes the selected run, or the newest run of each suite.
func (c *reportCmd) ran(ctx context.Context, st store.Store) ([]report.Ran, error) {
	runs, err := st.Runs(ctx)
	if err != nil {
		return nil, err
	}
	var out []report.Ran
	seen := map[string]bool{}
	for _, r := range runs {
		if seen[r.Suite] || c.Run_ != "" && r.ID != c.Run_ {
			continue
		}
		seen[r.Suite] = true
		text := fmt.Sprintf("%s of %s UTC", r.Suite, r.Started.UTC().Format("2006-01-02 15:04:05"))
		switch {
		case r.State != "running":
			text += ": " + ended(&r)
		case c.Serve != "":
			done, err := soFar(ctx, st, &r)
			if err != nil {
				return nil, err
			}
			text += done
		default:
			text += fmt.Sprintf(", %d trials, has not ended", r.Planned)
		}
		out = append(out, report.Ran{State: r.State, Text: text})
	}
	return out, nil
}

// ended describes the outcomes of a run.
func ended(r *store.Run) string {
	parts := []string{fmt.Sprintf("%d trials", r.Planned)}
	if r.Suite == "Bench" {
		for _, o := range audit.Outcomes() {
			if n := r.Outcomes[o]; n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, o))
			}
		}
	}
	if r.Reused > 0 {
		parts = append(parts, fmt.Sprintf("%d answered by earlier runs", r.Reused))
	}
	if u := r.Usage; u.TokensIn+u.TokensOut > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens in, %d out", u.TokensIn, u.TokensOut))
	}
	if r.Usage.USD > 0 {
		parts = append(parts, fmt.Sprintf("%.2f USD", r.Usage.USD))
	}
	if took := r.Ended.Sub(r.Started); !r.Ended.IsZero() && took > 0 {
		parts = append(parts, took.Round(100*time.Millisecond).String())
	}
	return strings.Join(parts, ", ")
}

// soFar describes the trials of a run that goes on.
func soFar(ctx context.Context, st store.Store, r *store.Run) (string, error) {
	n, sum := 0, audit.Usage{}
	for ev, err := range st.Summaries(ctx, store.Query{Run: r.ID}) {
		if err != nil {
			return "", err
		}
		n++
		sum = sum.Add(ev.Usage)
	}
	text := fmt.Sprintf(", has not ended: %d of %d trials", n, r.Planned)
	if sum.USD > 0 {
		text += fmt.Sprintf(", %.2f USD", sum.USD)
	}
	if asked := n - r.Reused; asked > 0 && n < r.Planned {
		left := time.Duration(float64(time.Since(r.Started)) / float64(asked) * float64(r.Planned-n))
		text += ", about " + left.Round(time.Second).String() + " left at its rate so far"
	}
	return text, nil
}
