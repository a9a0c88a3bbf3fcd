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
	"slices"
	"time"

	"assay/audit"
	"assay/audit/findings"
	"assay/audit/fixture"
	"assay/internal/auditor"
	"assay/internal/box"
	"assay/internal/record"
	"assay/internal/seal"
	"assay/internal/suite"
)

type captureCmd struct {
	source
	Auditor string `arg:"" help:"A section of fixtures/auditors.md."`
	Project string `arg:"" help:"Name of a project: one of fixtures/projects, or a planted one, with @ and a seed for another draw."`
	Trial   int    `help:"Number of this run, for an auditor that is recorded several times."`
	Notes   string `help:"What a reader of the recording must know."`
}

// Run audits the project and stores the report as a recording. It fails if the key of a pinned
// project is not frozen, since a key must not be written after a tool has reported.
func (c *captureCmd) Run(ctx context.Context) (err error) {
	box.Hide(c.Root, c.Cache, c.Mirror)
	fsys, err := suite.Checkout(c.Root)
	if err != nil {
		return err
	}
	drawn, p, err := suite.Project(fsys, c.Project)
	if err != nil {
		return err
	}
	if drawn == nil { // the key of a draw follows from its sites
		if err := frozen(fsys, p); err != nil {
			return err
		}
	}
	entry, err := findAuditor(fsys, c.Auditor)
	if err != nil {
		return err
	}
	if entry.Kind == "model" {
		return fmt.Errorf(
			"%s: %s is a model: expected a program; go test -run Regression -auditor %s "+
				"audits with a model and keeps what it wrote beside the record", entry.Pos,
			entry.Name, entry.Name)
	}
	src, remove, err := suite.Sealed(ctx, p, drawn, c.clone)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	run, err := auditor.FromEntry(entry).Audit(ctx, audit.AuditTask{Dir: src, MaxUSD: entry.Cost})
	if err != nil {
		return err
	}
	key := p.KeyHash
	if drawn == nil {
		key = fixture.FrozenHash(p) // the hash in fixtures/keys.md
	}
	if err = c.store(fsys, p, key, &entry, &run, src); err == nil && entry.Kind != "agent" {
		return nil
	}
	kept, keptErr := c.keep(&run, src) // it may have cost money, and a recording holds less
	if err != nil && keptErr == nil {
		return fmt.Errorf("%w: what it wrote is kept in %s", err, kept)
	}
	if err = errors.Join(err, keptErr); err == nil {
		fmt.Printf("what it wrote is kept in %s\n", kept)
	}
	return err
}

// store writes the run as a recording, without what it quotes of the source below dir. It fails for
// a run that is invalid or truncated, and if the quotations cannot be removed.
func (c *captureCmd) store(fsys fs.FS, p *audit.Project, key string, entry *audit.AuditorEntry,
	run *audit.AuditRun, dir string) error {
	if why := cmp.Or(run.Invalid, run.EndedEarly); why != "" {
		return fmt.Errorf("the run of %s on %s is not stored as a recording: %s", c.Auditor,
			c.Project, why)
	}
	var clean bytes.Buffer
	opt := findings.ScrubOptions{Format: run.Report.Format, RuleMap: entry.Rules, Root: dir,
		Source: os.DirFS(dir)}
	if err := findings.Scrub(bytes.NewReader(run.Raw), &clean, opt); err != nil {
		return fmt.Errorf("the report is not stored as a recording: "+
			"its quotations of the source cannot be removed: %w", err)
	}
	prompt, err := auditor.PromptHash(*entry)
	if err != nil {
		return err
	}
	format := run.Report.Format
	if format == findings.JSON {
		format = findings.SARIF // as Scrub writes it
	}
	rec := &auditor.Recording{Auditor: entry.Name, Project: p.Name, Commit: p.Commit,
		Export: seal.Hash(p), Key: key, Version: run.Version, Command: entry.Command,
		Model:  run.Model,
		Prompt: prompt, Exposed: run.Exposed, Rules: auditor.RulesHash(*entry),
		Date: time.Now().UTC().Format(time.DateOnly), Format: format, Exit: run.ExitCode,
		Seconds: run.Duration.Seconds(), Trial: c.Trial, Findings: len(run.Report.Findings),
		Sealed: true, Notes: c.Notes}
	again, invalid := auditor.ReadReport("the recording", clean.Bytes(), rec.Format, entry.Rules)
	if invalid != "" || len(again.Findings) != rec.Findings {
		return fmt.Errorf(
			"the report is not stored as a recording: without its quotations of the source "+
				"%d of its %d findings can be read: %s", len(again.Findings), rec.Findings, invalid)
	}
	if err := rec.Write(filepath.Join(c.Root, "fixtures", "recordings"),
		clean.Bytes()); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s on %s: %d findings in %s, stored as %s/%s\n", entry.Name, p.Name,
		rec.Findings,
		run.Duration.Round(100*time.Millisecond), entry.Name, rec.File)
	printProblems(stdout, run.Report.Problems)
	return nil
}

// keep writes the transcript of a run below records/ or, if that fails, into a temporary
// folder, and
// returns its folder.
func (c *captureCmd) keep(run *audit.AuditRun, dir string) (string, error) {
	r := &record.Record{Date: time.Now(), Suite: "Capture", Project: c.Project, Auditor: c.Auditor}
	name := r.Name() + ".txt"
	ts := []record.Transcript{record.NewTranscript(0, 0, dir, run, suite.MaskSecrets)}
	at := filepath.Join(c.Root, "records", name)
	err := record.WriteTranscripts(at, ts)
	if err == nil {
		return record.TranscriptDir(at), nil
	}
	tmp, tmpErr := os.MkdirTemp("", "assay-capture-")
	if tmpErr == nil {
		at = filepath.Join(tmp, name)
		tmpErr = record.WriteTranscripts(at, ts)
	}
	if tmpErr != nil {
		return "", fmt.Errorf("what it wrote cannot be kept: %w", errors.Join(err, tmpErr))
	}
	return record.TranscriptDir(at), nil
}

// frozen fails unless the key of a project is in keys.md with its present hash.
func frozen(fsys fs.FS, p *audit.Project) error {
	line := fmt.Sprintf("| %s | %s | %d | %d | %s | first reading |", p.Name,
		time.Now().UTC().Format(time.DateOnly), len(p.Vulnerabilities), len(p.Decoys), fixture.FrozenHash(p))
	if _, err := fs.Stat(fsys, "fixtures/keys.md"); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf(
			"fixtures/keys.md is not there, and the key of %s is not frozen: expected the file "+
				"with\n\n# Frozen Keys\n\n| Project | Date | Known | Decoys | SHA-256 | Reason |\n"+
				"|---|---|---|---|---|---|\n%s", p.Name, line)
	}
	keys, err := fixture.ReadKeys(fsys, "fixtures/keys.md")
	if err != nil {
		return err
	}
	for _, k := range slices.Backward(keys) {
		if k.Project == p.Name {
			if hash := fixture.FrozenHash(p); k.Hash != hash {
				return fmt.Errorf("%s: the hash of the key of %s is %s now: "+
					"add a line with it and the reason before a tool is recorded",
					k.Pos, p.Name, hash)
			}
			return nil
		}
	}
	return fmt.Errorf("fixtures/keys.md: the key of %s is not frozen: add the line %s", p.Name,
		line)
}

// findAuditor returns the section of an auditor.
func findAuditor(fsys fs.FS, name string) (audit.AuditorEntry, error) {
	entries, err := fixture.ReadAuditors(fsys, "fixtures/auditors.md")
	if err != nil {
		return audit.AuditorEntry{}, err
	}
	if i := slices.IndexFunc(entries,
		func(e audit.AuditorEntry) bool { return e.Name == name }); i >= 0 {
		return entries[i], nil
	}
	return audit.AuditorEntry{}, fmt.Errorf("fixtures/auditors.md: no section ## %s: expected one",
		name)
}
