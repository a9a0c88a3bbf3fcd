// Package patterns is the embedded auditor and reviewer: regular expressions over source
// text, with a taint analysis that sees one function. It is a floor that every auditor
// should beat. It needs no network and nothing installed, so that the suites have someone
// to measure on a fresh machine.
//
// The rules are data (rules.txt); one loop applies them.
package patterns

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/findings"
)

// Name is the name of the auditor and of the reviewer.
const Name = "patterns"

//go:embed rules.txt patterns.go rules.go source.go
var embedded embed.FS

// Version returns a hash of the rules and of the code that applies them. Comments, line breaks
// and import paths do not count.
func Version() string {
	sum := sha256.New()
	for _, name := range []string{"rules.txt", "patterns.go", "rules.go", "source.go"} {
		b, _ := embedded.ReadFile(name) // embedded by this very list
		if strings.HasSuffix(name, ".go") {
			b = codeOf(b)
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(b), b)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// codeOf returns the tokens of a Go file without package clause and imports.
func codeOf(file []byte) (code []byte) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(file)), file, nil, 0)
	for header := true; ; { // up to the first declaration that is no import
		_, t, text := s.Scan()
		if t == token.EOF {
			return code
		}
		header = header && t != token.TYPE && t != token.CONST && t != token.VAR && t != token.FUNC
		if !header && t != token.COMMA && t != token.SEMICOLON { // which depend on line breaks
			code = append(append(code, cmp.Or(text, t.String())...), '\n')
		}
	}
}

// Auditor is the embedded auditor. It writes a report in Format ([findings.Text], or SARIF
// for any other value) and reads it back, as every auditor's report is read.
type Auditor struct{ Format string }

// Name returns "patterns".
func (Auditor) Name() string { return Name }

// maxFile is the size in bytes above which a file is not read: it is data or generated.
const maxFile = 1 << 20

// Audit applies the rules to each file below task.Dir. Files that cannot be read are named
// in AuditRun.Stderr.
func (a Auditor) Audit(ctx context.Context, task audit.AuditTask) (audit.AuditRun, error) {
	run := audit.AuditRun{Command: []string{Name}, Version: Version(), Started: time.Now()}
	found, files, unread, err := scan(ctx, os.DirFS(task.Dir))
	if err != nil {
		return run, err
	}
	var report bytes.Buffer
	if a.Format == findings.Text {
		err = findings.WriteText(&report, findings.TextReport{Root: task.Dir, Tool: Name,
			Version: run.Version, Files: files, Coverage: audit.Dimensions(), Findings: found})
	} else {
		err = findings.WriteSARIF(&report, Name, run.Version, found)
	}
	if err != nil {
		return run, err
	}
	run.Raw, run.Stderr = report.Bytes(), []byte(unread)
	run.Report, err = findings.Read(Name, bytes.NewReader(run.Raw), findings.ReadOptions{Format: a.Format})
	run.Duration = time.Since(run.Started)
	return run, err
}

// scan returns the findings of all files below the root, the number of files that were
// read, and a line for each that could not be.
func scan(ctx context.Context, fsys fs.FS) (found []audit.Finding, files int, unread string, err error) {
	err = fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && p == ".":
			return err
		case err != nil:
			unread += err.Error() + "\n"
			return nil
		case d.IsDir() && table.matches("skip", "/"+p+"/"):
			return fs.SkipDir
		case !d.Type().IsRegular() || table.language(p) == "" || table.matches("skip", "/"+p):
			return nil
		}
		text, err := fs.ReadFile(fsys, p)
		if err != nil {
			unread += err.Error() + "\n"
		} else if len(text) <= maxFile {
			files++
			found = append(found, fire(newSource(p, table.language(p), string(text)))...)
		}
		return nil
	})
	return found, files, unread, err
}

// fire returns what the rules find in one file, at most once per weakness and function.
func fire(s *source) (found []audit.Finding) {
	seen := map[string]bool{}
	for i := range table.rules {
		r := &table.rules[i]
		match := table.expressions["match "+s.language+" "+r.id]
		if match == nil || table.expressions["with "+r.id] != nil && !table.matches("with "+r.id, s.text) {
			continue
		}
		for _, at := range match.FindAllStringIndex(s.text, -1) {
			f := s.functionAt(at[0])
			lines := audit.Range{Start: s.line(at[0]), End: s.line(at[1] - 1)}
			matched := s.text[at[0]:at[1]]
			once := fmt.Sprint(r.cwes[0], " in ", f.start)
			if f.name == "" {
				once = fmt.Sprint(r.cwes[0], " on ", lines.Start)
			}
			if seen[once] || table.matches("but "+r.id, matched) || table.matches("unless "+r.id, f.text) ||
				r.tainted && !f.taints(s.language, matched) {
				continue
			}
			seen[once] = true
			found = append(found, audit.Finding{RuleID: r.id, CWEs: r.cwes, Severity: r.severity,
				Dimension: r.dimension, File: s.path, Function: f.name, Lines: lines, Title: r.title,
				Description: r.title + ". A pattern matched, nothing more: rule " + r.id + "."})
		}
	}
	slices.SortStableFunc(found, func(a, b audit.Finding) int { return a.Lines.Start - b.Lines.Start })
	return found
}

// Reviewer is the embedded reviewer: bad where a rule fires, else good. It reads no
// requirements, so it names none.
type Reviewer struct{}

// Name returns "patterns".
func (Reviewer) Name() string { return Name }

// Deterministic reports true: the same code has the same review.
func (Reviewer) Deterministic() bool { return true }

// Review judges one fragment: bad where a rule fires.
func (Reviewer) Review(ctx context.Context, task audit.ReviewTask) (audit.Review, error) {
	blocks := audit.SplitBlocks(task.Language, task.Code)
	if blocks == nil {
		blocks = []audit.Block{{Language: task.Language, Code: task.Code}}
	} else if after, err := audit.PatchBlocks(blocks); err == nil {
		blocks = after
	} else {
		return audit.Review{Status: audit.Malformed, Detail: err.Error()}, nil
	}
	if ctx.Err() != nil {
		return audit.Review{Status: audit.Errored, Detail: ctx.Err().Error()}, nil
	}
	r := audit.Review{Status: audit.Answered, Verdict: audit.Good}
	var why []string
	for _, b := range blocks {
		language := cmp.Or(table.language(b.Path), table.languages[strings.ToLower(b.Language)])
		for _, f := range fire(newSource(b.Path, language, b.Code)) {
			r.Verdict = audit.Bad
			why = append(why, fmt.Sprintf("line %s: %s", f.Lines, f.Title))
			r.CWEs = append(r.CWEs, f.CWEs...)
		}
	}
	slices.Sort(r.CWEs)
	r.CWEs = slices.Compact(r.CWEs)
	r.Explanation = strings.Join(append(why, "no pattern matches")[:max(1, len(why))], "; ")
	r.Raw = r.Explanation
	return r, nil
}
