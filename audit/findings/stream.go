package findings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"

	"assay/audit"
)

// A stream reads JSON member by member. Its memory is bounded by the largest value that is
// decoded whole: one result, or one table of a run.
type stream struct {
	dec   *jsontext.Decoder
	lines lineReader
}

// newStream returns a stream of r.
func newStream(r io.Reader) *stream {
	s := &stream{lines: lineReader{r: r}}
	s.dec = jsontext.NewDecoder(&s.lines, jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	s.lines.done = s.dec.InputOffset
	return s
}

// line returns the line of the last read token. Calls must not go backwards.
func (s *stream) line() int { return s.lines.at(s.dec.InputOffset()) }

// object calls f with each member's name; f must consume the value. Other values are skipped.
func (s *stream) object(f func(name string) error) error {
	return s.inside('{', func() error {
		name, err := s.dec.ReadToken()
		if err != nil {
			return err
		}
		return f(name.String())
	})
}

// array calls f for each element; f must consume it. Other values are skipped.
func (s *stream) array(f func() error) error { return s.inside('[', f) }

// inside calls f for each member or element of a value that begins with opens.
func (s *stream) inside(opens jsontext.Kind, f func() error) error {
	if s.dec.PeekKind() != opens {
		return s.dec.SkipValue()
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return err
	}
	for s.dec.PeekKind() != opens+2 { // } or ]
		if err := f(); err != nil {
			return err
		}
	}
	_, err := s.dec.ReadToken()
	return err
}

// value reads a whole value.
func (s *stream) value() (gjson.Result, error) {
	raw, err := s.dec.ReadValue()
	return gjson.ParseBytes(raw), err
}

// element reads a whole value and returns the line of the first mark in it.
func (s *stream) element(mark byte) (v gjson.Result, line int, err error) {
	if v, err = s.value(); err != nil {
		return v, s.line(), err
	}
	head := max(strings.IndexByte(v.Raw, mark), 0)
	return v, s.lines.at(s.dec.InputOffset() - int64(len(v.Raw)-head)), nil
}

// fault returns a decoding error with its position and cause.
func (s *stream) fault(name string, err error) error {
	pos := audit.Pos{File: name, Line: s.line()}
	if taken := (*takeError)(nil); errors.As(err, &taken) {
		return fmt.Errorf("%s: %w", pos, err)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		pos.Line = s.lines.at(s.lines.off)
		return fmt.Errorf("%s: %w: the JSON ends in the middle, at %s", pos, ErrTruncated,
			s.dec.StackPointer())
	}
	var syn *jsontext.SyntacticError
	if errors.As(err, &syn) {
		pos.Line = s.lines.at(syn.ByteOffset)
		return fmt.Errorf("%s: broken JSON at %s: %w", pos, syn.JSONPointer, syn.Err)
	}
	return fmt.Errorf("%s: %w", pos, err)
}

// A lineReader notes where lines end while they are read.
type lineReader struct {
	r    io.Reader
	done func() int64 // offset before which no line is needed anymore
	off  int64
	ends []int64 // of lines after the last requested one
	line int     // how many ended before them
}

// Read reads from the underlying reader.
func (l *lineReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.at(l.done())
	for line := range bytes.Lines(p[:n]) {
		l.off += int64(len(line))
		if line[len(line)-1] == '\n' {
			l.ends = append(l.ends, l.off-1)
		}
	}
	return n, err
}

// at returns the line of an offset. Calls must not go backwards.
func (l *lineReader) at(off int64) int {
	n, _ := slices.BinarySearch(l.ends, off)
	l.ends, l.line = l.ends[n:], l.line+n
	return l.line + 1
}
