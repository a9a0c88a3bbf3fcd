package suite

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
	"assay/internal/report"
)

type summary struct {
	mu    sync.Mutex
	lines []line
	known []line // of Regression: recorded auditors to compare with, the best first
	on    string // that known is about: "13 projects"
	notes []string
	next  []step
	last  step     // the command that shows all of it
	heads []string // lines above the tables: which earlier trials the figures hold
}

// A line is a row of the summary: a variant on all of its targets, or on one of them.
type line struct {
	suite   string   // "Smoke", "Regression", "Bench"
	who     string   // auditor or reviewer
	about   string   // the one target of the row; empty for all of them
	whole   string   // all of them: "4 projects"
	n       int      // trials that count; 0 where it is not shown
	figures []string // in the order of the suite's metrics
	verdict audit.Verdict
	cause   string // the reason of the verdict
	next    string // the command that decides or explains it
	since   since  // of the headline figure
	kind    kind
	used    []string // below usedHeads; nil where nothing was asked now
}

// A kind says what a row is about.
type kind int

const (
	rowLive    kind = iota // asked now
	rowReplay              // a recording, as recorded or changed
	rowControl             // reads no code
)

type since struct{ baseline, change string }

// sinceBaseline returns the headline's value, and its change since the baseline.
func sinceBaseline(metric string, reasons []score.Reason) (now score.Value, s since) {
	for i := range reasons {
		g := &reasons[i]
		if g.Metric != metric || !g.Now.Defined {
			continue
		}
		if now = g.Now; !g.Compares() {
			continue
		}
		if s.baseline = score.Show(metric, g.Baseline); g.Baseline.Defined {
			s.change = points(g.Baseline, g.Now)
		}
		return now, s
	}
	return now, s
}

// points returns how far a share moved, in percentage points with their sign.
func points(was, is score.Value) string {
	d := fmt.Sprintf("%+.1f", 100*(is.V-was.V))
	if d == "-0.0" || d == "+0.0" {
		return "0.0"
	}
	return d
}

type step struct{ to, command string }

type column struct {
	head string
	rank rank
	of   func(*line) string
}

type rank int

const (
	everywhere rank = iota
	wide            // on a screen that has room for it
	roomy           // on one that has more room
	detailed        // with -v and in Markdown alone
)

// columns returns those of a suite, the headline figure before the others.
func columns(suite string) []column {
	who, about := "auditor", "project"
	names, headline := []string{"found", "checks"}, 0
	switch suite {
	case "Regression":
		names = score.Names(score.Main(score.AuditMetrics()))
	case "Bench":
		who, about, names, headline = "reviewer", "application", score.Names(score.Main(score.BenchMetrics())), 1
	}
	cs := []column{
		{"", everywhere, func(l *line) string { return string(l.verdict) }},
		{who, everywhere, func(l *line) string { return l.who }},
		{about, wide, func(l *line) string { return cmp.Or(l.about, l.whole) }},
		{"n", everywhere, func(l *line) string { return strings.TrimPrefix(fmt.Sprint(l.n), "0") }},
		figure(names, headline, everywhere),
		{"baseline", roomy, func(l *line) string { return l.since.baseline }},
		{"change", everywhere, func(l *line) string { return l.since.change }},
	}
	for i := range names {
		if i != headline {
			cs = append(cs, figure(names, i, [...]rank{roomy, roomy, detailed, detailed}[i]))
		}
	}
	for i, head := range usedHeads {
		cs = append(cs, column{head, [...]rank{everywhere, detailed, detailed, wide}[i],
			func(l *line) string {
				if l.used == nil {
					return ""
				}
				return l.used[i]
			}})
	}
	return cs
}

func figure(names []string, i int, r rank) column {
	return column{names[i], r, func(l *line) string {
		if i < len(l.figures) {
			return l.figures[i]
		}
		return ""
	}}
}

// grid returns the cells of lines without empty columns and those beyond the rank.
func grid(suite string, lines []*line, most rank) (heads []string, cells [][]string) {
	cells = make([][]string, len(lines))
	for _, c := range columns(suite) {
		if c.rank > most ||
			!slices.ContainsFunc(lines, func(l *line) bool { return c.of(l) != "" }) {
			continue
		}
		heads = append(heads, c.head)
		for i, l := range lines {
			cells[i] = append(cells[i], c.of(l))
		}
	}
	return heads, cells
}

// add adds a row.
func (s *summary) add(l line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, l)
}

// note adds a note.
func (s *summary) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// first adds a line above the tables.
func (s *summary) first(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heads = append(s.heads, fmt.Sprintf(format, args...))
}

// do adds a command that is printed at the end.
func (s *summary) do(to, command string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.next, step{to, command}) {
		s.next = append(s.next, step{to, command})
	}
}

// print adds the tables as Markdown to the file that GITHUB_STEP_SUMMARY names.
func (s *summary) print(w io.Writer, v view) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.show(w, v)
	if name := os.Getenv("GITHUB_STEP_SUMMARY"); name != "" && len(s.lines) > 0 {
		f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err == nil {
			_, err = f.WriteString(s.markdown())
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			fmt.Fprintln(w, "the summary for GITHUB_STEP_SUMMARY was not written:", err)
		}
	}
}

// urgency orders verdicts, the gravest first.
func urgency(v audit.Verdict) int {
	switch v {
	case audit.Invalid:
		return 0
	case audit.Fail, score.Changed:
		return 1
	case audit.Warn:
		return 2
	}
	return 3
}

// rows returns the rows of a suite: the variants with the gravest verdict first, and of each
// the row of all targets before those of one.
func (s *summary) rows(suite string) []*line {
	var rows []*line
	worst := map[string]int{}
	for i := range s.lines {
		l := &s.lines[i]
		if l.suite == suite {
			rows = append(rows, l)
			if u, ok := worst[l.who]; !ok || urgency(l.verdict) < u {
				worst[l.who] = urgency(l.verdict)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b *line) int {
		return cmp.Or(cmp.Compare(worst[a.who], worst[b.who]), cmp.Compare(a.kind, b.kind),
			cmp.Compare(a.who, b.who), cmp.Compare(min(1, len(a.about)), min(1, len(b.about))),
			cmp.Compare(urgency(a.verdict), urgency(b.verdict)), cmp.Compare(a.cause, b.cause),
			cmp.Compare(a.about, b.about))
	})
	return rows
}

var suiteNames = []string{"Smoke", "Regression", "Bench"}

// markdown returns the summary as Markdown.
func (s *summary) markdown() string {
	var f strings.Builder
	row := func(cells []string) {
		for i, c := range cells {
			cells[i] = report.Mark(c)
		}
		fmt.Fprintf(&f, "| %s |\n", strings.Join(cells, " | "))
	}
	for _, suite := range suiteNames {
		all := s.rows(suite)
		if len(all) == 0 {
			continue
		}
		rows := slices.DeleteFunc(slices.Clone(all), (*line).asRecorded)
		fmt.Fprintf(&f, "\n### %s\n", suite)
		if heads, cells := grid(suite, rows, detailed); len(rows) > 0 {
			heads[0] = "verdict"
			fmt.Fprintln(&f)
			row(append(heads, "look first at"))
			fmt.Fprintf(&f, "|%s\n", strings.Repeat("---|", len(heads)+1))
			for i, l := range rows {
				row(append(cells[i], l.cause))
			}
		}
		if n := recorded(all); n != "" {
			fmt.Fprintf(&f, "\n%s\n", n)
		}
	}
	return f.String()
}

// asRecorded reports whether the row is of a replay that came out as recorded.
func (l *line) asRecorded() bool { return l.kind == rowReplay && l.verdict == score.AsRecorded }

var usedHeads = []string{"cost", "tokens", "turns", "time"}

// usedBy returns the cells of usedHeads for live trials together; nil without any.
func usedBy(trials []record.RecordedTrial) []string {
	if len(trials) == 0 {
		return nil
	}
	sum, seconds, _ := (&record.Record{Trials: trials}).Consumed()
	return used(sum, seconds)
}

// used returns the cells of usedHeads, with a dash for what is unknown.
func used(u audit.Usage, seconds float64) []string {
	cells := []string{"-", "-", "-", span(time.Duration(seconds * float64(time.Second)))}
	switch {
	case u.Priced:
		cells[0] = score.Dollars(u.USD)
	case u.USD > 0:
		cells[0] = "at least " + score.Dollars(u.USD)
	}
	if n := u.TokensIn + u.TokensOut; n > 0 {
		cells[1] = short(n)
	}
	if u.Turns > 0 {
		cells[2] = fmt.Sprint(u.Turns)
	}
	return cells
}

// span returns a duration like 1h19m, 12m3s or 4.2s.
func span(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	case d >= time.Minute:
		return d.Round(time.Second).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// short returns a count with at most three digits: 950, 41K, 1.2M.
func short(n int64) string {
	switch {
	case n >= 9_950_000:
		return fmt.Sprintf("%.0fM", float64(n)/1e6)
	case n >= 995_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.0fK", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

// recorded returns a line that counts the replays that are as recorded; "" for none.
func recorded(rows []*line) string {
	n, who := 0, map[string]bool{}
	for _, l := range rows {
		if l.asRecorded() {
			n++
			who[l.who] = true
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("as recorded: %s of %s", plural(n, "recording"), plural(len(who), "auditor"))
}
