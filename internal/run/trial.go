package run

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"assay/audit"
	"assay/internal/store"
)

// keyVersion changes when the same trial gets another key: older results are not newer ones.
const keyVersion = "assay trial 1"

const replyCap = 64 << 10 // bytes of a reply that are stored: a verdict takes some hundred

// A ReviewTrial is one repetition of a case with a reviewer.
type ReviewTrial struct {
	Case       *audit.Case
	Spec       *audit.Spec // of the case
	PromptName string
	Prompt     string // the evaluation prompt
	Reviewer   audit.Reviewer
	Index      int // from 0

	unusable string // why the last reply could not be used
}

// A Described reviewer states what the run needs to know about it. Any other reviewer is taken
// to cost nothing and to run on this machine, and is asked again in every run.
type Described interface {
	// Settings names everything besides the task that can change an answer:
	// model, temperature, limits, hash of the program. It holds no secret.
	Settings() string
	// Provider is whose limits, key and quota the reviewer shares; "" for this
	// machine.
	Provider() string
	// Cost returns what one request for the task is expected to cost, and costs at
	// most, in USD. known is false for a model without a price.
	Cost(task audit.ReviewTask) (expected, most float64, known bool)
}

// Task is all that the reviewer sees.
func (t *ReviewTrial) Task() audit.ReviewTask {
	return audit.ReviewTask{Spec: t.Spec.Prompt, Prompt: t.Prompt, Language: t.Case.Language,
		Code: t.Case.Code}
}

// hash returns the SHA-256 of the parts. Each follows its length, so that no two lists are equal.
func hash(parts ...string) string {
	all := make([]byte, 0, 1024)
	for _, p := range parts {
		all = append(append(strconv.AppendInt(all, int64(len(p)), 10), ':'), p...)
	}
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:])
}

// CaseHash identifies what matters of a case: identity, language, code, violated
// requirements.
func CaseHash(c *audit.Case) string {
	violates := slices.Sorted(slices.Values(c.Violates))
	return hash(c.ID(), c.Language, c.Code, fmt.Sprint(violates))
}

type subject struct {
	hash, file, app, query, family string
	label                          audit.Label
}

// subject returns the identity of the trial's case.
func (t *ReviewTrial) subject() subject {
	c := t.Case
	return subject{CaseHash(c), cmp.Or(c.Pos.File, "tests/"+c.ID()+".md"), c.App, c.Query,
		c.Family(), c.Label}
}

// settings returns the reviewer's name and settings.
func (t *ReviewTrial) settings() string {
	s := t.Reviewer.Name()
	if d, ok := t.Reviewer.(Described); ok {
		s += "\n" + d.Settings()
	}
	return s
}

// Key is the hash of case, SPEC, prompt, reviewer with its settings, and index.
// A case that is edited where it matters (identity, code, violated requirements)
// gets another key; an edited description does not.
func (t *ReviewTrial) Key() string { return t.key(t.subject().hash) }

// key returns the key of the trial.
func (t *ReviewTrial) key(subject string) string {
	return hash(keyVersion, subject, t.Task().Spec, t.Prompt, t.settings(),
		strconv.Itoa(t.Index), "")
}

const noVerdict = "it holds no verdict that can be read"

// Job returns the trial as a job of a plan.
func (t *ReviewTrial) Item() Job {
	s := t.subject()
	it := Job{Key: t.key(s.hash), Reviewer: t.Reviewer.Name(), Line: t.Reviewer.Name() + "@" +
		t.PromptName, Family: s.family, Expected: s.label,
		Cost: Cost{Known: true}, Do: t.try, Reasked: func() { t.unusable = noVerdict }}
	if d, ok := t.Reviewer.(Described); ok {
		it.Provider = d.Provider()
		it.Cost.Expected, it.Cost.Most, it.Cost.Known = d.Cost(t.Task())
	}
	if d, ok := t.Reviewer.(interface{ Longest() time.Duration }); ok {
		it.Longest = d.Longest()
	}
	return it
}

// try asks the reviewer once and judges the answer. After a malformed or empty reply, the next
// request says once what was wrong.
func (t *ReviewTrial) try(ctx context.Context) AttemptResult {
	task := t.Task()
	task.Unusable = t.unusable
	review, err := t.Reviewer.Review(ctx, task)
	if err != nil {
		review.Status = audit.Errored
		review.Detail = err.Error()
	}
	e := t.evaluation()
	e.Time = time.Now().UTC().Truncate(time.Millisecond)
	e.Outcome, e.Status = review.Judge(t.Case.Label), review.Status
	if e.Outcome == audit.OutcomeMalformed { // also a status or verdict that nobody knows
		e.Status = audit.Malformed
	}
	e.Actual = string(e.Status)
	if e.Status == audit.Answered {
		e.Actual = string(review.Verdict)
	}
	e.Explanation, e.Violates, e.CWEs, e.Confidence = capped(review.Explanation), review.Violates, review.CWEs, review.Confidence
	e.Detail, e.Reply = capped(review.Detail), capped(review.Raw)
	e.Reason = t.reason(&review)
	again := e.Status == audit.Malformed && t.unusable == "" && len(review.Attempts) > 0
	if again {
		t.unusable = cmp.Or(review.Detail, noVerdict)
	}
	return AttemptResult{Evaluation: e, Attempts: review.Attempts, Reask: again, Fatal: err}
}

// evaluation returns the trial's row without an answer.
func (t *ReviewTrial) evaluation() store.Evaluation {
	s, settings := t.subject(), t.settings()
	return store.Evaluation{TestFile: s.file, Model: t.Reviewer.Name(), Expected: s.label,
		Index: t.Index,
		App:   s.app, Query: s.query, Family: s.family, Prompt: t.PromptName,
		CaseHash: s.hash, SpecHash: hash(t.Task().Spec), PromptHash: hash(t.Prompt),
		SettingsHash: hash(settings), Settings: settings}
}

// reason compares the requirements that a reviewer names with those that the
// case violates: one in common makes it the right reason.
func (t *ReviewTrial) reason(r *audit.Review) store.ReasonGrade {
	if t.Case.Label != audit.Bad || r.Judge(t.Case.Label) != audit.OutcomeCorrect ||
		len(t.Case.Violates) == 0 {
		return store.ReasonUnknown
	}
	if slices.ContainsFunc(r.Violates,
		func(v int) bool { return slices.Contains(t.Case.Violates, v) }) {
		return store.ReasonRight
	}
	return store.ReasonWrong
}

// capped returns the beginning of a reply that is too long to be stored.
func capped(s string) string {
	if len(s) <= replyCap {
		return s
	}
	cut := replyCap
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + fmt.Sprintf("\n[%d bytes more]", len(s)-cut)
}
