package findings

import (
	"regexp"
	"strings"
	"unicode"

	"assay/audit"
)

// A title is a heading, or what stands in a heading's place, taken apart.
type title struct {
	id   string
	sev  audit.Severity
	cwes []audit.CWE
	text string
}

// What may stand in a title beside its words: an ID, after a word for finding or
// alone; a number; a severity in brackets, at the start or the end; a CWE.
var (
	titleWord   = regexp.MustCompile(`^(?i)(?:finding|vulnerability|vuln|issue|bug|漏洞|问题|发现|缺陷)\s*[#＃]?\s*([A-Za-z]{0,12}[-_]?\d{1,5})(?:\s*[\]】)）:：.、|–—-]+\s*|\s+|$)(.*)$`)
	titleID     = regexp.MustCompile(`^[\[【(（#]?([A-Z][A-Z0-9]{0,11}(?:[-_][A-Z0-9]{1,12})*?[-_]?\d{1,5})(?:[\]】)）]?\s*[:：.、|–—-]+\s*|[\]】)）]\s*|\s+|$)(.*)$`)
	titleNumber = regexp.MustCompile(`^[\[(#]?(\d{1,4}(?:\.\d{1,3}){0,3})[\])]?\s*[.)、:：]?\s+(.*)$`)
	titleSev    = regexp.MustCompile(`(?i)[\[【(（]\s*(?:severity\s*[:：]\s*|risk\s*[:：]\s*)?(?:critical|crit|high|medium|moderate|low|info|informational|严重|致命|超危|高危|中危|低危|提示|高|中|低)(?:\s*(?:severity|risk))?\s*[\]】)）]|^(?:critical|high|medium|low|info|严重|高危|中危|低危)\s*(?:[:：–—|]|-\s)\s*|\s*[–—|-]\s*(?:critical|high|medium|low|info|严重|高危|中危|低危)(?:\s+severity)?\s*$`)
	titleCWE    = regexp.MustCompile(`(?i)\s*[\[【(（]?\s*\bcwe[-‐‑‒–—_ :：#]{0,2}\d{1,5}\s*[\]】)）]?\s*[:：–—-]?\s*`)
)

func parseTitle(s string) (t title) {
	s = t.takeID(trimTitle(s))
	if m := titleSev.FindStringIndex(s); m != nil {
		t.sev, _ = severityOf(s[m[0]:m[1]])
		s = trimTitle(s[:m[0]] + " " + s[m[1]:])
	}
	if isDigits(t.id) { // "[HIGH] F-01: x", "1. [F-01] x"
		s = t.takeID(s)
	}
	t.cwes = cwesInProse(s)
	if short := trimTitle(titleCWE.ReplaceAllString(s, " ")); short != "" && len(t.cwes) > 0 {
		s = strings.Join(strings.Fields(short), " ")
	}
	t.text = s
	return t
}

// takeID takes an ID or a number off the start.
func (t *title) takeID(s string) string {
	if m := titleWord.FindStringSubmatch(s); m != nil && t.id == "" {
		t.id, s = m[1], m[2]
	} else if m := titleID.FindStringSubmatch(s); m != nil && !strings.HasPrefix(m[1], "CWE") && (t.id == "" || strings.ContainsAny(m[1], "-_")) {
		t.id, s = m[1], m[2]
	} else if m := titleNumber.FindStringSubmatch(s); m != nil && t.id == "" {
		t.id, s = m[1], m[2]
	}
	return trimTitle(s)
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789.") == "" }

// readTitle takes from a title what no field says: "[HIGH] F-01: SQL injection
// (CWE-89)". Of a row's title it is taken and the title stays as it stands.
func (d *draft) readTitle() {
	if d.exact {
		return
	}
	t := parseTitle(d.Title)
	if d.table == 0 || d.ID == "" && !isDigits(t.id) {
		first(&d.ID, t.id)
		d.named = d.named || d.ID == t.id && !isDigits(t.id)
		d.Title = t.text
	}
	first(&d.Severity, t.sev)
	if len(d.CWEs) == 0 {
		d.CWEs = t.cwes
	}
}

// trimTitle takes decoration from the ends of a title.
func trimTitle(s string) string {
	s = strings.TrimLeftFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("*#:：>-–—•", r) || unicode.Is(unicode.So, r)
	})
	return strings.TrimRight(s, " *:：–—-")
}
