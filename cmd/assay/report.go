package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"assay/audit"
	"assay/internal/record"
	"assay/internal/report"
	"assay/internal/store"
)

type reportCmd struct {
	Root    string `help:"Folder with tests/ and fixtures/." default:"." env:"ASSAY_ROOT" type:"existingdir"`
	Records string `help:"Folder of test records; default: records below the root."`
	DB      string `help:"Results of go test -run Bench; default: results.db below the root." env:"ASSAY_DB"`
	Run_    string `help:"This run of the results alone." name:"run" placeholder:"ID"`
	Out     string `help:"Folder for the pages; default: reports/<timestamp> below the root." type:"path"`
	Format  string `help:"html, text, markdown, csv, json, benchfmt or sarif (what auditors missed); all but html go to standard output." enum:"html,text,markdown,csv,json,benchfmt,sarif" default:"html" short:"o"`
	Auditor string `help:"Records of this auditor alone."`
	Project string `help:"Records of this project alone."`
}

// Run reads what runs left behind and shows it.
func (c *reportCmd) Run(ctx context.Context) error {
	// A report is made of many short-lived lists: memory is dearer than time here.
	// Beside the heap, SQLite and the program itself take some 60 MB.
	debug.SetGCPercent(40)
	debug.SetMemoryLimit(130 << 20)
	c.DB = cmp.Or(c.DB, under(c.Root, "results.db"))
	c.Records = cmp.Or(c.Records, under(c.Root, "records"))
	in, err := c.input(ctx)
	if err != nil {
		return err
	}
	if c.Format != "html" {
		return report.WriteAs(os.Stdout, c.Format, in)
	}
	dir := cmp.Or(c.Out, under(c.Root, "reports", in.Made.Format("20060102T150405")))
	index, err := report.WriteSite(dir, *in)
	if err != nil {
		return err
	}
	fmt.Println(index)
	return nil
}

// input gathers records, keys, cases and results. What cannot be read is told on
// the first page, as long as something can.
func (c *reportCmd) input(ctx context.Context) (*report.Input, error) {
	in := &report.Input{Made: time.Now(), Projects: map[string]*audit.Project{}}
	rs, err := record.ReadAll(c.Records)
	if err != nil {
		in.Notes = append(in.Notes, err.Error())
	}
	for _, r := range rs {
		if (c.Auditor == "" || r.Auditor == c.Auditor) && (c.Project == "" || r.Project == c.Project) {
			in.Records = append(in.Records, r)
		}
	}
	for _, r := range in.Records {
		if r.Suite == "Regression" && in.Projects[r.Project] == nil {
			p, err := source{Root: c.Root}.project(r.Project)
			if err != nil {
				in.Notes = append(in.Notes, err.Error())
				continue
			}
			in.Projects[r.Project] = p
		}
	}
	if err := c.results(ctx, in); err != nil {
		if len(in.Records) == 0 {
			return nil, err
		}
		in.Notes = append(in.Notes, err.Error())
	}
	if len(in.Records) == 0 && in.Results == nil {
		what := "no record"
		if c.Auditor != "" || c.Project != "" {
			what = fmt.Sprintf("none of %d records is of --auditor %q and --project %q", len(rs), c.Auditor, c.Project)
		}
		err := fmt.Errorf("%s in %s and no results in %s: expected those of go test", what, c.Records, c.DB)
		for _, n := range in.Notes {
			err = errors.Join(err, errors.New(n))
		}
		return nil, err
	}
	return in, nil
}

func (c *reportCmd) results(ctx context.Context, in *report.Input) error {
	if _, err := os.Stat(c.DB); kindOf(c.DB) != aResults || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	st, err := store.OpenReadOnly(ctx, c.DB)
	if err != nil {
		return err
	}
	defer st.Close()
	byID, apps, err := corpus(c.Root)
	if err != nil {
		in.Notes = append(in.Notes, err.Error())
	}
	in.Apps = apps
	in.Results, err = report.LoadResults(ctx, st, store.Query{Run: c.Run_}, byID, true)
	if err != nil {
		return fmt.Errorf("%s: %w", c.DB, err)
	}
	return nil
}
