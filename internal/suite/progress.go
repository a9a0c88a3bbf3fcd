package suite

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"assay/audit"
	"assay/internal/run"
	"assay/internal/stat"
)

// A progress shows how far a long run is, on one line of the terminal. It writes
// to /dev/tty and nowhere else: what a test prints to its own outputs becomes part
// of its result. It writes on its own: a terminal that was stopped (^S) must not
// stop the run.
type progress struct {
	lines chan string // nil where nothing is shown
	shown chan struct{}
	last  time.Time
}

// newProgress opens the terminal; under -json, in CI, with ASSAY_PROGRESS=0 and
// where there is no terminal, it shows nothing.
func newProgress(flags *flag.FlagSet) *progress {
	p := &progress{}
	if underJSON(flags) || os.Getenv("CI") != "" || os.Getenv("ASSAY_PROGRESS") == "0" {
		return p
	}
	if tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0); err == nil {
		p.show(tty)
	}
	return p
}

// show writes lines to the terminal until there are no more.
func (p *progress) show(tty io.WriteCloser) {
	lines, shown := make(chan string, 1), make(chan struct{})
	p.lines, p.shown = lines, shown
	go func() {
		defer close(shown)
		defer tty.Close()
		for line := range lines {
			fmt.Fprint(tty, line)
		}
	}()
}

const (
	// every is how often the line is written anew: often enough to look alive.
	every = 200 * time.Millisecond
	// patience is how long the end of a run waits for the terminal.
	patience = time.Second
	// oneLine begins a line anew, and lets the terminal cut what is too long for it:
	// a line that wraps could not be taken back.
	oneLine, clearLine = "\r\x1b[K\x1b[?7l%s\x1b[?7h", "\r\x1b[K"
)

func (p *progress) event(ev run.Event) {
	switch {
	case p.lines == nil:
	case ev.Kind == run.Ended:
		select {
		case p.lines <- clearLine:
		case <-time.After(patience):
		}
		close(p.lines)
		p.lines = nil
		select {
		case <-p.shown:
		case <-time.After(patience):
		}
	case ev.Kind == run.Stopping, time.Since(p.last) >= every:
		p.last = time.Now()
		select {
		case p.lines <- fmt.Sprintf(oneLine, progressLine(&ev)):
		default: // the terminal is behind
		}
	}
}

// progressLine tells a run's state in a line.
func progressLine(ev *run.Event) string {
	s := &ev.State
	parts := []string{fmt.Sprintf("%d/%d", s.Done, s.Planned)}
	if b, ok := balanced(s); ok {
		parts = append(parts, fmt.Sprintf("balanced %.1f %% (%.0f to %.0f)", 100*b.Center, 100*b.Lo, 100*b.Hi))
	}
	for _, o := range []audit.Outcome{audit.OutcomeErrored, audit.OutcomeMalformed, audit.OutcomeRefused} {
		if n := s.Outcome(o); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
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
		parts = append(parts, audit.OneLine(ev.Text, 120))
	}
	return strings.Join(parts, "  ")
}

// balanced gives the balanced accuracy so far with its 95 % interval, which takes
// no account of families: the summary's does. There is none before both labels
// have an answer.
func balanced(s *run.State) (stat.Interval, bool) {
	share := func(l audit.Label) (stat.Interval, error) {
		right, wrong := s.Count(l, audit.OutcomeCorrect), s.Count(l, audit.OutcomeWrong)
		return stat.Wilson(float64(right), float64(right+wrong), 0.95)
	}
	good, err1 := share(audit.Good)
	bad, err2 := share(audit.Bad)
	if err1 != nil || err2 != nil {
		return stat.Interval{}, false
	}
	both, err := stat.Mean(good, bad)
	return both, err == nil
}
