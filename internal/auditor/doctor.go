package auditor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"assay/audit"
	"assay/internal/box"
)

// A Check is one requirement of an auditor, and whether it is met here.
type Check struct {
	What    string // "sandbox", "needs", "programs", "version", "prompt", "network", "price", ...
	Missing bool   // an audit would fail for want of it
	Text    string // what was seen or, where it is missing, what to do
}

// examineTimeout bounds each step of an examination.
const examineTimeout = 20 * time.Second

// Examine returns what an auditor, named as for Auditor, would miss here. It makes no audit and
// costs nothing.
func (d Registry) Examine(ctx context.Context, name string) []Check {
	entry, listed := d.entry(name)
	switch {
	case listed && entry.Kind == "patterns":
		return []Check{{What: "programs", Text: "none: it is a part of Assay"}}
	case listed && entry.Kind != "model":
		return examineCommand(ctx, entry)
	}
	return d.examineModel(ctx, name)
}

// examineCommand returns the checks of a command line.
func examineCommand(ctx context.Context, entry audit.AuditorEntry) []Check {
	entry = placed(entry)
	p := &program{entry: entry}
	checks := []Check{checked("needs", needs(entry), cmp.Or(strings.Join(entry.Needs, ", "),
		"nothing beside its programs"))}
	confined, exposed, err := box.New(&entry, "")
	seen := confined.By() + " confines it"
	if open := confined.Unconfined(entry.Network); open != "" {
		seen += "; unconfined: " + open
	}
	checks = append(checks, checked("sandbox", err, cmp.Or(exposed, seen)))
	if err != nil {
		return checks
	}
	found, absent := p.programs(ctx, confined)
	if len(absent) > 0 {
		checks = append(checks, Check{"programs", true, strings.Join(absent, "; ")})
	} else {
		checks = append(checks,
			Check{"programs", false, cmp.Or(strings.Join(found, ", "),
				"none: it names what the shell knows by itself")})
	}
	if entry.Version != "" && len(absent) == 0 {
		version, err := p.askVersion(ctx, confined, examineTimeout)
		checks = append(checks, checked("version", err, strconv.Quote(version)))
	}
	if _, err := Files(entry); err != nil {
		checks = append(checks, Check{"files", true, err.Error()})
	}
	return append(checks, examineNetwork(ctx, entry)...)
}

// checked returns a check that is missing if err is not nil.
func checked(what string, err error, seen string) Check {
	if err != nil {
		return Check{what, true, err.Error()}
	}
	return Check{what, false, seen}
}

// needs returns an error for the row Needs: a variable that is not set, or a pattern below the
// folder of a variable, $NAME/pattern, that matches no file. Alternatives are separated by " or
// ".
func needs(entry audit.AuditorEntry) error {
	var errs []error
	for _, need := range entry.Needs {
		names := strings.Split(need, " or ")
		var why []string
		for _, one := range names {
			if w := lacks(strings.TrimSpace(one)); w != "" {
				why = append(why, w)
			}
		}
		if len(why) == len(names) {
			errs = append(errs,
				fmt.Errorf("%s: %s: %s: put what it needs into the environment or into .env",
					entry.Pos, entry.Name, strings.Join(why, ", and ")))
		}
	}
	return errors.Join(errs...)
}

// lacks returns why one alternative is not there, "" if it is.
func lacks(need string) string {
	name, pattern, below := strings.Cut(strings.TrimPrefix(need, "$"), "/")
	value := os.Getenv(name)
	switch {
	case value == "" && below:
		return fmt.Sprintf("%s is not set (the folder with %s)", name, pattern)
	case value == "":
		return name + " is not set"
	case !below:
		return ""
	}
	if found, err := doublestar.Glob(os.DirFS(value), pattern); err != nil || len(found) == 0 {
		return fmt.Sprintf("%s, which %s names, holds no %s", value, name, pattern)
	}
	return ""
}

// programs looks for the programs that a command line names. It returns those that were found,
// and what is wrong with the others.
func (p *program) programs(ctx context.Context, b *box.Box) (found, absent []string) {
	names, err := commandWords(p.entry.Command)
	if err != nil {
		if e, err := p.aside(ctx, b, "set -n\n"+p.entry.Command, examineTimeout); err == nil &&
			e.Code != 0 {
			absent = append(absent, "/bin/sh cannot read its command line: "+e.LastWords())
		}
	}
	if len(names) == 0 {
		return nil, absent
	}
	script := "for p in '" + strings.Join(names, "' '") +
		`'; do command -v "$p" >/dev/null || echo "$p"; done`
	e, err := p.aside(ctx, b, script, examineTimeout)
	if err != nil || e.Code != 0 {
		return nil, []string{fmt.Sprintf("no program can be started: %v %s", err, e.LastWords())}
	}
	lost := strings.Fields(string(e.Stdout))
	for _, name := range names {
		switch why := interpreter(b, name); {
		case slices.Contains(lost, name):
			absent = append(absent, whyAbsent(name))
		case why != "":
			absent = append(absent, why)
		default:
			found = append(found, name)
		}
	}
	return found, absent
}

// notFound matches a shell's words for a program that it cannot start.
var notFound = regexp.MustCompile(
	`(?m)(\S+): (?:not found|command not found|Permission denied|No such file or directory)$`)

// whyNotRun returns why a command line ended with a shell's status for a program that is
// missing or not executable; "" if that is unknown.
func (p *program) whyNotRun(ctx context.Context, b *box.Box, stderr []byte) string {
	_, absent := p.programs(ctx, b)
	// what a script of the command line names
	for _, m := range notFound.FindAllSubmatch(stderr, -1) {
		name := string(m[1])
		if known := slices.ContainsFunc(absent,
			func(why string) bool { return strings.HasPrefix(why, name+" ") }); known || b == nil {
			continue
		}
		if at, err := exec.LookPath(name); err == nil && !b.Sees(at) {
			absent = append(absent, whyAbsent(name))
		}
	}
	return strings.Join(absent, "; ")
}

// whyAbsent returns why a program was not found and what to do.
func whyAbsent(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil && box.Exists(filepath.Join(home, rest)) {
			return fmt.Sprintf(
				"%s is in your home, and an auditor has one of its own: write %s, and name it under Reads", name, filepath.Join(home, rest))
		}
	}
	if at, err := exec.LookPath(name); err == nil {
		if abs, err := filepath.Abs(at); err == nil {
			at = abs
		}
		return fmt.Sprintf(
			"%s is here (%s), and the sandbox hides it: name it, or a folder that holds it and no answers, under Reads", name, at)
	}
	return name + " is not installed: its section says how"
}

// interpreter says what is wrong with the interpreter that a script names in its
// first line; the shell says "not found" of the script itself.
func interpreter(b *box.Box, name string) string {
	at, err := exec.LookPath(name)
	if err != nil || b == nil {
		return ""
	}
	f, err := os.Open(at)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := f.Read(head)
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	words := strings.Fields(strings.TrimPrefix(string(line), "#!"))
	if !bytes.HasPrefix(line, []byte("#!")) || len(words) == 0 || b.Sees(words[0]) &&
		box.Exists(words[0]) {
		return ""
	}
	if !box.Exists(words[0]) {
		return fmt.Sprintf("%s is a script for %s, which is not installed", name, words[0])
	}
	return fmt.Sprintf(
		"%s is a script for %s, which the sandbox hides: name it, or a folder that holds it and no answers, under Reads", name, words[0])
}

// examineNetwork tries the addresses that variables of the section name.
func examineNetwork(ctx context.Context, entry audit.AuditorEntry) (checks []Check) {
	named := false
	for _, name := range entry.Variables() {
		if value := os.Getenv(name); strings.HasSuffix(name, "BASE_URL") && value != "" {
			c := reach(ctx, value)
			c.Text = name + ": " + c.Text
			checks = append(checks, c)
			named = named || name == entry.Network.BaseURL
		}
	}
	if entry.Network.Provider != "" && !named {
		checks = append(checks, reach(ctx, entry.Network.Provider))
	}
	return checks
}

// reach checks whether an address accepts connections.
func reach(ctx context.Context, address string) Check {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return Check{"network", true,
			fmt.Sprintf("%q is no address: expected a form like https://api.example.com",
				withoutPassword(address))}
	}
	port := cmp.Or(u.Port(), map[string]string{"https": "443", "http": "80"}[u.Scheme])
	ctx, cancel := context.WithTimeout(ctx, examineTimeout/4)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return Check{"network", true, fmt.Sprintf("%s cannot be reached: %v", u.Host, err)}
	}
	_ = conn.Close()
	return Check{"network", false, u.Host + " answers"}
}

// examineModel examines a model: its key and name by the list of models that its
// server gives for nothing.
func (d Registry) examineModel(ctx context.Context, name string) []Check {
	free := d
	free.Budget = math.Inf(1) // whether there is a price is a check of its own
	a, err := free.Auditor(name)
	if err != nil {
		return []Check{{"model", true, err.Error()}}
	}
	m := a.(*modelAuditor)
	c := m.chat
	u, _ := url.Parse(c.BaseURL) // newModel has read it
	checks := []Check{{"model", false, fmt.Sprintf("%s at %s%s, told the prompt %s", c.Model.ID,
		u.Redacted(), stated(c.Model.Settings), m.entry.Prompt[0])}}
	if c.Model.Priced {
		checks = append(checks,
			Check{"price", false, fmt.Sprintf("%g and %g USD per million tokens in and out",
				c.Model.In, c.Model.Out)})
	} else {
		checks = append(checks, Check{"price", d.Budget != free.Budget,
			"none is known: add it to fixtures/models.md, or run with -budget none"})
	}
	reached := reach(ctx, c.BaseURL)
	if checks = append(checks, reached); reached.Missing {
		return checks
	}
	return append(checks, examineKey(ctx, m.chat))
}

// examineKey checks the key and the name of a model at its server.
func examineKey(ctx context.Context, config ChatConfig) Check {
	c, err := newClient(config)
	if err != nil {
		return Check{"key", true, err.Error()}
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, examineTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		strings.TrimSuffix(config.BaseURL, "/")+"/models", nil)
	if err != nil {
		return Check{"key", true, c.redact(err.Error())}
	}
	c.api.authorize(req.Header, config.Key)
	res, err := c.http.Do(req)
	if err != nil {
		return Check{"key", true, c.redact(err.Error())}
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
		return Check{"key", true, c.keyAdvice()}
	case res.StatusCode >= 300:
		return Check{"key", false,
			fmt.Sprintf("not tried: the server gives no list of models (HTTP %d)", res.StatusCode)}
	case config.Provider == "openrouter":
		return Check{"key", false, "not tried: its list of models is open to everybody"}
	}
	return Check{"key", false, "the server takes it"}
}
