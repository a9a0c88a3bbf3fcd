package findings

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"assay/audit"
)

// severities maps the words that tools and models use, lower case, to ours.
// SARIF levels are not here: see sarifSeverity.
var severities = map[string]audit.Severity{
	"critical": audit.Critical, "crit": audit.Critical, "blocker": audit.Critical, "severe": audit.Critical,
	"fatal": audit.Critical, "p0": audit.Critical, "严重": audit.Critical, "致命": audit.Critical, "紧急": audit.Critical,
	"超危": audit.Critical, "极高": audit.Critical,
	"high": audit.High, "error": audit.High, "major": audit.High, "important": audit.High, "p1": audit.High,
	"高危": audit.High, "高风险": audit.High, "高": audit.High,
	"medium": audit.Medium, "moderate": audit.Medium, "med": audit.Medium, "warning": audit.Medium, "warn": audit.Medium,
	"p2": audit.Medium, "中危": audit.Medium, "中风险": audit.Medium, "中等": audit.Medium, "中": audit.Medium,
	"low": audit.Low, "minor": audit.Low, "note": audit.Low, "p3": audit.Low,
	"低危": audit.Low, "低风险": audit.Low, "低": audit.Low,
	"info": audit.Info, "informational": audit.Info, "information": audit.Info, "none": audit.Info, "p4": audit.Info,
	"negligible": audit.Info, "提示": audit.Info, "信息": audit.Info,
	"🔴": audit.Critical, "🟠": audit.High, "🟡": audit.Medium, "🟢": audit.Low, "🔵": audit.Info,
}

// longest first, so that 高危 is not read as 高
var hanSeverity = regexp.MustCompile(`高风险|中风险|低风险|严重|致命|紧急|超危|极高|高危|中危|中等|低危|提示|信息|高|中|低`)
var score = regexp.MustCompile(`(?:^|[^\d.])(10(?:\.0)?|\d\.\d)(?:$|[^\d.])`)

// severityOf reads a vendor's or a model's severity: the first known word, in
// English or Chinese; else a CVSS score by the bands of [severityOfScore]; else
// a coloured dot. ok is false when it holds none of them.
func severityOf(s string) (sev audit.Severity, ok bool) {
	low := strings.ToLower(s)
	for _, w := range strings.FieldsFunc(low, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.Is(unicode.Han, r)
	}) {
		if sev, ok := severities[w]; ok {
			return sev, true
		}
	}
	if w := hanSeverity.FindString(low); w != "" {
		return severities[w], true
	}
	if m := score.FindStringSubmatch(low); m != nil {
		f, _ := strconv.ParseFloat(m[1], 64)
		return severityOfScore(f), true
	}
	for _, r := range s {
		if sev, ok := severities[string(r)]; ok && r > 0xffff {
			return sev, true
		}
	}
	return audit.SeverityUnknown, false
}

// severityOfScore gives the qualitative rating of CVSS v3.1, section 5: 9.0 to
// 10.0 critical, from 7.0 high, from 4.0 medium, above 0 low, 0 info.
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

// cwePattern is the one pattern by which a CWE is read out of prose: "CWE",
// up to two of hyphen, dash, underscore, space, colon or #, and the number; or
// the address of its page at MITRE.
var cwePattern = regexp.MustCompile(`(?i)(?:\bcwe[-‐‑‒–—_ :：#]{0,2}|cwe\.mitre\.org/data/definitions/)0*([1-9]\d{0,4})(?:\D|$)`)

// cweMore continues a list whose later members leave the word out:
// "CWE-89/564", "CWE-79, 80 and 83". It is used in CWE fields alone.
var cweMore = regexp.MustCompile(`^\s*(?:,|/|、|，|&|\+|and|和)\s*0*([1-9]\d{0,4})\b`)
var bareNumber = regexp.MustCompile(`\b0*([1-9]\d{0,4})\b`)

// cwesInProse gives the CWEs that a text names, each once, in order.
func cwesInProse(s string) []audit.CWE {
	if !containsFoldCWE(s) {
		return nil
	}
	var out []audit.CWE
	for s != "" {
		m := cwePattern.FindStringSubmatchIndex(s)
		if m == nil {
			break
		}
		out = addCWE(out, s[m[2]:m[3]])
		s = s[m[3]:]
	}
	return out
}

// containsFoldCWE spares the pattern the texts that cannot match.
func containsFoldCWE(s string) bool {
	for i := 0; i+3 < len(s); i++ {
		if s[i]|0x20 == 'c' && s[i+1]|0x20 == 'w' && s[i+2]|0x20 == 'e' {
			return true
		}
	}
	return false
}

// cwesInField gives the CWEs of a field that is known to hold CWEs, where bare
// numbers count as well.
func cwesInField(s string) []audit.CWE {
	var out []audit.CWE
	rest := s
	for rest != "" {
		m := cwePattern.FindStringSubmatchIndex(rest)
		if m == nil {
			break
		}
		out = addCWE(out, rest[m[2]:m[3]])
		rest = rest[m[3]:]
		for {
			m := cweMore.FindStringSubmatchIndex(rest)
			if m == nil {
				break
			}
			out = addCWE(out, rest[m[2]:m[3]])
			rest = rest[m[1]:]
		}
	}
	if out != nil || containsFoldCWE(s) {
		return out
	}
	for _, m := range bareNumber.FindAllStringSubmatch(s, -1) {
		out = addCWE(out, m[1])
	}
	return out
}

func addCWE(list []audit.CWE, digits string) []audit.CWE {
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 {
		return list
	}
	return addCWEs(list, audit.CWE(n))
}

// addCWEs appends those that the list does not hold yet.
func addCWEs(list []audit.CWE, more ...audit.CWE) []audit.CWE {
next:
	for _, c := range more {
		for _, have := range list {
			if have == c {
				continue next
			}
		}
		list = append(list, c)
	}
	return list
}

var hanDimensions = []struct {
	word string
	dim  audit.Dimension
}{
	{"反序列化", audit.Deserialization}, {"注入", audit.Injection},
	{"服务端请求伪造", audit.SSRF}, {"服务器端请求伪造", audit.SSRF}, {"ssrf", audit.SSRF},
	{"供应链", audit.SupplyChain}, {"依赖", audit.SupplyChain},
	{"业务逻辑", audit.BusinessLogic}, {"逻辑", audit.BusinessLogic},
	{"文件", audit.FileOps}, {"配置", audit.Configuration},
	{"加密", audit.Crypto}, {"密码学", audit.Crypto},
	{"信息泄", audit.DataExposure}, {"数据泄", audit.DataExposure}, {"敏感", audit.DataExposure}, {"数据暴露", audit.DataExposure},
	{"认证", audit.Auth}, {"授权", audit.Auth}, {"鉴权", audit.Auth}, {"访问控制", audit.Auth}, {"会话", audit.Auth},
}

var dimensionWords = map[string]audit.Dimension{
	"authentication": audit.Auth, "authorization": audit.Auth, "authn": audit.Auth, "authz": audit.Auth,
	"access control": audit.Auth, "cryptography": audit.Crypto, "cryptographic": audit.Crypto,
	"sensitive data exposure": audit.DataExposure, "information disclosure": audit.DataExposure,
	"server-side request forgery": audit.SSRF, "file operations": audit.FileOps, "file handling": audit.FileOps,
	"config": audit.Configuration, "misconfiguration": audit.Configuration, "security misconfiguration": audit.Configuration,
	"dependencies": audit.SupplyChain, "logic": audit.BusinessLogic, "insecure deserialization": audit.Deserialization,
}

var dimensionNumber = regexp.MustCompile(`^(?i)(?:d(?:im(?:ension)?)?\s*\d{1,2}|\d{1,2})\s*[-–—:：.)、]?\s*`)

// dimensionOf reads a dimension: one of the ten names, a usual synonym, or a
// Chinese name; a leading number ("D1", "3.") is passed over.
func dimensionOf(s string) (audit.Dimension, bool) {
	s = strings.Trim(strings.TrimSpace(s), "*_`[]()（）✅❌ ")
	s = strings.TrimSpace(dimensionNumber.ReplaceAllString(s, ""))
	if d, err := audit.ParseDimension(s); err == nil {
		return d, true
	}
	low := strings.ToLower(s)
	if d, ok := dimensionWords[low]; ok {
		return d, true
	}
	for _, h := range hanDimensions {
		if strings.Contains(low, h.word) && len(s) <= 60 {
			return h.dim, true
		}
	}
	return "", false
}

var callTail = regexp.MustCompile(`\s*[(（].*$`)

// functionName takes "com.x.UserService.login(String)" down to "login". Several
// names stay as they are.
func functionName(s string) string {
	s = strings.Trim(strings.TrimSpace(s), "`*\"'")
	if strings.ContainsAny(s, ",;、 \t") && !strings.Contains(s, "(") {
		return placeholder(strings.TrimSpace(s))
	}
	s = callTail.ReplaceAllString(s, "")
	for _, sep := range []string{"::", "->", "#", ".", "/", "\\"} {
		if i := strings.LastIndex(s, sep); i >= 0 && i+len(sep) < len(s) {
			s = s[i+len(sep):]
		}
	}
	return placeholder(strings.TrimSpace(s))
}

// placeholder turns what models write into an empty cell into the empty string.
func placeholder(s string) string {
	switch strings.ToLower(strings.Trim(s, " `*")) {
	case "", "-", "--", "—", "–", "n/a", "na", "none", "null", "nil", "unknown", "/", "无", "不适用", "未知", "tbd", "?":
		return ""
	}
	return s
}

// confidences gives the words that tools use a number. The three steps are
// ours: no tool defines them.
var confidences = map[string]float64{
	"certain": 1, "confirmed": 1, "very-high": 0.95, "very high": 0.95, "high": 0.9, "firm": 0.9, "高": 0.9, "已确认": 1,
	"medium": 0.6, "moderate": 0.6, "中": 0.6, "probable": 0.6,
	"low": 0.3, "tentative": 0.3, "possible": 0.3, "低": 0.3,
}

// confidenceOf reads a share ("0.8"), a percentage ("80 %", "80") or a word.
func confidenceOf(s string) (float64, bool) {
	s = strings.ToLower(strings.Trim(strings.TrimSpace(s), "*` "))
	if c, ok := confidences[s]; ok {
		return c, true
	}
	num := strings.TrimSpace(strings.TrimSuffix(s, "%"))
	if n, d, ok := strings.Cut(num, "/"); ok && strings.TrimSpace(d) == "10" {
		f, err := strconv.ParseFloat(strings.TrimSpace(n), 64)
		return f / 10, err == nil && f >= 0 && f <= 10
	}
	f, err := strconv.ParseFloat(num, 64)
	if err != nil || !(f >= 0 && f <= 100) {
		if i := strings.IndexAny(s, " (（"); i > 0 {
			return confidenceOf(s[:i])
		}
		return 0, false
	}
	if f > 1 || num != s {
		f /= 100
	}
	return f, true
}
