package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"assay/internal/record"
	"assay/internal/store"
)

type baselineCmd struct {
	Root    string   `help:"Folder with fixtures/." default:"." env:"ASSAY_ROOT" type:"existingdir"`
	Accept  bool     `help:"Move a baseline to another version of its auditor; the first baseline stays as anchor."`
	Lower   string   `hidden:""`
	Bench   string   `help:"A reviewer of results.db whose newest finished run becomes its baseline." placeholder:"REVIEWER"`
	Prompt  string   `help:"With --bench: the prompt." default:"evaluation-prompt"`
	DB      string   `help:"With --bench: the results; default: results.db below the root." env:"ASSAY_DB"`
	Records []string `arg:"" optional:"" help:"Auditors, whose newest run joins their baselines, or records (.txt or .json)."`
}

// Run writes a baseline from records, or with --bench from results.
func (c *baselineCmd) Run(ctx context.Context) error {
	if c.Lower != "" {
		return errors.New(
			"--lower was removed: a baseline takes every run of its auditor, and --accept moves it to another version")
	}
	c.DB = cmp.Or(c.DB, under(c.Root, "results.db"))
	if c.Bench != "" {
		return c.bench(ctx)
	}
	if len(c.Records) == 0 {
		return errors.New("nothing named: expected an auditor, records, or --bench REVIEWER")
	}
	var accepted []*record.Record
	var errs []error
	for _, name := range c.Records {
		rs, err := c.named(name)
		accepted, errs = append(accepted, rs...), append(errs, err)
	}
	for _, r := range accepted {
		r, err := record.WriteBaseline(filepath.Join(c.Root, "fixtures", "baselines"), r, c.Accept)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Printf("%s on %s: baseline of %d trials", r.Auditor, r.Project, len(r.Trials))
		if points, ok := r.Drop(); ok {
			fmt.Printf(", recall %+.1f points against the first one of %s", -points,
				r.Anchor.Date.Format(time.DateOnly))
		}
		fmt.Println()
	}
	return errors.Join(errs...)
}

// named returns the record of this name, or those of the newest run of each suite of the auditor.
func (c *baselineCmd) named(name string) ([]*record.Record, error) {
	if ext := filepath.Ext(name); ext == ".json" || ext == ".txt" {
		r, err := readRecord(name)
		return []*record.Record{r}, err
	}
	all, err := record.ReadAll(under(c.Root, "records"))
	var newest []*record.Record
	seen := map[string]bool{}
	for _, r := range slices.Backward(all) {
		if r.Auditor == name && r.Run != "" && r.Again == "" && !seen[r.Suite] {
			of := []*record.Record{r}
			if r.Suite == "Regression" {
				of = record.OfRun(all, name, r.Run)
			}
			newest, seen[r.Suite] = append(newest, of...), true
		}
	}
	if len(newest) > 0 {
		return newest, nil
	}
	return nil, cmp.Or(err, fmt.Errorf("%s: no record of a run of this auditor below %s: "+
		"expected an auditor that ran, or a record's file", name, under(c.Root, "records")))
}

// bench writes the baseline of a reviewer from results.
func (c *baselineCmd) bench(ctx context.Context) error {
	st, err := store.OpenReadOnly(ctx, c.DB)
	if err != nil {
		return err
	}
	defer st.Close()
	runs, err := st.Runs(ctx)
	if err != nil {
		return err
	}
	for _, r := range runs {
		if r.State != "finished" {
			continue
		}
		b := &record.BenchBaseline{Reviewer: c.Bench, Prompt: c.Prompt, Date: r.Started,
			Score: r.ScoreVersion, Run: r.ID}
		for ev, err := range st.Evaluations(ctx, store.Query{Run: r.ID, Model: c.Bench}) {
			if err != nil {
				return err
			}
			if ev.Prompt == c.Prompt && ev.Twin == "" {
				b.Asked = record.AppendAsked(b.Asked, record.Asked{PromptHash: ev.PromptHash,
					SettingsHash: ev.SettingsHash, Model: ev.Served})
				a := record.BenchAnswer{Case: ev.CaseID(), Hash: ev.CaseHash, Trial: ev.Index,
					Outcome: ev.Outcome, Violates: ev.Violates}
				b.Answers = append(b.Answers, a)
			}
		}
		if len(b.Answers) == 0 {
			continue
		}
		if err := b.Write(filepath.Join(c.Root, "fixtures", "baselines")); err != nil {
			return err
		}
		fmt.Printf("%s with %s: baseline of %d answers, run %s\n", c.Bench, c.Prompt,
			len(b.Answers), r.ID)
		return nil
	}
	return fmt.Errorf("%s: no finished run of %s with the prompt %s", store.Shown(c.DB),
		c.Bench, c.Prompt)
}
