package auditor

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"assay/audit"
	"assay/audit/findings"
	"assay/internal/box"
	"assay/internal/events"
)

// messageLimit is how much of what a program or a model wrote a message holds, in
// bytes.
const messageLimit = 300

// maxEvents is how much of an agent's events is kept, in bytes.
const maxEvents = 16 << 20

// A command is an auditor that is a program: a tool, or an agent.
type command struct {
	entry audit.AuditorEntry
	grace time.Duration // between TERM and KILL; 0 means defaultGrace
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
// $ASSAY_MAX_USD is what the run may cost, where somebody says.
func (c *command) Audit(ctx context.Context, task audit.AuditTask) (audit.AuditRun, error) {
	if err := needs(c.entry); err != nil {
		return audit.AuditRun{}, err
	}
	confined, missing, err := box.New(&c.entry, task.Dir)
	if err != nil {
		return audit.AuditRun{}, err
	}
	home, err := box.NewHome(map[string]string{formatFile: findings.Instructions})
	if err != nil {
		return audit.AuditRun{}, err
	}
	defer home.Close()
	before := box.Fingerprint(task.Dir)
	p := box.Process{Dir: task.Dir, Command: box.Shell(c.entry.Command), Box: confined, Home: home, Limits: c.entry.Limits, Network: c.entry.Network, Timeout: c.entry.Timeout,
		Env: c.environment(home, task.MaxUSD), Progress: c.entry.Output != "", Grace: c.grace}
	if p.Progress { // its events may be there
		p.Cap = maxEvents
	}
	if confined != nil { // an agent's own sandbox cannot work inside ours, and must where there is none
		p.Env = append(p.Env, "ASSAY_CONFINED=bubblewrap")
	}
	e, err := p.Run(ctx)
	if err != nil {
		return audit.AuditRun{}, fmt.Errorf("%s: %s: %w", c.entry.Pos, c.entry.Name, err)
	}
	e.Stdout, e.Stderr = c.mask(e.Stdout), c.mask(e.Stderr)
	run := audit.AuditRun{Raw: e.Stdout, Stderr: e.Stderr, Command: []string{c.entry.Command}, Version: c.version(ctx, p),
		ExitCode: e.Code, Started: e.Started, Duration: e.Duration, PeakMemory: e.PeakMemory, Confined: e.Confined, Network: e.Network}
	if missing != "" {
		run.Exposed = box.Exposed(missing)
	}
	if box.Fingerprint(task.Dir) != before {
		run.Exposed = strings.TrimPrefix(run.Exposed+"; it changed the source that it was to read", "; ")
	}
	c.read(&run, &e, home)
	why := c.stopped(ctx, &e)
	run.Whole = why == ""
	if why != "" {
		run.Invalid = why
	} else if run.Invalid != "" {
		run.Invalid = strings.TrimSuffix(fmt.Sprintf("%s (exit status %d): %s", run.Invalid, e.Code, e.LastWords()), ": ")
		if e.Code == 126 || e.Code == 127 { // a shell's for a program that is not there, or not to be executed
			if why := c.whyNotRun(ctx, p, e.Stderr); why != "" {
				run.Invalid += ": " + why
			}
		}
	}
	if run.Invalid != "" {
		run.Invalid += outOfReach(e.Network)
	}
	run.Invalid = audit.OneLine(run.Invalid, 0)
	if run.Invalid != "" && !e.TimedOut && e.Crossed == "" && ctx.Err() == nil {
		c.worthRetry(&run, &e)
	}
	return run, nil
}

// outOfReach tells of a run that reached no host at all which it was refused: one of
// them may be its provider's.
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
	return fmt.Sprintf("; it was let through to no host, and asked for %s: its section names under Hosts whom it needs", strings.Join(refused[:min(len(refused), 5)], ", "))
}

// mask removes what the program was trusted with from what it wrote, before it is
// read, cut or kept. What only looks like a key stays: the target's own may be
// what it reports.
func (c *command) mask(b []byte) []byte {
	if secrets := secretsOf(&c.entry); len(secrets) > 0 {
		return []byte(Mask(string(b), secrets...))
	}
	return b
}

// formatFile is the file of its home that tells how to write a report.
const formatFile = "report-format.md"

// environment gives what the program finds in its environment.
func (c *command) environment(home *box.Home, most float64) []string {
	env := append(box.Environment(c.entry.Env, home), "ASSAY_OUT="+home.Out(), "ASSAY_FORMAT="+home.Path(formatFile))
	if most > 0 {
		env = append(env, "ASSAY_MAX_USD="+strconv.FormatFloat(most, 'f', -1, 64))
	}
	return env
}

// read takes the report and what was consumed from where the program put them.
func (c *command) read(run *audit.AuditRun, e *box.Exit, home *box.Home) {
	limits := box.Limits(c.entry.Limits)
	env, wrapped := events.Unwrap(e.Stdout)
	run.Usage, run.Model = env.Usage, cmp.Or(env.Model, c.entry.Model)
	if wrapped {
		run.Raw, run.Events = []byte(env.Report), audit.Clip(e.Stdout, maxEvents)
	}
	if c.entry.Output != "" {
		if !wrapped {
			run.Stdout = e.Stdout
		}
		var err error
		if run.Raw, err = home.Read(c.entry.Output, limits.Report); err != nil {
			run.Invalid = err.Error()
			return
		}
		run.Raw = c.mask(run.Raw)
	}
	if e.Crossed != "" { // what it wrote until then is kept, and says nothing
		return
	}
	var early string
	run.Report, run.Invalid, early = readRun(&c.entry, run.Raw, &env)
	if !e.TimedOut && e.Cut == 0 {
		run.EndedEarly = early
	}
}

// readRun reads the report of a run, beside what its envelope says, which is empty
// where there is none: why it proves nothing, and why it shows an early end.
func readRun(entry *audit.AuditorEntry, raw []byte, env *events.Envelope) (rep audit.Report, invalid, early string) {
	rep, invalid = readReport(entry.Name, raw, entry.Format, entry.Rules, box.Limits(entry.Limits).Findings)
	if env.Failed != "" {
		invalid = entry.Name + ": the agent says that its own run failed: " + audit.OneLine(env.Failed, messageLimit)
	}
	return rep, invalid, cmp.Or(rep.CutShort, env.Stopped)
}

// Reread reads what a run wrote again, by its auditor's section as it stands now: the
// report, why it proves nothing, and why it shows an early end. told is what it told
// of itself, nil where it told nothing or not all is kept; report is what was its
// report then, which stands where its section names a file, or there are no events.
func Reread(entry audit.AuditorEntry, told, report []byte) (rep audit.Report, invalid, early string) {
	env, wrapped := events.Unwrap(told)
	if wrapped && entry.Output == "" {
		report = []byte(env.Report)
	}
	return readRun(&entry, report, &env)
}

// stopped says why a program that did not end by itself proves nothing.
func (c *command) stopped(ctx context.Context, e *box.Exit) string {
	switch {
	case e.Crossed != "":
		return e.Crossed
	case e.TimedOut:
		return fmt.Sprintf("no end within %s: all its processes were killed", c.entry.Timeout)
	case ctx.Err() != nil:
		return "stopped: " + context.Cause(ctx).Error()
	case e.Cut > 0 && c.entry.Output == "":
		return fmt.Sprintf("it was stopped: its report is larger than %s", box.Size(box.Limits(c.entry.Limits).Report))
	case e.Signal() != 0:
		return fmt.Sprintf("killed by a signal (%s): %s", e.Signal(), e.LastWords())
	}
	return ""
}

// version asks the program for its version; what cannot be had is "unknown".
func (c *command) version(ctx context.Context, p box.Process) string {
	if c.entry.Version == "" || ctx.Err() != nil {
		return "unknown"
	}
	e, err := c.aside(ctx, p, c.entry.Version, min(c.entry.Timeout, time.Minute))
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

// aside runs a command line beside the audit, in a home of its own: the other holds
// the report.
func (c *command) aside(ctx context.Context, p box.Process, line string, timeout time.Duration) (box.Exit, error) {
	home, err := box.NewHome(nil)
	if err != nil {
		return box.Exit{}, err
	}
	defer home.Close()
	p.Dir, p.Home, p.Env, p.Command, p.Progress, p.Timeout = home.Tmp(), home, c.environment(home, 0), box.Shell(line), true, timeout
	e, err := p.Run(ctx)
	e.Stdout, e.Stderr = c.mask(e.Stdout), c.mask(e.Stderr)
	return e, err
}

// lastPart is how much of what a failed run wrote last is searched for the words
// of its section's Retry, in bytes.
const lastPart = 4 << 10

// asksToWait finds how many seconds a provider asks to wait, as programs quote it.
var asksToWait = regexp.MustCompile(`(?i)retry[ -]?after\W{1,4}(\d{1,5})\b`)

// worthRetry says whether a run that failed may succeed later: its last words hold
// one of those that its section names. It is no early end then. A report's own
// numbers are no statuses: standard output is looked at where nothing was found.
func (c *command) worthRetry(run *audit.AuditRun, e *box.Exit) {
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

// Version asks the program of a section for its version, as it is asked after an
// audit; "unknown" where it cannot be had.
func Version(ctx context.Context, entry audit.AuditorEntry) string {
	confined, _, err := box.New(&entry, "")
	if err != nil {
		return "unknown"
	}
	return (&command{entry: entry}).version(ctx, box.Process{Box: confined, Limits: entry.Limits})
}
