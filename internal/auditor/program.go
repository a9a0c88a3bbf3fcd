package auditor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"assay/audit"
	"assay/internal/box"
	"assay/internal/events"
)

// A program is a section of auditors.md with a command line: it is run as an auditor or a
// reviewer, or asked for its version.
type program struct {
	entry   audit.AuditorEntry
	aliases []string      // of the model that it asks
	grace   time.Duration // between TERM and KILL; 0 means box's
}

// asked returns the model that the section asks: by its row Model, which may name a variable,
// or as the agent states. It returns "" if neither names one.
func (p *program) asked(said *events.AgentResult) string {
	return cmp.Or(askedModel(p.entry), said.Asked)
}

// askedModel returns the model of the row Model.
func askedModel(entry audit.AuditorEntry) string {
	if name, ok := strings.CutPrefix(entry.Model, "$"); ok {
		return os.Getenv(name)
	}
	return entry.Model
}

// Name is the section's.
func (p *program) Name() string { return p.entry.Name }

// process returns the process that runs the command line.
func (p *program) process(b *box.Box, home *box.Home) box.Process {
	return box.Process{Command: box.Shell(p.entry.Command), Box: b, Home: home,
		Limits: p.entry.Limits, Network: p.entry.Network, Timeout: p.entry.Timeout, Grace: p.grace,
		Env: append(box.Environment(p.entry.Env, home), "ASSAY_OUT="+home.Out(),
			"ASSAY_USAGE="+filepath.Join(home.Out(), usageFile)),
		Progress: p.entry.Output != ""}
}

// A ran is what one run of a program came to, with what it was trusted with taken out
// before anything is read, cut or kept: a part of a secret is not found.
type ran struct {
	box.Exit
	said    events.AgentResult // by an agent, of its run
	wrapped bool               // it said so
	text    []byte             // its report or its answer
	unread  string             // why that cannot be read

	usageWrong string // what is wrong with its file of usage
}

// run runs the process. The report is its standard output, the answer in an agent's JSON, or
// the section's output file, of at most limit bytes.
func (p *program) run(ctx context.Context, process box.Process, limit int64) (r ran, err error) {
	if r.Exit, err = process.Run(ctx); err != nil {
		return r, fmt.Errorf("%s: %s: %w", p.entry.Pos, p.entry.Name, err)
	}
	r.Stdout, r.Stderr = p.mask(r.Stdout), p.mask(r.Stderr)
	r.said, r.wrapped = events.Read(r.Stdout)
	r.usageWrong = readUsage(process.Home, &r.said)
	switch {
	case p.entry.Output != "":
		if r.text, err = process.Home.Read(p.entry.Output, limit); err != nil {
			r.unread = err.Error()
		}
		r.text = p.mask(r.text)
	case r.wrapped:
		r.text = []byte(r.said.Report)
	default:
		r.text = r.Stdout
	}
	return r, nil
}

// unanswered returns a note if a program asked its provider and got no answer; "" otherwise.
func unanswered(network []audit.Traffic) string {
	for _, t := range network {
		switch {
		case t.Requests == 0 || t.Answers > 0:
		case t.Status > 0:
			return fmt.Sprintf("%s answered none of its %d requests, the last one with status %d",
				t.Host, t.Requests, t.Status)
		default:
			return fmt.Sprintf("%s answered none of its %d requests", t.Host, t.Requests)
		}
	}
	return ""
}

// stopped says why a program that did not end by itself proves nothing: it was to write
// so many bytes at most.
func (p *program) stopped(ctx context.Context, r *ran, awaited,
	written string, limit int64) string {
	switch {
	case r.Crossed != "":
		return r.Crossed
	case r.TimedOut:
		return fmt.Sprintf("no %s within %s: all its processes were killed", awaited,
			p.entry.Timeout)
	case ctx.Err() != nil:
		return "stopped: " + context.Cause(ctx).Error()
	case r.Cut > 0 && p.entry.Output == "":
		return fmt.Sprintf("it was stopped: its %s is larger than %s", written, box.Size(limit))
	case r.Signal() != 0:
		return strings.TrimSuffix(fmt.Sprintf("killed by a signal (%s): %s", r.Signal(),
			r.LastWords()), ": ")
	}
	return ""
}

// notRun reports whether a shell's status says that a program is not there, or not to
// be executed.
func (r *ran) notRun() bool { return r.Code == 126 || r.Code == 127 }

// secrets returns the secrets of the section: values of secret variables that it gets, and the
// key that the proxy adds.
func (p *program) secrets() []string {
	var values []string
	for _, name := range p.entry.Variables() {
		if name == p.entry.Network.Key || box.Secret(name) {
			values = append(values, os.Getenv(name))
		}
	}
	return values
}

// mask removes the secrets from the program's output. Texts that only look like keys are kept,
// since they may be findings.
func (p *program) mask(b []byte) []byte {
	if secrets := p.secrets(); len(secrets) > 0 {
		return []byte(Mask(string(b), secrets...))
	}
	return b
}

// aside runs another command line of the section, without network and in a home of its own,
// since the run's home may hold a report.
func (p *program) aside(ctx context.Context, b *box.Box, line string,
	timeout time.Duration) (box.Exit, error) {
	home, err := box.NewHome(nil)
	if err != nil {
		return box.Exit{}, err
	}
	defer home.Close()
	process := p.process(b, home)
	process.Dir, process.Command, process.Progress, process.Timeout, process.Network = home.Tmp(), box.Shell(line), true, timeout, audit.Network{}
	e, err := process.Run(ctx)
	e.Stdout, e.Stderr = p.mask(e.Stdout), p.mask(e.Stderr)
	return e, err
}
