package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/auditor"
	"assay/internal/record"
	"assay/internal/report"
	"assay/internal/store"
	"assay/internal/suite"
)

type evidence struct {
	Root    string `help:"Folder with tests/ and fixtures/." default:"." env:"ASSAY_ROOT" type:"existingdir"`
	Records string `help:"Folder of test records; default: records below the root."`
	DB      string `help:"Results of go test -run Bench; default: results.db below the root." env:"ASSAY_DB"`
}

// AfterApply sets the defaults below the root.
func (e *evidence) AfterApply() error {
	e.DB = cmp.Or(e.DB, under(e.Root, "results.db"))
	e.Records = cmp.Or(e.Records, under(e.Root, "records"))
	return nil
}

type reportCmd struct {
	evidence
	Run_    string `help:"This run of the results alone." name:"run" placeholder:"ID"`
	Out     string `help:"Folder for the pages; default: reports/<timestamp> below the root." type:"path"`
	Format  string `help:"html, text, csv, json, benchfmt or sarif (what auditors missed); all but html go to standard output." enum:"html,text,csv,json,benchfmt,sarif" default:"html" short:"o"`
	Auditor string `help:"Records of this auditor alone."`
	Project string `help:"Records of this project alone."`
	Single  bool   `help:"One file for all, to send to somebody: --out names it; default: reports/<timestamp>.html below the root."`
	Serve   string `help:"Serve the pages at this address of this machine, made anew as a run goes on." placeholder:"127.0.0.1:PORT"`
	Source  string `help:"Folder with the source of projects, one folder each by its name, as assay fetch writes it: pages show the code around findings and entries." type:"existingdir"`

	others []*record.Record // published runs, scored once
	keys   map[string]*audit.Project
}

// Run writes the report in the requested format.
func (c *reportCmd) Run(ctx context.Context) error {
	// A report is made of many short-lived lists: memory is dearer than time here.
	// Beside the heap, SQLite and the program itself take some 60 MB.
	debug.SetGCPercent(40)
	debug.SetMemoryLimit(100 << 20)
	if c.Format != "html" && (c.Out != "" || c.Single || c.Serve != "") {
		return fmt.Errorf(
			"--out, --single and --serve are for pages, and -o %[1]s goes to standard output: expected assay report -o %[1]s > FILE, or no -o", c.Format)
	}
	if c.Serve != "" && (c.Out != "" || c.Single) {
		return errors.New(
			"--serve keeps pages in memory: --out and --single are for files, and expected without it")
	}
	if c.Serve != "" {
		return c.serve(ctx)
	}
	in, err := c.input(ctx)
	if err != nil {
		return err
	}
	if c.Format != "html" {
		if c.Format == "text" {
			return report.WriteAs(stdout, c.Format, in)
		}
		return report.WriteAs(os.Stdout, c.Format, in)
	}
	stamp := in.Made.Format("20060102T150405")
	if c.Single {
		return c.single(cmp.Or(c.Out, under(c.Root, "reports", stamp+".html")), in)
	}
	index, err := report.WriteSite(cmp.Or(c.Out, under(c.Root, "reports", stamp)), *in)
	if err != nil {
		return err
	}
	fmt.Println(index)
	return nil
}

// single writes the report as one file, whole or not at all.
func (c *reportCmd) single(name string, in *report.SiteInput) error {
	var b bytes.Buffer
	if err := report.WriteSingle(&b, *in); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		return err
	}
	fmt.Println(name)
	return nil
}

// input reads what the report shows. What cannot be read is a note on the first page if
// anything else can.
func (c *reportCmd) input(ctx context.Context) (*report.SiteInput, error) {
	in := &report.SiteInput{Made: time.Now(), Projects: map[string]*audit.Project{},
		Transcripts: func(r *record.Record) ([]record.Transcript, error) {
			return record.ReadTranscripts(filepath.Join(c.Records, r.Name()+".json"))
		}}
	fsys, err := suite.Checkout(c.Root)
	if err != nil {
		return nil, err
	}
	src := &sources{fsys: suite.WithPlanted(fsys), files: map[string]map[string][]byte{}}
	if c.Source != "" {
		if src.held, err = os.OpenRoot(c.Source); err != nil {
			return nil, err
		}
	}
	in.Source = src.read
	if goals, err := fixture.ReadGoals(fsys, "fixtures/goals.md"); err != nil {
		in.Notes = append(in.Notes, err.Error())
	} else {
		in.Held = report.Held{Fixtures: fsys, Goals: goals, Deterministic: auditor.Deterministic}
	}
	rs, err := record.ReadAll(c.Records)
	if err != nil {
		in.Notes = append(in.Notes, err.Error())
	}
	if c.Run_ != "" &&
		slices.ContainsFunc(rs, func(r *record.Record) bool { return r.Run == c.Run_ }) {
		rs = slices.DeleteFunc(rs, func(r *record.Record) bool { return r.Run != c.Run_ })
	}
	for _, r := range rs {
		if (c.Auditor == "" || r.Auditor == c.Auditor) &&
			(c.Project == "" || r.Project == c.Project) {
			in.Records = append(in.Records, r)
		}
	}
	for _, r := range in.Records {
		if _, tried := in.Projects[r.Project]; r.Suite == "Regression" && !tried {
			p, err := src.project(r.Project)
			if err != nil {
				in.Notes = append(in.Notes, err.Error())
			}
			in.Projects[r.Project] = p
		}
	}
	if err := c.published(ctx, in); err != nil {
		in.Notes = append(in.Notes, err.Error())
	}
	if err := c.results(ctx, in, fsys); err != nil {
		if len(in.Records) == 0 {
			return nil, err
		}
		in.Notes = append(in.Notes, err.Error())
	}
	if len(in.Records) > 0 {
		return in, nil
	}
	none := "no record"
	if c.Auditor != "" || c.Project != "" {
		none = fmt.Sprintf("none of %d records is of --auditor %q and --project %q", len(rs),
			c.Auditor, c.Project)
	}
	if in.Results == nil {
		err := fmt.Errorf("%s in %s and no results in %s: expected those of go test", none,
			c.Records, store.Shown(c.DB))
		for _, n := range in.Notes {
			err = errors.Join(err, errors.New(n))
		}
		return nil, err
	}
	if len(rs) > 0 {
		in.Notes = append(in.Notes, none)
	}
	return in, nil
}

// published adds the recordings of others' runs, with which yours are compared, and their keys.
// A report on one auditor or project, or a format for programs, has none.
func (c *reportCmd) published(ctx context.Context, in *report.SiteInput) error {
	if c.Format != "html" || c.Auditor != "" || c.Project != "" || len(in.Records) == 0 {
		return nil
	}
	if c.others == nil {
		j, err := suite.NewJudge(c.Root)
		if err != nil {
			return err
		}
		if c.others, c.keys, err = j.Published(ctx); err != nil {
			return err
		}
	}
	in.Published = c.others
	for name, p := range c.keys {
		in.Projects[name] = cmp.Or(in.Projects[name], p)
	}
	return nil
}

// sources provides the keys of projects, and the source text of planted projects and of those
// below --source.
type sources struct {
	fsys  fs.FS
	held  *os.Root                     // nil without --source
	files map[string]map[string][]byte // of planted projects, by name and path
}

// project keeps the files of a draw, to be shown.
func (s *sources) project(name string) (*audit.Project, error) {
	drawn, key, err := suite.Project(s.fsys, name)
	if err != nil || drawn == nil {
		return key, err
	}
	s.files[name] = map[string][]byte{}
	for _, f := range drawn.Files {
		s.files[name][f.Path] = f.Content
	}
	return key, nil
}

// read returns a file of a project's source.
func (s *sources) read(project, path string) ([]byte, error) {
	if b, ok := s.files[project][path]; ok {
		return b, nil
	}
	if s.held == nil {
		return nil, fs.ErrNotExist
	}
	return s.held.ReadFile(filepath.Join(project, path))
}

// results reads the results of reviewers.
func (c *reportCmd) results(ctx context.Context, in *report.SiteInput, fsys fs.FS) error {
	if _, err := os.Stat(c.DB); !store.OfPostgres(c.DB) && errors.Is(err, os.ErrNotExist) {
		if c.DB != under(c.Root, "results.db") {
			in.Notes = append(in.Notes, c.DB+" is not there: no results are shown")
		}
		return nil
	}
	st, err := store.OpenReadOnly(ctx, c.DB)
	if err != nil {
		return err
	}
	defer st.Close()
	key, apps, err := keyOf(c.Root)
	if err != nil {
		in.Notes = append(in.Notes, err.Error())
	}
	in.Apps = apps
	if in.Runs, err = c.ran(ctx, st); err != nil {
		in.Notes = append(in.Notes, fmt.Sprintf("%s: %v", store.Shown(c.DB), err))
	}
	q := store.Query{Run: c.Run_}
	in.Results, err = report.LoadResults(ctx, st, q, key, true)
	if errors.Is(err, report.ErrNoEvaluations) && len(in.Runs) > 0 && len(in.Records) > 0 &&
		c.Run_ == "" {
		return nil // its runs were audits, which the records tell
	}
	if err != nil {
		return fmt.Errorf("%s: %w", chosen(c.DB, q), err)
	}
	if err := in.Results.NoPast; err != nil {
		in.Notes = append(in.Notes, fmt.Sprintf("%s: no earlier runs: %v", store.Shown(c.DB), err))
	}
	in.Prompts = map[string]string{}
	for _, v := range in.Results.Variants {
		if text, err := fixture.ReadPrompt(fsys, "fixtures/prompts", v.Prompt); err == nil {
			in.Prompts[v.Prompt] = text // what is not at hand any more is not shown
		}
	}
	return nil
}
