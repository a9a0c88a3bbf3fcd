package audit

import "testing"

// TestCountLines: a line without an end is one too.
func TestCountLines(t *testing.T) {
	for text, want := range map[string]int{"": 0, "\n": 1, "a": 1, "a\n": 1, "a\nb": 2,
		"a\n\nb\n": 3} {
		if got := CountLines([]byte(text)); got != want {
			t.Errorf("%q: %d lines: expected %d", text, got, want)
		}
	}
}

// TestOneLine: text of others is one line, in which nothing acts and nothing is hidden.
func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nb\tc":         "a  b c",
		"\x1b[2Jx\x16":      `\u001b[2Jx\u0016`,
		"a\u202eb\u200bc":   `a\u202eb\u200bc`,
		"a\u2028b\u0085c":   `a\u2028b\u0085c`,
		" plain, ümlaut ü ": "plain, ümlaut ü",
	} {
		if got := OneLine(in, 0); got != want {
			t.Errorf("%q: %q, expected %q", in, got, want)
		}
	}
	if got, want := OneLine("abcdef", 3), "abc... (3 more bytes)"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}
