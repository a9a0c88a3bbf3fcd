package auditor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"assay/audit"
	"assay/internal/box"
)

// messageLimit is how much of what a program or a model wrote a message holds, in
// bytes.
const messageLimit = 300

// A command is an auditor that is a program: a tool, or an agent.
type command struct {
	entry audit.AuditorEntry
	grace time.Duration // between TERM and KILL; 0 means defaultGrace
	cap   int           // of standard output; 0 means box.MaxReport
}

// Command gives the auditor of a section of auditors.md.
func Command(entry audit.AuditorEntry) audit.Auditor { return &command{entry: entry} }

// Name is the section's.
func (c *command) Name() string { return c.entry.Name }

// Audit runs the command line in the export, confined where bubblewrap can do so
// (AuditRun.Exposed says where not). What it reports goes to standard output, or
// to the entry's output file; $ASSAY_OUT is a folder that it may write to and in
// which a relative output file is looked for; $ASSAY_FORMAT is a file that tells a
// model how to write the text report. An agent that wraps its report in
// JSON of its own is unwrapped, and what it says that it consumed is kept.
func (c *command) Audit(ctx context.Context, task audit.AuditTask) (audit.AuditRun, error) {
	home, err := os.MkdirTemp("", "assay-auditor-")
	if err != nil {
		return audit.AuditRun{}, err
	}
	defer os.RemoveAll(home)
	out := filepath.Join(home, "out")
	tmp := filepath.Join(home, "tmp")
	format := filepath.Join(home, "report-format.md")
	if err := errors.Join(os.Mkdir(out, 0o700), os.Mkdir(tmp, 0o700), os.WriteFile(format, []byte(ReportFormat), 0o600)); err != nil {
		return audit.AuditRun{}, err
	}
	confined, missing, err := box.New(&c.entry, task.Dir, home)
	if err != nil {
		return audit.AuditRun{}, err
	}
	before := box.Fingerprint(task.Dir)
	p := box.Process{Dir: task.Dir, Command: box.Shell(c.entry.Command), Box: confined, Timeout: c.entry.Timeout,
		Env: append(box.Environment(c.entry.Env, home, tmp), "ASSAY_OUT="+out, "ASSAY_FORMAT="+format), Progress: c.entry.Output != "", Grace: c.grace, Cap: c.cap}
	e, err := p.Run(ctx)
	if err != nil {
		return audit.AuditRun{}, fmt.Errorf("%s: %s: %w", c.entry.Pos, c.entry.Name, err)
	}
	run := audit.AuditRun{Raw: e.Stdout, Stderr: e.Stderr, Command: []string{c.entry.Command}, Version: c.version(ctx, p, tmp),
		ExitCode: e.Code, Started: e.Started, Duration: e.Duration, PeakMemory: e.PeakMemory}
	if missing != "" {
		run.Exposed = box.Exposed(missing)
	}
	if box.Fingerprint(task.Dir) != before {
		run.Exposed = strings.TrimPrefix(run.Exposed+"; it changed the source that it was to read", "; ")
	}
	c.read(&run, &e, out)
	if why := c.stopped(ctx, &e); why != "" {
		run.Invalid = why
	} else if run.Invalid != "" {
		run.Invalid = strings.TrimSuffix(fmt.Sprintf("%s (exit status %d): %s", run.Invalid, e.Code, e.LastWords()), ": ")
	}
	run.Invalid = audit.OneLine(run.Invalid, 0)
	return run, nil
}

// read takes the report and what was consumed from where the program put them.
func (c *command) read(run *audit.AuditRun, e *box.Exit, out string) {
	env, wrapped := Unwrap(e.Stdout)
	run.Usage, run.Model = env.Usage, cmp.Or(env.Model, c.entry.Model)
	if wrapped {
		run.Raw = []byte(env.Report)
	}
	if c.entry.Output != "" {
		var err error
		if run.Raw, err = box.ReadOutput(out, c.entry.Output, box.MaxReport); err != nil {
			run.Invalid = err.Error()
			return
		}
	}
	run.Report, run.Invalid = ReadReport(c.entry.Name, run.Raw, c.entry.Format, c.entry.Rules)
	if wrapped && env.Failed != "" {
		run.Invalid = c.entry.Name + ": the agent says that its own run failed: " + audit.OneLine(env.Failed, messageLimit)
	}
}

// stopped says why a program that did not end by itself proves nothing.
func (c *command) stopped(ctx context.Context, e *box.Exit) string {
	switch {
	case e.TimedOut:
		return fmt.Sprintf("no end within %s: all its processes were killed", c.entry.Timeout)
	case ctx.Err() != nil:
		return "stopped: " + ctx.Err().Error()
	case e.Cut > 0 && c.entry.Output == "":
		return fmt.Sprintf("it was stopped: its report is larger than %s", box.Size(c.cap))
	case e.Signal() != 0:
		return fmt.Sprintf("killed by a signal (%s): %s", e.Signal(), e.LastWords())
	}
	return ""
}

// version asks the program for its version; what cannot be had is "unknown".
func (c *command) version(ctx context.Context, p box.Process, dir string) string {
	if c.entry.Version == "" || ctx.Err() != nil {
		return "unknown"
	}
	p.Dir, p.Command, p.Progress, p.Timeout = dir, box.Shell(c.entry.Version), true, min(c.entry.Timeout, time.Minute)
	e, err := p.Run(ctx)
	if err != nil || e.Code != 0 {
		return "unknown"
	}
	for _, line := range strings.Split(string(e.Stdout)+"\n"+string(e.Stderr), "\n") {
		if line = audit.OneLine(line, messageLimit); line != "" {
			return line
		}
	}
	return "unknown"
}
