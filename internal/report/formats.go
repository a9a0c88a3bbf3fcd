package report

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"assay/audit"
	"assay/audit/findings"
	"assay/audit/score"
	"assay/internal/record"
)

// facts are the figures of all formats but HTML.
type facts struct {
	Audits []auditFact `json:"audits"`
	Bench  []benchFact `json:"bench"`
	Notes  []string    `json:"notes,omitempty"`
}

type auditFact struct {
	Record  string         `json:"record"`
	Suite   string         `json:"suite"`
	Project string         `json:"project"`
	Auditor string         `json:"auditor"`
	Replay  bool           `json:"replay"`
	Verdict audit.Verdict  `json:"verdict"`
	Trials  int            `json:"trials"`
	Metrics *score.Metrics `json:"metrics"` // score.Means over the trials that count
	Rates   *score.Rates   `json:"rates"`   // of the first of them
	Look    string         `json:"look,omitempty"`
	// over several trials; nil of a single one
	Stability *score.Stability `json:"stability,omitempty"`

	Runs      int `json:"runs,omitempty"`       // that came to an end, of all trials
	EarlyEnds int `json:"early_ends,omitempty"` // of these, how many ended early

	trials []*score.Metrics // of every trial that counts
}

type benchFact struct {
	Model   string       `json:"model"`
	Prompt  string       `json:"prompt"`
	App     string       `json:"app"` // empty: all; notStated of cases without one
	Figures *score.Bench `json:"figures"`

	Rank int `json:"rank,omitempty"` // 1 is best; of all applications alone
	// balanced accuracy over the cases that all answered
	RankedBy  *score.Estimate `json:"ranked_by,omitempty"`
	RankCases int             `json:"ranked_cases,omitempty"`
	Partial   bool            `json:"partial,omitempty"` // a part of the cases was asked

	trials []*score.Bench // of each repetition
}

// WriteAs writes the newest records and the results as text, csv, json, benchfmt
// or sarif.
func WriteAs(w io.Writer, format string, in *SiteInput) error {
	if format == "sarif" {
		return writeMissed(w, in)
	}
	f, err := factsOf(in)
	if err != nil {
		return err
	}
	switch format {
	case "text":
		return f.text(w)
	case "csv":
		return f.csv(w)
	case "benchfmt":
		return f.benchfmt(w)
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(f)
	}
	return fmt.Errorf("format %q: expected text, csv, json, benchfmt or sarif", format)
}

// factsOf returns the figures of the newest records and the results.
func factsOf(in *SiteInput) (*facts, error) {
	f := &facts{Audits: []auditFact{}, Bench: []benchFact{}, Notes: slices.Clone(in.Notes)}
	for _, r := range slices.Concat(in.latest("Smoke"), in.latest("Regression")) {
		runs, early := r.Record.Ended()
		a := auditFact{r.Record.Name(), r.Record.Suite, r.Record.Project, r.Record.Auditor,
			r.Record.Replay, r.Verdict, r.Trials, r.Metrics, r.Rates, r.Look, nil, runs, early, nil}
		s, err := score.StabilityOf(r.Record.Counting())
		if err != nil { // one record must not keep the others from being shown
			f.Notes = append(f.Notes, r.Record.Name()+": "+err.Error())
		} else if s.Known > 0 {
			a.Stability = &s
		}
		for _, t := range record.ScoreTrials(r.Record.Trials) {
			if m := score.FiguresOf([]score.AuditTrial{t}); m != nil {
				a.trials = append(a.trials, m)
			}
		}
		f.Audits = append(f.Audits, a)
		if r.Ended != "" {
			f.Notes = append(f.Notes, r.Record.Auditor+" on "+r.Record.Project+": "+r.Ended)
		}
	}
	if in.Results == nil {
		return f, nil
	}
	ls, err := variantLines(in.Results)
	if err != nil {
		return nil, err
	}
	apps, err := appLines(ls)
	if err != nil {
		return nil, err
	}
	for i, l := range ls {
		whole := benchFact{Model: l.Model, Prompt: l.Prompt, Figures: l.Bench, Rank: i + 1,
			RankedBy: &l.Rank, RankCases: l.Ranked, Partial: l.Partial}
		for _, as := range l.byTrial() {
			b, err := score.BenchOf(as)
			if err != nil {
				return nil, err
			}
			whole.trials = append(whole.trials, b)
		}
		f.Bench = append(f.Bench, whole)
		for _, a := range apps {
			if a.Cells[i] != nil {
				f.Bench = append(f.Bench, benchFact{Model: l.Model, Prompt: l.Prompt, App: a.App,
					Figures: a.Cells[i]})
			}
		}
	}
	return f, nil
}

var auditHeads = slices.Concat([]string{"suite", "project", "auditor", "verdict"},
	score.Names(score.AuditMetrics()), score.Names(score.StabilityMetrics()))
var benchHeads = append([]string{"reviewer", "prompt", "application"},
	score.Names(score.BenchMetrics())...)

// cells returns the row of an audit.
func (a *auditFact) cells() []string {
	name := a.Auditor
	if a.Replay {
		name += " (replay)"
	}
	cs := []string{a.Suite, a.Project, name, string(a.Verdict)}
	if a.Metrics == nil {
		cs = append(cs, "no trial counts")
	} else {
		cs = append(cs, score.ShowAll(score.AuditMetrics(), a.Metrics)...)
	}
	if a.Stability != nil {
		cs = append(cs, score.ShowAll(score.StabilityMetrics(), a.Stability)...)
	}
	return append(cs, make([]string, len(auditHeads)-len(cs))...)
}

// cells returns the row of a reviewer.
func (b *benchFact) cells() []string {
	return append([]string{b.Model, b.Prompt, cmp.Or(b.App, "all")},
		score.ShowAll(score.BenchMetrics(), b.Figures)...)
}

// text writes the figures as a table.
func (f *facts) text(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(cs []string) {
		for i := range cs {
			cs[i] = audit.OneLine(cs[i], 0)
		}
		fmt.Fprintln(tw, strings.Join(cs, "\t"))
	}
	if len(f.Audits) > 0 {
		line(slices.Clone(auditHeads))
		for i := range f.Audits {
			line(f.Audits[i].cells())
		}
	}
	if len(f.Bench) > 0 {
		fmt.Fprintln(tw)
		line(slices.Clone(benchHeads))
		for i := range f.Bench {
			line(f.Bench[i].cells())
		}
		for _, b := range f.Bench {
			switch name := (Variant{b.Model, b.Prompt}).String(); {
			case b.Partial:
				fmt.Fprintf(tw, "\nnote: %s was asked a part of the cases: never first",
					audit.OneLine(name, 0))
			case b.Rank == 1 && len(f.Bench) > 1:
				fmt.Fprintf(tw,
					"\nranked by balanced accuracy over the %d cases that all have answered",
					b.RankCases)
			}
		}
	}
	for _, a := range f.Audits {
		if a.Look != "" {
			fmt.Fprintf(tw, "\n%s %s on %s: %s", audit.OneLine(string(a.Verdict), 0),
				audit.OneLine(a.Auditor, 0), audit.OneLine(a.Project, 0), clip(a.Look, 200))
		}
	}
	for _, n := range f.Notes {
		fmt.Fprintf(tw, "\nnote: %s", audit.OneLine(n, 0))
	}
	fmt.Fprintln(tw)
	return tw.Flush()
}

// csv writes one figure a line: long tables outlive changes of the columns.
func (f *facts) csv(w io.Writer) error {
	c := csv.NewWriter(w)
	c.Write([]string{"suite", "subject", "by", "prompt", "metric", "value", "low",
		"high", "answers"})
	var of []string // whose figures the lines tell
	line := func(metric string, e score.Estimate) {
		answers := ""
		if e.Answers > 0 {
			answers = strconv.Itoa(e.Answers)
		}
		c.Write(append(slices.Clone(of), metric, sixDigits(e.Value), sixDigits(e.Low),
			sixDigits(e.High), answers))
	}
	rates := func(r *score.Rates) {
		for _, row := range r.Rows() {
			for _, m := range score.RateMetrics() {
				line(m.Name+" "+row.Name(), m.Of(&row))
			}
		}
	}
	for _, a := range f.Audits {
		of = guarded(a.Suite, a.Project, a.Auditor, "")
		c.Write(append(slices.Clone(of), "verdict", guarded(string(a.Verdict))[0], "", "", ""))
		if a.Runs > 0 {
			line("runs that ended early", score.Estimate{Value: score.Of(float64(a.EarlyEnds)),
				Answers: a.Runs})
		}
		if a.Metrics != nil {
			for _, m := range score.AuditMetrics() {
				line(m.Name, m.Of(a.Metrics))
			}
			if a.Stability != nil {
				for _, m := range score.StabilityMetrics() {
					line(m.Name, m.Of(a.Stability))
				}
			}
			rates(a.Rates)
		}
	}
	for _, b := range f.Bench {
		of = guarded("Bench", cmp.Or(b.App, "all"), b.Model, b.Prompt)
		for _, m := range score.BenchMetrics() {
			line(m.Name, m.Of(b.Figures))
		}
		if b.Rank > 0 {
			line("rank", score.Estimate{Value: score.Of(float64(b.Rank)), Answers: b.RankCases})
		}
		rates(&b.Figures.Rates)
	}
	c.Flush()
	return c.Error()
}

// sixDigits returns a value with six digits, "" if it is undefined.
func sixDigits(v score.Value) string {
	if !v.Defined {
		return ""
	}
	return fmt.Sprintf("%.6g", v.V)
}

// guarded keeps a spreadsheet from taking names for formulas, and a terminal from
// obeying them.
func guarded(names ...string) []string {
	for i, s := range names {
		s = audit.OneLine(s, 0)
		if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
			s = "'" + s
		}
		names[i] = s
	}
	return names
}

// benchfmt writes the figures in Go's benchmark format, for benchstat: see
// golang.org/design/14313-benchmark-format, and pkg.go.dev/golang.org/x/perf/benchfmt
// for the units' lines. Undefined figures are left out. A trial is a
// sample: of an audit, or of all cases by a reviewer. Applications, and what an auditor
// found in all of its trials, have a line over all trials.
func (f *facts) benchfmt(w io.Writer) error {
	var b strings.Builder
	seen := map[string]bool{}
	unitLines(&b, seen, score.AuditMetrics())
	unitLines(&b, seen, score.StabilityMetrics())
	unitLines(&b, seen, score.BenchMetrics())
	line := func(name string, units []string) {
		if len(units) > 0 {
			fmt.Fprintf(&b, "Benchmark%s 1 %s\n", name, strings.Join(units, " "))
		}
	}
	for _, a := range f.Audits {
		name := fmt.Sprintf("%s/project=%s/auditor=%s", solid(a.Suite), solid(a.Project),
			solid(a.Auditor))
		for _, m := range a.trials {
			line(name, units(score.AuditMetrics(), m))
		}
		if a.Stability != nil {
			line(name, units(score.StabilityMetrics(), a.Stability))
		}
	}
	for _, x := range f.Bench {
		of := x.trials
		if of == nil {
			of = []*score.Bench{x.Figures}
		}
		for _, b := range of {
			line(fmt.Sprintf("Bench/app=%s/model=%s/prompt=%s", solid(cmp.Or(x.App, "all")),
				solid(x.Model), solid(x.Prompt)), units(score.BenchMetrics(), b))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// unitLines writes the units of metrics in benchfmt.
func unitLines[R any](b *strings.Builder, seen map[string]bool, ms []score.Metric[R]) {
	for _, m := range ms {
		if seen[m.Unit()] {
			continue
		}
		seen[m.Unit()] = true
		better := map[bool]string{false: "higher", true: "lower"}[m.Less]
		for _, end := range []string{"", "-low", "-high"} {
			fmt.Fprintf(b, "Unit %s%s better=%s\n", m.Unit(), end, better)
		}
	}
}

// units returns the defined figures of r, each with its unit; for a figure between bounds both.
func units[R any](ms []score.Metric[R], r R) []string {
	var us []string
	for _, m := range ms {
		e := m.Of(r)
		switch {
		case e.Value.Defined:
			us = append(us, fmt.Sprintf("%.6g %s", e.Value.V, m.Unit()))
		case e.Low.Defined:
			us = append(us, fmt.Sprintf("%.6g %s-low", e.Low.V, m.Unit()))
			if e.High.Defined {
				us = append(us, fmt.Sprintf("%.6g %s-high", e.High.V, m.Unit()))
			}
		}
	}
	return us
}

// solid returns a text as one word for benchfmt.
func solid(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == '/' || r == '=' || r == 0x7f {
			return '~'
		}
		return r
	}, audit.OneLine(s, 0))
}

// writeMissed writes the known vulnerabilities that no trial of an auditor's
// newest record found, as SARIF: an editor shows them in place.
func writeMissed(w io.Writer, in *SiteInput) error {
	rows := in.latest("Regression")
	if len(rows) != 1 {
		var have []string
		for _, r := range rows {
			have = append(have, r.Record.Auditor+" on "+r.Record.Project)
		}
		return fmt.Errorf(
			"%d newest records (%s): expected one, chosen with --auditor and --project", len(rows),
			strings.Join(have, ", "))
	}
	r := rows[0]
	key := in.Projects[r.Record.Project]
	if key == nil {
		return fmt.Errorf("the key of %s is not at hand: expected fixtures/projects/%s.md",
			r.Record.Project, r.Record.Project)
	}
	found := map[string]bool{}
	for _, t := range r.Record.Counting() {
		for _, k := range t.Known {
			found[k.ID] = found[k.ID] || k.Credit == 1
		}
	}
	var missed []audit.Finding
	for _, f := range score.AsFindings(key) {
		if !found[f.ID] {
			missed = append(missed, f)
		}
	}
	return findings.WriteSARIF(w, "assay: missed by "+r.Record.Auditor, r.Record.Score, missed)
}
