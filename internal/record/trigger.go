package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"assay/audit"
)

// The suites that a change can need, as triggers.md names them.
const (
	SuiteFull  = "full"
	SuiteSmoke = "smoke"
	SuiteNone  = "none"
)

var gravity = map[string]int{SuiteNone: 1, SuiteSmoke: 2, SuiteFull: 3}

// A TriggerDecision is the suite that a change needs, and why.
type TriggerDecision struct {
	Suite string // the gravest that a path needs
	Paths []PathDecision
}

// A PathDecision is the suite that one changed path needs.
type PathDecision struct {
	Path  string
	Suite string
	Rule  *audit.Trigger // nil where no rule matches: then the suite is full
}

// Decide gives the suite that a change of the paths (slashes, from the
// repository's root) needs, by rules as fixture.ReadTriggers reads them. For each path
// the first rule that matches holds; what no rule matches needs the full suite. It is an
// error where there is no rule, or no path: a list that is empty because git failed must
// not look like a change that needs nothing.
func Decide(rules []audit.Trigger, paths []string) (TriggerDecision, error) {
	if len(rules) == 0 {
		return TriggerDecision{}, errors.New("no rules: expected those of fixtures/triggers.md")
	}
	if len(paths) == 0 {
		return TriggerDecision{}, errors.New("no changed path")
	}
	d := TriggerDecision{Suite: SuiteNone}
	for _, p := range paths {
		pd := PathDecision{Path: p, Suite: SuiteFull}
		for i := range rules {
			if ok, _ := doublestar.Match(rules[i].Glob, p); ok {
				pd.Suite, pd.Rule = rules[i].Suite, &rules[i]
				break
			}
		}
		if gravity[pd.Suite] > gravity[d.Suite] {
			d.Suite = pd.Suite
		}
		d.Paths = append(d.Paths, pd)
	}
	return d, nil
}

// Why gives the first path that needs the decision's suite.
func (d *TriggerDecision) Why() PathDecision {
	for _, p := range d.Paths {
		if p.Suite == d.Suite {
			return p
		}
	}
	return PathDecision{}
}

// String gives "fixtures/triggers.md:12: fixtures/prompts/** needs full: the prompt
// is what is measured (fixtures/prompts/x.txt)".
func (p PathDecision) String() string {
	if p.Rule == nil {
		return fmt.Sprintf("no rule matches %s, and what nobody thought of needs %s",
			audit.OneLine(p.Path, 0), p.Suite)
	}
	return fmt.Sprintf("%s: %s needs %s: %s (%s)", p.Rule.Pos, p.Rule.Glob, p.Suite, p.Rule.Why,
		audit.OneLine(p.Path, 0))
}

// maxPaths is the size above which a list of paths is refused, in bytes.
const maxPaths = 64 << 20

// ReadPaths reads the paths that git diff --name-only prints, with -z or without:
// a line each, those with unusual characters in quotes.
func ReadPaths(r io.Reader) ([]string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxPaths+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxPaths {
		return nil, fmt.Errorf("more than %d MB of paths", maxPaths>>20)
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	lines, end, read := strings.Split(string(b), "\x00"), "", within
	if len(lines) == 1 {
		lines, end, read = strings.Split(string(b), "\n"), "\r", unquoted
	}
	var paths []string
	for i, line := range lines {
		if line = strings.TrimRight(line, end); line == "" {
			continue
		}
		p, err := read(line)
		if err != nil {
			return nil, fmt.Errorf(
				"line %d of the paths: %q %w: expected what git diff --name-only prints, with -z where a name looks like a status of git", i+1, line, err)
		}
		paths = append(paths, p)
	}
	return paths, nil
}

// columns are what git prints before a path when it is asked for more than names: by
// git diff --name-status and --numstat with tabs, by git status --short with blanks after
// its own letters alone: a folder may be called "AI prompts". After two letters it quotes a
// name with a blank, and gives two names of what was copied or renamed: "CD covers/x.md" is none.
var columns = regexp.MustCompile(
	`^([ MTADRCU?!][ ?!]|[ ?!][MTADRCU]) |^([MTA][MTD]|DD|AU|UD|UA|DU|AA|UU) (\S+|".*")$|^[MTARC][MTDRC] .* -> |\t`)

// unquoted reads a path as git prints it in a line: one with a tab or a backslash stands
// in quotes.
func unquoted(line string) (p string, err error) {
	p = line
	if strings.HasPrefix(line, `"`) {
		p, err = strconv.Unquote(line)
	} else if columns.MatchString(line) || strings.Contains(line, `\`) {
		err = strconv.ErrSyntax
	}
	if err != nil {
		return "", errors.New("is no quoted path")
	}
	return within(p)
}

// within gives a path as rules know it: ./fixtures/goals.md is under fixtures/.
func within(p string) (string, error) {
	if p = path.Clean(p); !filepath.IsLocal(p) {
		return "", errors.New("does not begin at the repository's root")
	}
	return p, nil
}

// SinceLastFull says whether a full run is due: where the newest full record is a
// month old at now, or there is none. A full run is one of Regression that asked
// an auditor itself, not a replay, and that was not INVALID; a control is none. What a
// clock that was wrong dated into the future (by more than a day: clocks differ) is left
// out: it would put off the next run for as long.
func SinceLastFull(records []*Record, now time.Time) (suite, why string) {
	var newest *Record
	for _, r := range records {
		if r.Suite != "Regression" || !r.Full || r.Replay || r.SideOf != "" || r.Control != "" ||
			r.Judgement.Verdict == audit.Invalid || r.Date.After(now.AddDate(0, 0, 1)) {
			continue
		}
		if newest == nil || r.Date.After(newest.Date) {
			newest = r
		}
	}
	if newest == nil {
		return SuiteFull,
			"no record of a full run: expected one of go test -run Regression -auditor NAME without -filter (records from before v0.1.0 do not say whether anything was filtered out)"
	}
	said := fmt.Sprintf("the newest full run is of %s (%s on %s)",
		newest.Date.UTC().Format(time.DateOnly), audit.OneLine(newest.Auditor, 0),
		audit.OneLine(newest.Project, 0))
	if !newest.Date.AddDate(0, 1, 0).After(now) {
		return SuiteFull, said + ": a month old"
	}
	return SuiteNone, said
}
