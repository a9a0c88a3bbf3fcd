package audit

// A Pattern is a kind of flaw that a corpus of cases covers, widely enough that a
// reviewer's figures say something of it.
type Pattern string

// Patterns returns all patterns: the nine of multi-tenant applications, and those of code
// alone.
func Patterns() (applications, code []Pattern) {
	return []Pattern{"SQL injection", "Cross-tenant leakage", "Missing access control",
			"Soft-deleted records", "Sensitive fields",
			"Missing pagination limits", "Incorrect permission checks", "State-transition guards",
			"Temporal access control"},
		[]Pattern{"Command injection", "Path traversal", "SSRF", "XSS", "Unsafe deserialization",
			"Weak cryptography", "Secrets",
			"Race conditions", "Mass assignment"}
}

// A PatternRow states that breaking a requirement is an instance of a pattern. If a requirement
// is about several patterns, CWEs limits the row to cases with one of them.
type PatternRow struct {
	Requirement int
	Pattern     Pattern
	CWEs        []CWE // empty: whatever the case's CWEs are
	Pos         Pos
}
