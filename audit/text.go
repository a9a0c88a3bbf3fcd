package audit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine makes one line, fit for a terminal, a log and a record, of text that a
// model, a tool or a fixture wrote: line ends and tabs become blanks, control,
// formatting and bidirectional characters are shown as escapes (the go command
// takes a line that begins with \x16 for an event of its own, and a terminal obeys
// escape sequences). Text longer than limit bytes is cut, and the cut is said; a
// limit of 0 cuts nothing.
func OneLine(s string, limit int) string {
	var b strings.Builder
	for i, r := range s {
		if limit > 0 && b.Len() >= limit {
			fmt.Fprintf(&b, "... (%d more bytes)", len(s)-i)
			break
		}
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			b.WriteByte(' ')
		case r == utf8.RuneError, Invisible(r):
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}

// Invisible reports whether a character changes what a reader sees without being
// seen: a control or formatting character (the bidirectional and the zero-width
// ones among them), a filler, or a separator of lines that is none of ASCII's.
func Invisible(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point)
}

// CountLines returns the number of lines of a text, including a last line without a line end.
func CountLines(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// Clip returns the text unchanged if it has at most limit bytes, else its first and last lines
// with a line between them that states how many bytes were cut.
func Clip(text []byte, limit int) []byte {
	if len(text) <= limit {
		return text
	}
	head, tail := text[:limit/2], text[len(text)-limit/2:]
	if i := bytes.LastIndexByte(head, '\n'); i >= 0 {
		head = head[:i+1]
	}
	if i := bytes.IndexByte(tail, '\n'); i >= 0 {
		tail = tail[i+1:]
	}
	out := slices.Clone(head)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	out = fmt.Appendf(out, "[%d bytes are cut here]\n", len(text)-len(head)-len(tail))
	return append(out, tail...)
}
