package score

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"assay/audit"
)

// ProjectGoals are what an auditor must reach on one project. A zero asks for nothing.
type ProjectGoals struct {
	Recall             float64 // 0 to 1
	Precision          float64
	F1                 float64
	Coverage           int                     // dimensions, of ten
	Expected           int                     // credit: found entries, a half counting a half
	Minimums           map[audit.Dimension]int // credit by dimension
	ByMethodologyScore bool                    // the methodology score is asserted, not ours
	// recall at chance warns, and does not fail
	AtChance bool `json:",omitempty"`
	// the user states none, and these are Assay's
	Shipped  bool `json:",omitempty"`
	Goalless bool `json:",omitempty"` // goals.md cannot state any
	// Methodology lets the methodology's own verdict decide, on its own score.
	Methodology bool `json:",omitempty"`
}

// asserted reports whether the methodology score is the one that is judged.
func (g *ProjectGoals) asserted() bool { return g.ByMethodologyScore || g.Methodology }

// stated reports whether anything is asked for.
func (g *ProjectGoals) stated() bool {
	return g.Recall > 0 || g.Precision > 0 || g.F1 > 0 || g.Coverage > 0 || g.Expected > 0 ||
		len(g.Minimums) > 0
}

// GoalsFor returns the goals of one project: those of goals.md, with the project's own recall
// and coverage goals, expected findings and minimums. The goal for coverage is at most the
// number of dimensions in the key.
func GoalsFor(p *audit.Project, g audit.Goals) (ProjectGoals, error) {
	goals := ProjectGoals{Recall: g.Recall, Precision: g.Precision, F1: g.F1, Coverage: g.Coverage,
		Expected: p.Expected, Minimums: p.Minimums, AtChance: g.AtChance,
		Methodology: g.Gate == "methodology"}
	if p.RecallGoal > 0 {
		goals.Recall = p.RecallGoal
	}
	held := map[audit.Dimension]bool{}
	for _, k := range p.Vulnerabilities {
		held[k.Dimension] = true
	}
	goals.Coverage = min(goals.Coverage, len(held))
	if p.Coverage > 0 {
		goals.Coverage = p.Coverage
	}
	switch g.Score {
	case "", "assay":
	case "literal":
		goals.ByMethodologyScore = true
	default:
		return ProjectGoals{}, fmt.Errorf("%s: score %q: expected assay or literal", g.Pos, g.Score)
	}
	return goals, nil
}

// A ReasonCode names what a reason is about, for programs.
type ReasonCode string

// The codes of reasons.
const (
	CodeInvalid     ReasonCode = "invalid"     // trials that do not count
	CodeUnanswered  ReasonCode = "unanswered"  // too many trials without an answer, or none with one
	CodeUnconfined  ReasonCode = "unconfined"  // the auditor ran outside of the sandbox
	CodeChance      ReasonCode = "chance"      // no better than random placement
	CodeGoal        ReasonCode = "goal"        // a goal, met or missed; Metric says which
	CodeReview      ReasonCode = "review"      // a goal that depends on findings that nobody has reviewed
	CodeDrop        ReasonCode = "drop"        // worse than the baseline, or no sign of it
	CodePossible    ReasonCode = "possible"    // perhaps worse than the baseline
	CodeWide        ReasonCode = "wide"        // no sign of a drop, but a large one is not excluded
	CodeProvider    ReasonCode = "provider"    // a drop that the side run beside shares
	CodeCost        ReasonCode = "cost"        // dearer or slower than the baseline
	CodeMethodology ReasonCode = "methodology" // the methodology's own verdict
	CodeStochastic  ReasonCode = "stochastic"  // called deterministic, but two trials differ
	CodeReplay      ReasonCode = "replay"      // a recording is scored otherwise than at its baseline
	CodeCheck       ReasonCode = "check"       // a check of the smoke test
	// a planted flaw that was not found; a wrong answer under Strict
	CodeMiss ReasonCode = "miss"
)

// The metrics that reasons are about.
const (
	MetricRecall      = "recall"
	MetricPrecision   = "precision"
	MetricF1          = "F1"
	MetricCoverage    = "coverage"
	MetricExpected    = "expected findings"
	MetricMinimum     = "minimum"
	MetricBalanced    = "balanced accuracy"
	MetricSpecificity = "specificity"
	MetricFalse       = "false findings"
	MetricCost        = "cost"
	MetricTime        = "time"
)

// A Reason is one reason for a verdict, in words for people and in numbers for
// programs.
type Reason struct {
	Code     ReasonCode    `json:"code"`
	Verdict  audit.Verdict `json:"verdict"`
	Metric   string        `json:"metric,omitempty"`
	About    string        `json:"about,omitempty"` // a dimension, an entry, a check
	Now      Value         `json:"now,omitzero"`
	Want     Value         `json:"want,omitzero"`     // the goal
	Baseline Value         `json:"baseline,omitzero"` // the same figure there
	// share of exchanges that show as large a change
	P        Value `json:"p,omitzero"`
	Excluded Value `json:"excluded,omitzero"` // a larger drop is excluded at 95 %
	// what would decide a WARN; nil where nothing would
	Advice *Advice `json:"advice,omitempty"`
	More   int     `json:"more,omitempty"` // reviews that would decide it
	// to be reviewed: indices into the first trial's findings
	Findings []int  `json:"findings,omitempty"`
	Text     string `json:"text"`
}

// Compares reports whether the reason compares its metric with the baseline.
func (g *Reason) Compares() bool {
	return g.Baseline.Defined || g.Code == CodeDrop
}

// Inconclusive reports whether more trials or projects would decide it.
func (g *Reason) Inconclusive() bool { return g.Code == CodePossible || g.Code == CodeWide }

// MoreTrials returns the trials of this side, of all projects, that would decide it.
func (g *Reason) MoreTrials() int {
	if g.Advice == nil || g.Advice.Project != "" {
		return 0
	}
	return g.Advice.Trials
}

// A Judgement is a verdict with its reasons, the gravest first. Reasons that pass
// are among them.
type Judgement struct {
	Verdict audit.Verdict `json:"verdict"`
	Reasons []Reason      `json:"reasons"`
	// Methodology is the verdict by the methodology's own words: any of its four
	// metrics more than five points below the baseline, or below its goal, is FAIL;
	// one to five points is WARN. Empty where it says nothing (Smoke, Bench).
	Methodology audit.Verdict `json:"methodology,omitempty"`
	// entries or cases that earn less than at the baseline, most first
	Lost   []EntryChange `json:"lost,omitempty"`
	Gained []EntryChange `json:"gained,omitempty"` // and more
	// what of the auditor changed since the baseline
	Changed []string `json:"changed,omitempty"`

	letter []string // clauses of the methodology that are not met
}

// An EntryChange is what an entry earned on average, or how often a case was
// judged rightly.
type EntryChange struct {
	ID       string  `json:"id"`
	Baseline float64 `json:"baseline"`
	Now      float64 `json:"now"`
}

var gravity = map[audit.Verdict]int{audit.Invalid: 0, audit.Fail: 1, audit.Warn: 2, audit.Pass: 3}

// judgement returns the judgement of these reasons.
func judgement(reasons []Reason) (j Judgement) {
	j.set(reasons)
	return j
}

// set sets reasons and verdict; the gravest reason decides.
func (j *Judgement) set(reasons []Reason) {
	j.Reasons = gravest(reasons)
	j.Verdict = audit.Worst()
	if len(j.Reasons) > 0 {
		j.Verdict = j.Reasons[0].Verdict
	}
}

// gravest sorts reasons, the gravest first, and keeps one of each metric that does not pass.
func gravest(reasons []Reason) (out []Reason) {
	slices.SortStableFunc(reasons,
		func(a, b Reason) int { return gravity[a.Verdict] - gravity[b.Verdict] })
	for _, g := range reasons {
		said := slices.ContainsFunc(out, func(o Reason) bool {
			return g.Metric != "" && o.Metric == g.Metric && o.About == g.About &&
				o.Verdict != audit.Pass
		})
		if !said {
			out = append(out, g)
		}
	}
	return out
}

// changes returns the entries whose mean fell and those whose mean rose, by size and then name.
func changes(all []EntryChange) (lost, gained []EntryChange) {
	for _, c := range all {
		switch {
		case c.Now < c.Baseline-tiny:
			lost = append(lost, c)
		case c.Now > c.Baseline+tiny:
			gained = append(gained, c)
		}
	}
	by := func(a, b EntryChange) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Baseline-b.Now), math.Abs(a.Baseline-a.Now)),
			cmp.Compare(a.ID, b.ID))
	}
	slices.SortFunc(lost, by)
	slices.SortFunc(gained, by)
	return lost, gained
}
