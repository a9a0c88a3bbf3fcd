package findings

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"assay/audit"
)

// to is what stands between the two ends of a range.
const to = `\s*(?:-|‐|‑|–|—|~|～|\.\.\.?|…|to|through|至|到)\s*`

var (
	// placePattern splits "path<mark>line[-line][:column]" where the mark is a
	// colon, #, a bracket, a comma, @ or a space, and the line may carry L, line,
	// lines or 第..行. The path is as short as can be, so that of "a.c:12:5" the
	// 12 is the line.
	placePattern = regexp.MustCompile(`(?i)^(.+?)\s*(?:[:：#(（\[,，@]|\s)\s*` +
		`(?:lines?|line\(s\)|ln\.?|第|行号?)?\s*[:：.]?\s*L?(\d{1,8})(?:(?:` + to + `|:\d+` + to + `)L?(\d{1,8}))?(?::\d+)?\s*行?\s*[)）\]]?$`)
	// linePattern finds the ranges of a text that holds nothing but lines.
	linePattern = regexp.MustCompile(`(?i)L?(\d{1,8})(?:\s*[:：]\s*\d{1,5})?(?:` + to + `(?:lines?\s*)?L?(\d{1,8}))?`)
	onlyLines   = regexp.MustCompile(`(?i)^[\s\d,，、;；&+L()（）:：.~～\-‐‑–—…第行至到]*(?:(?:lines?|to|and|approx\.?|about|约|和|ln|through)[\s\d,，、;；&+L()（）:：.~～\-‐‑–—…第行至到]*)*$`)
	moreLines   = regexp.MustCompile(`(?i)^(?:lines?|第|and|和|&)?\s*L?\d{1,8}(?:` + to + `L?\d{1,8})?\s*行?\s*[)）\]]?$`)
	// pathInProse finds a path with an extension and a line in running text.
	pathInProse = regexp.MustCompile(`(?:[A-Za-z]:)?[\w./\\@+~$-]*[\w$-]+\.[A-Za-z][A-Za-z0-9]{0,9}(?::|#L|\s*\(?(?:lines?|第)\s*)\d{1,8}(?:[-–]L?\d{1,8})?`)
	splitPlaces = regexp.MustCompile(`\s*[;；、\n,，]\s*|\s+(?:and|&|\+)\s+|\s*和\s*`)
	blobURL     = regexp.MustCompile(`^https?://[^/]+/.+?/(?:-/)?(?:blob|blame|raw|src)/[^/]+/(.+)$`)
)

// linesOf reads a text that names lines alone: "12", "L12-L18", "12–18",
// "lines 12 to 18", "第12-18行", "12, 40-44". ok is false when something else
// stands in it.
func linesOf(s string) (rs []audit.Range, ok bool) {
	s = strings.Trim(s, "`* ~≈")
	if filled(s) == "" {
		return nil, true
	}
	if !onlyLines.MatchString(s) {
		return nil, false
	}
	for _, m := range linePattern.FindAllStringSubmatch(s, -1) {
		if r := rangeOf(m[1], m[2]); !r.IsZero() {
			rs = append(rs, r)
		}
	}
	return rs, len(rs) > 0
}

func rangeOf(start, end string) audit.Range {
	a, _ := strconv.Atoi(start)
	b, _ := strconv.Atoi(end)
	return lineRange(a, b)
}

// lineRange gives start..end. An end before the start, or none, gives the start
// alone; a start below 1 gives no range.
func lineRange(start, end int) audit.Range {
	if start < 1 {
		return audit.Range{}
	}
	return audit.Range{Start: start, End: max(start, end)}
}

// placesOf reads a location: one path or several, each with its lines or
// without. A range that follows a path after a comma is in the same file.
func placesOf(s string) []audit.Step {
	var out []audit.Step
	for _, part := range splitPlaces.Split(s, -1) {
		part = strings.Trim(part, "`* \t\"'")
		if filled(part) == "" {
			continue
		}
		if len(out) > 0 && moreLines.MatchString(part) {
			rs, _ := linesOf(strings.Trim(part, ")）]"))
			for _, r := range rs {
				last := &out[len(out)-1]
				if last.Lines.IsZero() {
					last.Lines = r
				} else {
					out = append(out, audit.Step{File: last.File, Lines: r})
				}
			}
			continue
		}
		out = append(out, placeOf(part))
	}
	return out
}

// placeOf reads one path with its lines.
func placeOf(s string) audit.Step {
	if m := placePattern.FindStringSubmatch(s); m != nil && !strings.HasSuffix(m[1], "://") {
		return audit.Step{File: cleanPath(m[1]), Lines: rangeOf(m[2], m[3])}
	}
	return audit.Step{File: cleanPath(s)}
}

// cleanPath takes a path as models write it: without decoration, file:// URIs
// as paths, the page of a repository's file as the file. Backslashes stay:
// score.Path brings paths under the root.
func cleanPath(s string) string {
	s = strings.Trim(strings.TrimSpace(s), "`*\"'<>[]【】")
	s = strings.TrimRight(s, ":：,，( ")
	if m := blobURL.FindStringSubmatch(s); m != nil {
		s, _, _ = strings.Cut(m[1], "#")
	}
	if strings.HasPrefix(strings.ToLower(s), "file:") {
		s, _ = uriPath(s)
	}
	if strings.Contains(s, "/") {
		s = strings.NewReplacer(`\_`, `_`, `\*`, `*`, `\-`, `-`, `\.`, `.`, `\[`, `[`, `\]`, `]`).Replace(s)
	}
	return s
}

// uriPath gives the path that a URI names: percent-decoded, without file:// and
// without the slash before a drive letter. Other schemes stay whole. ok is
// false when the percent-encoding is broken; the path is then as it stood.
func uriPath(uri string) (path string, ok bool) {
	s := uri
	if len(s) >= 5 && strings.EqualFold(s[:5], "file:") {
		s = s[5:]
		if strings.HasPrefix(s, "//") {
			host := s[2:]
			if i := strings.IndexByte(host, '/'); i >= 0 {
				host, s = host[:i], host[i:]
			} else {
				host, s = "", host
			}
			switch {
			case len(host) == 2 && host[1] == ':': // file://C:/x, a frequent mistake
				s = host + s
			case host != "" && !strings.EqualFold(host, "localhost"):
				s = "//" + host + s
			}
		}
		if len(s) >= 3 && s[0] == '/' && s[2] == ':' && isLetter(s[1]) {
			s = s[1:]
		}
	} else if strings.Contains(s, "://") {
		return s, true
	}
	if !strings.Contains(s, "%") {
		return s, true
	}
	p, err := url.PathUnescape(s)
	if err != nil {
		return s, false
	}
	return p, true
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }
