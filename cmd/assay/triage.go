package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
	"assay/internal/report"
)

type triageCmd struct {
	Project string   `arg:"" help:"Name of a project of fixtures/projects."`
	Root    string   `help:"Folder with fixtures/." default:"." env:"ASSAY_ROOT" type:"existingdir"`
	Records []string `help:"Records whose findings are reviewed; default: the newest of each auditor below records/." type:"existingfile"`
	Source  string   `help:"A sealed export of the project, as assay fetch writes it: the code around a finding is shown." type:"existingdir"`
	Out     string   `help:"File that rows are added to; default: triage-<project>.md." type:"path"`
}

// Run shows the findings that the key does not hold one after another, without
// the name of who made them, and adds what a person says of each to a file.
func (c *triageCmd) Run(ctx context.Context) error {
	p, err := source{Root: c.Root}.project(c.Project)
	if err != nil {
		return err
	}
	rs, err := c.records()
	if err != nil {
		return err
	}
	j, err := newJudge(c.Root)
	if err != nil {
		return err
	}
	for i := range rs {
		if rs[i], err = j.rescore(rs[i]); err != nil {
			return err
		}
	}
	out := c.Out
	if out == "" {
		out = "triage-" + c.Project + ".md"
	}
	t := &triage{project: p, dims: j.dims, in: bufio.NewReader(os.Stdin), to: os.Stdout}
	if c.Source != "" {
		if t.source, err = os.OpenRoot(c.Source); err != nil {
			return err
		}
		defer t.source.Close()
	}
	return t.run(ctx, rs, out)
}

// records gives those that were named, or the newest of each auditor.
func (c *triageCmd) records() ([]*record.Record, error) {
	var rs []*record.Record
	if len(c.Records) > 0 {
		for _, name := range c.Records {
			r, err := readRecord(name)
			if err != nil {
				return nil, err
			}
			rs = append(rs, r)
		}
		return rs, nil
	}
	all, err := record.ReadAll("records")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	newest := map[string]int{}
	for _, r := range all {
		if r.Suite != "Regression" || r.Project != c.Project {
			continue
		}
		if at, ok := newest[r.Auditor]; ok {
			rs[at] = r
			continue
		}
		newest[r.Auditor] = len(rs)
		rs = append(rs, r)
	}
	if len(rs) == 0 {
		return nil, fmt.Errorf("records: none of Regression on %s: expected one, or --records", c.Project)
	}
	return rs, nil
}

// A triage is one sitting.
type triage struct {
	project *audit.Project
	dims    map[audit.CWE]audit.Dimension
	source  *os.Root // nil without an export
	in      *bufio.Reader
	to      io.Writer
}

var errStop = errors.New("stop")

func (t *triage) run(ctx context.Context, rs []*record.Record, out string) error {
	old, err := os.ReadFile(out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	cs := report.Candidates(rs)
	for i, c := range cs {
		if strings.Contains(string(old), c.Fingerprint) {
			continue // said in an earlier sitting
		}
		if err := ctx.Err(); err != nil {
			break
		}
		fmt.Fprintf(t.to, "\n%d of %d, %s\n%s", i+1, len(cs), c.Fingerprint, report.Show(&c))
		t.code(&c.Scored)
		row, err := t.ask(&c)
		if errors.Is(err, errStop) {
			break
		}
		if err != nil {
			return err
		}
		if row == "" {
			continue
		}
		if err := add(out, row); err != nil {
			return err
		}
	}
	return t.sum(rs, out)
}

// ask reads one answer.
func (t *triage) ask(c *report.Candidate) (string, error) {
	for {
		fmt.Fprint(t.to, "\n[t]rue: a row for the key, [f]alse: a row for the decoys, [s]kip, [q]uit: ")
		s, err := t.in.ReadString('\n')
		switch strings.ToLower(strings.TrimSpace(s)) {
		case "t", "true":
			return report.KeyRow(c, t.project, t.dims), nil
		case "f", "false":
			fmt.Fprint(t.to, "why it is safe, in a line: ")
			why, _ := t.in.ReadString('\n')
			return report.DecoyRow(c, t.project, t.dims, strings.TrimSpace(why)), nil
		case "s", "skip":
			return "", nil
		case "q", "quit":
			return "", errStop
		}
		if err != nil {
			return "", errStop
		}
	}
}

// code shows the lines around a finding.
func (t *triage) code(s *score.Scored) {
	if t.source == nil || s.Path == "" {
		return
	}
	b, err := t.source.ReadFile(filepath.FromSlash(s.Path))
	if err != nil {
		fmt.Fprintf(t.to, "the export does not hold it: %v\n", err)
		return
	}
	fmt.Fprint(t.to, report.Around(string(b), s.Finding.Lines))
}

func add(out, row string) error {
	f, err := os.OpenFile(out, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, row)
	return errors.Join(err, f.Close())
}

// sum tells precision as the records have it, and with the answers of this file.
func (t *triage) sum(rs []*record.Record, out string) error {
	b, err := os.ReadFile(out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	reviews := report.ReadReviews(string(b))
	for _, r := range rs {
		again, err := report.Rereview(r, t.project, t.dims, reviews)
		if err != nil {
			return err
		}
		for i := range r.Trials {
			if r.Trials[i].Invalid == "" {
				fmt.Fprintf(t.to, "%s, trial %d: precision %v; with these reviews %v, %d still open\n", r.Name(), i+1,
					r.Trials[i].Result.Metrics.Precision, again.Trials[i].Result.Metrics.Precision, again.Trials[i].Result.Metrics.OffKey.Open)
			}
		}
	}
	if len(reviews) > 0 {
		fmt.Fprintf(t.to, "%d rows in %s: check lines and title of each, then move them into fixtures/projects/%s.md by hand\n", len(reviews), out, t.project.Name)
	}
	return nil
}
