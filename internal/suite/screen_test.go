package suite

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
	"assay/internal/run"
)

// busy is a run of several agents on eleven projects, with failures, reviewers,
// recordings and a control.
func busy(agents int) *summary {
	s := &summary{last: step{"all of it, as pages", "go run ./cmd/assay report"}}
	verdicts := []audit.Verdict{audit.Fail, audit.Warn, audit.Pass, audit.Invalid}
	spent := func(seconds, usd float64) []string {
		return usedBy([]record.RecordedTrial{{Seconds: seconds,
			Usage: audit.Usage{USD: usd, Priced: true}}})
	}
	for a := range agents {
		who := fmt.Sprintf("agent-with-a-name-%d", a)
		s.add(line{suite: "Regression", who: who, whole: "11 projects", n: 33,
			verdict: verdicts[a%3],
			figures: []string{"61.2 % (52.3 to 70.1)", "60.1 % to 81.3 %"},
			since:   since{"70.1 %", "-8.9"},
			cause:   "recall 61.2 %, was 70.1 %: 9 points less. Chance does this to 0.01 % of unchanged auditors (limit 0.2 %) (and 8 more reasons: -v)",
			next:    "go test -run Regression -auditor " + who + " -trials 2 -add",
			used:    spent(4711, 31.4)})
		for p := range 11 {
			s.add(line{suite: "Regression", who: who, about: fmt.Sprintf("project-%02d", p), n: 3,
				verdict: verdicts[(a+p)%4],
				figures: []string{"41.2 %", "12.0 % to 34.0 %"}, cause: "a reason of its own",
				used: spent(61.5, 1.25)})
		}
	}
	for i := range 55 {
		s.add(line{suite: "Regression", who: "semgrep", about: fmt.Sprint("project-", i),
			verdict: score.AsRecorded, kind: rowReplay})
	}
	s.add(line{suite: "Regression", who: "vulnetix", whole: "3 projects", n: 3,
		verdict: score.Changed, kind: rowReplay,
		figures: []string{"12.3 % (4.0 to 30.1)", "40.0 % to 60.0 %"},
		cause:   "dvja: recall 12.3 %, was 13.0 % (and 2 more reasons: -v)"})
	for i := range 7 {
		s.known = append(s.known,
			line{suite: "Regression", who: fmt.Sprintf("recorded-agent-with-a-name-%d", i), n: 39,
				figures: []string{"61.2 % (52.3 to 70.1)", "79.9 % to 94.0 %"},
				used: []string{"$0.93",
					"", "", "2m41s"}})
	}
	s.on = "13 small projects"
	for _, who := range []string{"anthropic/claude-haiku-4.5 my-own-long-prompt", "gpt-4o-mini"} {
		s.add(line{suite: "Bench", who: who, n: 898, verdict: audit.Fail,
			figures: []string{"12.1 (10.0 to 14.2)", "87.9 % (85.8 to 90.0)", "70.1 %"},
			since:   since{"91.0 %", "-3.1"},
			cause:   "balanced accuracy 87.9 %, was 91.0 %; lost procurement/approve-po-03-bad, clinic/plan-shifts-06-bad, shop/list-01-good and 21 more",
			used:    used(audit.Usage{USD: 1.23, Priced: true}, 0)})
	}
	s.add(line{suite: "Bench", who: "control-words", kind: rowControl, n: 898, verdict: "control",
		figures: []string{"35.8 (31.9 to 39.8)", "50.1 % (47.0 to 53.4)", "1.1 %"}})
	s.note("Regression: $%.2f now, of the budget of $40.00", 31.4)
	return s
}

// TestTheSummaryFitsItsScreen: in every width no line is longer than the terminal but
// commands, which are to be copied, and no run takes more than 40 lines. Each live variant
// has one row, the gravest also its reason and its command, and what has no room is counted.
func TestTheSummaryFitsItsScreen(t *testing.T) {
	for _, width := range []int{60, 80, 100} {
		for _, agents := range []int{1, 3, 12} {
			var b strings.Builder
			busy(agents).print(&b, view{width: width, lines: screenLines})
			text := b.String()
			if os.Getenv("ASSAY_LOOK") != "" {
				fmt.Printf("== %d columns, %d agents\n%s", width, agents, text)
			}
			lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			rows := map[string]bool{}
			for _, l := range lines {
				require.False(t, rows[l] && width == 100 && !strings.HasPrefix(l, " ") &&
					l != "", "the row %q stands twice in\n%s", l, text)
				rows[l] = true
				if !strings.Contains(l, ": go ") {
					require.LessOrEqual(t, utf8.RuneCountInString(l), width, "%q in\n%s", l, text)
				}
			}
			require.LessOrEqual(t, len(lines), screenLines-2, "go test adds two:\n%s", text)
			one := strings.Join(strings.Fields(text), " ")
			require.Contains(t, one, "as recorded: 55 recordings of 1 auditor")
			require.Contains(t, one, "(limit 0.2 %)", "the reason is whole")
			require.Contains(t, one,
				"next: go test -run Regression -auditor agent-with-a-name-0 -trials 2 -add")
			require.NotContains(t, text, "project-0", "rows of single projects need -v")
			if width > 60 || agents < 12 {
				for a := range agents {
					row := regexp.MustCompile(fmt.Sprintf(
						`(?m)^(FAIL|WARN|PASS) +agent-with-a-name-%d\b`, a))
					require.Len(t, row.FindAllString(text, -1), 1, text)
				}
			} else {
				require.Regexp(t, `and \d+ more rows?: `, one)
			}
			if width == 100 && agents == 1 {
				require.Contains(t, text, "RECORDED on 13 small projects")
				require.Contains(t, text, "recorded-agent-with-a-name-6")
			}
		}
	}
}

// TestTheChangeSinceTheBaseline: the headline figure with its baseline, and how far it moved.
func TestTheChangeSinceTheBaseline(t *testing.T) {
	g := score.Reason{Code: score.CodeDrop, Verdict: audit.Fail, Metric: score.MetricRecall,
		Now: score.Of(0.612), Baseline: score.Of(0.701)}
	now, s := sinceBaseline(score.MetricRecall,
		[]score.Reason{{Code: score.CodeGoal, Metric: score.MetricPrecision, Now: score.Of(1)}, g})
	require.Equal(t, since{"70.1 %", "-8.9"}, s)
	require.Equal(t, score.Of(0.612), now)
	require.Equal(t, "0.0", points(score.Of(0.5), score.Of(0.5)))
	require.Equal(t, "+0.4", points(score.Of(0.5), score.Of(0.504)))
}

// TestProgressSaysWhy: what a run is at before its first trial, and on a long one
// rate, cost, time and the reason of a pause, which is forgotten in time.
func TestProgressSaysWhy(t *testing.T) {
	p := &progress{}
	p.say("fetching %s", "dvja")
	now := p.since
	require.Equal(t, "fetching dvja", p.line(now))
	require.Equal(t, "fetching dvja  1m5s", p.line(now.Add(65*time.Second)))

	ev := run.Event{Kind: run.Throttle, Text: "HTTP 429: slow down", State: run.State{Planned: 10,
		Retries: 3, Spent: 1, Expected: 5, Elapsed: 100 * time.Second}}
	ev.State.Add(audit.Good, audit.OutcomeErrored)
	ev.State.Add(audit.Bad, audit.OutcomeMalformed)
	p.plan(run.Estimate{Expected: 5, Unpriced: []string{"m"}})
	p.event(ev)
	require.Contains(t, p.line(p.at), "1.2/min  $1.00  1m40s",
		"what a model without a price will cost is not known")
	p.plan(run.Estimate{Expected: 5})
	require.Equal(t,
		"2/10  1 errored  1 malformed  3 retries  1.2/min  $1.00 of about $5.00  1m40s  6m40s left  slower: HTTP 429: slow down", p.line(p.at))
	require.NotContains(t, p.line(p.at.Add(remembered)), "slower")
	p.event(run.Event{Kind: run.Ended})
	require.Equal(t, "judging", p.line(p.at))
}

// TestRowsWithoutAVerdictAreCounted: parts are not judged, and those for which there is
// no line are counted like all others.
func TestRowsWithoutAVerdictAreCounted(t *testing.T) {
	s := &summary{}
	for i := range 60 {
		s.add(line{suite: "Bench", who: fmt.Sprintf("reviewer-%02d", i), verdict: "part",
			figures: []string{"1", "50.0 %"}})
	}
	var b strings.Builder
	s.show(&b, view{width: 100, lines: screenLines})
	shown := strings.Count(b.String(), "reviewer-")
	require.Less(t, shown, 60)
	require.Contains(t, b.String(), fmt.Sprintf("and %d more rows: %d part\n", 60-shown, 60-shown))
}

// TestMarkdownIsText: what an agent wrote becomes neither markup nor a character that
// nobody sees on the page of a run.
func TestMarkdownIsText(t *testing.T) {
	s := &summary{}
	s.add(line{suite: "Smoke", who: "agent", verdict: audit.Invalid,
		cause: "it says: [all is well](https://evil.example) \x1b[2K\u202e@admin | <b>"})
	text := s.markdown()
	require.NotContains(t, text, "[all is well](https://")
	require.NotContains(t, text, "\x1b")
	require.NotContains(t, text, "\u202e")
	require.NotContains(t, text, "@admin")
	require.Contains(t, text, `\|`)
	require.Contains(t, text, "&lt;b&gt;")
}
