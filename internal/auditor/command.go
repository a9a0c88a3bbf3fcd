package auditor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/findings"
	"assay/internal/box"
	"assay/internal/events"
)

// messageLimit is the number of bytes that a message quotes of a program's or model's text.
const messageLimit = 300

// maxEvents is how much of an agent's events is kept, in bytes.
const maxEvents = 16 << 20

// A command is an auditor that is a program: a tool, or an agent.
type command struct{ program }

// Command returns the auditor of a section of auditors.md.
func Command(entry audit.AuditorEntry) audit.Auditor { return &command{program{entry: entry}} }

// Audit runs the command line in the export, confined where bubblewrap or Landlock can do so
// (AuditRun.Exposed says where not). What it reports goes to standard output, or
// to the entry's output file; $ASSAY_OUT is a folder that it may write to and in
// which a relative output file is looked for; $ASSAY_FORMAT is a file that tells a
// model how to write the text report. An agent that wraps its report in
// JSON of its own is unwrapped, and what it says that it consumed is kept.
// $ASSAY_MAX_USD is what the run may cost, where that is known; $ASSAY_USAGE is a file to
// which an agent writes what it consumed, a line of JSON a request. Of a change to review
// $ASSAY_BASE, $ASSAY_HEAD and $ASSAY_DIFF say which it is; $ASSAY_SCOPE names folders.
func (c *command) Audit(ctx context.Context, task audit.AuditTask) (audit.AuditRun, error) {
	if err := needs(c.entry); err != nil {
		return audit.AuditRun{}, err
	}
	entry, more := c.entry, map[string]string{formatFile: findings.Instructions}
	if task.Base != "" {
		more[changeFile] = task.Diff
	}
	content, err := homeFiles(&entry, more)
	if err != nil {
		return audit.AuditRun{}, err
	}
	confined, exposed, err := box.New(&entry, task.Dir)
	if err != nil {
		return audit.AuditRun{}, err
	}
	home, err := content.home(nil)
	if err != nil {
		return audit.AuditRun{}, err
	}
	defer home.Close()
	before := box.Fingerprint(task.Dir)
	p := c.process(confined, home)
	p.Dir, p.Env = task.Dir, append(p.Env, "ASSAY_FORMAT="+home.Path(formatFile),
		"ASSAY_FILES="+home.Path(filesDir))
	p.Env = append(p.Env, variables(task, home.Path(changeFile))...)
	if task.MaxUSD > 0 {
		p.Env = append(p.Env, "ASSAY_MAX_USD="+strconv.FormatFloat(task.MaxUSD, 'f', -1, 64))
	}
	if p.Progress { // its events may be there
		p.Cap = maxEvents
	}
	// an agent's own sandbox cannot work inside ours, and must where there is none
	if confined != nil {
		p.Env = append(p.Env, "ASSAY_CONFINED="+confined.By())
	}
	e, err := c.run(ctx, p, box.Limits(c.entry.Limits).Report)
	if err != nil {
		return audit.AuditRun{}, err
	}
	c.confirm(&e.said, e.Network)
	run := audit.AuditRun{Raw: e.text, Stderr: e.Stderr, Command: []string{c.entry.Command},
		Version: c.version(ctx, confined), Usage: e.said.Usage,
		Model:       cmp.Or(strings.Join(e.said.Served, ", "), c.asked(&e.said)),
		Unconfirmed: len(e.said.Served) == 0 && c.asked(&e.said) != "",
		ExitCode:    e.Code, Started: e.Started, Duration: e.Duration, PeakMemory: e.PeakMemory,
		Confined: e.Confined, Network: e.Network, Exposed: exposed}
	if box.Fingerprint(task.Dir) != before {
		run.Exposed = strings.TrimPrefix(run.Exposed+"; it changed the source that it was to read",
			"; ")
	}
	if e.wrapped {
		run.Events = audit.Clip(e.Stdout, maxEvents)
	} else if c.entry.Output != "" {
		run.Stdout = e.Stdout
	}
	c.read(&run, &e)
	c.checkRun(ctx, &run, &e, confined)
	return run, nil
}

// checkRun notes in a run whether its report is whole, why it does not count, and whether another
// attempt may succeed. confined is the box of the program, nil without one.
func (c *command) checkRun(ctx context.Context, run *audit.AuditRun, e *ran, confined *box.Box) {
	why := c.stopped(ctx, e, "end", "report", box.Limits(c.entry.Limits).Report)
	run.Whole = why == ""
	if why != "" {
		run.Invalid = why
	} else if run.Invalid != "" {
		run.Invalid = strings.TrimSuffix(fmt.Sprintf("%s (exit status %d): %s", run.Invalid, e.Code,
			e.LastWords()), ": ")
		if e.notRun() {
			if why := c.whyNotRun(ctx, confined, e.Stderr); why != "" {
				run.Invalid += ": " + why
			}
		}
	}
	if run.Invalid != "" {
		run.Invalid += outOfReach(e.Network)
		if none := unanswered(e.Network); none != "" {
			run.Invalid += "; " + none
			run.Transient = e.TimedOut // the next one would be as silent: the provider is stopped
		}
	}
	run.Invalid = audit.OneLine(run.Invalid, 0)
	final := c.unmeasured(&e.said) != "" // another attempt would ask for another answer
	if run.Invalid != "" && !e.TimedOut && e.Crossed == "" && ctx.Err() == nil && !final {
		c.worthRetry(run, e)
	}
}

// outOfReach returns a note if a run reached no host and was refused some, since one of them
// may be its provider's.
func outOfReach(network []audit.Traffic) string {
	var refused []string
	for _, t := range network {
		if t.Connections > 0 {
			return ""
		}
		refused = append(refused, t.Host)
	}
	if len(refused) == 0 {
		return ""
	}
	return fmt.Sprintf(
		"; it was let through to no host, and asked for %s: its section names under Hosts whom it needs", strings.Join(refused[:min(len(refused), 5)], ", "))
}

// formatFile is the file in a program's home that describes the text report.
const formatFile = "report-format.md"

// read reads the report of a run and decides whether it is valid.
func (c *command) read(run *audit.AuditRun, e *ran) {
	switch {
	case e.unread != "":
		run.Invalid = e.unread
	case e.Crossed == "": // else what it wrote until then is kept, and says nothing
		var early string
		run.Report, run.Invalid, early = readRun(&c.entry, e.text, &e.said, c.unmeasured(&e.said))
		if e.usageWrong != "" {
			run.Report.Problems = append(run.Report.Problems, audit.Problem{Pos: c.entry.Pos,
				What: e.usageWrong})
		}
		if !e.TimedOut && e.Cut == 0 {
			run.EndedEarly = early
		}
	}
}

// confirm completes the agent's own statements with what the proxy saw of the provider: which
// model answered, if the agent asked for the model of its section, and a different model that
// answered one of its requests.
func (c *command) confirm(said *events.AgentResult, network []audit.Traffic) {
	told, asked := len(said.Served) > 0, c.asked(said)
	for _, t := range network {
		for _, m := range t.Models {
			switch same := events.SameModel(m.Asked, m.Served, c.aliases); {
			case !same:
				said.Asked, said.Served, said.Swapped = m.Asked, []string{m.Served}, true
				return
			case !told && events.SameModel(asked, m.Asked, c.aliases) &&
				!slices.Contains(said.Served, m.Served):
				said.Served = append(said.Served, m.Served)
			}
		}
	}
}

// unmeasured returns why a run says nothing about the model and the command that its section
// asks for.
func (c *command) unmeasured(said *events.AgentResult) string {
	if m := promptCommand.FindStringSubmatch(c.entry.Command); m != nil {
		if unknown := said.UnknownCommand(os.ExpandEnv(m[1])); unknown != "" {
			return unknown +
				" is no command or skill that the agent knows, and went to the model as " +
				"plain text: expected its folder where the command line names it"
		}
	}
	return said.Unmeasured(c.asked(said), c.aliases)
}

// promptCommand is a command line's prompt that begins with a slash command.
var promptCommand = regexp.MustCompile(`\s(?:-p|--print|--prompt)[\s=]+["']?(/[\w:.$\{\}-]*)`)

// readRun reads the report of a run whose agent said what it said, if it is one: why it proves
// nothing, unmeasured before anything else, and why it shows an early end.
func readRun(entry *audit.AuditorEntry, raw []byte, said *events.AgentResult,
	unmeasured string) (rep audit.Report, invalid, early string) {
	rep, invalid = readReport(entry.Name, raw, entry.Format, entry.Rules,
		box.Limits(entry.Limits).Findings)
	switch {
	case unmeasured != "":
		invalid = entry.Name + ": " + unmeasured
	case said.Failed != "":
		invalid = entry.Name + ": the agent says that its own run failed: " +
			audit.OneLine(said.Failed, messageLimit)
	}
	return rep, invalid, cmp.Or(rep.CutShort, said.Stopped)
}

// Reread reads the output of a run again, with its auditor's present section: the report, why
// it is invalid, and why it seems truncated. told is the event stream, nil if it was not kept
// completely; report is the stored report, which is used if the section names an output file or
// there are no events.
func Reread(entry audit.AuditorEntry, told, report []byte) (rep audit.Report,
	invalid, early string) {
	said, wrapped := events.Read(told)
	if wrapped && entry.Output == "" {
		report = []byte(said.Report)
	}
	return readRun(&entry, report, &said, said.Unmeasured("", nil))
}

// version asks the program for its version; what cannot be had is "unknown".
func (p *program) version(ctx context.Context, b *box.Box) string {
	if p.entry.Version == "" || ctx.Err() != nil {
		return "unknown"
	}
	version, _ := p.askVersion(ctx, b, min(p.entry.Timeout, time.Minute))
	return cmp.Or(version, "unknown")
}

// askVersion returns the first line that the program prints when asked for its version; ""
// where it prints none.
func (p *program) askVersion(ctx context.Context, b *box.Box,
	timeout time.Duration) (string, error) {
	e, err := p.aside(ctx, b, p.entry.Version, timeout)
	switch {
	case err != nil:
		return "", err
	case e.TimedOut:
		return "", fmt.Errorf("%s did not end within %s", p.entry.Version, timeout)
	case e.Code != 0:
		return "", fmt.Errorf("%s ended with status %d: %s", p.entry.Version, e.Code, e.LastWords())
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(e.Stdout)+"\n"+string(e.Stderr)), "\n")
	return audit.OneLine(line, messageLimit), nil
}

// lastPart is how much of what a failed run wrote last is searched for the words
// of its section's Retry, in bytes.
const lastPart = 4 << 10

// asksToWait finds how many seconds a provider asks to wait, as programs quote it.
var asksToWait = regexp.MustCompile(`(?i)retry[ -]?after\W{1,4}(\d{1,5})\b`)

// worthRetry says whether a run that failed may succeed later: its last words hold
// one of those that its section names. It is no early end then. A report's own
// numbers are no statuses: standard output is looked at where nothing was found.
func (c *command) worthRetry(run *audit.AuditRun, e *ran) {
	said := run.Invalid
	last := func(out []byte) string { return "\n" + string(out[max(0, len(out)-lastPart):]) }
	if said += last(e.Stderr); len(run.Report.Findings) == 0 {
		said += last(e.Stdout)
	}
	for _, word := range c.entry.Retry {
		found, err := regexp.MatchString(`(?i)(^|\W)`+regexp.QuoteMeta(word)+`(\W|$)`, said)
		if err != nil || !found {
			continue
		}
		run.Transient, run.EndedEarly = true, ""
		if status, err := strconv.Atoi(word); err == nil && status >= 400 && status < 600 {
			run.HTTPStatus = status
		}
		if m := asksToWait.FindStringSubmatch(said); m != nil {
			seconds, _ := strconv.Atoi(m[1])
			run.RetryAfter = time.Duration(seconds) * time.Second
		}
		return
	}
}

// Version returns the version of a section's program; "unknown" if that is not available.
func Version(ctx context.Context, entry audit.AuditorEntry) string {
	entry = placed(entry)
	confined, _, err := box.New(&entry, "")
	if err != nil {
		return "unknown"
	}
	return (&program{entry: entry}).version(ctx, confined)
}
