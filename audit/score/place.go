package score

import (
	"strings"

	"assay/audit"
)

// The sizes of a scope, DESIGN section 4.
const (
	maxGap   = 10 // lines that may lie between a finding and an entry
	maxRange = 50 // a longer range names no place
	maxCWEs  = 3  // of a finding's CWEs, the first that count
	maxFree  = 3  // duplicates a vulnerability that are no false positives
)

// noGap is the distance of a match where one side names no lines: one more than
// lines alone could be apart.
const noGap = maxGap + 1

// FunctionName gives the bare name of a function as an auditor may write it:
// "Class.method", "Class::method", "(*T).Method", "Class#method", "method(args)"
// and "public void method(args)" all name "method". Names are compared with case.
func FunctionName(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), "->", ".")
	for { // Go receivers: "(*T).Method", "pkg.(*T).Method"
		_, rest, ok := strings.Cut(s, ").")
		if !ok {
			break
		}
		s = rest
	}
	if i := strings.IndexByte(s, '('); i >= 0 {
		s = s[:i]
	}
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, '<'); i > 0 && strings.HasSuffix(s, ">") && s[i-1] != '.' && s[i-1] != ':' {
		s = s[:i] // type arguments; not the JVM's Class.<init>
	}
	if i := strings.LastIndexAny(s, ".:#\\ \t"); i >= 0 && i < len(s)-1 {
		s = s[i+1:]
	}
	return strings.Trim(s, "`'\"&*")
}

// lines is a range with both ends set, or no range at all.
type lines struct{ start, end int32 }

// usable gives the lines that a range names: none for no range and for one of
// more than maxRange lines. A range that ends before it starts is its start.
func usable(r audit.Range) lines {
	if r.IsZero() || r.Start > 1<<30 {
		return lines{}
	}
	end := max(r.End, r.Start)
	if end-r.Start >= maxRange {
		return lines{}
	}
	return lines{int32(r.Start), int32(end)}
}

func (l lines) none() bool { return l.start == 0 }

// gap is the number of lines from one range to the other: 0 where they overlap, 1
// where they touch.
func (l lines) gap(m lines) int32 {
	return max(0, l.start-m.end, m.start-l.end)
}

// distance is the gap, or noGap where one side names no lines.
func (l lines) distance(m lines) int32 {
	if l.none() || m.none() {
		return noGap
	}
	return l.gap(m)
}
