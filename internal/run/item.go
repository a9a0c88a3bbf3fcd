package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"assay/audit"
	"assay/internal/store"
)

// A Job is one piece of work of a run.
type Job struct {
	// Key names the work by everything that it depends on: two jobs with equal
	// keys would do the same. It is unique in a plan.
	Key string
	// Provider is whose limits, key and quota the job shares. "" is this
	// machine, which has a rate limiter like any other.
	Provider string
	// Reviewer is who does the work: a failure that no further attempt can mend ends
	// the jobs of this reviewer.
	Reviewer string
	// Line is what the estimate names the work of: a variant. "" is Reviewer.
	Line string
	// Family keeps the order from asking related jobs in a row.
	Family string
	// Expected is what the key says, for progress; empty where there is no key.
	Expected audit.Label
	// Cost is what one attempt costs.
	Cost Cost
	// Longest is how long one attempt takes at most; 0 where that is not known.
	Longest time.Duration
	// Do makes one attempt. It honours ctx.
	Do func(ctx context.Context) AttemptResult
	// Grant tells the job what its next attempt may cost, in USD, and it keeps to that:
	// what is left of a budget then does for an attempt that would take more. nil where
	// nothing but Cost.Most holds it.
	Grant func(usd float64)
	// Reasked makes the next attempt the last one that says what was wrong with a reply;
	// nil where no attempt does. It is for who did not see that reply.
	Reasked func()
	// Keep stores the result; nil stores its Evaluation in the run's store.
	Keep func(ctx context.Context, r JobResult) error
}

// A Cost is what one attempt is expected to cost and what it costs at most, in USD.
// Known is false for a model without a price.
type Cost struct {
	Expected, Most float64
	Known          bool
}

// An AttemptResult is what one call of Job.Do resulted in.
type AttemptResult struct {
	// Evaluation is the outcome as far as this attempt knows it. The engine fills in
	// run, trial, the number of attempts, usage and requests.
	Evaluation store.Evaluation
	// Attempts are the requests that the attempt made. When the evaluation's status
	// is Errored and the last attempt is Transient, the engine tries again.
	Attempts []audit.Attempt
	// Value is handed on to the result, for work that is no trial.
	Value any
	// Reask says that the reply was of no use, and that the next attempt says why: it is
	// made once.
	Reask bool
	// Fatal says that no further job can succeed: of the provider when the last
	// attempt's HTTP status is 401, 402, 403 or 429 (a revoked key, no credit, no
	// quota), else of the reviewer.
	Fatal error
}

// last returns the last request of the attempt.
func (t *AttemptResult) last() audit.Attempt {
	if len(t.Attempts) == 0 {
		return audit.Attempt{}
	}
	return t.Attempts[len(t.Attempts)-1]
}

// unanswered reports whether the provider gave no answer, but may give one later. An audit that
// failed after some turns had answers.
func (t *AttemptResult) unanswered() bool {
	last := t.last()
	return t.Evaluation.Status == audit.Errored && last.Transient && last.Usage.Turns == 0
}

// name returns a provider's name for messages.
func name(provider string) string { return cmp.Or(provider, "this machine") }

// A RetryDecision is what follows an attempt that ended.
type RetryDecision struct {
	Again bool          // it is made once more,
	Wait  time.Duration // after so long
	// Stop says why nothing more is sent: to the whole provider, or else to the
	// reviewer alone. Empty where work goes on.
	Stop     string
	Provider bool
}

// DecideRetry returns what to do after attempt t, the tries-th of a job.
func (c *Config) DecideRetry(it *Job, t *AttemptResult, tries int) RetryDecision {
	last := t.last()
	switch {
	case t.Fatal != nil:
		switch last.HTTPStatus {
		case 401, 402, 403, 429:
			return RetryDecision{Stop: t.Fatal.Error(), Provider: true}
		}
		return RetryDecision{Stop: t.Fatal.Error()}
	case !t.Reask && (t.Evaluation.Status != audit.Errored || !last.Transient):
		return RetryDecision{}
	case last.RetryAfter > c.MaxWait:
		return RetryDecision{Provider: true,
			Stop: fmt.Sprintf("%s asks to wait %s (Retry-After), longer than %s", name(it.Provider),
				last.RetryAfter.Round(time.Second), c.MaxWait)}
	case tries < c.Attempts:
		return RetryDecision{Again: true, Wait: c.delay(t, tries)}
	}
	return RetryDecision{}
}

// throttled reports whether the provider refused the attempt as one too many.
func (t *AttemptResult) throttled() bool {
	return slices.ContainsFunc(t.Attempts, func(a audit.Attempt) bool {
		// Anthropic's "overloaded"
		return a.HTTPStatus == 429 || a.HTTPStatus == 503 || a.HTTPStatus == 529
	})
}

// Skipped returns the result of a job that was never tried, and why it was not.
func Skipped(it *Job, why string) JobResult {
	return JobResult{Key: it.Key, Outcome: audit.OutcomeSkipped, Why: why,
		Evaluation: store.Evaluation{Model: it.Reviewer, Expected: it.Expected, Detail: why}}
}

// A JobResult is what became of a job.
type JobResult struct {
	Key     string
	Outcome audit.Outcome
	// Evaluation is the stored row, without reply and attempts. Of a skipped job
	// only Model, TestFile and Detail are set, as far as they are known.
	Evaluation store.Evaluation
	Value      any
	Reused     bool   // answered by an earlier run and not asked again
	Why        string // why the job was skipped
}
