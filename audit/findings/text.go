package findings

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// MaxText is the size in bytes above which a text report is refused. SARIF and
// JSON are streamed and have no such limit.
const MaxText = 8 << 20

// A textReader holds a text report while it is read.
type textReader struct {
	body
	lines   []string
	stated  int // how many findings STATS says that there are; -1 when it does not
	statsAt int // the line of STATS
}

func readText(r io.Reader, c *collector) error {
	c.rep.Format = Text
	data, err := io.ReadAll(io.LimitReader(r, MaxText+1))
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	if len(data) > MaxText {
		return fmt.Errorf("%s: a text report of more than %d MB is refused: expected a report, not a transcript", c.name, MaxText>>20)
	}
	t := &textReader{body: body{collector: c}, stated: -1, lines: strings.Split(string(cleaned(data)), "\n")}
	start, end, last := t.frame()
	t.read(t.lines)
	if err := t.finish(); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	n := len(c.rep.Findings)
	if start < 0 && last < 0 && n == 0 {
		if body, line, ok := fencedJSON(data); ok {
			*c.problems = problems{name: c.name} // they complained of a text report
			c.add(line, "the JSON stood in a fence inside a text: only the first one is read")
			return readJSON(io.MultiReader(bytes.NewReader(bytes.Repeat([]byte("\n"), line)), bytes.NewReader(body)), Auto, c)
		}
		return fmt.Errorf("%s: %w: expected SARIF, a JSON array of findings, or a text with HEADER, findings and SENTINEL", c.name, ErrNoReport)
	}
	if t.stated >= 0 && t.stated != n {
		c.rep.CutShort = fmt.Sprintf("STATS says %d findings, %d were read", t.stated, n)
		c.add(t.statsAt, "STATS says %d findings, %d were read", t.stated, n)
	}
	if last < 0 {
		header := "its HEADER is whole"
		if start < 0 {
			header = "there is no HEADER either"
		} else if end < 0 {
			header = "its HEADER is not closed"
		}
		c.add(len(t.lines), "the text ends without a SENTINEL line: it is truncated, or the auditor forgot it (%s)", header)
		return fmt.Errorf("%s:%d: %w: expected a last line with the word SENTINEL", c.name, len(t.lines), ErrTruncated)
	}
	return nil
}

// fencedJSON finds the JSON that a model put into a fence, and its fence's line.
func fencedJSON(data []byte) (body []byte, line int, ok bool) {
	before, after, ok := bytes.Cut(data, []byte("```json"))
	if !ok {
		return nil, 0, false
	}
	_, after, ok = bytes.Cut(after, []byte("\n"))
	body, _, _ = bytes.Cut(after, []byte("\n```"))
	return body, bytes.Count(before, []byte("\n")) + 1, ok
}

var ansi = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-_])")

// cleaned brings a text into valid UTF-8 with LF at the line ends, without the
// escapes of terminals and without characters that show nothing.
func cleaned(data []byte) []byte {
	data = ansi.ReplaceAll(bytes.ToValidUTF8(data, []byte("\uFFFD")), nil)
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return bytes.Map(func(r rune) rune {
		switch r {
		case '\r':
			return '\n'
		case '\u00a0', '\u3000', 0, '\v', '\f':
			return ' '
		case '\u200b', '\ufeff', emoji:
			return -1
		}
		return r
	}, data)
}

var (
	// marks takes a line of the frame down to its words: without headings' #,
	// rules of =, bold, quotes and backticks. Rows and list items are none.
	marks      = regexp.MustCompile("^[\\s#>*_=`~]*(.*?)[\\s#*_=`~]*$")
	lastWords  = regexp.MustCompile(`^[\[(<]?(?:SENTINEL\b|END\b.*\bSENTINEL\b)`)
	framedLast = regexp.MustCompile("^[\\s>*#`]*==.*\\bSENTINEL\\b")
)

func isSentinel(line string) bool {
	words := marks.FindStringSubmatch(line)[1]
	return strings.HasPrefix(words, "SENTINEL") || framedLast.MatchString(line)
}

// frame finds HEADER and SENTINEL, reads the header, and takes both out of the
// lines. It gives their lines, from 0, -1 where there is none.
func (t *textReader) frame() (start, end, last int) {
	start, end, last = -1, -1, -1
	final := -1 // the last line that is not blank
	var framed []int
	for i, l := range t.lines {
		words := strings.Join(strings.Fields(marks.FindStringSubmatch(l)[1]), " ")
		switch {
		case words == "HEADER START" && start >= 0:
			t.add(i+1, "a second HEADER: its findings are read, its own lines are not")
		case words == "HEADER START":
			start = i
		case words == "HEADER END" && start >= 0 && end < 0:
			end = i
		}
		if strings.TrimSpace(l) != "" && !fenceLine.MatchString(l) { // a fence around it all may close after the SENTINEL
			final = i
		}
		if isSentinel(l) {
			last = i
		}
		if words == "HEADER START" || words == "HEADER END" || last == i {
			framed = append(framed, i)
		}
	}
	t.rep.Header = start >= 0 && end >= 0
	switch {
	case t.rep.Header:
		t.header(start+1, end)
		for i := start; i <= end; i++ {
			t.lines[i] = ""
		}
	case start >= 0:
		t.add(start+1, "the HEADER is not closed: expected === HEADER END ===")
	default:
		t.add(0, "there is no HEADER: expected a line === HEADER START ===")
	}
	switch {
	case final >= 0 && (last == final || lastWords.MatchString(marks.FindStringSubmatch(t.lines[final])[1])):
		last, t.rep.Sentinel, t.lines[final] = final, true, ""
	case last >= 0:
		after := slices.DeleteFunc(slices.Clone(t.lines[last+1:]), func(l string) bool { return strings.TrimSpace(l) == "" })
		t.add(last+1, "the SENTINEL is not the last line: %d lines follow it", len(after))
	}
	for _, i := range framed {
		t.lines[i] = ""
	}
	return start, end, last
}

var headerLine = regexp.MustCompile(`^[\s>*_#|+-]*([^:：=|]{2,40}?)[\s*_]*[:：=|][\s*_:]*(.*?)[\s|*]*$`)

// headerKeys spells the keys of a header's lines; a key that starts with one
// counts.
var headerKeys = []struct{ start, key string }{
	{"coverage", "coverage"}, {"维度覆盖", "coverage"}, {"覆盖", "coverage"}, {"stat", "stats"}, {"统计", "stats"},
	{"project root", "root"}, {"root", "root"}, {"project", "root"}, {"target", "root"}, {"path", "root"}, {"项目", "root"}, {"根目录", "root"},
	{"tool", "tool"}, {"auditor", "tool"}, {"model", "tool"}, {"工具", "tool"}, {"version", "version"}, {"版本", "version"},
}

func headerField(line string) (key, val string) {
	m := headerLine.FindStringSubmatch(line)
	if m == nil {
		return "", ""
	}
	for _, k := range headerKeys {
		if strings.HasPrefix(strings.ToLower(m[1]), k.start) {
			return k.key, m[2]
		}
	}
	return "", ""
}

// header reads the lines between the marks: project root, COVERAGE, STATS.
func (t *textReader) header(from, to int) {
	key, seen := "", map[string]bool{}
	for i := from; i < to; i++ {
		val := t.lines[i]
		if k, v := headerField(val); k != "" {
			key, val = k, v
		} else if key != "coverage" && key != "stats" { // those go on over several lines
			key = ""
		}
		switch key {
		case "coverage":
			t.coverage(val)
		case "stats":
			t.stats(val, i+1)
		case "root":
			t.rep.Root = headerValue(val, cleanPath)
		case "tool":
			t.rep.Tool = headerValue(val, plainWord)
		case "version":
			t.rep.Version = headerValue(val, plainWord)
		}
		seen[key] = true
	}
	for _, want := range []struct{ key, name string }{{"root", "a line with the project root"}, {"coverage", "a COVERAGE line"}, {"stats", "a STATS line"}} {
		if !seen[want.key] {
			t.add(from, "the HEADER lacks %s", want.name)
		}
	}
	if seen["coverage"] && len(t.rep.Coverage) == 0 {
		t.add(from, "COVERAGE names none of the ten dimensions")
	}
}

func plainWord(s string) string { return strings.Trim(s, "` ") }

func headerValue(raw string, tolerant func(string) string) string {
	if v, rest, ok := literal(raw); ok && rest == "" {
		return v
	}
	return tolerant(raw)
}

var (
	uncovered     = regexp.MustCompile(`(?i)\b(?:no|not|none|skipped|missing|uncovered|n/a)\b|\b0\s*%|[✗✘❌☐×]|\[ \]|未覆盖|未审计|跳过|未涉及|无覆盖`)
	splitCoverage = regexp.MustCompile(`[,;，；、|]`)
	coverageNoise = regexp.MustCompile(`[(（\[].*?[)）\]]|✅|✓|✔|☑|[:：=].*$|^\s*(?:[-*+]\s|\d+/\d+\s*[(（])|[)）]\s*$`)
)

// coverage takes the dimensions that a text names, but for those that it says
// are not covered. "7/10 (Injection, Auth)" names two.
func (t *textReader) coverage(s string) {
	for _, part := range splitCoverage.Split(s, -1) {
		if d, ok := dimensionOf(coverageNoise.ReplaceAllString(part, "")); ok && !uncovered.MatchString(part) && !slices.Contains(t.rep.Coverage, d) {
			t.rep.Coverage = append(t.rep.Coverage, d)
		}
	}
}

var statedCount = regexp.MustCompile(`(?i)(?:^|[^\w])(?:total[ _]findings|findings|vulnerabilities|issues|漏洞总数|发现漏洞|漏洞数)\**\s*[:：=]\s*\**(\d{1,6})\b|\b(\d{1,6})\s+(?:total\s+)?(?:findings|vulnerabilities|issues)\b`)

func (t *textReader) stats(s string, line int) {
	if m := statedCount.FindStringSubmatch(s); m != nil && t.stated < 0 {
		t.stated, _ = strconv.Atoi(m[1] + m[2])
		t.statsAt = line
	}
}
