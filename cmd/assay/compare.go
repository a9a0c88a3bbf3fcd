package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/fixture"
	"assay/audit/score"
	"assay/internal/record"
	"assay/internal/report"
	"assay/internal/store"
	"assay/internal/suite"
)

type compareCmd struct {
	Root    string `help:"Folder with tests/ and fixtures/." default:"." env:"ASSAY_ROOT" type:"existingdir"`
	DB      string `help:"The results in which reviewers are looked up; default: results.db below the root." env:"ASSAY_DB"`
	Model   string `help:"Of two results: this reviewer alone."`
	Rescore bool   `help:"Score the records' stored findings again by today's rules and key, offline."`
	Of      string `help:"What two names are, where they are both: auditors or reviewers." enum:"auditors,reviewers," default:""`
	FailIf  string `help:"worse makes the command fail where it is settled that the newcomer B is worse than A." enum:"worse,never" default:"never"`
	Strict  bool   `help:"What is not settled fails."`
	Format  string `help:"text or json: one object; of two results a list with an object for each reviewer." enum:"text,json" default:"text" short:"o"`
	A       string `arg:"" help:"A record (.txt or .json), an auditor, a reviewer (model or model@prompt), or a results.db: the baseline."`
	B       string `arg:"" help:"The same kind again: what is held against it."`
}

// Run compares two records, results, reviewers or auditors.
func (c *compareCmd) Run(ctx context.Context) error {
	c.DB = cmp.Or(c.DB, under(c.Root, "results.db"))
	a, b := kindOf(c.A), kindOf(c.B)
	if a != b {
		return fmt.Errorf("%s is %s and %s is %s: expected two of a kind", c.A, a, c.B, b)
	}
	if a == aName {
		return c.names(ctx)
	}
	if c.Rescore && a != aRecord {
		return fmt.Errorf("--rescore is for records and auditors: %s is %s", c.A, a)
	}
	if c.Of != "" {
		return fmt.Errorf("--of is for two names: %s is %s", c.A, a)
	}
	if a == aRecord {
		if c.FailIf == "worse" {
			return fmt.Errorf(
				"--fail-if is for two names or two results: of two records FAIL fails always")
		}
		return c.records()
	}
	return c.results(ctx)
}

const (
	aRecord  = "a record"
	aResults = "a results.db"
	aName    = "the name of an auditor or a reviewer"
)

// kindOf returns whether a name is that of a record, of results, or of an auditor or reviewer.
func kindOf(name string) string {
	st, err := os.Stat(name)
	there := err == nil && st.Mode().IsRegular()
	switch {
	case store.OfPostgres(name):
		return aResults
	case strings.HasSuffix(name, ".json"), strings.HasSuffix(name, ".txt"): // by which runs name it
		return aRecord
	case there, strings.HasSuffix(name, ".db"):
		return aResults
	}
	return aName
}

// readRecord reads a record by its file name.
func readRecord(name string) (*record.Record, error) {
	return record.Read(audit.PlainFiles(os.DirFS(filepath.Dir(name))), filepath.Base(name))
}

// records compares two records.
func (c *compareCmd) records() error {
	a, errA := readRecord(c.A)
	b, errB := readRecord(c.B)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	j, err := suite.NewJudge(c.Root)
	if err != nil {
		return err
	}
	if c.Rescore {
		a, errA = j.Rescore(a)
		b, errB = j.Rescore(b)
		if err := errors.Join(errA, errB); err != nil {
			return err
		}
	}
	rules := score.Rules{Deterministic: j.Deterministic(a.Auditor) && j.Deterministic(b.Auditor),
		Strict: c.Strict}
	d, err := report.DiffRecords(a, b, rules)
	if err != nil {
		return err
	}
	if err := c.write(d); err != nil {
		return err
	}
	if v := d.Judgement.Verdict; v == audit.Fail || v == audit.Invalid {
		return fmt.Errorf("%s: %s", v, d.Judgement.Reasons[0].Text)
	}
	return nil
}

type compared interface{ Text(io.Writer) error }

// write prints a comparison in the requested format.
func (c *compareCmd) write(d compared) error {
	if c.Format == "json" {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(d)
	}
	return d.Text(stdout)
}

// load reads the results at where that q selects.
func load(ctx context.Context, root, where string, q store.Query) (*report.BenchResults, error) {
	st, err := store.OpenReadOnly(ctx, where)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	key, _, err := keyOf(root)
	if err != nil {
		return nil, err
	}
	r, err := report.LoadResults(ctx, st, q, key, false)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", chosen(where, q), err)
	}
	return r, nil
}

// chosen describes a selection of results for messages.
func chosen(where string, q store.Query) string {
	name := store.Shown(where)
	if q.Run != "" {
		name += ", --run " + q.Run
	}
	if q.Model != "" {
		name += ", --model " + q.Model
	}
	return name
}

// keyOf returns the cases of root, if it has tests/.
func keyOf(root string) (key report.Key, apps []*audit.App, err error) {
	fsys, err := suite.Checkout(root)
	if err != nil {
		return key, nil, err
	}
	if _, err := os.Stat(filepath.Join(root, "tests")); err != nil {
		return key, nil, nil
	}
	c, err := fixture.ReadCorpus(fsys, "tests", false)
	if err != nil {
		return key, nil, err
	}
	key.Cases = report.CasesOf(c.Apps)
	return key, c.Apps, nil
}

// names compares two auditors or reviewers by name.
func (c *compareCmd) names(ctx context.Context) error {
	all, unread := record.ReadAuditors(c.Root)
	if all[c.A] == nil || all[c.B] == nil {
		unread = errors.Join(unread, c.addPublished(ctx, all))
	}
	as, errA := all.Find(c.A)
	bs, errB := all.Find(c.B)
	auditors := errA == nil && errB == nil
	a, b, noReviewers := c.reviewers(ctx)
	switch {
	case c.Of == "reviewers" && noReviewers != nil:
		return noReviewers
	case c.Of == "reviewers", c.Of == "" && !auditors && noReviewers == nil:
		return c.variants(a, b)
	case c.Of == "" && auditors && noReviewers == nil:
		return fmt.Errorf(
			"%s and %s have both audited projects and reviewed cases: say --of auditors or --of reviewers", c.A, c.B)
	case !auditors && c.Of == "auditors":
		return errors.Join(errA, errB, unread)
	case !auditors:
		return errors.Join(errA, errB, unread, noReviewers)
	}
	return errors.Join(unread, c.auditors(as, bs))
}

// addPublished adds the recorded runs of others by the two auditors to their audits.
func (c *compareCmd) addPublished(ctx context.Context, all record.Auditors) error {
	j, err := suite.NewJudge(c.Root)
	if err != nil {
		return err
	}
	runs, _, err := j.Published(ctx, c.A, c.B)
	for _, r := range runs {
		if all[r.Auditor] == nil {
			all[r.Auditor] = map[string]*record.Record{}
		}
		if all[r.Auditor][r.Project] == nil {
			all[r.Auditor][r.Project] = r
		}
	}
	return err
}

// reviewers returns the results of both names as reviewers.
func (c *compareCmd) reviewers(ctx context.Context) (a, b *report.VariantResults, err error) {
	r, err := load(ctx, c.Root, c.DB, store.Query{})
	if err != nil {
		return nil, nil, err
	}
	a, errA := r.Find(c.A)
	b, errB := r.Find(c.B)
	return a, b, errors.Join(errA, errB)
}

// auditors compares two auditors by their newest records.
func (c *compareCmd) auditors(as, bs map[string]*record.Record) error {
	if c.Rescore {
		j, err := suite.NewJudge(c.Root)
		if err != nil {
			return err
		}
		for _, rs := range []map[string]*record.Record{as, bs} {
			for name, r := range rs {
				if rs[name], err = j.Rescore(r); err != nil {
					return err
				}
			}
		}
	}
	d, err := report.DiffAuditors(c.A, c.B, as, bs)
	if err != nil {
		return err
	}
	return c.gate(d, d.Total.Standing, c.A, c.B)
}

// gate prints the comparison d and returns an error if b fails as the flags demand.
func (c *compareCmd) gate(d compared, b score.Standing, nameA, nameB string) error {
	if err := c.write(d); err != nil {
		return err
	}
	return c.judge(b, nameA, nameB)
}

// judge returns an error if the standing of b fails as the flags demand.
func (c *compareCmd) judge(b score.Standing, nameA, nameB string) error {
	switch {
	case b == score.Worse && c.FailIf == "worse":
		return fmt.Errorf("%s is worse than %s", nameB, nameA)
	case b == score.Inconclusive && c.Strict:
		return fmt.Errorf("--strict: whether %s is worse than %s is inconclusive", nameB, nameA)
	}
	return nil
}

// variants compares two reviewers.
func (c *compareCmd) variants(a, b *report.VariantResults) error {
	d, err := report.DiffVariants(a, b)
	if err != nil {
		return err
	}
	return c.gate(d, d.Comparison.Standing, d.A, d.B)
}

// each is one document of several comparisons.
type each []*report.VariantDiff

// Text writes all comparisons.
func (e each) Text(w io.Writer) error {
	for _, d := range e {
		if err := d.Text(w); err != nil {
			return err
		}
	}
	return nil
}

// results compares the common reviewers of two results.
func (c *compareCmd) results(ctx context.Context) error {
	q := store.Query{Model: c.Model}
	ra, err := load(ctx, c.Root, c.A, q)
	if err != nil {
		return err
	}
	rb, err := load(ctx, c.Root, c.B, q)
	if err != nil {
		return err
	}
	whereA, whereB := store.Shown(c.A), store.Shown(c.B) // no password in what is told
	both, all := 0, each{}
	var errs []error
	as, bs := ra.Variants, rb.Variants
	tellAlone(whereA, as, bs)
	tellAlone(whereB, bs, as)
	for _, a := range as {
		for _, b := range bs {
			if a.Variant != b.Variant {
				continue
			}
			both++
			d, err := report.DiffVariants(a, b)
			if err == nil {
				d.A, d.B = d.A+" in "+whereA, d.B+" in "+whereB
				all = append(all, d)
				err = c.judge(d.Comparison.Standing, d.A, d.B)
			}
			errs = append(errs, err)
		}
	}
	if both == 0 {
		return fmt.Errorf(
			"%s and %s have no reviewer with the same prompt in common: nothing to compare",
			whereA, whereB)
	}
	return errors.Join(append(errs, c.write(all))...)
}

// tellAlone prints the reviewers that only one of two results has; they are not compared.
func tellAlone(where string, these, others []*report.VariantResults) {
	for _, v := range these {
		if !slices.ContainsFunc(others,
			func(o *report.VariantResults) bool { return o.Variant == v.Variant }) {
			fmt.Fprintf(os.Stderr, "%s stands in %s alone: it is not compared\n", v.Variant, where)
		}
	}
}
