package auditor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"assay/audit"
)

// A command is an auditor that is a program: a tool, or an agent.
type command struct{ entry audit.AuditorEntry }

// Command gives the auditor of a section of auditors.md.
func Command(entry audit.AuditorEntry) audit.Auditor { return &command{entry} }

// Name is the section's.
func (c *command) Name() string { return c.entry.Name }

// Audit runs the command line in the export. What it reports goes to standard
// output, or to the entry's output file; $ASSAY_OUT is a folder that it may write
// to and in which a relative output file is looked for.
func (c *command) Audit(ctx context.Context, task audit.AuditTask) (audit.AuditRun, error) {
	home, err := os.MkdirTemp("", "assay-auditor-")
	if err != nil {
		return audit.AuditRun{}, err
	}
	defer os.RemoveAll(home)
	out := filepath.Join(home, "out")
	tmp := filepath.Join(home, "tmp")
	if err := errors.Join(os.Mkdir(out, 0o700), os.Mkdir(tmp, 0o700)); err != nil {
		return audit.AuditRun{}, err
	}
	env := append(allowed(c.entry.Env, home, tmp), "ASSAY_OUT="+out)
	p := process{Dir: task.Dir, Command: []string{"/bin/sh", "-c", c.entry.Command}, Env: env, Timeout: c.entry.Timeout}
	e, err := p.run(ctx)
	if err != nil {
		return audit.AuditRun{}, fmt.Errorf("%s: %s: %w", c.entry.Pos, c.entry.Name, err)
	}
	run := audit.AuditRun{Raw: e.Stdout, Stderr: e.Stderr, Command: []string{c.entry.Command}, Version: c.version(ctx, env),
		ExitCode: e.Code, Started: e.Started, Duration: e.Duration, PeakMemory: e.PeakMemory}
	if c.entry.Output != "" {
		if run.Raw, err = readOutput(out, c.entry.Output); err != nil {
			run.Invalid = fmt.Sprintf("%v (exit status %d): %s", err, e.Code, lastLine(e.Stderr))
			return run, nil
		}
	}
	run.Report, run.Invalid = ReadReport(c.entry.Name, run.Raw, c.entry.Format, c.entry.Rules)
	switch {
	case e.TimedOut:
		run.Invalid = fmt.Sprintf("no end within %s: the whole group was killed", c.entry.Timeout)
	case ctx.Err() != nil:
		run.Invalid = "stopped: " + ctx.Err().Error()
	case e.Cut > 0 && c.entry.Output == "":
		run.Invalid = fmt.Sprintf("the report is larger than %d MB: %d bytes were cut", MaxReport>>20, e.Cut)
	case e.Code < 0:
		run.Invalid = "killed by a signal: " + lastLine(e.Stderr)
	case run.Invalid != "":
		run.Invalid += fmt.Sprintf(" (exit status %d): %s", e.Code, lastLine(e.Stderr))
	}
	return run, nil
}

// readOutput reads the file that the program was told to write, and nothing
// outside of its output folder.
func readOutput(dir, name string) ([]byte, error) {
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
	if info.Size() > MaxReport {
		return nil, fmt.Errorf("its report is larger than %d MB", MaxReport>>20)
	}
	return root.ReadFile(name)
}

// version asks the program for its version; what cannot be had is "unknown".
func (c *command) version(ctx context.Context, env []string) string {
	if c.entry.Version == "" {
		return "unknown"
	}
	p := process{Dir: os.TempDir(), Command: []string{"/bin/sh", "-c", c.entry.Version}, Env: env, Timeout: c.entry.Timeout}
	e, err := p.run(ctx)
	if err != nil || e.Code != 0 {
		return "unknown"
	}
	for _, line := range strings.Split(string(e.Stdout)+"\n"+string(e.Stderr), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return "unknown"
}

func lastLine(b []byte) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
