package findings

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"assay/audit"
)

// The formats that [Read] knows, as [Options.Format] and [audit.Report.Format]
// spell them. Auto is the zero value as well.
const (
	Auto  = "auto"
	SARIF = "sarif"
	JSON  = "json"
	Text  = "text"
)

var (
	// ErrTruncated says that a report breaks off: JSON that is not closed, or a
	// text without a SENTINEL line. What stood before the break is in the report
	// that comes with the error.
	ErrTruncated = errors.New("the report is truncated")

	// ErrNoReport says that the input is no audit report at all: it is empty, or
	// holds neither JSON of a known shape nor HEADER, SENTINEL or a finding.
	ErrNoReport = errors.New("this is no audit report")
)

// Options say how a report is to be read.
type Options struct {
	// Format is one of the format constants; empty is Auto.
	Format string
	// RuleMap gives the CWEs of a tool's rules, for tools that report none. It is
	// asked only where neither the result nor its rule names a CWE. The rule
	// "a/b/c" is looked up as a/b/c, then as a/b, then as a.
	RuleMap map[string][]audit.CWE
	// MaxFindings is the number of findings above which reading ends with an error
	// that names it; 0 is [DefaultMaxFindings], less than 0 is no limit.
	MaxFindings int
	// AllKinds gives SARIF's results of other kinds than fail too, withdrawn: whoever
	// makes a key of results wants the places that are none.
	AllKinds bool
}

// DefaultMaxFindings is the number of findings above which a report is no
// auditor's work but an accident or an attack. A finding takes some 600 bytes.
const DefaultMaxFindings = 100_000

// Read reads one report from r, which name names in positions and errors.
//
// What the reader met and could not use is in the report's Problems, with line
// numbers. A whole report without findings is no error. The errors are
// [ErrTruncated] and [ErrNoReport], broken JSON with its line, a report of
// another format than opt asks for, more findings than opt.MaxFindings, and r's
// own errors. The report that comes with an error holds what was read until
// then. Report.CutShort says why the report shows an early end: it breaks off,
// or its STATS differ from the findings that were read.
func Read(name string, r io.ReadSeeker, opt Options) (audit.Report, error) {
	var fs []audit.Finding
	rep, err := Each(name, r, opt, func(f audit.Finding) error { fs = append(fs, f); return nil })
	rep.Findings = fs
	return rep, err
}

// Each reads one report as Read does, and hands its findings to take, one by one: the
// report that it gives has none. SARIF is read twice, since the tables of a run may
// stand after the results: no more of it is held than these tables and the largest of
// the results, however many there are. Of other JSON it is the largest entry; a text is
// read whole. An error of take ends the reading and is given back.
func Each(name string, r io.ReadSeeker, opt Options, take func(audit.Finding) error) (audit.Report, error) {
	c := &collector{name: name, opt: opt, give: take, count: map[string]int{}}
	err := c.read(r)
	if errors.Is(err, ErrTruncated) {
		c.rep.CutShort = err.Error()
	}
	c.rep.Problems = c.all()
	return c.rep, err
}

func (c *collector) read(r io.ReadSeeker) error {
	switch c.opt.Format {
	case "", Auto, SARIF, JSON, Text:
	default:
		return fmt.Errorf("%s: unknown format %q: expected sarif, json, text or auto", c.name, c.opt.Format)
	}
	start, err := r.Seek(0, io.SeekCurrent)
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	br := decoded(r)
	head, err := br.Peek(4096)
	want := cmp.Or(c.opt.Format, Auto)
	switch {
	case err != nil && err != io.EOF:
		return fmt.Errorf("%s: %w", c.name, err)
	case err == io.EOF && len(bytes.TrimSpace(head)) == 0:
		return fmt.Errorf("%s: %w: it is empty", c.name, ErrNoReport)
	case want == Text || want == Auto && !looksJSON.Match(head):
		return readText(br, c)
	case !looksJSON.Match(head):
		return fmt.Errorf("%s:1: expected a %s report, found text: let the tool write its report to a file of its own", c.name, want)
	}
	err = readJSON(br, want, c)
	if len(c.runs) == 0 {
		return err
	}
	if _, err := r.Seek(start, io.SeekStart); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return cmp.Or(readResults(decoded(r), c), err)
}

// A collector takes up what a reader finds, and what it could not use: of each kind of
// problem the first twenty are held one by one and the rest is counted, so that a
// broken report of 100 MB does not make a million problems.
type collector struct {
	name string
	rep  audit.Report
	opt  Options
	runs []*run // of SARIF

	problems []audit.Problem
	count    map[string]int // problems by kind

	give  func(audit.Finding) error
	taken int
}

func (c *collector) take(f audit.Finding) error {
	if most := cmp.Or(c.opt.MaxFindings, DefaultMaxFindings); most > 0 && c.taken >= most {
		return fmt.Errorf("the report holds more than %d findings: reading ended at this limit (Options.MaxFindings)", most)
	}
	c.taken++
	first(&f.ID, numbered(c.taken))
	if err := c.give(f); err != nil {
		return &takeError{err}
	}
	return nil
}

func (c *collector) cover(names []string) {
	for _, name := range names {
		if d, ok := dimensionOf(name); ok && !slices.Contains(c.rep.Coverage, d) {
			c.rep.Coverage = append(c.rep.Coverage, d)
		}
	}
}

// A takeError is an error of who takes findings, none of the report: an io.EOF among
// them does not say that it breaks off.
type takeError struct{ error }

func (e *takeError) Unwrap() error { return e.error }

// number gives findings without an ID their place in the report, "#1" upwards,
// so that a table can name them.
func number(fs []audit.Finding) {
	for i := range fs {
		first(&fs[i].ID, numbered(i+1))
	}
}

func numbered(n int) string { return "#" + strconv.Itoa(n) }

// decoded takes a UTF-8 mark away and turns UTF-16 (what a PowerShell
// redirection writes) into UTF-8.
func decoded(r io.Reader) *bufio.Reader {
	utf8 := transform.NewReader(bufio.NewReaderSize(r, 64<<10), unicode.BOMOverride(encoding.Nop.NewDecoder()))
	return bufio.NewReaderSize(utf8, 64<<10)
}

// looksJSON tells JSON (which readJSON tells from SARIF) from text by its start. A line
// like "[INFO] start" is text.
var looksJSON = regexp.MustCompile(`^\s*(?:\{\s*(?:["}]|$)|\[\s*(?:[{\]]|$))`)

const problemsOfAKind = 20

// add notes a problem at a line. Problems with the same format are of a kind.
func (c *collector) add(line int, format string, args ...any) {
	c.count[format]++
	if c.count[format] <= problemsOfAKind {
		c.problems = append(c.problems, audit.Problem{Pos: audit.Pos{File: c.name, Line: line}, What: fmt.Sprintf(format, args...)})
	}
}

func (c *collector) all() []audit.Problem {
	for _, k := range slices.Sorted(maps.Keys(c.count)) {
		if more := c.count[k] - problemsOfAKind; more > 0 {
			what := strings.NewReplacer("%q", "...", "%s", "...", "%d", "...", "%v", "...").Replace(k)
			c.problems = append(c.problems, audit.Problem{Pos: audit.Pos{File: c.name},
				What: fmt.Sprintf("%d more like this: %s", more, what)})
		}
	}
	return c.problems
}

// clip makes what a problem quotes one short line.
func clip(s string) string { return audit.OneLine(s, 80) }

func mapped(rules map[string][]audit.CWE, id string) []audit.CWE {
	for id := range upwards(id) {
		if c, found := rules[id]; found {
			return slices.Clone(c)
		}
	}
	return nil
}

// upwards gives a rule's ID and those of its parents: "a/b", then "a".
func upwards(id string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for id != "" && yield(id) {
			id = id[:max(strings.LastIndexByte(id, '/'), 0)]
		}
	}
}
