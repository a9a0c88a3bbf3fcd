// Package workflow keeps text that a model, an agent, a server or a fixture wrote from being
// read as a command of the CI runner in whose log it ends up.
//
// GitHub's runner takes a line for a command that begins with "::" after white space, or holds
// "##[" anywhere (github.com/actions/runner, src/Runner.Common/ActionCommand.cs). Other runners
// read "##vso[" and "##teamcity[".
package workflow

import (
	"io"
	"strings"
)

// Text returns s with a blank inserted wherever a CI runner could read a workflow command. A
// "::" within a line is kept.
func Text(s string) string {
	var b strings.Builder
	_, _ = (&Writer{To: &b}).Write([]byte(s))
	return b.String()
}

// A Writer writes its input to To with the changes of [Text], however the input is split into
// writes.
type Writer struct {
	To io.Writer

	written bool // something that is no blank stands on this line
	colon   bool // the line's first characters, after blanks, are one colon
	hashes  int  // how many of # precede; letters after two of them leave the number
}

// Write writes p. It treats every byte that is not a printable ASCII character as a blank,
// since what runners trim depends on their Unicode tables.
func (w *Writer) Write(p []byte) (int, error) {
	out := make([]byte, 0, len(p)+8)
	for _, c := range p {
		if c == ':' && w.colon || c == '[' && w.hashes >= 2 {
			out = append(out, ' ')
		}
		out = append(out, c)
		w.colon = c == ':' && !w.written
		switch letter := c|0x20 >= 'a' && c|0x20 <= 'z'; {
		case c == '#':
			w.hashes++
		case !letter || w.hashes < 2:
			w.hashes = 0
		}
		switch {
		case c == '\n' || c == '\r':
			w.written = false
		case c > ' ' && c < 0x7f:
			w.written = true
		}
	}
	if _, err := w.To.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}
