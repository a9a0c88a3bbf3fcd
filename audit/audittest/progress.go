package audittest

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"assay/audit"
	"assay/internal/run"
)

// A progress shows how far a long run is, on one line of the terminal. It writes
// to /dev/tty and nowhere else: what a test prints to its own outputs becomes part
// of its result.
type progress struct {
	tty  io.Writer
	last time.Time
}

// newProgress opens the terminal; under -json, in CI, with ASSAY_PROGRESS=0 and
// where there is no terminal, it shows nothing.
func newProgress(flags *flag.FlagSet) *progress {
	p := &progress{}
	if underJSON(flags) || os.Getenv("CI") != "" || os.Getenv("ASSAY_PROGRESS") == "0" {
		return p
	}
	tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
	if err == nil {
		p.tty = tty
	}
	return p
}

// every is how often the line is written anew: often enough to look alive.
const every = 200 * time.Millisecond

func (p *progress) event(ev run.Event) {
	if p.tty == nil {
		return
	}
	if ev.Kind == run.Ended {
		fmt.Fprint(p.tty, "\r\x1b[K")
		return
	}
	if ev.Kind == run.Done && time.Since(p.last) < every {
		return
	}
	p.last = time.Now()
	fmt.Fprintf(p.tty, "\r\x1b[K%s", progressLine(&ev))
}

// progressLine tells a run's state in a line.
func progressLine(ev *run.Event) string {
	s := &ev.State
	parts := []string{fmt.Sprintf("%d/%d", s.Done, s.Planned)}
	if share, ok := balanced(s); ok {
		parts = append(parts, fmt.Sprintf("balanced %.1f %%", 100*share))
	}
	if n := s.Outcome(audit.OutcomeErrored) + s.Outcome(audit.OutcomeMalformed) + s.Outcome(audit.OutcomeRefused); n > 0 {
		parts = append(parts, fmt.Sprintf("%d without an answer", n))
	}
	if s.Retries > 0 {
		parts = append(parts, fmt.Sprintf("%d retries", s.Retries))
	}
	parts = append(parts, fmt.Sprintf("%.1f/s", s.Rate()))
	if s.Spent > 0 || s.Expected > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f of about $%.2f", s.Spent, s.Expected))
	}
	if left := s.Left(); left > 0 {
		parts = append(parts, left.Round(time.Second).String()+" left")
	}
	if ev.Kind == run.Stopping || ev.Kind == run.Throttle {
		parts = append(parts, clean(ev.Text, 120))
	}
	return strings.Join(parts, "  ")
}

// balanced gives the balanced accuracy so far; there is none before both labels
// have an answer.
func balanced(s *run.State) (float64, bool) {
	rate := func(l audit.Label) (float64, bool) {
		right, wrong := s.Count(l, audit.OutcomeCorrect), s.Count(l, audit.OutcomeWrong)
		return float64(right) / float64(max(1, right+wrong)), right+wrong > 0
	}
	good, ok1 := rate(audit.Good)
	bad, ok2 := rate(audit.Bad)
	return (good + bad) / 2, ok1 && ok2
}
