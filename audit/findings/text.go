package findings

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// MaxText is the size limit of a text report in bytes. SARIF and JSON are streamed and have no
// such limit.
const MaxText = 8 << 20

// A textReader reads a text report.
type textReader struct {
	*collector
	lines   []string
	stated  int // number of findings that STATS states; -1 if it states none
	statsAt int // line of STATS
	body
}

// readText reads a text report.
func readText(r io.Reader, c *collector) error {
	c.rep.Format = Text
	data, err := io.ReadAll(io.LimitReader(r, MaxText+1))
	if err == nil && len(data) > MaxText {
		err = fmt.Errorf("the text has more than %d MB: expected a report, not a transcript",
			MaxText>>20)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	text := lineEnds.Replace(ansi.ReplaceAllString(valid(string(data)), ""))
	t := &textReader{collector: c, stated: -1, lines: strings.Split(text, "\n")}
	start, end, last := t.frame()
	from, to := max(start, end)+1, len(t.lines)
	if last >= from {
		to = last
	}
	t.readBody(from, to)
	if err := t.finish(); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	n := c.taken
	if start < 0 && last < 0 && n == 0 {
		return fmt.Errorf(
			"%s:1: %w: expected SARIF, a JSON array of findings, or a text with HEADER, "+
				"findings and SENTINEL", c.name, ErrNoReport)
	}
	if n == 0 && t.stated < 0 {
		c.add(0, "no finding was read, and STATS does not state a number: expected findings=0")
	}
	if t.stated >= 0 && t.stated != n {
		c.rep.CutShort = fmt.Sprintf("STATS says %d findings, %d were read", t.stated, n)
		c.add(t.statsAt, "STATS says %d findings, %d were read", t.stated, n)
	}
	if last < 0 {
		c.add(len(t.lines),
			"the text ends without a SENTINEL line: it is truncated, or the auditor forgot it")
		return fmt.Errorf("%s:%d: %w: expected a last line with the word SENTINEL", c.name,
			len(t.lines), ErrTruncated)
	}
	return nil
}

var ansi = regexp.MustCompile(
	"\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-_])")

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// marks are the characters that may surround the words of the frame.
const marks = " \t#>*_=`~"

var sentinel = regexp.MustCompile(`^[\[(<]?SENTINEL\b`)

// frame finds HEADER and SENTINEL and reads the header. It returns their lines, counted from 0,
// -1 for missing ones. The last of several headers counts, because an agent may write drafts
// before it.
func (t *textReader) frame() (start, end, last int) {
	start, end, last = -1, -1, -1
	final := -1 // the last line that is neither blank nor the end of a fence around it all
	for i, l := range t.lines {
		words := strings.Trim(l, marks)
		switch {
		case words == "HEADER START":
			if start >= 0 {
				t.add(i+1, "a second HEADER: the text before it is ignored")
			}
			start, end = i, -1
		case words == "HEADER END" && start >= 0 && end < 0:
			end = i
		case sentinel.MatchString(words):
			last = i
		}
		if strings.TrimSpace(l) != "" && !fence.MatchString(l) {
			final = i
		}
	}
	t.rep.Header, t.rep.Sentinel = end >= 0, last >= 0 && last == final
	switch {
	case t.rep.Header:
		t.header(start+1, end)
	case start >= 0:
		t.add(start+1, "the HEADER is not closed: expected === HEADER END ===")
	default:
		t.add(0, "there is no HEADER: expected a line === HEADER START ===")
	}
	if last >= 0 && last != final {
		t.add(last+1, "the SENTINEL is not the last line: the text after it is ignored")
	}
	return start, end, last
}

var (
	headerLine = regexp.MustCompile(
		`(?i)^[\s>*_-]*(project root|coverage|stats|tool|version)[\s*_]*[:=](.*)$`)
	statedCount = regexp.MustCompile(`(?i)\b(?:findings|total)\s*[:=]\s*(\d{1,6})\b` +
		`|\b(\d{1,6})\s+findings\b`)
	absurdCount = regexp.MustCompile(`\w+\s*[:=]\s*(?:-\s*\d+|\d{7,})`)
	covered     = regexp.MustCompile(`^\s*\d+/10\s*\(|\)\s*$`)
)

// header reads the lines between the marks: project root, COVERAGE, STATS.
func (t *textReader) header(from, to int) {
	missing := map[string]string{"project root": "a line with the project root",
		"coverage": "a COVERAGE line", "stats": "a STATS line"}
	for i := from; i < to; i++ {
		m := headerLine.FindStringSubmatch(t.lines[i])
		if m == nil {
			continue
		}
		key, val := strings.ToLower(m[1]), value("", m[2])
		delete(missing, key)
		switch key {
		case "coverage":
			t.cover(strings.Split(covered.ReplaceAllString(val, ""), ","))
			if len(t.rep.Coverage) == 0 {
				t.add(i+1, "COVERAGE names none of the ten dimensions")
			}
		case "stats":
			if m := statedCount.FindStringSubmatch(val); m != nil {
				t.stated, _ = strconv.Atoi(m[1] + m[2])
				t.statsAt = i + 1
			}
			if m := absurdCount.FindString(val); m != "" {
				t.add(i+1, "STATS says %s: expected numbers from 0 to 999999", clip(m))
			}
		case "project root":
			t.rep.Root = val
		case "tool":
			t.rep.Tool = val
		case "version":
			t.rep.Version = val
		}
	}
	for _, key := range slices.Sorted(maps.Keys(missing)) {
		t.add(from, "the HEADER lacks %s", missing[key])
	}
}

// finish passes on the findings: the rows, then the sections without a row.
func (t *textReader) finish() error {
	for i, f := range append(t.rows, t.sections...) {
		if len(f.CWEs) == 0 {
			f.CWEs = mapped(t.opt.RuleMap, f.RuleID)
		}
		prose := cwesInProse(f.Description)
		switch {
		case len(f.CWEs) > 0:
		case prose != nil:
			t.add(f.Pos.Line,
				"%s names %s in prose alone, which does not count: expected a CWE field",
				clip(f.ID), prose[0])
		case f.File == "":
			t.add(f.Pos.Line, "%s names neither a file nor a CWE: expected both", clip(f.ID))
		}
		if i >= len(t.rows) && f.File == "" && len(f.CWEs) == 0 {
			continue // reported above; without a row it is a chapter
		}
		if err := t.take(*f); err != nil {
			return err
		}
	}
	return nil
}
