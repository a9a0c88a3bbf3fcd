package findings

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"assay/audit"
)

// lineRun is the pattern of a line or a range of lines, with two groups.
const lineRun = `L?(\d{1,8})(?:\s*(?:-|–|to)\s*L?(\d{1,8}))?`

var (
	// placePattern splits "path:12-18", "path#L12-L18" and "path (lines 12-18)", and skips
	// a column after the line. It matches the shortest path, so that 12 is the line of
	// "a.c:12:5".
	placePattern = regexp.MustCompile(`(?i)^(.+?)(?::|#|[\s,(]+lines?\s+)` + lineRun +
		`(?::\d+)?\)?$`)
	linesPattern = regexp.MustCompile(`(?i)^(?:lines?\s+)?` + lineRun + `$`)
)

// linesOf reads lines: "12", "12-18", "L12-L18", "lines 12 to 18", and several separated by
// commas. ok is false for any other text.
func linesOf(s string) (rs []audit.Range, ok bool) {
	if filled(s) == "" {
		return nil, true
	}
	for part := range strings.SplitSeq(s, ",") {
		m := linesPattern.FindStringSubmatch(strings.TrimSpace(part))
		if m == nil {
			return nil, false
		}
		if r := rangeOf(m[1], m[2]); !r.IsZero() {
			rs = append(rs, r)
		}
	}
	return rs, len(rs) > 0
}

// rangeOf returns the range of two numbers.
func rangeOf(start, end string) audit.Range {
	a, _ := strconv.Atoi(start)
	b, _ := strconv.Atoi(end)
	return lineRange(a, b)
}

// lineRange returns the range start..end. If end is missing or before start, it is start alone;
// if start is below 1, the range is zero.
func lineRange(start, end int) audit.Range {
	if start < 1 {
		return audit.Range{}
	}
	return audit.Range{Start: start, End: max(start, end)}
}

// placeOf reads a path with optional lines.
func placeOf(s string) audit.Step {
	if m := placePattern.FindStringSubmatch(s); m != nil {
		return audit.Step{File: cleanPath(m[1]), Lines: rangeOf(m[2], m[3])}
	}
	return audit.Step{File: cleanPath(s)}
}

// cleanPath returns a path without decoration, and file:// URIs as paths. Backslashes are kept:
// score.NewPaths resolves them.
func cleanPath(s string) string {
	s = strings.Trim(strings.TrimSpace(s), "`*\"'<>")
	if strings.HasPrefix(strings.ToLower(s), "file:") {
		s, _ = uriPath(s)
	}
	if strings.Contains(s, "/") {
		s = strings.ReplaceAll(s, `\_`, `_`) // Markdown's escape; no Windows path has a slash too
	}
	return s
}

var (
	fileURI = regexp.MustCompile(`(?is)^file:(?://([^/]*))?(.*)$`)
	drive   = regexp.MustCompile(`^[A-Za-z]:`)
)

// uriPath returns the path of a URI: percent-decoded, without file:// and without the slash
// before a drive letter. URIs with other schemes are returned unchanged. ok is false if the
// percent-encoding is broken; the path is then returned undecoded.
func uriPath(uri string) (path string, ok bool) {
	s := uri
	if m := fileURI.FindStringSubmatch(uri); m != nil {
		host := m[1]
		switch s = m[2]; {
		case s == "":
			s = host
		case drive.MatchString(host) && len(host) == 2: // file://C:/x, a frequent mistake
			s = host + s
		case host != "" && !strings.EqualFold(host, "localhost"):
			s = "//" + host + s
		}
		if len(s) > 2 && s[0] == '/' && drive.MatchString(s[1:]) {
			s = s[1:]
		}
	} else if strings.Contains(s, "://") {
		return s, true
	}
	p, err := url.PathUnescape(s)
	if err != nil {
		return s, false
	}
	return p, true
}
