package audit

import (
	"context"
	"strconv"
	"time"
)

// A Label says what a case is, or what a reviewer takes it for.
type Label string

// The two labels.
const (
	Good Label = "good" // the code satisfies every requirement of the SPEC
	Bad  Label = "bad"  // the code violates at least one
)

// A Case is one markdown file in tests/<app>/: a fragment of code with its
// answer.
type Case struct {
	App         string
	Query       string // the family's name within the application
	Number      int    // the NN of the file name
	Label       Label
	Description string
	Language    string // the info string of the code's fence; may be empty
	// what a reviewer sees; of several blocks, or of one with a path, what JoinBlocks gives
	Code     string
	Violates []int // requirements that a bad case breaks, ascending; may be empty
	CWEs     []CWE
	Pos      Pos
}

// ID is "<app>/<query>-<NN>-<label>", unique in a corpus.
func (c *Case) ID() string {
	number := strconv.Itoa(c.Number) // not Sprintf: reports ask for millions of these
	if len(number) < 2 {
		number = "0" + number
	}
	return c.App + "/" + c.Query + "-" + number + "-" + string(c.Label)
}

// Family is "<app>/<query>", shared by the variants of one query.
func (c *Case) Family() string { return c.App + "/" + c.Query }

// A Requirement is one numbered item of a SPEC's Security Requirements.
type Requirement struct {
	Number int
	Text   string
	Pos    Pos
}

// A Spec is an application's SPEC.md.
type Spec struct {
	App          string
	Prompt       string // the Prompt section's markdown: all of the SPEC that a reviewer sees
	Requirements []Requirement
	// "# Patterns": which pattern a requirement is about; never shown to a reviewer
	Patterns []PatternRow
	Pos      Pos
}

// A ReviewTask is all that a reviewer sees of a case. It has no field for a
// label, a file name, a number or a description.
type ReviewTask struct {
	Spec     string // the SPEC's Prompt section
	Prompt   string // the evaluation prompt
	Language string
	Code     string
	Unusable string // why an earlier reply to the same task could not be used; empty at first
}

// A Reviewer judges one fragment of code against a SPEC. Several goroutines may ask one
// at once.
type Reviewer interface {
	// Name is as in results.db and in subtest paths.
	Name() string
	// Review judges one task. Everything that goes wrong is told by the review's
	// Status and Detail. It does not try again by itself: whoever calls it may,
	// when the review is Errored and its last attempt is Transient. An error means that no
	// further task can succeed (a
	// revoked key, a program that is not there) and ends the run.
	Review(ctx context.Context, task ReviewTask) (Review, error)
}

// A Status says whether a reviewer answered.
type Status string

// The statuses of a review.
const (
	Answered  Status = "answered"
	Refused   Status = "refused"   // the model declined to judge
	Malformed Status = "malformed" // it spoke, and no verdict can be read
	Errored   Status = "errored"   // it never got to speak, or was cut off by an error
)

// A Review is what became of one ReviewTask.
type Review struct {
	Status      Status
	Verdict     Label // set when Status is Answered
	Explanation string
	Violates    []int
	CWEs        []CWE
	Confidence  float64 // 0 to 1 as the reviewer states it; 0 also when it does not
	Detail      string  // why there is no answer; empty when there is one
	Raw         string  // the reply as it came
	Attempts    []Attempt
}

// An Attempt is one request to a model or one start of a program.
type Attempt struct {
	Started      time.Time
	Latency      time.Duration
	Model        string // as served
	FinishReason string
	Usage        Usage
	HTTPStatus   int           // 0 where there was none
	Error        string        // empty when the attempt succeeded
	Transient    bool          // whether the same request may succeed later
	RetryAfter   time.Duration // how long the server asks to wait; 0 when it does not say
	Grant        RateLimits    `json:",omitzero"` // how often the server says that it may be asked
}

// A RateLimits is what a provider says of its limits, in requests like the one that it
// answered: a bucket that fills. The zero value says nothing.
type RateLimits struct {
	Rate  float64 // a second
	Burst float64 // that the bucket holds
	Left  float64 // in it, after this request
}

// Usage is what an attempt or an audit consumed.
type Usage struct {
	TokensIn  int64
	TokensOut int64
	// of an agent: how often it went back to its model, as it counts them; 0 where it does not
	// say
	Turns  int64   `json:",omitempty"`
	USD    float64 // the provider's own figure, or tokens times the listed price
	Priced bool    // whether USD is known: an unknown cost is not a cost of 0
	Unsure float64 `json:",omitempty"` // USD beside that at most, where it is not known
}

// Add returns the sum of two usages. The sum is priced if both are.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.TokensIn + v.TokensIn, u.TokensOut + v.TokensOut, u.Turns + v.Turns,
		u.USD + v.USD,
		u.Priced && v.Priced, u.Unsure + v.Unsure}
}

// An Outcome is what became of one trial.
type Outcome string

// The outcomes. The planned trials of a run are their sum, always.
const (
	OutcomeCorrect   Outcome = "correct"
	OutcomeWrong     Outcome = "wrong"
	OutcomeRefused   Outcome = "refused"
	OutcomeMalformed Outcome = "malformed"
	OutcomeErrored   Outcome = "errored"
	OutcomeSkipped   Outcome = "skipped" // planned, and never begun
)

// Outcomes returns the six outcomes in the order of reports.
func Outcomes() []Outcome {
	return []Outcome{OutcomeCorrect, OutcomeWrong, OutcomeRefused, OutcomeMalformed, OutcomeErrored,
		OutcomeSkipped}
}

// Judge returns the outcome of a review, compared with the case's label.
func (r *Review) Judge(want Label) Outcome {
	switch {
	case r.Status == Answered && r.Verdict == want:
		return OutcomeCorrect
	case r.Status == Answered && (r.Verdict == Good || r.Verdict == Bad):
		return OutcomeWrong
	case r.Status == Refused:
		return OutcomeRefused
	case r.Status == Errored:
		return OutcomeErrored
	}
	return OutcomeMalformed
}
