package suite

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes text that a model, a tool or a fixture wrote fit for test output.
// The go command reads a line that begins with \x16 or "--- FAIL" as an event of
// its own, and a terminal obeys escape sequences: control characters and the
// bidirectional ones are shown as escapes, and line ends as a blank. What is
// longer than limit bytes is cut, and the cut said.
func clean(s string, limit int) string {
	var b strings.Builder
	for i, r := range s {
		if b.Len() >= limit {
			fmt.Fprintf(&b, "... (%d more bytes)", len(s)-i)
			break
		}
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			b.WriteByte(' ')
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
