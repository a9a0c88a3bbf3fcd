package findings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"assay/audit"
)

// A stream reads JSON member by member, in memory bounded by the largest single
// string. Values of an unexpected type are passed over.
type stream struct {
	dec   *jsontext.Decoder
	lines lineReader
	known map[string]string // strings that come again and again
	key   []byte            // scratch
}

func newStream(r io.Reader) *stream {
	s := &stream{known: map[string]string{}}
	s.lines.r = r
	s.dec = jsontext.NewDecoder(&s.lines, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return s
}

// line gives the line of what was read last. It must not go back.
func (s *stream) line() int { return s.lines.at(s.dec.InputOffset()) }

// object calls f with each member's name; f must consume the value. The name
// holds until then.
func (s *stream) object(f func(name []byte) error) error {
	if s.dec.PeekKind() != '{' {
		return s.dec.SkipValue()
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return err
	}
	for s.dec.PeekKind() != '}' {
		raw, err := s.dec.ReadValue()
		if err != nil {
			return err
		}
		if err := f(s.unquote(raw)); err != nil {
			return err
		}
	}
	_, err := s.dec.ReadToken()
	return err
}

// array calls f for each element; f must consume it.
func (s *stream) array(f func(i int) error) error {
	if s.dec.PeekKind() != '[' {
		return s.dec.SkipValue()
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return err
	}
	for i := 0; s.dec.PeekKind() != ']'; i++ {
		if err := f(i); err != nil {
			return err
		}
	}
	_, err := s.dec.ReadToken()
	return err
}

// unquote takes the quotes off. The result holds until the next call.
func (s *stream) unquote(raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return raw
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	s.key, _ = jsontext.AppendUnquote(s.key[:0], raw)
	return s.key
}

// bytes reads a string, or the digits of a number; of other values nothing.
func (s *stream) bytes() ([]byte, error) {
	switch s.dec.PeekKind() {
	case '"', '0':
		raw, err := s.dec.ReadValue()
		return s.unquote(raw), err
	}
	return nil, s.dec.SkipValue()
}

func (s *stream) string() (string, error) {
	b, err := s.bytes()
	return string(b), err
}

// word reads a string that is likely to come again: it is held once.
func (s *stream) word() (string, error) {
	b, err := s.bytes()
	return s.intern(b), err
}

func (s *stream) intern(b []byte) string {
	if v, ok := s.known[string(b)]; ok {
		return v
	}
	v := string(b)
	s.known[v] = v
	return v
}

// int reads a whole number; what is none is absent.
func (s *stream) int(absent int) (int, error) {
	b, err := s.bytes()
	if err != nil {
		return absent, err
	}
	n, bad := strconv.Atoi(string(b))
	if bad != nil {
		f, bad := strconv.ParseFloat(string(b), 64)
		if bad != nil || f != float64(int(f)) {
			return absent, nil
		}
		n = int(f)
	}
	return n, nil
}

// strings gives every string and number in a value, however deep, as they come.
func (s *stream) strings(f func(string)) error {
	switch s.dec.PeekKind() {
	case '[':
		return s.array(func(int) error { return s.strings(f) })
	case '{':
		return s.object(func([]byte) error { return s.strings(f) })
	}
	v, err := s.word()
	if v != "" {
		f(v)
	}
	return err
}

func (s *stream) bool() (v, ok bool, err error) {
	switch s.dec.PeekKind() {
	case 't':
		return true, true, s.dec.SkipValue()
	case 'f':
		return false, true, s.dec.SkipValue()
	}
	return false, false, s.dec.SkipValue()
}

// fault turns a decoding error into one that says where and what to do.
func (s *stream) fault(name string, err error) error {
	if err == nil {
		return nil
	}
	pos := audit.Pos{File: name, Line: s.line()}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		pos.Line = s.lines.at(s.lines.off)
		return fmt.Errorf("%s: %w: the JSON ends in the middle, at %s", pos, ErrTruncated, s.dec.StackPointer())
	}
	var syn *jsontext.SyntacticError
	if errors.As(err, &syn) {
		pos.Line = s.lines.at(syn.ByteOffset)
		return fmt.Errorf("%s: broken JSON at %s: %w", pos, syn.JSONPointer, syn.Err)
	}
	return fmt.Errorf("%s: %w", pos, err)
}

// A lineReader notes where lines end as bytes pass, and forgets them again.
type lineReader struct {
	r    io.Reader
	off  int64
	ends []int64 // of the lines that nobody asked for yet
	head int
	line int // how many ends lie before head
}

func (l *lineReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.head > 4096 && l.head*2 > len(l.ends) {
		l.ends = l.ends[:copy(l.ends, l.ends[l.head:])]
		l.head = 0
	}
	for i := 0; i < n; {
		j := bytes.IndexByte(p[i:n], '\n')
		if j < 0 {
			break
		}
		l.ends = append(l.ends, l.off+int64(i+j))
		i += j + 1
	}
	l.off += int64(n)
	return n, err
}

func (l *lineReader) at(off int64) int {
	for l.head < len(l.ends) && l.ends[l.head] < off {
		l.head++
		l.line++
	}
	return l.line + 1
}
