package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
	"assay/internal/report"
)

//go:embed triage/style.css
var triageRules string

// triageCSS is the style of reports, with what triage adds to it.
var triageCSS = report.Style() + triageRules

//go:embed triage/script.js
var triageJS string

//go:embed triage/page.html
var triageHTML string

var triagePage = template.Must(template.New("").Parse(triageHTML))

type choice struct{ Key, Text string }

var rulings = []choice{{"t", "true"}, {"f", "false"}, {"a", "arguable"}, {"s", "skip"}}

type sitting struct {
	*triage
	l       *loopback
	out     string
	mu      sync.Mutex
	open    []score.Scored
	skipped map[string]bool
}

// serve serves the findings as pages until ctx ends.
func (t *triage) serve(ctx context.Context, address string, rs []*record.Record, out string) error {
	l, err := listen(address)
	if err != nil {
		return err
	}
	s := &sitting{triage: t, l: l, out: out, open: report.Candidates(rs),
		skipped: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.show)
	mux.HandleFunc("POST /rule", s.rule)
	return l.serve(ctx, mux, t.to)
}

// left returns the findings that are still open.
func (s *sitting) left() []score.Scored {
	return slices.DeleteFunc(slices.Clone(s.open), func(c score.Scored) bool {
		return score.Ruled(s.project, s.dims, &c) || s.skipped[c.Fingerprint()]
	})
}

// show serves the page of the next finding.
func (s *sitting) show(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.left()
	page := map[string]any{"CSP": fmt.Sprintf(
		"default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; style-src '%s'; script-src '%s'", report.HashOf([]byte(triageCSS)), report.HashOf([]byte(triageJS))),
		"CSS": template.CSS(triageCSS), "JS": template.JS(triageJS), "Token": s.l.token,
		"Project": s.project.Title, "Out": s.out, "Open": len(left),
		"Ruled": len(s.project.Reviews)}
	if len(left) > 0 {
		c := &left[0]
		var near []choice
		for i, k := range report.Nearest(c, s.project) {
			near = append(near, choice{fmt.Sprint(i + 1), fmt.Sprintf("%s %s:%s %s", k.ID, k.File,
				k.Lines, k.Title)})
		}
		page["Of"], page["Shown"], page["Code"], page["Choices"], page["Near"] = c.Fingerprint(), report.Show(c), codeLines(s.code(c)), rulings, near
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err := triagePage.Execute(w, page); err != nil {
		fmt.Fprintln(s.to, err)
	}
}

type codeLine struct{ Class, Text string }

// codeLines returns the lines of report.Around with the class of those that are the finding's.
func codeLines(code string) (ls []codeLine) {
	for line := range strings.Lines(code) {
		class := ""
		if rest, ok := strings.CutPrefix(line, ">"); ok {
			class, line = "finding", " "+rest
		}
		ls = append(ls, codeLine{class, line})
	}
	return ls
}

// rule stores a ruling that was sent by the page.
func (s *sitting) rule(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.left()
	at := slices.IndexFunc(left,
		func(c score.Scored) bool { return c.Fingerprint() == r.FormValue("of") })
	if at < 0 {
		http.Error(w, "that finding is not open any more: open the page anew", http.StatusConflict)
		return
	}
	key := []rune(r.FormValue("key") + " ")[0]
	v, err := s.answer(&left[at], report.Nearest(&left[at], s.project), key)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case v == nil:
		s.skipped[left[at].Fingerprint()] = true
	default:
		if err := s.add(s.out, v); errors.Is(err, errNoRow) {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		} else if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}
}

var errNoKey = fmt.Errorf("that key rules nothing: expected t, f, a, s or the number of an entry")

// answer returns the row of a key, nil if the finding is skipped.
func (t *triage) answer(c *score.Scored, near []audit.Vulnerability, key rune) (*audit.FindingReview,
	error) {
	ruling, entry := audit.Ruling(""), ""
	switch {
	case key == 't':
		ruling = audit.RuledTrue
	case key == 'f':
		ruling = audit.RuledFalse
	case key == 'a':
		ruling = audit.RuledArguable
	case key >= '1' && int(key-'0') <= len(near):
		ruling, entry = audit.RuledSame, near[key-'1'].ID
	case key == 's':
		return nil, nil
	default:
		return nil, errNoKey
	}
	v := report.ReviewOf(c, t.project, ruling, entry, t.by, time.Now().UTC().Format(time.DateOnly))
	return &v, nil
}
