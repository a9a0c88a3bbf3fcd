package flow

import (
	"regexp"
	"strings"
)

var (
	sqlText   = regexp.MustCompile(`(?is)\b(select\b.+\bfrom|insert\s+into|update\s+\S+\s+set|delete\s+from|where\s|order\s+by|group\s+by|from\s+\w+|drop\s+table|create\s+(table|database|user)|alter\s+table|exec(ute)?\s|call\s|values\s*\(|having\s|set\s+\w+\s*=)`)
	sqlValue  = regexp.MustCompile("(?is)(select|insert|update|delete|where)\\b.*([='\"(,%<>`]\\s*|\\blike\\s+|\\bin\\s*\\(?\\s*|\\bor\\s+|\\band\\s+|\\border\\s+by\\s+|\\bvalues\\s*\\(?\\s*)$")
	fixedHost = regexp.MustCompile(`(?i)^[a-z][a-z0-9+.-]*://[^/?#` + hole + bad + `]+[/?#]`)
	pathOnly  = regexp.MustCompile(`^/([^/\\` + bad + hole + `]|$)`)
)

// fits tells whether the text around tainted data makes a sink of the named
// shape dangerous. An unknown text fits the shapes of sinks that take nothing
// but the dangerous thing.
func fits(shape, text string, param bool) bool {
	before, _, known := strings.Cut(text, bad)
	switch shape {
	case "sql": // a statement with data in it; from outside also a whole statement
		if !known || before == "" {
			return true
		}
		return sqlText.MatchString(text) || !param
	case "statement": // certainly a statement with data in it
		return known && (sqlText.MatchString(text) || sqlValue.MatchString(before))
	case "html-js": // markup, or the data alone
		return known && (text == bad && !param || strings.Contains(text, "<") && before != "")
	case "sql-value": // data where a statement has a value
		return known && sqlValue.MatchString(before)
	case "concat": // joined with other text
		return known && text != bad
	case "url": // the host is not fixed
		return !known || !fixedHost.MatchString(before) && (before == "" || hostOpen(before))
	case "view-redirect": // a view's name that sends elsewhere
		rest, ok := strings.CutPrefix(before, "redirect:")
		return known && ok && fits("redirect", rest+bad, param)
	case "view-name": // a view's name with data in it
		return known && text != bad && !strings.HasPrefix(before, "redirect:") && !strings.HasPrefix(before, "forward:")
	case "redirect":
		return before == "" || !fixedHost.MatchString(before) && !pathOnly.MatchString(before) && !strings.ContainsAny(before, "?"+hole)
	case "page": // part of a longer text, or the data alone
		return known && (text == bad && !param || before != "" || len(text) > len(bad) && strings.HasPrefix(text, bad))
	case "html-tag": // certainly markup
		return known && strings.Contains(text, "<") && before != ""
	case "location": // a Location header whose host is open
		i := strings.Index(strings.ToLower(before), "location:")
		if i < 0 {
			return text == bad
		}
		return fits("redirect", strings.TrimSpace(text[i+len("location:"):]), param)
	case "html": // the text is markup, or nothing is known of it
		return !known || before == "" || strings.Contains(text, "<")
	case "start": // the data stands first
		return !known || before == ""
	}
	return true
}

func hostOpen(before string) bool {
	return strings.HasSuffix(before, "://") || strings.HasSuffix(before, "@") || !strings.Contains(before, hole) && !strings.Contains(before, "/")
}
