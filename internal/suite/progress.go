package suite

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"assay/audit"
	"assay/internal/run"
	"assay/internal/stat"
	"assay/internal/workflow"
)

// A progress shows what the tests are at, on one line of the terminal. It writes to
// /dev/tty and nowhere else: what a test prints to its own outputs becomes part of
// its result. It writes on its own: a terminal that was stopped (^S) must not stop
// the run. A nil progress shows nothing.
type progress struct {
	tty   io.Writer
	mu    sync.Mutex
	doing string     // what the tests are at where no run of trials is on
	since time.Time  // when that began
	run   *run.State // how far the run of trials is; nil: there is none
	at    time.Time  // of that state
	known bool       // whether what the run will cost is: each has a price
	tally string     // of its outcomes: they may be counted while the event is told alone
	why   string     // the last retry or pause
	until time.Time  // when that is forgotten
	stop  chan struct{}
	shown chan struct{}
}

// newProgress opens the terminal; nil where nothing is to be shown.
func newProgress(flags *flag.FlagSet) *progress {
	tty := openTerminal(flags)
	if tty == nil {
		return nil
	}
	p := &progress{tty: tty, stop: make(chan struct{}), shown: make(chan struct{})}
	p.say("reading flags, fixtures and cases")
	go p.show(tty, p.line(time.Now()))
	return p
}

const (
	// every is how often the line is written anew: often enough to look alive.
	every = 200 * time.Millisecond
	// patience is how long the end of a run waits for the terminal.
	patience = time.Second
	// remembered is how long the reason of a retry or a pause stays on the line.
	remembered = 15 * time.Second
	// oneLine begins a line anew, and lets the terminal cut what is too long for it:
	// a line that wraps could not be taken back.
	oneLine, clearLine = "\r\x1b[K\x1b[?7l%s\x1b[?7h", "\r\x1b[K"
)

// show begins with the line first, whatever the tests are at when its turn comes.
func (p *progress) show(tty io.WriteCloser, first string) {
	defer close(p.shown)
	defer tty.Close()
	tick := time.NewTicker(every)
	defer tick.Stop()
	last := first
	fmt.Fprintf(tty, oneLine, first)
	for {
		if line := p.line(time.Now()); line != last {
			last = line
			fmt.Fprintf(tty, oneLine, line)
		}
		select {
		case <-tick.C:
		case <-p.stop:
			fmt.Fprint(tty, clearLine)
			return
		}
	}
}

// end takes the line away and waits for that, but not for a stopped terminal.
func (p *progress) end() {
	if p != nil {
		close(p.stop)
		within(p.shown)
	}
}

// clear takes the line away for another one.
func (p *progress) clear() {
	if p == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		fmt.Fprint(p.tty, clearLine)
	}()
	within(done)
}

// within waits for done, but no longer than patience.
func within(done <-chan struct{}) {
	select {
	case <-done:
	case <-time.After(patience):
	}
}

// set changes the state.
func (p *progress) set(change func()) {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		change()
	}
}

// say shows what the run is doing.
func (p *progress) say(format string, args ...any) {
	p.set(func() { p.doing, p.since = audit.OneLine(fmt.Sprintf(format, args...), 0), time.Now() })
}

// plan notes whether the cost is known.
func (p *progress) plan(e run.Estimate) {
	p.set(func() { p.known = len(e.Unpriced) == 0 })
}

// event shows an event of the engine.
func (p *progress) event(ev run.Event) {
	p.set(func() {
		p.run, p.at, p.tally = &ev.State, time.Now(), tally(&ev.State)
		switch ev.Kind {
		case run.Ended:
			p.run, p.why = nil, ""
			p.doing, p.since = "judging", p.at
		case run.Retry:
			p.why, p.until = "again: "+audit.OneLine(ev.Text, 0), p.at.Add(remembered)
		case run.Throttle:
			p.why, p.until = "slower: "+audit.OneLine(ev.Text, 0), p.at.Add(remembered)
		case run.Waiting:
			p.why, p.until = "waiting: "+audit.OneLine(ev.Text, 0), p.at.Add(remembered)
		case run.Stopping:
			p.why, p.until = "stopping: "+audit.OneLine(ev.Text, 0), p.at.Add(24*time.Hour)
		}
	})
}

// event shows an event of the engine: on the terminal or, where there is none, why a run waits
// or stops in the log. What it waits for is logged once.
func (s *Suite) event(ev run.Event) {
	s.progress.event(ev)
	if s.progress != nil || s.live == nil || ev.Kind != run.Waiting && ev.Kind != run.Stopping {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, waits, _ := strings.Cut(ev.Text, ": ")
	if ev.Kind == run.Waiting && waits == s.waits {
		return
	}
	s.waits = waits
	lines := wrap("", time.Now().Format(time.TimeOnly)+" "+audit.OneLine(ev.Text, 0),
		screenOf(os.Stdout).width)
	fmt.Fprintln(&workflow.Writer{To: s.live}, strings.Join(lines, "\n"))
}

// line returns the progress line.
func (p *progress) line(now time.Time) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run == nil {
		line := p.doing
		if d := now.Sub(p.since).Truncate(time.Second); d >= 2*time.Second {
			line += "  " + d.String()
		}
		return line
	}
	s := *p.run
	s.Elapsed += now.Sub(p.at)
	parts := []string{p.tally, rate(s.Rate())}
	switch {
	case p.known && s.Expected > 0:
		parts = append(parts, fmt.Sprintf("$%.2f of about $%.2f", s.Spent, s.Expected))
	case s.Spent > 0:
		parts = append(parts, fmt.Sprintf("$%.2f", s.Spent))
	}
	parts = append(parts, s.Elapsed.Truncate(time.Second).String())
	if left := s.Left(); left > 0 {
		parts = append(parts, left.Round(time.Second).String()+" left")
	}
	if p.why != "" && now.Before(p.until) {
		parts = append(parts, p.why)
	}
	return strings.Join(parts, "  ")
}

// tally returns the state of a run as text.
func tally(s *run.State) string {
	parts := []string{fmt.Sprintf("%d/%d", s.Done, s.Planned)}
	if b, ok := balanced(s); ok {
		parts = append(parts, fmt.Sprintf("balanced %.1f %% (%.0f to %.0f)", 100*b.Center,
			100*b.Lo, 100*b.Hi))
	}
	for _, o := range []audit.Outcome{audit.OutcomeErrored, audit.OutcomeMalformed,
		audit.OutcomeRefused} {
		if n := s.Outcome(o); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	if s.Retries > 0 {
		parts = append(parts, fmt.Sprintf("%d retries", s.Retries))
	}
	return strings.Join(parts, "  ")
}

// rate returns a number a second, a minute or an hour.
func rate(perSecond float64) string {
	switch {
	case perSecond >= 0.1 || perSecond == 0:
		return fmt.Sprintf("%.1f/s", perSecond)
	case perSecond*60 >= 0.1:
		return fmt.Sprintf("%.1f/min", perSecond*60)
	}
	return fmt.Sprintf("%.1f/h", perSecond*3600)
}

// balanced takes no account of families, as the summary's interval does. There is none before
// both labels have an answer.
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
