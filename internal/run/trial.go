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

// keyVersion changes when the same trial gets another key, so that results of
// older versions are not taken for newer ones.
const keyVersion = "assay trial 1"

// replyCap is how much of a reply is stored, in bytes. A verdict takes some
// hundred; what is longer is a model that lost its way.
const replyCap = 64 << 10

// A Trial is one repetition of a case with a reviewer.
type Trial struct {
	Case       *audit.Case // a twin is a copy of the case with its code changed
	Spec       *audit.Spec
	PromptName string
	Prompt     string // the evaluation prompt
	Reviewer   audit.Reviewer
	Index      int    // from 0
	Twin       string // kind of the machine-made variant; empty for the case itself

	unusable string // why the last reply could not be used
}

// A Described reviewer says what the run needs to know about it. One that is not
// Described costs nothing, runs on this machine, and is asked anew in every run.
type Described interface {
	// Settings names everything besides the task that can change an answer:
	// model, temperature, limits, hash of the program. It holds no secret.
	Settings() string
	// Provider is whose limits, key and quota the reviewer shares; "" for this
	// machine.
	Provider() string
	// Cost gives what one request for the task is expected to cost, and costs at
	// most, in USD. known is false for a model without a price.
	Cost(task audit.ReviewTask) (expected, most float64, known bool)
}

// Task is all that the reviewer sees.
func (t *Trial) Task() audit.ReviewTask {
	return audit.ReviewTask{Spec: t.Spec.Prompt, Prompt: t.Prompt, Language: t.Case.Language, Code: t.Case.Code}
}

// TextHash is the hash by which a trial knows the prompt and the SPEC that it sent.
func TextHash(text string) string { return hash(text) }

// hash gives the SHA-256 of the parts, each preceded by its length, so that no
// two lists of parts run together.
func hash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// CaseHash identifies what matters of a case: identity, language, code, violated
// requirements.
func CaseHash(c *audit.Case) string {
	violates := slices.Sorted(slices.Values(c.Violates))
	return hash(c.ID(), c.Language, c.Code, fmt.Sprint(violates))
}

func (t *Trial) caseHash() string { return CaseHash(t.Case) }

func (t *Trial) settings() string {
	s := t.Reviewer.Name()
	if d, ok := t.Reviewer.(Described); ok {
		s += "\n" + d.Settings()
	}
	return s
}

// Key is the hash of case, SPEC, prompt, reviewer with its settings, and index.
// A case that is edited where it matters (identity, code, violated requirements)
// gets another key; an edited description does not.
func (t *Trial) Key() string {
	return hash(keyVersion, t.caseHash(), t.Spec.Prompt, t.Prompt, t.settings(), strconv.Itoa(t.Index), t.Twin)
}

// noVerdict is said of a reply of which nothing else is known.
const noVerdict = "it holds no verdict that can be read"

// Item gives the work of the trial.
func (t *Trial) Item() Item {
	it := Item{Key: t.Key(), Reviewer: t.Reviewer.Name(), Family: t.Case.Family(), Expected: t.Case.Label,
		Cost: Cost{Known: true}, Do: t.try, Reasked: func() { t.unusable = noVerdict }}
	if d, ok := t.Reviewer.(Described); ok {
		it.Provider, it.Reusable = d.Provider(), true
		it.Cost.Expected, it.Cost.Most, it.Cost.Known = d.Cost(t.Task())
	}
	return it
}

// try asks the reviewer once and judges the answer. A reviewer that is asked by
// requests is told once what was wrong with a malformed or empty reply.
func (t *Trial) try(ctx context.Context) Try {
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
	return Try{Evaluation: e, Attempts: review.Attempts, Reask: again, Fatal: err}
}

// evaluation fills in what is known before anybody is asked.
func (t *Trial) evaluation() store.Evaluation {
	c := t.Case
	settings := t.settings()
	return store.Evaluation{TestFile: t.file(), Model: t.Reviewer.Name(), Expected: c.Label, Index: t.Index,
		App: c.App, Query: c.Query, Family: c.Family(), Prompt: t.PromptName, Twin: t.Twin,
		CaseHash: t.caseHash(), SpecHash: hash(t.Spec.Prompt), PromptHash: hash(t.Prompt),
		SettingsHash: hash(settings), Settings: settings}
}

func (t *Trial) file() string {
	if t.Case.Pos.File != "" {
		return t.Case.Pos.File
	}
	return "tests/" + t.Case.ID() + ".md"
}

// reason compares the requirements that a reviewer names with those that the
// case violates: one in common makes it the right reason.
func (t *Trial) reason(r *audit.Review) store.Reason {
	if t.Case.Label != audit.Bad || r.Judge(t.Case.Label) != audit.OutcomeCorrect || len(t.Case.Violates) == 0 {
		return store.ReasonUnknown
	}
	for _, v := range r.Violates {
		if slices.Contains(t.Case.Violates, v) {
			return store.ReasonRight
		}
	}
	return store.ReasonWrong
}

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
