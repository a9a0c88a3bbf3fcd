package auditor

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"assay/audit"
)

// defaultReviewTimeout is how long a program may take for one case when its
// entry does not say.
const defaultReviewTimeout = 5 * time.Minute

// A commandReviewer is any program as a reviewer.
type commandReviewer struct {
	entry    audit.AuditorEntry
	settings func() string
}

// CommandReviewer gives the reviewer that runs a section of auditors.md. The
// prompt is its standard input and stands in the file $ASSAY_PROMPT as well; its
// answer is what it writes to standard output, read as a model's would be, or its
// output file in $ASSAY_OUT. It runs in a folder of its own that is removed
// afterwards, with the variables that its entry lets through, until its timeout.
//
// Assay does not know what a program costs; what it spends is not in the budget.
func CommandReviewer(entry audit.AuditorEntry) audit.Reviewer {
	r := &commandReviewer{entry: entry}
	r.settings = sync.OnceValue(r.describe)
	return r
}

// Name is the section's.
func (c *commandReviewer) Name() string { return c.entry.Name }

// Provider is this machine.
func (c *commandReviewer) Provider() string { return "" }

// Cost is nothing that Assay knows of.
func (c *commandReviewer) Cost(audit.ReviewTask) (expected, most float64, known bool) {
	return 0, 0, true
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
		if sum, err := hashFile(word); err == nil {
			fmt.Fprintf(&b, " %s=%s", filepath.Base(word), sum)
		}
	}
	return b.String()
}

// hashFile gives the beginning of a regular file's SHA-256.
func hashFile(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("no file")
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// Review runs the program once.
func (c *commandReviewer) Review(ctx context.Context, task audit.ReviewTask) (audit.Review, error) {
	dir, err := os.MkdirTemp("", "assay-review-")
	if err != nil {
		return audit.Review{}, err
	}
	defer os.RemoveAll(dir)
	prompt, out, tmp := filepath.Join(dir, "prompt.txt"), filepath.Join(dir, "out"), filepath.Join(dir, "tmp")
	text := Prompt(task)
	if err := errors.Join(os.Mkdir(out, 0o700), os.Mkdir(tmp, 0o700), os.WriteFile(prompt, []byte(text), 0o600)); err != nil {
		return audit.Review{}, err
	}
	timeout := c.entry.Timeout
	if timeout <= 0 {
		timeout = defaultReviewTimeout
	}
	p := process{Dir: tmp, Command: []string{"/bin/sh", "-c", c.entry.Command}, Stdin: text, Timeout: timeout,
		Env: append(allowed(c.entry.Env, tmp, tmp), "ASSAY_PROMPT="+prompt, "ASSAY_OUT="+out)}
	e, err := p.run(ctx)
	if err != nil {
		return audit.Review{}, fmt.Errorf("%s: %s: %w", c.entry.Pos, c.entry.Name, err)
	}
	reply := string(e.Stdout)
	if c.entry.Output != "" {
		b, err := readOutput(out, c.entry.Output)
		if err != nil {
			return c.failed(e, err.Error()), nil
		}
		reply = string(b)
	}
	// A shell's statuses for a program that is not there, or not to be executed:
	// it will not be there for the next case either.
	if e.Code == 126 || e.Code == 127 {
		return c.failed(e, "cannot be run"), fmt.Errorf("%s: %s cannot be run (exit status %d): %s", c.entry.Pos, c.entry.Name, e.Code, lastLine(e.Stderr))
	}
	switch {
	case e.TimedOut:
		return c.failed(e, fmt.Sprintf("no answer within %s: the whole group was killed", timeout)), nil
	case ctx.Err() != nil:
		return c.failed(e, "stopped: "+ctx.Err().Error()), nil
	case e.Code != 0:
		return c.failed(e, fmt.Sprintf("exit status %d: %s", e.Code, lastLine(e.Stderr))), nil
	case e.Cut > 0 && c.entry.Output == "":
		return c.failed(e, fmt.Sprintf("it wrote more than %d MB", MaxReport>>20)), nil
	}
	review := ReadAnswer(reply)
	review.Attempts = []audit.Attempt{c.attempt(e)}
	return review, nil
}

func (c *commandReviewer) attempt(e exit) audit.Attempt {
	return audit.Attempt{Started: e.Started, Latency: e.Duration, Model: c.entry.Name, FinishReason: fmt.Sprint("exit ", e.Code),
		Usage: audit.Usage{Priced: true}}
}

func (c *commandReviewer) failed(e exit, why string) audit.Review {
	a := c.attempt(e)
	a.Error = why
	return audit.Review{Status: audit.Errored, Detail: why, Raw: string(e.Stdout), Attempts: []audit.Attempt{a}}
}
