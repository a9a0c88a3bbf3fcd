// Package audit holds the words of Assay as Go types: what is measured
// (cases, projects, the entries of a key), who is measured (reviewers and
// auditors), what they say (reviews, findings, reports) and what becomes of it
// (outcomes, verdicts).
//
// The package takes nothing but the standard library, so that every other
// package can speak in these words. It holds no behaviour that judges: matching
// and metrics are in audit/score.
//
// Who is measured never receives a [Case] or a [Template]. They receive a
// [ReviewTask] or an [AuditArgs], which have no field that could carry an
// answer.
package audit

import (
	"fmt"
	"strconv"
	"strings"
)

// A Pos is a place in a fixture, for messages that an editor can open.
type Pos struct {
	File string // path as the reader was given it
	Line int    // from 1; 0 when the whole file is meant
}

// String returns "file:line", or the file alone if the line is unknown.
func (p Pos) String() string {
	if p.Line <= 0 {
		return p.File
	}
	return p.File + ":" + strconv.Itoa(p.Line)
}

// A CWE is the number of a weakness of MITRE's Common Weakness Enumeration.
// The zero value is no weakness.
type CWE int

// String returns the form "CWE-89".
func (c CWE) String() string { return "CWE-" + strconv.Itoa(int(c)) }

// JoinCWEs returns the form "CWE-89, CWE-564".
func JoinCWEs(list []CWE) string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.String()
	}
	return strings.Join(names, ", ")
}

// ParseCWE reads "CWE-89", "cwe-89", "CWE 89", "CWE89", "cwe_89" or "89",
// leading zeros allowed (vendors write "CWE-089"). It does not know which
// numbers exist: internal/cwe does. The number must be 1 to 99999.
func ParseCWE(s string) (CWE, error) {
	t := strings.TrimSpace(s)
	if len(t) >= 3 && strings.EqualFold(t[:3], "cwe") {
		t = strings.TrimLeft(t[3:], "-_: ")
	}
	n, err := strconv.Atoi(t)
	if err != nil || n < 1 || n > 99999 || t[0] == '+' {
		return 0, fmt.Errorf("%q is no CWE: expected a form like CWE-89", s)
	}
	return CWE(n), nil
}

// A Dimension is one of the ten areas of an audit.
type Dimension string

// The ten dimensions, named as the methodology names them.
const (
	Injection       Dimension = "Injection"
	Auth            Dimension = "Auth"
	Crypto          Dimension = "Crypto"
	DataExposure    Dimension = "Data Exposure"
	Deserialization Dimension = "Deserialization"
	SSRF            Dimension = "SSRF"
	FileOps         Dimension = "File Ops"
	BusinessLogic   Dimension = "Business Logic"
	Configuration   Dimension = "Configuration"
	SupplyChain     Dimension = "Supply Chain"
)

// Dimensions returns the ten dimensions in the methodology's order.
func Dimensions() []Dimension {
	return []Dimension{Injection, Auth, Crypto, DataExposure, Deserialization,
		SSRF, FileOps, BusinessLogic, Configuration, SupplyChain}
}

var separators = strings.NewReplacer(" ", "", "-", "", "_", "")

// ParseDimension finds a dimension by its name, without regard to case, spaces,
// hyphens and underscores.
func ParseDimension(s string) (Dimension, error) {
	fold := func(s string) string { return strings.ToLower(separators.Replace(s)) }
	var names []string
	for _, d := range Dimensions() {
		if fold(string(d)) == fold(s) {
			return d, nil
		}
		names = append(names, string(d))
	}
	return "", fmt.Errorf("%q is no dimension: expected one of %s", s, strings.Join(names, ", "))
}

// A Severity orders findings. The zero value is an unstated severity.
type Severity int

// The severities, least first.
const (
	SeverityUnknown Severity = iota
	Info
	Low
	Medium
	High
	Critical
)

var severityNames = [...]string{"", "INFO", "LOW", "MEDIUM", "HIGH", "CRITICAL"}

// String returns "CRITICAL", "HIGH" and so on, or "" for an unstated severity.
func (s Severity) String() string {
	if s < 0 || int(s) >= len(severityNames) {
		return "Severity(" + strconv.Itoa(int(s)) + ")"
	}
	return severityNames[s]
}

// ParseSeverity reads the five names without regard to case. Vendors' other
// words are the business of audit/findings.
func ParseSeverity(s string) (Severity, error) {
	for i, n := range severityNames {
		if i > 0 && strings.EqualFold(strings.TrimSpace(s), n) {
			return Severity(i), nil
		}
	}
	return SeverityUnknown,
		fmt.Errorf("%q is no severity: expected CRITICAL, HIGH, MEDIUM, LOW or INFO", s)
}

// MarshalText writes the severity's name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote; the empty text is SeverityUnknown.
func (s *Severity) UnmarshalText(b []byte) (err error) {
	if len(b) == 0 {
		*s = SeverityUnknown
		return nil
	}
	*s, err = ParseSeverity(string(b))
	return err
}
