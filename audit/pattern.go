package audit

import "slices"

// A Pattern is a kind of flaw that a corpus of cases covers, widely enough that a
// reviewer's figures say something of it.
type Pattern string

// Patterns gives all patterns: the nine of multi-tenant applications first, then
// those of code alone.
func Patterns() (applications, code []Pattern) {
	return []Pattern{"SQL injection", "Cross-tenant leakage", "Missing access control", "Soft-deleted records", "Sensitive fields",
			"Missing pagination limits", "Incorrect permission checks", "State-transition guards", "Temporal access control"},
		[]Pattern{"Command injection", "Path traversal", "SSRF", "XSS", "Unsafe deserialization", "Weak cryptography", "Secrets",
			"Race conditions", "Mass assignment"}
}

// A PatternRow says that breaking a requirement is an instance of a pattern. Where
// a requirement is about several, CWEs tells them apart: the row holds for cases
// with one of them.
type PatternRow struct {
	Requirement int
	Pattern     Pattern
	CWEs        []CWE // empty: whatever the case's CWEs are
	Pos         Pos
}

// PatternsOf gives the patterns that a bad case is an instance of, by the
// requirements that it violates and its CWEs; none for goods.
func (s *Spec) PatternsOf(c *Case) []Pattern {
	var ps []Pattern
	for _, r := range s.Patterns {
		named := len(r.CWEs) == 0 || slices.ContainsFunc(c.CWEs, func(w CWE) bool { return slices.Contains(r.CWEs, w) })
		if named && slices.Contains(c.Violates, r.Requirement) && !slices.Contains(ps, r.Pattern) {
			ps = append(ps, r.Pattern)
		}
	}
	return ps
}
