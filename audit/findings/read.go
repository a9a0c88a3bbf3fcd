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

// The formats that [Read] knows, as [ProofOptions.Format] and [audit.Report.Format]
// spell them. Auto is the zero value as well.
const (
	Auto  = "auto"
	SARIF = "sarif"
	JSON  = "json"
	Text  = "text"
)

var (
	// ErrTruncated means that a report breaks off: JSON that is not closed, or a text
	// without a SENTINEL line. The report that is returned with it holds what comes
	// before the break.
	ErrTruncated = errors.New("the report is truncated")

	// ErrNoReport means that the input is not an audit report: it is empty, or it holds
	// neither JSON of a known shape nor a HEADER, a SENTINEL or a finding.
	ErrNoReport = errors.New("not an audit report")
)

// ReadOptions are the options of [Read].
type ReadOptions struct {
	// Format is one of the format constants; empty is Auto.
	Format string
	// RuleMap holds the CWEs of a tool's rules. It is used if neither the result nor its rule
	// names a CWE. The rule "a/b/c" is looked up as a/b/c, then as a/b, then as a.
	RuleMap map[string][]audit.CWE
	// MaxFindings is the number of findings above which reading ends with an error; 0 is
	// [DefaultMaxFindings], less than 0 is no limit.
	MaxFindings int
	// AllKinds includes SARIF's results of other kinds than fail, as withdrawn findings. They
	// are the decoys of a key that is made of results.
	AllKinds bool
}

// DefaultMaxFindings is the default limit of findings. More are an accident or an attack; a
// finding takes about 600 bytes.
const DefaultMaxFindings = 100_000

// Read reads one report from r; name is used in positions and errors.
//
// What could not be used is in the report's Problems, with line numbers. A complete report
// without findings is no error. Errors are [ErrTruncated], [ErrNoReport], broken JSON with its
// line, a report of another format than opt.Format, more findings than opt.MaxFindings, and
// errors of r. The report that is returned with an error holds what was read before.
// Report.CutShort says why the report seems truncated: it breaks off, or its STATS differ from
// the number of findings.
func Read(name string, r io.ReadSeeker, opt ReadOptions) (audit.Report, error) {
	var fs []audit.Finding
	rep, err := Each(name, r, opt, func(f audit.Finding) error { fs = append(fs, f); return nil })
	rep.Findings = fs
	return rep, err
}

// Each reads one report as [Read] does and calls take with each finding; the returned report
// has no findings. SARIF is read twice, because the tables of a run may follow its results:
// memory is bounded by these tables and the largest result, however many results there are. For
// other JSON it is bounded by the largest entry; a text is read whole. An error of take ends
// the reading and is returned.
func Each(name string, r io.ReadSeeker, opt ReadOptions, take func(audit.Finding) error) (audit.Report,
	error) {
	c := &collector{name: name, opt: opt, give: take, count: map[string]int{}}
	err := c.read(r)
	if errors.Is(err, ErrTruncated) {
		c.rep.CutShort = err.Error()
	}
	for _, kind := range slices.Sorted(maps.Keys(c.count)) {
		if more := c.count[kind] - problemsOfAKind; more > 0 {
			what := strings.NewReplacer("%q", "...", "%s", "...", "%d",
				"...", "%v", "...").Replace(kind)
			c.problems = append(c.problems, audit.Problem{Pos: audit.Pos{File: c.name},
				What: fmt.Sprintf("%d more like this: %s", more, what)})
		}
	}
	c.rep.Problems = c.problems
	return c.rep, err
}

// read recognizes the format and reads the report.
func (c *collector) read(r io.ReadSeeker) error {
	switch c.opt.Format {
	case "", Auto, SARIF, JSON, Text:
	default:
		return fmt.Errorf("%s: unknown format %q: expected sarif, json, text or auto",
			c.name, c.opt.Format)
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
		return fmt.Errorf("%s:1: %w: it is empty", c.name, ErrNoReport)
	case want == Text || want == Auto && !looksJSON.Match(head):
		return readText(br, c)
	case !looksJSON.Match(head):
		return fmt.Errorf("%s:1: expected a %s report, found text: "+
			"let the tool write its report to a file of its own", c.name, want)
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

// A collector collects findings and problems. It keeps the first twenty problems of a kind and
// counts the others, so that a broken report of 100 MB does not yield a million problems.
type collector struct {
	name string
	rep  audit.Report
	opt  ReadOptions
	runs []*sarifRun // of SARIF

	problems []audit.Problem
	count    map[string]int // problems by kind

	give  func(audit.Finding) error
	taken int
}

// take passes on a finding, with a number as its ID if it has none.
func (c *collector) take(f audit.Finding) error {
	if most := cmp.Or(c.opt.MaxFindings, DefaultMaxFindings); most > 0 && c.taken >= most {
		return fmt.Errorf("the report holds more than %d findings: "+
			"reading ended at this limit (Options.MaxFindings)", most)
	}
	c.taken++
	first(&f.ID, numbered(c.taken))
	if err := c.give(f); err != nil {
		return &takeError{err}
	}
	return nil
}

// cover adds the dimensions of these names to the coverage.
func (c *collector) cover(names []string) {
	for _, name := range names {
		if d, ok := dimensionOf(name); ok && !slices.Contains(c.rep.Coverage, d) {
			c.rep.Coverage = append(c.rep.Coverage, d)
		}
	}
}

// A takeError is an error of the function that takes findings. It is kept apart from errors of
// the report, such as an io.EOF in the middle of it.
type takeError struct{ error }

// Unwrap returns the function's error.
func (e *takeError) Unwrap() error { return e.error }

// number sets the IDs of findings without one to "#1", "#2" and so on.
func number(fs []audit.Finding) {
	for i := range fs {
		first(&fs[i].ID, numbered(i+1))
	}
}

// numbered returns the ID of the n-th finding.
func numbered(n int) string { return "#" + strconv.Itoa(n) }

// decoded returns r without a byte order mark, with UTF-16 (as PowerShell writes to files)
// converted to UTF-8.
func decoded(r io.Reader) *bufio.Reader {
	utf8 := transform.NewReader(bufio.NewReaderSize(r, 64<<10),
		unicode.BOMOverride(encoding.Nop.NewDecoder()))
	return bufio.NewReaderSize(utf8, 64<<10)
}

// looksJSON matches the beginning of JSON. A line like "[INFO] start" is text.
var looksJSON = regexp.MustCompile(`^\s*(?:\{\s*(?:["}]|$)|\[\s*(?:[{\]]|$))`)

// problemsOfAKind is the number of problems of a kind that are kept one by one.
const problemsOfAKind = 20

// add adds a problem at a line. Problems with the same format are of one kind.
func (c *collector) add(line int, format string, args ...any) {
	c.count[format]++
	if c.count[format] <= problemsOfAKind {
		c.problems = append(c.problems, audit.Problem{Pos: audit.Pos{File: c.name, Line: line},
			What: fmt.Sprintf(format, args...)})
	}
}

// clip returns a short line for a problem.
func clip(s string) string { return audit.OneLine(s, 80) }

// mapped returns the CWEs of a rule or of its nearest parent in the rule map.
func mapped(rules map[string][]audit.CWE, id string) []audit.CWE {
	for id := range upwards(id) {
		if c, found := rules[id]; found {
			return slices.Clone(c)
		}
	}
	return nil
}

// upwards returns a rule's ID and those of its parents: "a/b", then "a".
func upwards(id string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for id != "" && yield(id) {
			id = id[:max(strings.LastIndexByte(id, '/'), 0)]
		}
	}
}
