package suite

import (
	"fmt"
	"os"
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
	for a := range agents {
		who := fmt.Sprintf("agent-with-a-name-%d", a)
		s.add(line{suite: "Regression", who: who, whole: "all 11", verdict: verdicts[a%3], figures: []string{"61.2 %"}, since: since{"70.1 %", "-8.9, settled"},
			cause: "recall over all projects dropped by 8.9 points, which chance does not explain (p 0.0001, needed 0.002)", used: usedBy([]record.Trial{{Seconds: 4711, Usage: audit.Usage{USD: 31.4, Priced: true}}})})
		for p := range 11 {
			v := verdicts[(a+p)%4]
			cause := ""
			if v != audit.Pass {
				cause = fmt.Sprintf("recall 41.2 %%, at the baseline 5%d.1 %%: a drop of 12.9 points; lost DVJA-1, DVJA-2, DVJA-9 and 14 more", p)
			}
			s.add(line{suite: "Regression", who: who, about: fmt.Sprintf("project-%02d", p), verdict: v, figures: []string{"41.2 %", "12.0 to 34.0 %"}, since: since{"54.1 %", "-12.9, 2 more trials"}, cause: cause,
				used: usedBy([]record.Trial{{Seconds: 61.5, Usage: audit.Usage{USD: 1.25, Priced: true}}})})
		}
	}
	for range 55 {
		s.add(line{suite: "Regression", who: "semgrep", about: "dvja", verdict: score.AsRecorded, replay: true})
	}
	for _, project := range []string{"dvja", "pygoat", "webgoat"} {
		s.add(line{suite: "Regression", who: "vulnetix", about: project, verdict: score.Changed, replay: true, figures: []string{"12.3 %", "40.0 % to 60.0 %"},
			cause: "the recording scores otherwise than in its baseline: recall 12.3 %, was 13.0 %; lost PYG-3"})
	}
	for _, who := range []string{"anthropic/claude-haiku-4.5 my-own-long-prompt", "gpt-4o-mini"} {
		s.add(line{suite: "Bench", who: who, verdict: audit.Fail, figures: []string{"12.1 (10.0 to 14.2)", "87.9 % (85.8 to 90.0)", "70.1 %"}, since: since{"91.0 %", "-3.1, settled"},
			cause: "balanced accuracy 87.9 %, at the baseline 91.0 %; lost procurement/approve-po-03-bad, clinic/plan-shifts-06-bad, shop/list-01-good and 21 more", used: used(audit.Usage{USD: 1.23, Priced: true}, 0)})
	}
	s.add(line{suite: "Bench", who: "control-words", control: true, verdict: "control", figures: []string{"35.8 (31.9 to 39.8)", "50.1 % (47.0 to 53.4)", "1.1 %"}})
	s.note("Regression: $%.2f of the budget of $40.00 spent", 31.4)
	s.do("to settle agent-with-a-name-1", "go test -run Regression -auditor agent-with-a-name-1 -trials 3 -timeout 0")
	return s
}

// TestTheSummaryFitsItsScreen: in every width no line is longer than the terminal
// (commands aside, which are to be copied), no run takes more than 40 lines, every
// auditor's whole and the gravest rows are among them, what has no room is counted,
// and no cause is cut.
func TestTheSummaryFitsItsScreen(t *testing.T) {
	for _, width := range []int{60, 80, 100} {
		for _, agents := range []int{1, 3, 12} {
			s := busy(agents)
			var b strings.Builder
			s.print(&b, view{width: width, lines: screenLines})
			text := b.String()
			if name := os.Getenv("ASSAY_LOOK"); name != "" {
				fmt.Printf("== %d columns, %d agents\n%s", width, agents, text)
			}
			lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
			for _, l := range lines {
				if !strings.Contains(l, ": go ") {
					require.LessOrEqual(t, utf8.RuneCountInString(l), width, "%q in\n%s", l, text)
				}
			}
			require.Contains(t, text, "55 recordings as recorded\n")
			require.Contains(t, strings.Join(strings.Fields(text), " "), "(p 0.0001, needed 0.002)", "the cause is whole")
			require.NotContains(t, text, "more bytes")
			require.Regexp(t, `and \d+ more rows: (\d+ INVALID, )?(\d+ FAIL, )?\d+ changed, (\d+ WARN, )?\d+ PASS`, strings.Join(strings.Fields(text), " "))
			require.LessOrEqual(t, len(lines), screenLines-2, "go test adds two:\n%s", text)
			if width == 100 || agents == 1 {
				for a := range agents {
					require.Regexp(t, fmt.Sprintf(`agent-with-a-name-%d +(on )?all 11`, a), text)
				}
			}
		}
	}
}

// TestRowsWithOneCauseShareIt: it stands once, below the last of them.
func TestRowsWithOneCauseShareIt(t *testing.T) {
	s := &summary{}
	for _, about := range []string{"club", "marina", "grants"} {
		s.add(line{suite: "Regression", who: "patterns", about: about, verdict: audit.Warn, figures: []string{"0.0 %"}, cause: "nothing of the key was found"})
	}
	var b strings.Builder
	s.show(&b, view{width: 100, lines: screenLines})
	require.Equal(t, `
REGRESSION  auditor   project  recall
WARN        patterns  club     0.0 %
WARN        patterns  grants   0.0 %
WARN        patterns  marina   0.0 %
         nothing of the key was found
`, b.String())
}

// TestTheChangeSaysWhatSettlesIt: the headline figure with its baseline, how far it
// moved, and what would settle that.
func TestTheChangeSaysWhatSettlesIt(t *testing.T) {
	for _, c := range []struct {
		want string
		g    score.Reason
	}{
		{"-8.9, significant", score.Reason{Code: score.CodeDrop, Verdict: audit.Fail}},
		{"-8.9, 2 more trials", score.Reason{Code: score.CodePossible, Verdict: audit.Warn, Advice: &score.Advice{Trials: 2}}},
		{"-8.9, inconclusive", score.Reason{Code: score.CodePossible, Verdict: audit.Warn}},
		{"-8.9, inconclusive", score.Reason{Code: score.CodeWide, Verdict: audit.Warn, Advice: &score.Advice{Trials: 3, Project: "a"}}},
		{"-8.9", score.Reason{Code: score.CodeDrop, Verdict: audit.Pass}},
	} {
		want, g := c.want, c.g
		g.Metric, g.Now, g.Baseline = score.MetricRecall, score.Of(0.612), score.Of(0.701)
		now, s := sinceBaseline(score.MetricRecall, []score.Reason{{Code: score.CodeGoal, Metric: score.MetricPrecision, Now: score.Of(1)}, g})
		require.Equal(t, since{"70.1 %", want}, s)
		require.Equal(t, score.Of(0.612), now)
	}
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

	ev := run.Event{Kind: run.Throttle, Text: "HTTP 429: slow down", State: run.State{Planned: 10, Retries: 3, Spent: 1, Expected: 5, Elapsed: 100 * time.Second}}
	ev.State.Add(audit.Good, audit.OutcomeErrored)
	ev.State.Add(audit.Bad, audit.OutcomeMalformed)
	p.plan(run.Estimate{Expected: 5, Unpriced: []string{"m"}})
	p.event(ev)
	require.Contains(t, p.line(p.at), "1.2/min  $1.00  1m40s", "what a model without a price will cost is not known")
	p.plan(run.Estimate{Expected: 5})
	require.Equal(t, "2/10  1 errored  1 malformed  3 retries  1.2/min  $1.00 of about $5.00  1m40s  6m40s left  slower: HTTP 429: slow down", p.line(p.at))
	require.NotContains(t, p.line(p.at.Add(remembered)), "slower")
	p.event(run.Event{Kind: run.Ended})
	require.Equal(t, "judging", p.line(p.at))
}

// TestRowsWithoutAVerdictAreCounted: parts are not judged, and those for which there is
// no line are counted like all others.
func TestRowsWithoutAVerdictAreCounted(t *testing.T) {
	s := &summary{}
	for i := range 60 {
		s.add(line{suite: "Bench", who: fmt.Sprintf("reviewer-%02d", i), verdict: "part", figures: []string{"1", "50.0 %"}})
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
	s.add(line{suite: "Smoke", who: "agent", verdict: audit.Invalid, cause: "it says: [all is well](https://evil.example) \x1b[2K\u202e@admin | <b>"})
	text := s.markdown()
	require.NotContains(t, text, "[all is well](https://")
	require.NotContains(t, text, "\x1b")
	require.NotContains(t, text, "\u202e")
	require.NotContains(t, text, "@admin")
	require.Contains(t, text, `\|`)
	require.Contains(t, text, "&lt;b&gt;")
}
