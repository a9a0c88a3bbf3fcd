package auditor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/audit"
	"assay/internal/box"
)

// The limits of a try.
const (
	tryTime = 20 * time.Second
	tryUSD  = 0.01
)

// tryCode is what an agent is tried on: ten lines with a SQL injection.
const tryCode = `import sqlite3

from flask import Flask, request

app = Flask(__name__)

@app.route("/user")
def user():
    query = "SELECT * FROM users WHERE name = '" + request.args["name"] + "'"
    return sqlite3.connect("users.db").execute(query).fetchall()
`

// Try runs the auditor of a section for some seconds on a folder with ten lines of code, as an
// audit would run it, and reports what it could not open or reach, whether its report can be
// read, and whether it states its cost. It is given a cent as its limit. Models are not tried.
func (d Registry) Try(ctx context.Context, name string) []Check {
	entry, listed := d.entry(name)
	if !listed || entry.Kind != "agent" && entry.Kind != "tool" {
		return nil
	}
	dir, remove, err := box.TempDir("try")
	if err != nil {
		return []Check{{"run", true, err.Error()}}
	}
	defer func() { _ = remove() }()
	src := filepath.Join(dir, "src")
	if err := errors.Join(os.Mkdir(src, 0o755), os.WriteFile(filepath.Join(src, "app.py"),
		[]byte(tryCode), 0o644)); err != nil {
		return []Check{{"run", true, err.Error()}}
	}
	entry.Timeout = min(entry.Timeout, tryTime)
	c := &command{program{entry: entry, grace: 2 * time.Second}}
	run, err := c.Audit(ctx, audit.AuditTask{Dir: src, MaxUSD: tryUSD})
	if err != nil {
		return []Check{{"run", true, err.Error()}}
	}
	t := try{entry, &run, src, run.Duration >= entry.Timeout}
	return slices.Concat([]Check{t.ended()}, t.files(), t.variables(), t.reached(), t.report())
}

// A try is the run of a section's auditor on ten lines of code.
type try struct {
	entry   audit.AuditorEntry
	run     *audit.AuditRun
	src     string // the folder with the ten lines
	stopped bool   // it was still working when its time was up
}

// failed reports whether the run ended by itself without a report.
func (t *try) failed() bool { return t.run.Invalid != "" && !t.stopped }

func (t *try) ended() Check {
	took := t.run.Duration.Round(100 * time.Millisecond)
	if t.stopped {
		return Check{"run", false,
			fmt.Sprintf("was still working after %s on ten lines of code, and was stopped", took)}
	}
	return Check{"run", false,
		fmt.Sprintf("ended with exit status %d after %s on ten lines of code",
			t.run.ExitCode, took)}
}

// report returns whether the report can be read, and whether a cost is stated.
func (t *try) report() []Check {
	switch {
	case t.stopped:
		return []Check{{"report", false, "not known: it was stopped before it wrote one"},
			{"cost", false, "not known: it was stopped"}}
	case t.failed():
		return []Check{{"report", true, t.run.Invalid}}
	}
	checks := []Check{{"report", false, fmt.Sprintf("read as %s; findings: %d", t.run.Report.Format,
		len(t.run.Report.Findings))}}
	for _, p := range t.run.Report.Problems {
		checks = append(checks, Check{"report", false, "a part cannot be used: " + p.What})
	}
	if t.entry.Kind != "agent" {
		return checks
	}
	switch u := t.run.Usage; {
	case u.Priced:
		checks = append(checks, Check{"cost", false, fmt.Sprintf("it states $%s and %d tokens",
			strconv.FormatFloat(u.USD, 'f', -1, 64), u.TokensIn+u.TokensOut)})
	default:
		checks = append(checks,
			Check{"cost", false,
				`it states none, so that the budget reserves the row Cost: write ` +
					`{"usd": 0.0021, "input_tokens": 1200, "output_tokens": 340} to the file $ASSAY_USAGE`})
	}
	return checks
}

// reached returns the hosts that it was refused.
func (t *try) reached() (checks []Check) {
	for _, n := range t.run.Network {
		if n.Refused == 0 || n.Connections > 0 {
			continue
		}
		host := n.Host
		if name, port, err := net.SplitHostPort(host); err == nil && port == "443" {
			host = name
		}
		checks = append(checks,
			Check{"reach", t.failed(),
				fmt.Sprintf("it asked for %s and was not let through: %s: | Hosts | %s |",
					n.Host, t.row("Hosts", "Network"),
					strings.Join(append(slices.Clone(t.entry.Network.Hosts), host), ", "))})
	}
	if len(checks) == 0 && noNames.Match(t.run.Stderr) {
		checks = append(checks,
			Check{"reach", t.failed(),
				fmt.Sprintf(
					"it looks names of hosts up by itself, and there is no network but the proxy "+
						"that HTTPS_PROXY names: have it use that, or state | Network | open | (%s)",
					t.row("Network"))})
	}
	return checks
}

// noNames matches the words of programs that cannot look up the name of a host.
var noNames = regexp.MustCompile(
	`(?i)name or service not known|name resolution|could not resolve host|getaddrinfo|ENOTFOUND|EAI_AGAIN|network is unreachable`)

// notOpened matches the words of programs for a file that they could not open.
var notOpened = []*regexp.Regexp{
	regexp.MustCompile(`can't open file '([^']+)'`),
	regexp.MustCompile(
		`(?:No such file or directory|Permission denied|Read-only file system): '([^']+)'`),
	regexp.MustCompile(`(?i)\b(?:cannot|can't|could not) (?:open|access|stat|read) '?([^\s':]+)'?`),
	regexp.MustCompile(
		`(?:Cannot find module|no such file or directory, open|permission denied, open) '([^']+)'`),
	regexp.MustCompile(
		`([\w./~$@+-]+): (?:No such file or directory|Permission denied|not found|cannot open)`),
}

var noModule = regexp.MustCompile(`ModuleNotFoundError: No module named '([^']+)'`)

// files returns what it could not open, and what to change for it.
func (t *try) files() (checks []Check) {
	said := string(t.run.Stderr)
	if t.failed() {
		said += "\n" + string(t.run.Raw) + "\n" + t.run.Invalid
	}
	var seen []string
	for _, form := range notOpened {
		for _, m := range form.FindAllStringSubmatch(said, -1) {
			if name := strings.TrimPrefix(strings.TrimSuffix(m[1], ":"), t.src+
				"/"); !slices.Contains(seen, name) {
				seen = append(seen, name)
				if why := t.unopened(name); why != "" {
					checks = append(checks,
						Check{"files", t.failed(),
							fmt.Sprintf("it could not open %s: %s", name, why)})
				}
			}
		}
	}
	for _, m := range noModule.FindAllStringSubmatch(said, -1) {
		checks = append(checks,
			Check{"files", t.failed(), fmt.Sprintf("its Python has no module %s: %s", m[1],
				t.python(m[1]))})
	}
	return checks
}

var variableForm = regexp.MustCompile(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b`)

// variables returns the names that a run which failed complains of and that look like variables
// which it is not given.
func (t *try) variables() []Check {
	if !t.failed() {
		return nil
	}
	var names []string
	for _, name := range variableForm.FindAllString(string(t.run.Stderr)+t.run.Invalid, -1) {
		if !slices.Contains(names, name) && !slices.Contains(t.entry.Env, name) &&
			!strings.HasPrefix(name, "ASSAY_") {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	lacks := strings.Join(names, ", ")
	return []Check{{"variables", true, fmt.Sprintf(
		"it complains of %s; a variable that it needs is given to it by %s: | Environment | %s |",
		lacks, t.row("Environment"), list(t.entry.Env, lacks))}}
}

// unopened returns what to change so that it can open a file; "" where that is not known.
func (t *try) unopened(name string) string {
	// $ASSAY_FILES
	if _, below, ok := strings.Cut(name, "/"+filesDir+"/"); ok &&
		strings.Contains(name, "assay-home.") {
		if !t.below(below) {
			return fmt.Sprintf("%s has no %s", t.entry.Root, below)
		}
		info, err := os.Stat(filepath.Join(t.entry.Root, below))
		if err == nil && info.IsDir() {
			return fmt.Sprintf("add it to Reads: %s: | Reads | %s |", t.row("Reads", "Files"),
				list(t.entry.Reads, below))
		}
		return fmt.Sprintf("add it to Files: %s: | Files | %s |", t.row("Files"),
			list(t.entry.Files, below))
	}
	if filepath.IsAbs(name) {
		if box.Exists(name) {
			return fmt.Sprintf("it is here, and the sandbox hides it: %s: | Reads | %s |",
				t.row("Reads", "Files"), list(t.entry.Reads, name))
		}
		return ""
	}
	if t.below(name) {
		return fmt.Sprintf(`it runs in the audited project, not in %s: write "$ASSAY_FILES/%s"%s`,
			t.entry.Root, path.Clean(name), t.named(name))
	}
	for _, file := range t.own() {
		if file != name && strings.HasSuffix(file, "/"+path.Clean(name)) {
			return fmt.Sprintf(`it runs in the audited project: write "$ASSAY_FILES/%s"%s`, file,
				t.named(name))
		}
	}
	return ""
}

// python returns where a module for Python could be.
func (t *try) python(module string) string {
	for _, dir := range []string{".venv", "venv"} {
		for _, base := range []string{"",
			path.Dir(cmp.Or(slices.Concat(t.own(), []string{""})[0], "."))} {
			if at := path.Join(base, dir); t.below(path.Join(at, "bin/python")) {
				if slices.Contains(t.entry.Reads, at) {
					return fmt.Sprintf(`start it with "$ASSAY_FILES/%s/bin/python"`, at)
				}
				return fmt.Sprintf(
					`start it with "$ASSAY_FILES/%s/bin/python", and let it read that: %s: | Reads | %s |`, at, t.row("Reads", "Files"), list(t.entry.Reads, at))
			}
		}
	}
	return fmt.Sprintf(
		"make a virtual environment (python3 -m venv .venv && .venv/bin/pip install %s), add it to Reads (%s: | Reads | %s |) "+
			`and start it with "$ASSAY_FILES/.venv/bin/python"`, module, t.row("Reads", "Files"),
		list(t.entry.Reads, ".venv"))
}

// below reports whether the root holds a file or folder of this name.
func (t *try) below(name string) bool {
	return t.entry.Root != "" && filepath.IsLocal(name) &&
		box.Exists(filepath.Join(t.entry.Root, name))
}

// own lists the files of the section.
func (t *try) own() (names []string) {
	files, _ := Files(t.entry) // the trial has read them
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// named returns " (file:line)" of the first line of the auditor's files that names a file.
func (t *try) named(name string) string {
	for _, file := range t.own() {
		content, err := os.ReadFile(filepath.Join(t.entry.Root, file))
		if err != nil {
			continue
		}
		n := 0
		for line := range strings.Lines(string(content)) {
			if n++; strings.Contains(line, name) {
				return fmt.Sprintf(" (%s:%d)", file, n)
			}
		}
	}
	return fmt.Sprintf(" (%s)", t.entry.Pos)
}

func list(have []string, more string) string {
	return strings.Join(append(slices.Clone(have), more), ", ")
}

// row returns the file and line of the first of these rows that the section has, of its last
// row where it has none of them, or its own where the file is not there.
func (t *try) row(fields ...string) audit.Pos {
	pos := t.entry.Pos
	text, err := fs.ReadFile(os.DirFS(cmp.Or(t.entry.Root, ".")), pos.File)
	if err != nil {
		return pos
	}
	rows, last := map[string]int{}, pos.Line
	for n, line := range strings.Split(string(text), "\n") {
		if n >= pos.Line && strings.HasPrefix(line, "## ") {
			break
		}
		if cells := strings.Split(line, "|"); n >= pos.Line && len(cells) > 2 {
			last = n + 1
			rows[strings.ToLower(strings.TrimSpace(cells[1]))] = last
		}
	}
	pos.Line = last
	for _, field := range slices.Backward(fields) {
		if n, ok := rows[strings.ToLower(field)]; ok {
			pos.Line = n
		}
	}
	return pos
}
