package audit

import "testing"

// TestCountLines: a line without an end is one too.
func TestCountLines(t *testing.T) {
	for text, want := range map[string]int{"": 0, "\n": 1, "a": 1, "a\n": 1, "a\nb": 2, "a\n\nb\n": 3} {
		if got := CountLines([]byte(text)); got != want {
			t.Errorf("%q: %d lines: expected %d", text, got, want)
		}
	}
}
