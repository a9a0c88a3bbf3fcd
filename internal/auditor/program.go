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

// A program is a section of auditors.md whose command line is run: as an auditor, as a
// reviewer, or to be asked for its version.
type program struct {
	entry   audit.AuditorEntry
	aliases []string      // of the model that it asks
	grace   time.Duration // between TERM and KILL; 0 means box's
}

// asked returns the model that the section asks: by its row Model, which may name a variable,
// or as the agent says. It is empty where neither says so.
func (p *program) asked(said *events.Outcome) string {
	return cmp.Or(askedModel(p.entry), said.Asked)
}

func askedModel(entry audit.AuditorEntry) string {
	if name, ok := strings.CutPrefix(entry.Model, "$"); ok {
		return os.Getenv(name)
	}
	return entry.Model
}

// Name is the section's.
func (p *program) Name() string { return p.entry.Name }

func (p *program) process(b *box.Box, home *box.Home) box.Process {
	return box.Process{Command: box.Shell(p.entry.Command), Box: b, Home: home, Limits: p.entry.Limits, Network: p.entry.Network, Timeout: p.entry.Timeout, Grace: p.grace,
		Env:      append(box.Environment(p.entry.Env, home), "ASSAY_OUT="+home.Out(), "ASSAY_USAGE="+filepath.Join(home.Out(), usageFile)),
		Progress: p.entry.Output != ""}
}

// A ran is what one run of a program came to, with what it was trusted with taken out
// before anything is read, cut or kept: a part of a secret is not found.
type ran struct {
	box.Exit
	said    events.Outcome // by an agent, of its run
	wrapped bool           // it said so
	text    []byte         // its report or its answer
	unread  string         // why that cannot be read

	usageWrong string // what is wrong with its file of usage
}

// run runs it. What it reports stands on its standard output, in what an agent wraps
// its answer in, or in the section's output file, of so many bytes at most.
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

// stopped says why a program that did not end by itself proves nothing: it was to write
// so many bytes at most.
func (p *program) stopped(ctx context.Context, r *ran, awaited, written string, limit int64) string {
	switch {
	case r.Crossed != "":
		return r.Crossed
	case r.TimedOut:
		return fmt.Sprintf("no %s within %s: all its processes were killed", awaited, p.entry.Timeout)
	case ctx.Err() != nil:
		return "stopped: " + context.Cause(ctx).Error()
	case r.Cut > 0 && p.entry.Output == "":
		return fmt.Sprintf("it was stopped: its %s is larger than %s", written, box.Size(limit))
	case r.Signal() != 0:
		return strings.TrimSuffix(fmt.Sprintf("killed by a signal (%s): %s", r.Signal(), r.LastWords()), ": ")
	}
	return ""
}

// notRun reports whether a shell's status says that a program is not there, or not to
// be executed.
func (r *ran) notRun() bool { return r.Code == 126 || r.Code == 127 }

// secrets gives what the section is trusted with: the values of those among the
// variables that are let through, and the key that its proxy adds.
func (p *program) secrets() []string {
	var values []string
	for _, name := range p.entry.Variables() {
		if name == p.entry.Network.Key || box.Secret(name) {
			values = append(values, os.Getenv(name))
		}
	}
	return values
}

// mask removes the secrets from what the program wrote. What only looks like a key
// stays: the target's own may be what it reports.
func (p *program) mask(b []byte) []byte {
	if secrets := p.secrets(); len(secrets) > 0 {
		return []byte(Mask(string(b), secrets...))
	}
	return b
}

// aside runs a command line beside the section's own, without network, in a home of its
// own: another may hold a report.
func (p *program) aside(ctx context.Context, b *box.Box, line string, timeout time.Duration) (box.Exit, error) {
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
