package auditor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"assay/audit"
)

// publishedDir is the folder of recordings that are tables, one file an auditor: runs that
// others have published, and replies that were recorded without their reports. A file begins
// with lines "# name<TAB>value" (auditor, source, licence, model, date, notes, and rules, the
// hash of those of patterns). Then come two
// tables with tabs between the cells and a blank line between the tables: the trials, and
// their findings. Lines are like 12 or 12-18, CWEs numbers separated by commas; both may be
// empty, and so may a trial's cost, seconds and tokens. The columns function and description
// may be missing.
const publishedDir = "published"

const (
	publishedTrials   = "project\ttrial\tcommit\tUSD\tseconds\ttokens in\ttokens out"
	publishedFindings = "project\ttrial\tfile\tlines\tCWEs\tseverity"
	publishedTexts    = "\tfunction\tdescription"
)

// A published holds the parts of a published trial that a [Recording] lacks.
type published struct {
	usage    audit.Usage
	findings []audit.Finding
}

// readPublished returns a recording for each trial of a file.
func readPublished(fsys fs.FS, file string) ([]*Recording, error) {
	b, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, err
	}
	head, trials := map[string]string{}, map[[2]string]*Recording{}
	var recs []*Recording
	var errs []error
	table := ""
	for i, line := range strings.Split(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n") {
		pos := audit.Pos{File: file, Line: i + 1}
		cells := strings.Split(line, "\t")
		var err error
		switch {
		case line == "":
		case strings.HasPrefix(line, "# ") && len(cells) == 2 && table == "":
			head[strings.TrimPrefix(cells[0], "# ")] = cells[1]
		case line == publishedTrials, strings.TrimSuffix(line, publishedTexts) == publishedFindings:
			table = line
		case table == publishedTrials && len(cells) == 7:
			var r *Recording
			if r, err = publishedTrial(cells, head); err == nil {
				r.dir, r.File = path.Dir(file), path.Base(file)
				if trials[[2]string(cells)] != nil {
					err = fmt.Errorf("trial %s of %s stands twice", cells[1], cells[0])
				}
				trials[[2]string(cells)] = r
				recs = append(recs, r)
			}
		case strings.HasPrefix(table, publishedFindings) &&
			len(cells) == strings.Count(table, "\t")+1:
			r := trials[[2]string(cells)]
			if r == nil {
				err = fmt.Errorf("trial %q of %q is not in the table of trials", cells[1], cells[0])
				break
			}
			var f audit.Finding
			if f, err = publishedFinding(cells); err == nil {
				f.ID, f.Pos = "#"+strconv.Itoa(len(r.published.findings)+1), pos
				r.published.findings = append(r.published.findings, f)
				r.Findings++
			}
		default:
			err = fmt.Errorf("expected a line of the head, or a row below %q or %q",
				publishedTrials, publishedFindings)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", pos, err))
		}
	}
	if want := strings.TrimSuffix(path.Base(file), ".tsv"); head["auditor"] != want ||
		head["source"] == "" || head["licence"] == "" {
		errs = append(errs,
			fmt.Errorf("%s:1: the head has auditor %q, source %q and licence %q: expected the file's name, from where the runs are, and under which licence",
				file, head["auditor"], head["source"], head["licence"]))
	}
	return recs, errors.Join(errs...)
}

// publishedTrial reads the line of a trial.
func publishedTrial(cells []string, head map[string]string) (*Recording, error) {
	r := &Recording{Auditor: head["auditor"], Project: cells[0], Commit: cells[2],
		Model:   head["model"],
		Version: cmp.Or(head["model"], head["auditor"]), Date: head["date"], Format: "tsv",
		Notes:  head["notes"],
		Source: head["source"], Licence: head["licence"], Rules: head["rules"],
		published: &published{}}
	figures := [4]float64{}
	for i, cell := range cells[3:] {
		if cell == "" {
			continue
		}
		f, err := strconv.ParseFloat(cell, 64)
		if err != nil || !(f >= 0) {
			return nil, fmt.Errorf("%q is no number of 0 or more", cell)
		}
		figures[i] = f
	}
	var err error
	if r.Trial, err = strconv.Atoi(cells[1]); err != nil || r.Trial < 1 || r.Project == "" ||
		r.Commit == "" {
		return nil, errors.New("expected a project, a trial from 1 and a commit")
	}
	r.Seconds = figures[1]
	r.published.usage = audit.Usage{USD: figures[0], Priced: cells[3] != "",
		TokensIn: int64(figures[2]), TokensOut: int64(figures[3])}
	return r, nil
}

// publishedFinding reads the line of a finding.
func publishedFinding(cells []string) (f audit.Finding, err error) {
	f.File = cells[2]
	if len(cells) > 6 {
		f.Function, f.Description = cells[6], cells[7]
	}
	if from, to, _ := strings.Cut(cells[3], "-"); from != "" {
		f.Lines.Start, err = strconv.Atoi(from)
		f.Lines.End = f.Lines.Start
		if to != "" && err == nil {
			f.Lines.End, err = strconv.Atoi(to)
		}
		if err != nil || f.Lines.Start < 1 {
			return f, fmt.Errorf("the lines are %q: expected a form like 12 or 12-18", cells[3])
		}
	}
	for n := range strings.SplitSeq(cells[4], ",") {
		if n == "" {
			continue
		}
		c, err := audit.ParseCWE(n)
		if err != nil {
			return f, err
		}
		f.CWEs = append(f.CWEs, c)
	}
	if cells[5] != "" {
		f.Severity, err = audit.ParseSeverity(cells[5])
	}
	return f, err
}

// run returns the trial as an audit.
func (r *Recording) run() (audit.AuditRun, error) {
	date, err := time.Parse(time.DateOnly, r.Date)
	if err != nil {
		return audit.AuditRun{}, fmt.Errorf("%s: the date is %q: expected YYYY-MM-DD",
			r.Path(), r.Date)
	}
	run := audit.AuditRun{Version: r.Version, Model: r.Model, Exposed: r.Exposed, ExitCode: r.Exit,
		Command: []string{r.Command},
		Started: date, Duration: time.Duration(r.Seconds * float64(time.Second))}
	if p := r.published; p != nil {
		run.Command, run.Usage = nil, p.usage
		run.Report = audit.Report{Format: r.Format, Tool: r.Auditor, Version: r.Version,
			Findings: p.findings}
	}
	return run, nil
}
