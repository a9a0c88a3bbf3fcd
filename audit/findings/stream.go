package findings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assay/audit"
)

// A stream reads JSON member by member, in memory bounded by the largest value
// that is decoded as a whole: one result, one rule, one artifact.
type stream struct {
	dec   *jsontext.Decoder
	lines lineReader
	known known // short texts of the values that decode reads
}

var permissive = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func newStream(r io.Reader) *stream {
	s := &stream{lines: lineReader{r: r}, known: known{}}
	s.dec = jsontext.NewDecoder(&s.lines, permissive)
	return s
}

// line gives the line of what was read last. It must not go back.
func (s *stream) line() int { return s.lines.at(s.dec.InputOffset()) }

// object calls f with each member's name; f must consume the value. What is no
// object is passed over.
func (s *stream) object(f func(name []byte) error) error {
	if s.dec.PeekKind() != '{' {
		return s.dec.SkipValue()
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return err
	}
	for s.dec.PeekKind() != '}' {
		name, err := s.dec.ReadToken()
		if err != nil {
			return err
		}
		if err := f([]byte(name.String())); err != nil {
			return err
		}
	}
	_, err := s.dec.ReadToken()
	return err
}

// array calls f for each element; f must consume it. What is no array is passed
// over.
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

// walk reads a whole value and hands it over.
func (s *stream) walk(f func(w *walker)) error {
	raw, _, err := s.value("")
	if err == nil {
		f(&walker{b: raw, known: s.known})
	}
	return err
}

// text is [walker.text] of the next value.
func (s *stream) text() (v string, err error) {
	err = s.walk(func(w *walker) { v = w.text() })
	return v, err
}

// value reads a whole value, with the line of the first sign in it that is among
// marks, or of its start.
func (s *stream) value(marks string) (raw jsontext.Value, line int, err error) {
	if raw, err = s.dec.ReadValue(); err != nil {
		return nil, s.line(), err
	}
	head := max(bytes.IndexAny(raw, marks), 0)
	return raw, s.lines.at(s.dec.InputOffset() - int64(len(raw)-head)), nil
}

// decode reads a value into v, whose shape is s, and gives the line of its first member.
func (s *stream) decode(v any, of shape) (line int, err error) {
	raw, line, err := s.value(`"`)
	if err == nil {
		w := walker{b: raw, known: s.known}
		w.read(reflect.ValueOf(v).Elem(), of)
	}
	return line, err
}

// fault turns a decoding error into one that says where and what to do.
func (s *stream) fault(name string, err error) error {
	pos := audit.Pos{File: name, Line: s.line()}
	if taken := (*takeError)(nil); errors.As(err, &taken) {
		return fmt.Errorf("%s: %w", pos, taken.error)
	}
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
