package suite

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"assay/audit"
	"assay/audit/score"
)

// farFuture is the time of the file that keeps runs out of go test's cache.
var farFuture = time.Now().AddDate(1, 0, 0)

// A summary collects the lines that close a run: a line for each project and
// auditor, a line for each reviewer and application.
type summary struct {
	mu    sync.Mutex
	lines []line
	notes []string
}

// A line is one row of the summary.
type line struct {
	suite   string   // "Smoke", "Regression", "Bench"
	cells   []string // who first; of Regression then the project
	verdict audit.Verdict
	look    string   // what to look at first; empty where there is nothing
	replay  bool     // a recording: one line a suite tells all that are as recorded
	used    consumed // by live trials
	detail  bool     // shown with -v and in the report alone
}

// heads are the columns of each suite's table.
var heads = map[string][]string{
	"Smoke":      {"auditor", "found", "checks"},
	"Regression": append([]string{"auditor", "project"}, score.Names(score.Main(score.AuditMetrics()))...),
	"Bench":      append([]string{"reviewer", "application"}, score.Names(score.Main(score.BenchMetrics()))...),
}

func (s *summary) add(l line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, l)
}

// note adds a sentence that stands below the tables.
func (s *summary) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// print writes what is live, what changed and what to look at first; with all,
// the details too. Where GITHUB_STEP_SUMMARY names a file, the same stands there as
// Markdown.
func (s *summary) print(w io.Writer, all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, suite := range []string{"Smoke", "Regression", "Bench"} {
		s.table(w, suite, all)
	}
	for _, n := range s.notes {
		fmt.Fprintln(w, n)
	}
	if name := os.Getenv("GITHUB_STEP_SUMMARY"); name != "" && len(s.lines) > 0 {
		if err := s.markdown(name); err != nil {
			fmt.Fprintln(w, "the summary for GITHUB_STEP_SUMMARY was not written:", err)
		}
	}
}

// table writes one suite: a line for the recordings that are as recorded, a row
// for each other, and below it what to look at.
func (s *summary) table(w io.Writer, suite string, all bool) {
	shown, recorded := []line{}, 0
	for _, l := range s.rows(suite) {
		switch {
		case l.replay && l.verdict == score.AsRecorded && !all:
			recorded++
		case !l.detail || all:
			shown = append(shown, l)
		}
	}
	if recorded > 0 {
		fmt.Fprintf(w, "\n%-10s  %d recordings as recorded\n", strings.ToUpper(suite), recorded)
	}
	if len(shown) == 0 {
		return
	}
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(first string, verdict any, cells []string) {
		if !slices.ContainsFunc(shown, func(l line) bool { return l.cells[1] != "all" }) {
			cells = slices.Delete(slices.Clone(cells), 1, 2) // a column that says "all" in each row says nothing
		}
		fmt.Fprintf(tw, "%s\t%v\t%s\n", first, verdict, strings.Join(cells, "\t"))
	}
	row("\n"+strings.ToUpper(suite), "verdict", heads[suite])
	for _, l := range shown {
		row("", l.verdict, l.cells)
	}
	tw.Flush()
	table := strings.Split(strings.Trim(trimLines(b.String()), "\n"), "\n")
	fmt.Fprintf(w, "\n%s\n", table[0])
	for i, l := range shown {
		fmt.Fprintln(w, table[i+1])
		if l.look != "" && l.verdict != audit.Pass {
			fmt.Fprintf(w, "%12s%s\n", "", l.look)
		}
		for _, used := range l.used.lines(all) {
			fmt.Fprintf(w, "%12s%s\n", "", used)
		}
	}
}

// trimLines takes the blanks from the ends of lines that tabwriter pads.
func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// lookAt tells a reason in a few words, for the last column of a table.
func lookAt(g score.Reason) string {
	if g.Metric == "" || !g.Now.Defined || !g.Want.Defined {
		return audit.OneLine(g.Text, 90)
	}
	what := g.Metric
	if g.About != "" {
		what += " of " + g.About
	}
	switch g.Code {
	case score.CodeChance:
		if g.Now.V == 0 {
			return "nothing of the key was found"
		}
		return fmt.Sprintf("%s %s, by chance up to %s", what, score.Show(g.Metric, g.Now), score.Show(g.Metric, g.Want))
	case score.CodeReview:
		return fmt.Sprintf("%s: review %d more findings", what, g.More)
	}
	return fmt.Sprintf("%s %s, goal %s", what, score.Show(g.Metric, g.Now), score.Show(g.Metric, g.Want))
}

func (s *summary) rows(suite string) []line {
	var rows []line
	for _, l := range s.lines {
		if l.suite == suite {
			rows = append(rows, l)
		}
	}
	// Subtests end in any order: the table has one of its own.
	slices.SortStableFunc(rows, func(a, b line) int { return slices.Compare(a.cells[:2], b.cells[:2]) })
	return rows
}

func (s *summary) markdown(name string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, suite := range []string{"Smoke", "Regression", "Bench"} {
		rows := s.rows(suite)
		if len(rows) == 0 {
			continue
		}
		columns, live := heads[suite], slices.ContainsFunc(rows, func(l line) bool { return len(l.used.trials) > 0 })
		if live {
			columns = slices.Concat(columns, consumedHeads)
		}
		fmt.Fprintf(f, "\n### %s\n\n| verdict | %s | look first at |\n|%s\n", suite, strings.Join(columns, " | "),
			strings.Repeat("---|", len(columns)+2))
		recorded := 0
		for _, l := range rows {
			if l.replay && l.verdict == score.AsRecorded {
				recorded++
				continue
			}
			cells := append([]string{string(l.verdict)}, l.cells...)
			if live {
				cells = append(cells, l.used.cells()...)
			}
			cells = append(cells, l.look)
			for i, c := range cells {
				cells[i] = strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(c)
			}
			fmt.Fprintf(f, "| %s |\n", strings.Join(cells, " | "))
		}
		if recorded > 0 {
			fmt.Fprintf(f, "\n%d recordings as recorded\n", recorded)
		}
	}
	return nil
}
