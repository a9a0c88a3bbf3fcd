package findings

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/audit"
)

var (
	ansi = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[@-_])")
	// marker takes a line down to its words: without headings' #, rules of = and
	// -, bold, quotes and backticks.
	marker   = regexp.MustCompile("^[\\s#>*_=`~|:<!+-]*(.*?)[\\s#*_=`~|:>+-]*$")
	fence    = regexp.MustCompile("^\\s*(?:`{3,}|~{3,})\\s*$")
	sentinel = regexp.MustCompile(`\bSENTINEL\b`)
)

// A textReport is a text report while it is read.
type textReport struct {
	audit.Report
	p     *problems
	src   []byte   // the text, with everything blanked that is no body
	lines []string // the text line by line
	offs  []int    // where each line starts
	drafts
	stated int // how many findings STATS says that there are; -1 when it does not
}

func readText(name string, r io.Reader, opt Options, p *problems) (audit.Report, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxText+1))
	if err != nil {
		return audit.Report{Format: Text}, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > MaxText {
		return audit.Report{Format: Text}, fmt.Errorf("%s: a text report of more than %d MB is refused: expected a report, not a transcript", name, MaxText>>20)
	}
	t := &textReport{p: p, stated: -1, drafts: drafts{p: p, rules: opt.RuleMap}}
	t.Format = Text
	t.prepare(data)
	start, end, last := t.frame()
	t.parse(t.src, 0)
	t.Findings = t.finish()
	if start < 0 && !t.Sentinel && last < 0 && len(t.Findings) == 0 {
		if rep, err, ok := fencedJSON(name, data, opt, p); ok {
			return rep, err
		}
		return t.Report, fmt.Errorf("%s: %w: expected SARIF, a JSON array of findings, or a text with HEADER, findings and SENTINEL", name, ErrNoReport)
	}
	if t.stated >= 0 && t.stated != len(t.Findings) {
		p.add(start+1, "STATS says %d findings, %d were read", t.stated, len(t.Findings))
	}
	if last < 0 {
		where := len(t.lines)
		p.add(where, "the text ends without a SENTINEL line: it is truncated, or the auditor forgot it (%s)", headerState(start, end))
		return t.Report, fmt.Errorf("%s:%d: %w: expected a last line with the word SENTINEL", name, where, ErrTruncated)
	}
	return t.Report, nil
}

func headerState(start, end int) string {
	switch {
	case start < 0:
		return "there is no HEADER either"
	case end < 0:
		return "its HEADER is not closed"
	}
	return "its HEADER is whole"
}

// prepare brings the bytes into a form in which offsets and lines hold still:
// valid UTF-8, LF, no terminal escapes.
func (t *textReport) prepare(data []byte) {
	data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	data = ansi.ReplaceAll(data, nil)
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	data = bytes.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r == '\u00a0', r == '\u3000', r == 0, r == '\v', r == '\f':
			return ' '
		case r == '\u200b', r == '\ufeff', r == '\ufe0f', r == codeOpen, r == codeClose:
			return -1
		}
		return r
	}, data)
	data = t.cut(data)
	t.src = data
	t.lines = strings.Split(string(data), "\n")
	t.offs = make([]int, len(t.lines))
	for i := 1; i < len(t.lines); i++ {
		t.offs[i] = t.offs[i-1] + len(t.lines[i-1]) + 1
	}
}

// maxLine is the longest line, in bytes, that is read whole: the time for links
// in Markdown grows like the square of it.
const maxLine = 16 << 10

// cut cuts lines that are too long, and says so.
func (t *textReport) cut(data []byte) []byte {
	if len(data) <= maxLine {
		return data
	}
	lines := bytes.Split(data, []byte("\n"))
	for i, l := range lines {
		if len(l) > maxLine {
			t.p.add(i+1, "the line is %d bytes long: what follows the first 16 KB is not read", len(l))
			lines[i] = bytes.ToValidUTF8(l[:maxLine], nil)
		}
	}
	return bytes.Join(lines, []byte("\n"))
}

// frame finds HEADER and SENTINEL on the raw lines, reads the header and blanks
// both, so that no Markdown rule makes a heading or a table row of them. It
// gives their lines, from 0, -1 where there is none.
func (t *textReport) frame() (start, end, last int) {
	start, end, last = -1, -1, -1
	final := -1 // the last line that is not blank
	for i, l := range t.lines {
		words := strings.Join(strings.Fields(marker.ReplaceAllString(l, "$1")), " ")
		switch {
		case words == "HEADER START":
			if start >= 0 {
				t.p.add(i+1, "a second HEADER: its findings are read, its own lines are not")
			} else {
				start = i
			}
		case words == "HEADER END":
			if start >= 0 && end < 0 {
				end = i
			}
		}
		// A fence around the whole report may close after the SENTINEL.
		if strings.TrimSpace(l) != "" && !fence.MatchString(l) {
			final = i
		}
		if sentinel.MatchString(l) && isSentinel(l) {
			last = i
		}
	}
	if final >= 0 && sentinel.MatchString(t.lines[final]) {
		last, t.Sentinel = final, true
	} else if last >= 0 {
		t.p.add(last+1, "the SENTINEL is not the last line: %d lines follow it", len(nonBlank(t.lines[last+1:])))
	}
	t.Header = start >= 0 && end >= 0
	switch {
	case t.Header:
		t.header(start+1, end)
		t.blank(start, end+1)
	case start >= 0:
		t.p.add(start+1, "the HEADER is not closed: expected === HEADER END ===")
		t.blank(start, start+1)
	case end >= 0, true:
		t.p.add(0, "there is no HEADER: expected a line === HEADER START ===")
	}
	for i, l := range t.lines {
		words := strings.TrimSpace(marker.ReplaceAllString(l, "$1"))
		if words == "HEADER START" || words == "HEADER END" || isSentinel(l) || i == last {
			t.blank(i, i+1)
		}
	}
	return start, end, last
}

// isSentinel tells a SENTINEL line from prose that mentions the word: the line
// starts with it or is framed by = signs.
func isSentinel(l string) bool {
	words := marker.ReplaceAllString(l, "$1")
	return strings.HasPrefix(words, "SENTINEL") || sentinel.MatchString(words) && strings.HasPrefix(strings.TrimLeft(l, " \t*>#`"), "==")
}

func nonBlank(lines []string) (out []string) {
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			out = append(out, l)
		}
	}
	return out
}

// blank overwrites lines from..to-1 with spaces; offsets stay.
func (t *textReport) blank(from, to int) {
	for i := from; i < to; i++ {
		line := t.src[t.offs[i] : t.offs[i]+len(t.lines[i])]
		for j := range line {
			line[j] = ' '
		}
	}
}

var headerField = regexp.MustCompile(`^[\s>*_#|+-]*([^:：=|]{2,40}?)[\s*_]*[:：=|][\s*_:]*(.*?)[\s|*]*$`)
var uncovered = regexp.MustCompile(`(?i)\b(?:no|not|none|skipped|missing|uncovered|partial(?:ly)? not|n/a)\b|\b0\s*%|[✗✘❌☐×]|\[ \]|未覆盖|未审计|跳过|未涉及|无覆盖`)

// header reads the lines between the marks: project root, COVERAGE, STATS.
func (t *textReport) header(from, to int) {
	var in string
	var seenCoverage, seenStats, seenRoot bool
	for i := from; i < to; i++ {
		l := t.lines[i]
		key, val := "", l
		if m := headerField.FindStringSubmatch(l); m != nil {
			key, val = strings.ToLower(strings.TrimSpace(m[1])), m[2]
		}
		switch {
		case strings.Contains(l, "COVERAGE") || strings.HasPrefix(key, "coverage") || strings.Contains(key, "覆盖"):
			in, seenCoverage = "coverage", true
			t.coverage(val)
		case strings.Contains(l, "STATS") || strings.HasPrefix(key, "stat") || strings.HasPrefix(key, "统计"):
			in, seenStats = "stats", true
			t.stats(val)
		case strings.Contains(key, "root") || key == "project" || key == "target" || key == "path" || strings.Contains(key, "项目") || strings.Contains(key, "根目录"):
			in = ""
			if root := cleanPath(val); root != "" && !seenRoot {
				t.Root, seenRoot = root, true
			}
		case key == "tool" || key == "auditor" || key == "model" || key == "工具":
			in = ""
			t.Tool = strings.Trim(val, "` ")
		case key == "version" || key == "版本":
			in = ""
			t.Version = strings.Trim(val, "` ")
		case in == "coverage":
			t.coverage(l)
		case in == "stats":
			t.stats(l)
		}
	}
	for _, want := range []struct {
		name string
		seen bool
	}{{"a line with the project root", seenRoot}, {"a COVERAGE line", seenCoverage}, {"a STATS line", seenStats}} {
		if !want.seen {
			t.p.add(from, "the HEADER lacks %s", want.name)
		}
	}
	if seenCoverage && len(t.Coverage) == 0 {
		t.p.add(from, "COVERAGE names none of the ten dimensions")
	}
}

var splitCoverage = regexp.MustCompile(`[,;，；、|\n]`)
var coverageNoise = regexp.MustCompile(`[(（\[].*?[)）\]]|✅|✓|✔|☑|\[[xX ]\]|[:：=].*$|^\s*[-*+]\s*`)
var parens = regexp.MustCompile(`[(（]([^)）]*)[)）]`)

// coverage takes the dimensions that a text names, but for those that it says
// are not covered. "7/10 (Injection, Auth)" names two.
func (t *textReport) coverage(s string) {
	try := func(part string) bool {
		if uncovered.MatchString(part) {
			return true
		}
		if d, ok := dimensionOf(coverageNoise.ReplaceAllString(part, "")); ok {
			for _, have := range t.Coverage {
				if have == d {
					return true
				}
			}
			t.Coverage = append(t.Coverage, d)
			return true
		}
		return false
	}
	flat := s
	if m := parens.FindStringSubmatch(s); m != nil && namesDimension(m[1]) {
		flat = parens.ReplaceAllString(s, ",$1,")
	}
	for _, part := range splitCoverage.Split(flat, -1) {
		if strings.TrimSpace(part) != "" {
			try(part)
		}
	}
}

// namesDimension reports whether a list names a dimension.
func namesDimension(s string) bool {
	return slices.ContainsFunc(splitCoverage.Split(s, -1), func(part string) bool {
		_, ok := dimensionOf(coverageNoise.ReplaceAllString(part, ""))
		return ok
	})
}

var statedCount = regexp.MustCompile(`(?i)(?:^|[^\w])(?:total[ _]findings|findings|vulnerabilities|issues|漏洞总数|发现漏洞|漏洞数)\**\s*[:：=]\s*\**(\d{1,6})\b|\b(\d{1,6})\s+(?:total\s+)?(?:findings|vulnerabilities|issues)\b`)

func (t *textReport) stats(s string) {
	if m := statedCount.FindStringSubmatch(s); m != nil && t.stated < 0 {
		t.stated, _ = strconv.Atoi(m[1] + m[2])
	}
}
