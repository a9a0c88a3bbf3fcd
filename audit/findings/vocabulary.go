package findings

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"assay/audit"
)

// spelled inverts a table of "a|b" by meaning into the meaning of each word.
func spelled[K comparable](words map[K]string) map[string]K {
	m := map[string]K{}
	for k, list := range words {
		for _, w := range strings.Split(list, "|") {
			m[w] = k
		}
	}
	return m
}

// words returns the words of a text as a set.
func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// severities maps the words of tools and models, in lower case, to severities. SARIF's levels
// are in [levels].
var severities = spelled(map[audit.Severity]string{
	audit.Critical: "critical|blocker|severe|fatal",
	audit.High:     "high|error|major|important",
	audit.Medium:   "medium|moderate|warning|warn",
	audit.Low:      "low|minor|note",
	audit.Info:     "info|informational|information|none|negligible",
})

var score = regexp.MustCompile(`(?:^|[^\d.])(10(?:\.0)?|\d\.\d)(?:$|[^\d.])`)

// severityOf reads the severity of a tool or a model: the first known word, else a CVSS score
// by [severityOfScore]. ok is false if there is neither.
func severityOf(s string) (sev audit.Severity, ok bool) {
	s = strings.ToLower(s)
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if sev, ok := severities[w]; ok {
			return sev, true
		}
	}
	if m := score.FindStringSubmatch(s); m != nil {
		f, _ := strconv.ParseFloat(m[1], 64)
		return severityOfScore(f), true
	}
	return audit.SeverityUnknown, false
}

// severityOfScore returns the qualitative rating of CVSS v3.1, section 5: 9.0 to 10.0 critical,
// from 7.0 high, from 4.0 medium, above 0 low, 0 info.
func severityOfScore(f float64) audit.Severity {
	switch {
	case f >= 9:
		return audit.Critical
	case f >= 7:
		return audit.High
	case f >= 4:
		return audit.Medium
	case f > 0:
		return audit.Low
	}
	return audit.Info
}

// cwePattern matches a CWE in prose: "CWE", up to two of hyphen, dash, underscore, space, colon
// or #, and the number; or the address of its page at MITRE.
var cwePattern = regexp.MustCompile(
	`(?i)(?:\bcwe[-‐‑‒–—_ :#]{0,2}|cwe\.mitre\.org/data/definitions/)0*([1-9]\d{0,4})(?:\D|$)`)

// cweMore matches the next number of a list like "CWE-89/564" or "CWE-79, 80 and 83". It is used
// in CWE fields only.
var cweMore = regexp.MustCompile(`^\s*(?:,|/|&|and)\s*0*([1-9]\d{0,4})\b`)
var bareNumber = regexp.MustCompile(`\b0*([1-9]\d{0,4})\b`)

// cwesInProse returns the CWEs that a text names, each once, in order.
func cwesInProse(s string) []audit.CWE { return cwesIn(s, nil) }

// cwesInField returns the CWEs of a field for CWEs, where bare numbers count too.
func cwesInField(s string) (out []audit.CWE) {
	if namesCWE(s) {
		return cwesIn(s, cweMore)
	}
	for _, m := range bareNumber.FindAllStringSubmatch(s, -1) {
		out = addCWE(out, m[1])
	}
	return out
}

// namesCWE reports whether cwePattern can match; it is much faster than the pattern.
func namesCWE(s string) bool { return strings.Contains(strings.ToLower(s), "cwe") }

// cwesIn returns the CWEs of a text, and those that follow them according to the pattern more.
func cwesIn(s string, more *regexp.Regexp) (out []audit.CWE) {
	if !namesCWE(s) {
		return nil
	}
	pattern := cwePattern
	for {
		m := pattern.FindStringSubmatchIndex(s)
		switch {
		case m != nil:
			out, s = addCWE(out, s[m[2]:m[3]]), s[m[3]:]
			pattern = cmp.Or(more, cwePattern)
		case pattern == cwePattern:
			return out
		default:
			pattern = cwePattern
		}
	}
}

// addCWE appends the CWE of this number.
func addCWE(list []audit.CWE, digits string) []audit.CWE {
	n, _ := strconv.Atoi(digits)
	return addCWEs(list, audit.CWE(n))
}

// addCWEs appends the CWEs that the list does not have.
func addCWEs(list []audit.CWE, more ...audit.CWE) []audit.CWE {
	for _, c := range more {
		if !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// dimensions maps folded names and synonyms to dimensions.
var dimensions = spelled(map[audit.Dimension]string{
	audit.Injection:       "injection",
	audit.Auth:            "auth|authentication|authorization|authn|authz|accesscontrol",
	audit.Crypto:          "crypto|cryptography|cryptographic",
	audit.DataExposure:    "dataexposure|sensitivedataexposure|informationdisclosure",
	audit.Deserialization: "deserialization|insecuredeserialization",
	audit.SSRF:            "ssrf|serversiderequestforgery",
	audit.FileOps:         "fileops|fileoperations|filehandling",
	audit.BusinessLogic:   "businesslogic|logic",
	audit.Configuration:   "configuration|config|misconfiguration|securitymisconfiguration",
	audit.SupplyChain:     "supplychain|dependencies",
})

var dimensionNumber = regexp.MustCompile(`^(?i)(?:d?\d{1,2})\s*[-–—:.)]?\s*`)

// dimensionOf reads a dimension: one of the ten names or a usual synonym, ignoring a number
// before it ("D1", "3.").
func dimensionOf(s string) (audit.Dimension, bool) {
	s = strings.Trim(s, "*_`[]() \t")
	if s == "" || len(s) > 60 {
		return "", false
	}
	s = strings.ToLower(foldName.Replace(dimensionNumber.ReplaceAllString(s, "")))
	d, ok := dimensions[s]
	return d, ok
}

var (
	// funcHead matches a keyword and the receiver of a method.
	funcHead = regexp.MustCompile(`^(?:(?:func|fn|def|function)\s+)?(?:\([^()]*\)[.\s]*)?`)
	callTail = regexp.MustCompile(`[\s,]*\(.*$`)
)

// functionName returns the last part of a qualified name: "login" for
// "com.x.UserService.login(String)" and for "(*Service).login". A list of names is returned
// unchanged.
func functionName(s string) string {
	s = funcHead.ReplaceAllString(strings.Trim(strings.TrimSpace(s), "`*\"'"), "")
	if strings.ContainsAny(s, ",; \t") && !strings.Contains(s, "(") {
		return filled(strings.TrimSpace(s))
	}
	s = callTail.ReplaceAllString(s, "")
	for _, sep := range []string{"::", "->", "#", ".", "/", "\\"} {
		if i := strings.LastIndex(s, sep); i >= 0 && i+len(sep) < len(s) {
			s = s[i+len(sep):]
		}
	}
	return filled(strings.TrimSpace(s))
}

// filled returns "" for the usual placeholders of an empty cell, and other texts unchanged.
func filled(s string) string {
	switch strings.ToLower(strings.Trim(s, " `*")) {
	case "", "-", "--", "—", "–", "n/a", "none", "null", "nil", "unknown", "?":
		return ""
	}
	return s
}

// withdrawal returns why a finding is withdrawn: the text, unless it is "no" or "false".
func withdrawal(s string) string {
	switch strings.ToLower(s) {
	case "no", "false":
		return ""
	}
	return s
}

// confidences maps the words of tools to numbers. The numbers are ours, since no tool defines
// them.
var confidences = map[string]float64{"certain": 1, "confirmed": 1, "very-high": 0.95, "high": 0.9,
	"firm": 0.9, "medium": 0.6, "moderate": 0.6,
	"probable": 0.6, "low": 0.3, "tentative": 0.3, "possible": 0.3}

// confidenceOf returns the confidence that a share ("0.8"), a percentage ("80 %", "80") or a
// word states. It returns false for other texts.
func confidenceOf(s string) (float64, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if c, ok := confidences[s]; ok {
		return c, true
	}
	num := strings.TrimSpace(strings.TrimSuffix(s, "%"))
	f, err := strconv.ParseFloat(num, 64)
	if f > 1 || num != s {
		f /= 100
	}
	if err != nil || !(f >= 0 && f <= 1) { // NaN too
		return 0, false
	}
	return f, true
}
