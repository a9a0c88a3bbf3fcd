package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/audit/score"
	"assay/internal/record"
)

// An AuditorDiff sets auditor A against auditor B over the projects that both audited.
type AuditorDiff struct {
	A, B     string
	Total    score.Comparison // of B against A, over all of these projects
	Gate     string           // what the gate says of B with A as its baseline; may be empty
	Projects []AuditedDiff    // by name
	OnlyA    []string         // projects that B did not audit
	OnlyB    []string
}

// An AuditedDiff is the part of one project.
type AuditedDiff struct {
	Project    string
	Comparison score.Comparison
	FromA      string              // the record of A
	FromB      string              // and of B
	Figures    []FigureDiff        // Was is A, Now is B
	AlsoA      []score.EntryResult // found in full by some trial of A, missed by all of B
	AlsoB      []score.EntryResult
}

// DiffAuditors compares the audits of two auditors, by project. Projects that only one of them
// audited are named and left out; no common project is an error. Audits that were scored by
// different rules or keys yield a [*score.MismatchError], which [Rescore] corrects.
func DiffAuditors(a, b string, as, bs map[string]*record.Record) (*AuditorDiff, error) {
	d := &AuditorDiff{A: a, B: b}
	var all []score.AuditedByTwo
	for _, name := range slices.Sorted(maps.Keys(as)) {
		ra, rb := as[name], bs[name]
		if rb == nil {
			d.OnlyA = append(d.OnlyA, name)
			continue
		}
		both := score.AuditedByTwo{A: rb.Counting(), B: ra.Counting()}
		c, err := score.CompareAuditors(both)
		if err != nil {
			return nil, fmt.Errorf("%s: %s and %s: %w", name, ra.Name(), rb.Name(), err)
		}
		all = append(all, both)
		d.Projects = append(d.Projects, AuditedDiff{Project: name, Comparison: c, FromA: ra.Name(),
			FromB: rb.Name(), Figures: figures(ra, rb),
			AlsoA: score.FoundBy(both.B, both.A), AlsoB: score.FoundBy(both.A, both.B)})
	}
	for _, name := range slices.Sorted(maps.Keys(bs)) {
		if as[name] == nil {
			d.OnlyB = append(d.OnlyB, name)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s and %s have no project in common: %s audited %s, and %s %s", a,
			b, a, list(d.OnlyA), b, list(d.OnlyB))
	}
	var err error
	if d.Total, err = score.CompareAuditors(all...); err != nil {
		return nil, err
	}
	d.Gate, err = gateOf(as, bs)
	return d, err
}

// gateOf returns what the gate says of the recall of B, as if A were its baseline; "" where
// it cannot tell.
func gateOf(as, bs map[string]*record.Record) (string, error) {
	var subjects []score.Subject
	for _, name := range slices.Sorted(maps.Keys(as)) {
		if b := bs[name]; b != nil {
			subjects = append(subjects, score.Subject{Name: name, Now: record.ScoreTrials(b.Trials),
				Baseline: record.ScoreTrials(as[name].Trials)})
		}
	}
	suite, err := score.JudgeSuite(subjects, score.Rules{})
	if err != nil {
		return "", err
	}
	for _, g := range slices.Concat(suite.Reasons, suite.Projects[0].Reasons) {
		if g.Metric == score.MetricRecall && g.P.Defined {
			text, _, _ := strings.Cut(g.Text, ". Your change") // it is another auditor
			return string(g.Verdict) + ": " + text, nil
		}
	}
	return "", nil
}
