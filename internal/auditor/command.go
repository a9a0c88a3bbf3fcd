package auditor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"assay/audit"
)

// A command is an auditor that is a program: a tool, or an agent.
type command struct {
	entry audit.AuditorEntry
	grace time.Duration // between TERM and KILL; 0 means defaultGrace
	cap   int           // of standard output; 0 means MaxReport
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
	box, missing, err := newBox(&c.entry, task.Dir, home)
	if err != nil {
		return audit.AuditRun{}, err
	}
	before := fingerprint(task.Dir)
	p := process{Dir: task.Dir, Command: shell(c.entry.Command), Box: box, Timeout: c.entry.Timeout,
		Env: append(allowed(c.entry.Env, home, tmp), "ASSAY_OUT="+out, "ASSAY_FORMAT="+format), Progress: c.entry.Output != "", Grace: c.grace, Cap: c.cap}
	e, err := p.run(ctx)
	if err != nil {
		return audit.AuditRun{}, fmt.Errorf("%s: %s: %w", c.entry.Pos, c.entry.Name, err)
	}
	run := audit.AuditRun{Raw: e.Stdout, Stderr: e.Stderr, Command: []string{c.entry.Command}, Version: c.version(ctx, p, tmp),
		ExitCode: e.Code, Started: e.Started, Duration: e.Duration, PeakMemory: e.PeakMemory}
	if missing != "" {
		run.Exposed = exposed(missing)
	}
	if fingerprint(task.Dir) != before {
		run.Exposed = strings.TrimPrefix(run.Exposed+"; it changed the source that it was to read", "; ")
	}
	c.read(&run, &e, out)
	if why := c.stopped(ctx, &e); why != "" {
		run.Invalid = why
	} else if run.Invalid != "" {
		run.Invalid = strings.TrimSuffix(fmt.Sprintf("%s (exit status %d): %s", run.Invalid, e.Code, e.lastWords()), ": ")
	}
	run.Invalid = printable(run.Invalid)
	return run, nil
}

// shell gives the command that runs a command line. On TERM the shell waits for
// the program that it runs, which got the signal too and may want to end in order.
func shell(line string) []string {
	return []string{"/bin/sh", "-c", "trap 'exit 143' TERM; " + line}
}

// read takes the report and what was consumed from where the program put them.
func (c *command) read(run *audit.AuditRun, e *exit, out string) {
	env, wrapped := Unwrap(e.Stdout)
	run.Usage, run.Model = env.Usage, cmp.Or(env.Model, c.entry.Model)
	if wrapped {
		run.Raw = []byte(env.Report)
	}
	if c.entry.Output != "" {
		var err error
		if run.Raw, err = readOutput(out, c.entry.Output, MaxReport); err != nil {
			run.Invalid = err.Error()
			return
		}
	}
	run.Report, run.Invalid = ReadReport(c.entry.Name, run.Raw, c.entry.Format, c.entry.Rules)
	if wrapped && env.Failed != "" {
		run.Invalid = c.entry.Name + ": the agent says that its own run failed: " + plain(env.Failed)
	}
}

// stopped says why a program that did not end by itself proves nothing.
func (c *command) stopped(ctx context.Context, e *exit) string {
	switch {
	case e.TimedOut:
		return fmt.Sprintf("no end within %s: all its processes were killed", c.entry.Timeout)
	case ctx.Err() != nil:
		return "stopped: " + ctx.Err().Error()
	case e.Cut > 0 && c.entry.Output == "":
		return fmt.Sprintf("it was stopped: its report is larger than %s", size(c.cap))
	case e.signal() != 0:
		return fmt.Sprintf("killed by a signal (%s): %s", e.signal(), e.lastWords())
	}
	return ""
}

func size(n int) string {
	if n == 0 {
		n = MaxReport
	}
	if n >= 1<<20 {
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

// signal gives the signal that ended the program; 0 for none. A shell, and
// bubblewrap, tell it as 128 and its number.
func (e *exit) signal() syscall.Signal {
	switch {
	case e.Code < 0:
		return syscall.SIGKILL
	case e.Code > 128 && e.Code < 128+32:
		return syscall.Signal(e.Code - 128)
	}
	return 0
}

// lastWords gives the last line of the messages or, where there are none, of the
// output.
func (e *exit) lastWords() string {
	if len(bytes.TrimSpace(e.Stderr)) > 0 {
		return lastLine(e.Stderr)
	}
	return lastLine(e.Stdout)
}

// fingerprint identifies the state of a tree by names, sizes and times. One that
// cannot be read is the empty one.
func fingerprint(dir string) string {
	var b strings.Builder
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil {
			fmt.Fprintf(&b, "%s %d %d %o\n", name, info.Size(), info.ModTime().UnixNano(), info.Mode())
		}
		return nil
	})
	return b.String()
}

// readOutput reads the file that the program was told to write, of at most limit
// bytes, and nothing outside of its output folder.
func readOutput(dir, name string, limit int) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("it wrote no report to $ASSAY_OUT/%s", name)
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("$ASSAY_OUT/%s is no file", name)
	}
	if info.Size() > int64(limit) {
		return nil, fmt.Errorf("its report is larger than %s", size(limit))
	}
	return root.ReadFile(name)
}

// version asks the program for its version; what cannot be had is "unknown".
func (c *command) version(ctx context.Context, p process, dir string) string {
	if c.entry.Version == "" || ctx.Err() != nil {
		return "unknown"
	}
	p.Dir, p.Command, p.Progress, p.Timeout = dir, shell(c.entry.Version), true, min(c.entry.Timeout, time.Minute)
	e, err := p.run(ctx)
	if err != nil || e.Code != 0 {
		return "unknown"
	}
	for _, line := range strings.Split(string(e.Stdout)+"\n"+string(e.Stderr), "\n") {
		if line = plain(line); line != "" {
			return line
		}
	}
	return "unknown"
}

func lastLine(b []byte) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return plain(lines[len(lines)-1])
}
