package auditor

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"assay/audit"
	"assay/internal/box"
	"assay/internal/events"
)

// defaultReviewTimeout is how long a program may take for one case when its
// entry does not say.
const defaultReviewTimeout = 5 * time.Minute

// A commandReviewer is any program as a reviewer.
type commandReviewer struct {
	entry    audit.AuditorEntry
	settings func() string
	confine  func() confinement
	grace    time.Duration // between TERM and KILL; 0 means defaultGrace
}

// CommandReviewer gives the reviewer that runs a section of auditors.md. The
// prompt is its standard input and stands in the file $ASSAY_PROMPT as well; its
// answer is what it writes to standard output, read as a model's would be, or its
// output file in $ASSAY_OUT. An agent that wraps its answer in JSON of its own is
// unwrapped, and what it says that it consumed is kept.
//
// It is confined as an auditor is, where bubblewrap can do so (Exposed says where
// not): it sees the system's programs and what its section names, has no network
// unless its section asks for it, the variables that its section lets through, and
// a home of its own that is removed afterwards. It is killed whole at its timeout,
// and when it writes more than an answer can be.
//
// What a program costs is known afterwards at best: the budget sees it once its
// first answer has told.
func CommandReviewer(entry audit.AuditorEntry) audit.Reviewer {
	r := &commandReviewer{entry: entry}
	r.settings = sync.OnceValue(r.describe)
	r.confine = sync.OnceValue(func() (c confinement) {
		c.box, c.missing, c.err = box.New(&r.entry, "")
		return c
	})
	return r
}

// A confinement is what [box.New] gives.
type confinement struct {
	box     *box.Box
	missing string
	err     error
}

// Name is the section's.
func (c *commandReviewer) Name() string { return c.entry.Name }

// Provider is this machine.
func (c *commandReviewer) Provider() string { return "" }

// Cost is nothing that Assay knows of.
func (c *commandReviewer) Cost(audit.ReviewTask) (expected, most float64, known bool) {
	return 0, 0, true
}

// Exposed says what is within the program's reach because nothing confines it;
// empty where it is confined.
func (c *commandReviewer) Exposed() string {
	if missing := c.confine().missing; missing != "" {
		return box.Exposed(missing)
	}
	return ""
}

// Settings holds the command line, and a hash of each file that it names: an
// edited program is another reviewer.
func (c *commandReviewer) Settings() string { return c.settings() }

func (c *commandReviewer) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "command %q output %q", c.entry.Command, c.entry.Output)
	for _, word := range strings.Fields(c.entry.Command) {
		word = strings.Trim(word, `"'`)
		if p, err := exec.LookPath(word); err == nil {
			word = p
		}
		if sum := hashFile(word); sum != "" {
			fmt.Fprintf(&b, " %s=%s", filepath.Base(word), sum)
		}
	}
	return b.String()
}

// hashFile gives the beginning of a regular file's SHA-256; "" for what is none, or
// cannot be read.
func hashFile(name string) string {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// Review runs the program once.
func (c *commandReviewer) Review(ctx context.Context, task audit.ReviewTask) (audit.Review, error) {
	confined := c.confine()
	if confined.err != nil {
		return audit.Review{}, confined.err
	}
	if ctx.Err() != nil { // one that is not started need not be stopped
		return c.failed(&box.Exit{Started: time.Now(), Code: -1}, "stopped: "+context.Cause(ctx).Error()), nil
	}
	text := Prompt(task)
	home, err := box.NewHome(map[string]string{promptFile: text})
	if err != nil {
		return audit.Review{}, err
	}
	defer home.Close()
	timeout := cmp.Or(c.entry.Timeout, defaultReviewTimeout)
	p := box.Process{Dir: home.Tmp(), Command: box.Shell(c.entry.Command), Box: confined.box, Home: home, Limits: c.entry.Limits, Network: c.entry.Network, Stdin: text, Timeout: timeout, Grace: c.grace,
		Env: append(box.Environment(c.entry.Env, home), "ASSAY_PROMPT="+home.Path(promptFile), "ASSAY_OUT="+home.Out()), Progress: c.entry.Output != ""}
	if !p.Progress {
		p.Cap = maxReply
	}
	e, err := p.Run(ctx)
	if err != nil {
		return audit.Review{}, fmt.Errorf("%s: %s: %w", c.entry.Pos, c.entry.Name, err)
	}
	// Before anything is cut: a part of a secret is not found.
	e.Stdout, e.Stderr = []byte(c.redact(string(e.Stdout))), []byte(c.redact(string(e.Stderr)))
	r, err := c.read(ctx, &task, &e, home, timeout)
	return withoutSecrets(r, c.redact), err
}

// promptFile is the file of its home that holds the prompt.
const promptFile = "prompt.txt"

// read tells what became of a run of the program.
func (c *commandReviewer) read(ctx context.Context, task *audit.ReviewTask, e *box.Exit, home *box.Home, timeout time.Duration) (audit.Review, error) {
	// A shell's statuses for a program that is not there, or not to be executed:
	// it will not be there for the next case either.
	if e.Code == 126 || e.Code == 127 {
		return c.failed(e, "cannot be run: "+box.LastLine(e.Stderr)),
			fmt.Errorf("%s: %s cannot be run (exit status %d): %s", c.entry.Pos, c.entry.Name, e.Code, box.LastLine(e.Stderr))
	}
	switch {
	case e.Crossed != "":
		return c.failed(e, e.Crossed), nil
	case e.TimedOut:
		return c.failed(e, fmt.Sprintf("no answer within %s: all its processes were killed", timeout)), nil
	case ctx.Err() != nil:
		return c.failed(e, "stopped: "+context.Cause(ctx).Error()), nil
	case e.Cut > 0 && c.entry.Output == "":
		return c.failed(e, "it was stopped: its answer is larger than "+box.Size(maxReply)), nil
	case e.Signal() != 0:
		return c.failed(e, fmt.Sprintf("killed by a signal (%s): %s", e.Signal(), e.LastWords())), nil
	case e.Code != 0:
		return c.failed(e, fmt.Sprintf("exit status %d: %s", e.Code, e.LastWords())), nil
	}
	reply, a := string(e.Stdout), c.attempt(e)
	env, wrapped := events.Unwrap(e.Stdout)
	if wrapped {
		reply = env.Report
	}
	if c.entry.Output != "" {
		b, err := home.Read(c.entry.Output, maxReply)
		if err != nil {
			return c.failed(e, err.Error()), nil
		}
		reply = c.redact(string(b))
	}
	if wrapped && env.Failed != "" {
		return c.failed(e, "the agent says that its own run failed: "+audit.OneLine(env.Failed, messageLimit)), nil
	}
	review := readReply(task, reply)
	review.Attempts = []audit.Attempt{a}
	return review, nil
}

// attempt tells what a run consumed, as far as the program says; one that says
// nothing is taken for free.
func (c *commandReviewer) attempt(e *box.Exit) audit.Attempt {
	a := audit.Attempt{Started: e.Started, Latency: e.Duration, Model: c.entry.Name, FinishReason: fmt.Sprint("exit ", e.Code)}
	if env, wrapped := events.Unwrap(e.Stdout); wrapped {
		a.Usage, a.Model = env.Usage, cmp.Or(env.Model, c.entry.Model, c.entry.Name)
		return a
	}
	a.Usage.Priced = true
	return a
}

func (c *commandReviewer) failed(e *box.Exit, why string) audit.Review {
	a := c.attempt(e)
	a.Error = why
	return audit.Review{Status: audit.Errored, Detail: why, Raw: string(e.Stdout[:min(len(e.Stdout), maxReply)]), Attempts: []audit.Attempt{a}}
}

// secretsOf gives the values of the secrets that a section is trusted with: those
// among the variables that are let through, and the key that its proxy adds.
func secretsOf(e *audit.AuditorEntry) []string {
	var values []string
	for _, name := range e.Variables() {
		if name == e.Network.Key || box.Secret(name) {
			values = append(values, os.Getenv(name))
		}
	}
	return values
}

// redact removes what the program was trusted with from what it said.
func (c *commandReviewer) redact(s string) string { return Redact(s, secretsOf(&c.entry)...) }
