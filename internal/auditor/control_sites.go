package auditor

import (
	"context"
	"strings"

	"assay/audit"
)

// A constantControl is a reviewer that answers without looking.
type constantControl struct {
	name    string
	verdict audit.Label
}

// reviewControls are the controls that judge cases. Two are what saying always the same
// is worth: who names nothing misses all, who names everything alarms everywhere.
var reviewControls = []audit.Reviewer{
	wordsControl{},
	constantControl{"control-nothing", audit.Good},
	constantControl{"control-everything", audit.Bad},
}

// Name is "control-nothing" or "control-everything".
func (c constantControl) Name() string { return c.name }

// everyLines is how many lines of a module one violation of control-everything
// covers.
const everyLines = 5

// everyCWEs are the weaknesses that each of them names, as many as count: improper
// authorization, input validation and concurrency are broad enough to be a step from
// most.
var everyCWEs = []audit.CWE{285, 20, 362}

// Review calls every fragment the same. Of a module control-everything names all
// lines, five at a time, with the same three weaknesses.
func (c constantControl) Review(ctx context.Context, task audit.ReviewTask) (audit.Review, error) {
	if err := ctx.Err(); err != nil {
		return audit.Review{Status: audit.Errored, Detail: err.Error()}, nil
	}
	r := audit.Review{Status: audit.Answered, Verdict: c.verdict, Explanation: "it says so of everything"}
	if c.verdict == audit.Bad {
		for _, f := range task.Files {
			n := strings.Count(f.Code, "\n")
			for i := 1; i <= n; i += everyLines {
				r.Violations = append(r.Violations, audit.Violation{File: f.Path, Lines: audit.Range{Start: i, End: min(n, i+everyLines-1)}, CWEs: everyCWEs})
			}
		}
	}
	r.Raw = r.Explanation
	return r, nil
}
