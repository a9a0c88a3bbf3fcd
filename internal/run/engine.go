package run

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"assay/audit"
)

// An engine carries out a plan. One goroutine, run, owns its state. Each attempt is a goroutine
// that reports through ended and keeps its place until its outcome is stored, so that a slow
// disk slows down the sending.
type engine struct {
	plan   *Plan
	config Config
	out    *Execution

	queues []*queue // one a provider, in a fixed order, so that equal runs do equal things
	ended  chan ending
	over   chan struct{}       // closed when nobody takes an ending any more
	flying map[*queuedJob]bool // attempts under way
	// to a goroutine that waits for something to do: a new one grows its stack anew
	hands    chan func() ending
	gathered []*queuedJob     // to be stored together,
	due      <-chan time.Time // at the latest then, unless
	storing  bool             // others are being stored
	budget   Budget
	state    State
	began    time.Time
	answered time.Time // when anything was last answered, or the work began
	notice   time.Time // when the run says that nothing is
	left     float64   // expected cost of what has no outcome yet,
	leftMost float64   // and the most that it can cost when each is tried once
	usage    audit.Usage
	stopped  map[string]string // why: by reviewer
	halted   string            // why nothing more is sent at all
	stops    []string
	unstored []*queuedJob
}

// An ending is the end of an attempt, or of the storing of outcomes.
type ending struct {
	job  *queuedJob
	try  AttemptResult
	kept []*queuedJob
}

// run carries out the plan.
func (e *engine) run(ctx context.Context) {
	work, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	e.tell(Event{Kind: Began})
	e.plan.settle(e.finish)
	e.plan.settled, e.plan.reused = nil, nil // a run may be long
	if e.config.Budget == 0 && len(e.plan.ask) > 0 {
		e.halt("the budget is 0: this is an estimate, and nothing is sent")
	}
	defer close(e.hands)
	defer close(e.over)
	stop := ctx.Done()
	e.answered, e.notice = e.began, e.began.Add(e.config.Stall)
	var grace, patience <-chan time.Time
	for {
		if ctx.Err() != nil && stop != nil {
			stop = nil
			e.halt("stopped: " + context.Cause(ctx).Error())
			grace = time.After(e.config.Grace)
		}
		var wake time.Time // when the next attempt may start, if only time prevents it
		for _, l := range e.queues {
			if t := e.send(work, l); !t.IsZero() && (wake.IsZero() || t.Before(wake)) {
				wake = t
			}
		}
		e.keepGathered()
		if e.state.InFlight == 0 && !slices.ContainsFunc(e.queues,
			func(l *queue) bool { return l.first(time.Now(), true) != nil }) {
			break
		}
		if e.state.InFlight == 0 && wake.IsZero() { // nothing would ever happen again
			e.halt("defect: nothing is in flight and nothing is due")
			continue
		}
		if now := time.Now(); !now.Before(e.notice) {
			e.notice = now.Add(e.config.Stall / 4)
			e.tell(Event{Kind: Waiting, Text: e.waiting(now, wake)})
		}
		if wake.IsZero() || e.notice.Before(wake) {
			wake = e.notice
		}
		timer := time.NewTimer(time.Until(wake))
		select {
		case end := <-e.ended:
			e.take(work, end)
		case <-e.due:
			e.due = nil
		case <-timer.C:
		case <-grace:
			cut(context.Cause(ctx))
			patience = time.After(e.config.Grace)
		case <-patience:
			e.abandonAll()
		case <-stop:
		}
		timer.Stop()
	}
	e.close()
}

// send starts every attempt of a queue that may start now, and skips the jobs of a queue or run
// that was stopped. It returns the time at which the next attempt may start, if only time
// prevents it.
func (e *engine) send(work context.Context, l *queue) (wake time.Time) {
	for {
		now, why := time.Now(), cmp.Or(l.stopped, e.halted)
		j := l.first(now, why != "")
		if j == nil {
			if len(l.delayed) > 0 {
				wake = l.delayed[0].at
			}
			return wake
		}
		if why = cmp.Or(why, e.stopped[j.item.Reviewer]); why != "" {
			l.pop(j)
			e.abandon(j, why)
			continue
		}
		switch a := Ask(&e.budget, &l.limiter, j.item, &e.config, now); {
		case a.Lease != nil:
			l.pop(j)
			most := a.Lease.Most
			j.lease, j.begun, e.flying[j] = *a.Lease, now, true
			j.tries++
			e.state.InFlight++
			if j.item.Grant != nil && most > 0 {
				j.item.Grant(most)
			}
			e.hand(func() ending { return ending{job: j, try: j.item.Attempt(work, most)} })
		case a.Never != "":
			l.pop(j)
			e.giveUp(j, a.Never)
		case a.Stop != "":
			e.stop(l, j.item, RetryDecision{Stop: a.Stop, Provider: true})
		case a.Wait > 0:
			return now.Add(a.Wait)
		default:
			return wake
		}
	}
}

// giveUp abandons a job for the budget's sake and says so once.
func (e *engine) giveUp(j *queuedJob, why string) {
	if e.stopped["\x00budget"] == "" {
		e.stopped["\x00budget"] = why
		// All that is left, at the larger of its stated cost and the dearest attempt so far.
		rest := max(e.leftMost, j.item.Cost.Most)
		for _, dearest := range e.budget.Dearest {
			rest = max(rest, dearest*float64(e.state.Planned-e.state.Done))
		}
		fits := math.Ceil(100*(e.budget.Spent+e.budget.Reserved+dearer*rest)) / 100
		why += fmt.Sprintf("; -budget %.2f covers all that is planned", fits)
		e.say(why)
	}
	e.abandon(j, why)
}

// abandon ends a job that is not tried any more: skipped when it was never
// begun, else with what its last attempt gave.
func (e *engine) abandon(j *queuedJob, why string) {
	if j.tries == 0 {
		e.finish(j.item, Skipped(j.item, why))
		return
	}
	j.last.Evaluation.Detail += " (not tried again: " + why + ")"
	e.state.InFlight++
	e.gather(j)
}

// hand runs do in an idle goroutine, or in a new one, and reports what it returns to the engine
// as long as that runs.
func (e *engine) hand(do func() ending) {
	select {
	case e.hands <- do:
	default:
		go func() {
			for do != nil {
				select {
				case e.ended <- do():
				case <-e.over:
				}
				do = <-e.hands // nil at the end of the run
			}
		}()
	}
}

// abandonAll gives up attempts that do not end when they are told to, because the run would
// wait for them forever. Their cost is unknown.
func (e *engine) abandonAll() {
	for j := range e.flying {
		delete(e.flying, j)
		j.given = true
		why := "it did not end when it was told to"
		j.last = errored(j.item, why)
		j.last.Attempts = []audit.Attempt{{Error: why, Usage: audit.Usage{Unsure: j.lease.Most}}}
		j.attempts = append(j.attempts, j.last.Attempts...)
		Lose(&e.budget, &j.queue.limiter, 1, j.lease.Most)
		e.gather(j)
	}
}

// errored returns an attempt that failed.
func errored(it *Job, why string) (t AttemptResult) {
	t.Evaluation.Status, t.Evaluation.Outcome, t.Evaluation.Actual = audit.Errored,
		audit.OutcomeErrored, string(audit.Errored)
	t.Evaluation.Model, t.Evaluation.Expected, t.Evaluation.Detail = it.Reviewer, it.Expected, why
	return t
}

// Attempt makes one attempt of the job, for which so many USD are reserved, and notes with its
// attempts what they are charged where their cost is unknown. A panic of a reviewer is an
// outcome like any other: one broken reply must not take the whole run with it.
func (it *Job) Attempt(ctx context.Context, most float64) (t AttemptResult) {
	defer func() {
		for i := range t.Attempts {
			_, t.Attempts[i].Usage.Unsure = charge(t.Attempts[i], most)
		}
	}()
	defer func() {
		if p := recover(); p != nil {
			t = errored(it, fmt.Sprintf("defect: %s panicked: %v", it.Reviewer, p))
			// it may have asked, and be charged
			t.Attempts = []audit.Attempt{{Error: t.Evaluation.Detail}}
		}
	}()
	return it.Do(ctx)
}

// take handles the end of an attempt.
func (e *engine) take(work context.Context, end ending) {
	if end.kept != nil {
		e.stored(end.kept)
		return
	}
	j := end.job
	l := j.queue
	if j.given { // it came too late
		return
	}
	delete(e.flying, j)
	t, now := end.try, time.Now()
	silent := Settle(&e.budget, &l.limiter, j.lease, &t, &e.config, now)
	j.attempts = append(j.attempts, t.Attempts...)
	j.last = t
	if t.throttled() {
		e.tell(Event{Kind: Throttle, Text: t.last().Error})
	}
	next := e.config.DecideRetry(j.item, &t, j.tries)
	if !t.unanswered() {
		e.answered, e.notice = now, now.Add(e.config.Stall)
	}
	if silent != "" && next.Stop == "" {
		next = RetryDecision{Provider: true, Stop: silent}
	}
	if next.Stop != "" {
		e.stop(l, j.item, next)
	}
	if next.Again && work.Err() == nil && e.halted == "" && l.stopped == "" {
		e.state.InFlight--
		e.state.Retries++
		l.delay(j, now.Add(next.Wait))
		e.tell(Event{Kind: Retry, Text: t.last().Error})
		return
	}
	e.gather(j)
}

// waiting returns what a run waits for in which nothing is answered, and until when.
func (e *engine) waiting(now, wake time.Time) string {
	var begun time.Time // of the one that may end last
	var longest time.Duration
	known := true
	for j := range e.flying {
		known = known && j.item.Longest > 0
		if j.begun.Add(j.item.Longest).After(begun.Add(longest)) {
			begun, longest = j.begun, j.item.Longest
		}
	}
	if !known {
		longest = 0
	}
	return Waits(now.Sub(e.answered), len(e.flying), begun, longest, wake)
}

// Waits returns what a run waits for in which nothing was answered for so long: attempts under
// way, of which the last one began at begun and takes at most longest (0 if that is not known);
// if there are none, the next request at next.
func Waits(silence time.Duration, underWay int, begun time.Time, longest time.Duration,
	next time.Time) string {
	const clock = "15:04:05"
	text := "nothing was answered for " + silence.Round(time.Second).String()
	switch {
	case underWay == 0:
		return text + ": the next request goes out by " + next.Format(clock)
	case longest == 0:
		return text + fmt.Sprintf(": %d under way, which state no limit of time", underWay)
	}
	return text + fmt.Sprintf(": %d under way end by %s at the latest", underWay,
		begun.Add(longest).Format(clock))
}

// stop ends all work of a provider or a reviewer. The first reason stays.
func (e *engine) stop(l *queue, it *Job, next RetryDecision) {
	switch {
	case next.Provider && l.stopped == "":
		l.stopped = next.Stop
	case !next.Provider && e.stopped[it.Reviewer] == "":
		e.stopped[it.Reviewer] = next.Stop
	default:
		return
	}
	e.say(next.Stop)
}

// halt ends all sending. The first reason stays.
func (e *engine) halt(why string) {
	if e.halted != "" {
		return
	}
	e.halted = why
	e.say(why)
}

// say reports why nothing more is sent, in the summary too.
func (e *engine) say(why string) {
	e.stops = append(e.stops, why)
	e.tell(Event{Kind: Stopping, Text: why})
}

// finish delivers the result of a job.
func (e *engine) finish(it *Job, res JobResult) {
	res.Key = it.Key
	ev := &res.Evaluation
	e.state.Add(it.Expected, res.Outcome)
	if res.Reused {
		e.state.Reused++
	} else {
		e.left -= it.Cost.Expected
		e.leftMost -= it.Cost.Most
		if res.Outcome != audit.OutcomeSkipped {
			e.usage = e.usage.Add(ev.Usage)
		}
	}
	ev.Reply, ev.Attempts = "", nil
	e.out.Deliver(res)
	e.tell(Event{Kind: Done})
}

// tell reports an event with the state of the run.
func (e *engine) tell(ev Event) {
	e.state.Spent = e.budget.Spent - e.state.Earlier
	e.state.Expected = e.state.Spent + math.Max(0, e.left)
	e.state.Elapsed = time.Since(e.began)
	if e.config.Progress != nil {
		ev.State = e.state
		e.config.Progress(ev)
	}
}
