package auditor

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/audit"
	"assay/internal/box"
)

// defaultReviewTimeout is how long a program may take for one case when its
// entry does not say.
const defaultReviewTimeout = 5 * time.Minute

// A commandReviewer is any program as a reviewer.
type commandReviewer struct {
	program
	settings func() string
	confine  func() (b *box.Box, exposed string, err error)
	content  homeContent // of the home of each review; complete after confine
}

// CommandReviewer returns the reviewer that runs a section of auditors.md. The
// prompt is its standard input and stands in the file $ASSAY_PROMPT as well; its
// answer is what it writes to standard output, read as a model's would be, or its
// output file in $ASSAY_OUT. An agent that wraps its answer in JSON of its own is
// unwrapped, and what it says that it consumed is kept.
//
// It is confined as an auditor is, where bubblewrap or Landlock can do so (Exposed says where
// not): it sees the system's programs and what its section names, has no network
// unless its section asks for it, the variables that its section lets through, and
// a home of its own that is removed afterwards. It is killed whole at its timeout,
// and when it writes more than an answer can be.
//
// What a program costs is known afterwards at best: the budget sees it once its
// first answer has told.
func CommandReviewer(entry audit.AuditorEntry) audit.Reviewer {
	entry.Timeout = cmp.Or(entry.Timeout, defaultReviewTimeout)
	r := &commandReviewer{program: program{entry: entry}}
	r.settings = sync.OnceValue(r.describe)
	var b *box.Box
	var exposed string
	var err error
	confine := sync.OnceFunc(func() {
		if r.content, err = homeFiles(&r.entry, map[string]string{}); err == nil {
			b, exposed, err = box.New(&r.entry, "")
		}
	})
	r.confine = func() (*box.Box, string, error) {
		confine()
		return b, exposed, err
	}
	return r
}

// Provider is this machine.
func (c *commandReviewer) Provider() string { return "" }

// Longest returns how long one run may take.
func (c *commandReviewer) Longest() time.Duration { return c.entry.Timeout }

// Cost is nothing that Assay knows of.
func (c *commandReviewer) Cost(audit.ReviewTask) (expected, most float64, known bool) {
	return 0, 0, true
}

// Exposed returns what the program is not kept from; "" where it is confined.
func (c *commandReviewer) Exposed() string {
	_, exposed, _ := c.confine()
	return exposed
}

// Unconfined returns what Landlock lets every program do; "" where bubblewrap confines it.
func (c *commandReviewer) Unconfined() string {
	b, _, _ := c.confine()
	return b.Unconfined(c.entry.Network)
}

// Settings returns the command line and a hash of each of its files: an edited program is
// another reviewer.
func (c *commandReviewer) Settings() string { return c.settings() }

func (c *commandReviewer) describe() string {
	parts, err := Parts(c.entry, "")
	if err != nil {
		return err.Error() // and each review says so
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		fmt.Fprintf(&b, "%s %s\n", name, parts[name])
	}
	return b.String()
}

// Review runs the program once.
func (c *commandReviewer) Review(ctx context.Context, task audit.ReviewTask) (audit.Review, error) {
	confined, _, err := c.confine()
	if err != nil {
		return audit.Review{}, err
	}
	if ctx.Err() != nil { // one that is not started need not be stopped
		return c.failed(&ran{Exit: box.Exit{Started: time.Now(), Code: -1}},
			"stopped: "+context.Cause(ctx).Error()), nil
	}
	text := Prompt(task)
	home, err := c.content.home(map[string]string{promptFile: text})
	if err != nil {
		return audit.Review{}, err
	}
	defer home.Close()
	p := c.process(confined, home)
	p.Dir, p.Stdin, p.Env = home.Tmp(), text, append(p.Env, "ASSAY_PROMPT="+home.Path(promptFile),
		"ASSAY_FILES="+home.Path(filesDir))
	if !p.Progress {
		p.Cap = maxReply
	}
	e, err := c.run(ctx, p, maxReply)
	if err != nil {
		return audit.Review{}, err
	}
	r, err := c.read(ctx, &e)
	return withoutSecrets(r, c.redact), err
}

const promptFile = "prompt.txt"

func (c *commandReviewer) read(ctx context.Context, e *ran) (audit.Review, error) {
	why := c.stopped(ctx, e, "answer", "answer", maxReply)
	switch {
	case e.notRun(): // it will not be there for the next case either
		last := c.redact(box.LastLine(e.Stderr))
		return c.failed(e, "cannot be run: "+last),
			fmt.Errorf("%s: %s cannot be run (exit status %d): %s", c.entry.Pos,
				c.entry.Name, e.Code, last)
	case why != "":
	case e.Code != 0:
		why = fmt.Sprintf("exit status %d: %s", e.Code, e.LastWords())
	case e.unread != "":
		why = e.unread
	case e.said.Refused != "":
		return audit.Review{Status: audit.Refused, Detail: "the model declined: " +
			audit.OneLine(e.said.Refused, messageLimit),
			Raw: string(e.text), Attempts: []audit.Attempt{c.attempt(e)}}, nil
	case e.said.Failed != "":
		why = "the agent says that its own run failed: " +
			audit.OneLine(e.said.Failed, messageLimit)
	default:
		review := ReadReply(string(e.text))
		// it may have said there why
		if last := e.LastWords(); last != "" && len(bytes.TrimSpace(e.text)) == 0 {
			review.Detail += "; it ended with: " + last
		}
		review.Attempts = []audit.Attempt{c.attempt(e)}
		return review, nil
	}
	return c.failed(e, why), nil
}

// attempt tells what a run consumed, as far as the program says; one that says
// nothing is taken for free.
func (c *commandReviewer) attempt(e *ran) audit.Attempt {
	a := audit.Attempt{Started: e.Started, Latency: e.Duration, Model: c.entry.Name,
		FinishReason: fmt.Sprint("exit ", e.Code)}
	if e.wrapped {
		a.Usage, a.Model = e.said.Usage, cmp.Or(e.said.Model(), askedModel(c.entry), c.entry.Name)
		return a
	}
	a.Usage.Priced = true
	return a
}

func (c *commandReviewer) failed(e *ran, why string) audit.Review {
	a := c.attempt(e)
	a.Error = why
	if none := unanswered(e.Network); none != "" {
		a.Error, a.Transient = why+"; "+none, e.TimedOut
	}
	return audit.Review{Status: audit.Errored, Detail: why,
		Raw: string(e.Stdout[:min(len(e.Stdout), maxReply)]), Attempts: []audit.Attempt{a}}
}

// redact removes from what the program said its secrets and what looks like a key.
func (c *commandReviewer) redact(s string) string { return Redact(s, c.secrets()...) }
