package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"assay/audit"
	"assay/internal/suite"
)

// A truth is a key in the form of RealVuln's ground-truth.json.
type truth struct {
	Project    string       `json:"repo_id,omitempty"`
	Repository string       `json:"repo_url,omitempty"`
	Commit     string       `json:"commit_sha,omitempty"`
	Findings   []truthEntry `json:"findings"`
}

// A truthEntry is an entry or, if it is not vulnerable, a decoy.
type truthEntry struct {
	ID         string        `json:"id"`
	Vulnerable bool          `json:"is_vulnerable"`
	Primary    string        `json:"primary_cwe"`
	Acceptable []string      `json:"acceptable_cwes"`
	File       string        `json:"file"`
	Location   truthLocation `json:"location"`
	Severity   string        `json:"severity,omitempty"`
	Title      string        `json:"title,omitempty"`
	Class      string        `json:"vulnerability_class,omitempty"`
	Why        string        `json:"description,omitempty"`
}

// A truthLocation is the place of an entry in its file.
type truthLocation struct {
	Start    int    `json:"start_line,omitempty"`
	End      int    `json:"end_line,omitempty"`
	Function string `json:"function,omitempty"`
}

// truthRows returns the rows of a ground-truth.json. It fails with the lines of all entries that
// it cannot read.
func truthRows(name string, b []byte) (rows []imported, err error) {
	if !gjson.ValidBytes(b) {
		return nil, fmt.Errorf("%s: the JSON is broken or breaks off: expected a ground-truth.json",
			name)
	}
	var errs []error
	list := gjson.GetBytes(b, "findings")
	for i, v := range list.Array() {
		pos := audit.Pos{File: name, Line: 1 + bytes.Count(b[:v.Index], []byte("\n"))}
		var e truthEntry
		if err := json.Unmarshal([]byte(v.Raw), &e); err != nil {
			errs = append(errs, fmt.Errorf("%s: finding %d: %w", pos, i+1, err))
			continue
		}
		row := imported{pos: pos, vulnerable: e.Vulnerable, path: e.File,
			function: e.Location.Function,
			severity: strings.ToUpper(e.Severity), why: e.Why,
			lines: audit.Range{Start: e.Location.Start, End: e.Location.End}.String()}
		for _, title := range []string{e.ID, strings.ReplaceAll(e.Class, "_", " "), e.Title} {
			if title != "" {
				row.title = title
			}
		}
		for _, c := range append([]string{e.Primary}, e.Acceptable...) {
			if c == "" {
				continue
			}
			n, err := audit.ParseCWE(c)
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: finding %q: %w", pos, e.ID, err))
			}
			if len(row.cwes) == 0 || row.cwes[0] != n {
				row.cwes = append(row.cwes, n)
			}
		}
		if !v.Get("is_vulnerable").IsBool() || e.File == "" || len(row.cwes) == 0 {
			errs = append(errs,
				fmt.Errorf("%s: finding %q: expected is_vulnerable (true or false), file, "+
					"and primary_cwe like CWE-89", pos, e.ID))
		}
		rows = append(rows, row)
	}
	return rows, errors.Join(errs...)
}

// printKey prints the key of a project as JSON.
func (c *newProjectCmd) printKey() error {
	fsys, err := suite.Checkout(c.source.Root)
	if err != nil {
		return err
	}
	_, p, err := suite.Project(fsys, c.Name)
	if err != nil {
		return err
	}
	t := truth{Project: p.Name, Repository: p.Repository, Commit: p.Commit,
		Findings: []truthEntry{}}
	for _, e := range p.Entries() {
		at := truthLocation{Start: e.Lines.Start, End: max(e.Lines.Start, e.Lines.End),
			Function: strings.Join(e.Functions, ", ")}
		out := truthEntry{ID: e.ID, Vulnerable: !e.Decoy, File: e.File, Title: e.Title,
			Primary: e.CWEs[0].String(), Location: at}
		for _, n := range e.CWEs {
			out.Acceptable = append(out.Acceptable, n.String())
		}
		t.Findings = append(t.Findings, out)
	}
	for i := range p.Vulnerabilities {
		t.Findings[i].Severity = strings.ToLower(p.Vulnerabilities[i].Severity.String())
		t.Findings[i].Why = p.Vulnerabilities[i].Evidence
	}
	for i := range p.Decoys {
		t.Findings[len(p.Vulnerabilities)+i].Why = p.Decoys[i].Reason
	}
	b, err := json.MarshalIndent(t, "", "  ")
	if err == nil {
		_, err = fmt.Fprintln(stdout, string(b))
	}
	return err
}
