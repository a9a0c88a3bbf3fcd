package auditor

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/findings"
	"assay/internal/static"
)

// A staticAuditor is the embedded analyser as an auditor.
type staticAuditor struct{ format string }

// Static gives the embedded analyser, which writes its report in the format:
// findings.Text or, for everything else, SARIF. What it says is read back from
// that report, as any auditor's is.
func Static(format string) audit.Auditor { return &staticAuditor{format} }

// Name is "static".
func (s *staticAuditor) Name() string { return "static" }

// Audit analyses the export. Files that could not be read or parsed are told in
// AuditRun.Stderr.
func (s *staticAuditor) Audit(ctx context.Context, task audit.AuditTask) (audit.AuditRun, error) {
	root, err := os.OpenRoot(task.Dir)
	if err != nil {
		return audit.AuditRun{}, err
	}
	defer root.Close()
	run := audit.AuditRun{Command: []string{"static"}, Version: static.RulesHash(), Started: time.Now()}
	res, err := static.New(static.Options{}).Analyse(ctx, root.FS())
	if err != nil {
		return run, err
	}
	var messages, report bytes.Buffer
	for _, w := range res.Warnings {
		messages.WriteString(w + "\n")
	}
	if s.format == findings.Text {
		for i := range res.Findings {
			res.Findings[i].Title = kindOf(res.Findings[i].RuleID) + ": " + res.Findings[i].Title
		}
		err = findings.WriteText(&report, findings.TextReport{Root: task.Dir, Tool: "static", Version: run.Version,
			Files: res.Files, Coverage: audit.Dimensions(), Findings: res.Findings})
	} else {
		err = findings.WriteSARIF(&report, "static", run.Version, res.Findings)
	}
	if err != nil {
		return run, err
	}
	run.Raw, run.Stderr = report.Bytes(), messages.Bytes()
	run.Duration = time.Since(run.Started)
	run.Report, run.Invalid = ReadReport("static", run.Raw, s.format, nil)
	return run, nil
}

// A staticReviewer is the embedded analyser as a reviewer. It is no paid or slow
// one, so it says nothing about settings and cost, and is asked anew in every
// run: results of rules that have changed since are worth nothing.
type staticReviewer struct{}

// Name is "static".
func (staticReviewer) Name() string { return "static" }

// Review judges one fragment. It never fails for good: the next fragment is
// another one.
func (staticReviewer) Review(ctx context.Context, task audit.ReviewTask) (audit.Review, error) {
	r, err := static.New(static.Options{}).Review(ctx, task)
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return audit.Review{Status: audit.Errored, Detail: err.Error()}, nil
	}
	return r, nil
}

// short are the words in rules' names that are written in capitals.
var short = map[string]bool{"sql": true, "nosql": true, "xss": true, "xxe": true, "ssrf": true, "ldap": true, "csrf": true, "jwt": true, "tls": true, "cors": true, "html": true, "http": true}

// kindOf gives the name of a rule's kind as people search for it: "SQL Injection" of
// java.sql-injection.
func kindOf(rule string) string {
	ws := strings.Split(rule[strings.LastIndexByte(rule, '.')+1:], "-")
	for i, w := range ws {
		if w != "" {
			ws[i] = strings.ToUpper(w[:1]) + w[1:]
		}
		if short[w] {
			ws[i] = strings.ToUpper(w)
		}
	}
	return strings.Join(ws, " ")
}
