package findings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assay/audit"
)

// A stream reads JSON member by member, in memory bounded by the largest value
// that is decoded as a whole: one result, one rule, one artifact.
type stream struct {
	dec   *jsontext.Decoder
	lines lineReader
}

var permissive = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func newStream(r io.Reader) *stream {
	s := &stream{lines: lineReader{r: r}}
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

// text reads a string or the digits of a number; of other values nothing.
func (s *stream) text() (string, error) {
	switch s.dec.PeekKind() {
	case '"', '0':
		t, err := s.dec.ReadToken()
		return t.String(), err
	}
	return "", s.dec.SkipValue()
}

// strings gives every string and number in a value, however deep, as they come.
func (s *stream) strings(f func(string)) error {
	switch s.dec.PeekKind() {
	case '[':
		return s.array(func(int) error { return s.strings(f) })
	case '{':
		return s.object(func([]byte) error { return s.strings(f) })
	}
	v, err := s.text()
	if v != "" {
		f(v)
	}
	return err
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

// decode reads a value into v, a pointer, and gives the line of its first
// member. What in it is of another type than v's is passed over.
func (s *stream) decode(v any) (line int, err error) {
	raw, line, err := s.value(`"`)
	if err != nil || json.Unmarshal(raw, v, permissive) == nil {
		return line, err
	}
	reflect.ValueOf(v).Elem().SetZero()
	return line, json.Unmarshal(raw, v, permissive, lenient)
}

// kinds are the kinds of JSON values that a Go value is decoded from.
var kinds = map[reflect.Kind]jsontext.Kind{reflect.Struct: '{', reflect.Map: '{', reflect.Slice: '[', reflect.String: '"', reflect.Int: '0', reflect.Float64: '0'}

// lenient passes over values of an unexpected type. A number may stand for a
// text, and the text of a number for it.
var lenient = json.WithUnmarshalers(json.UnmarshalFromFunc(func(dec *jsontext.Decoder, v any) error {
	to, kind := reflect.ValueOf(v).Elem(), dec.PeekKind()
	want, ok := kinds[to.Kind()]
	switch {
	case !ok || kind == want && to.Kind() != reflect.Int:
		return errors.ErrUnsupported
	case kind != '0' && kind != '"' || to.Kind() != reflect.Int && to.Kind() != reflect.String:
		return dec.SkipValue()
	}
	t, err := dec.ReadToken()
	if to.Kind() == reflect.String {
		to.SetString(t.String())
	} else if f, bad := strconv.ParseFloat(t.String(), 64); bad == nil && f == float64(int(f)) {
		to.SetInt(int64(f))
	}
	return err
}))

// fault turns a decoding error into one that says where and what to do.
func (s *stream) fault(name string, err error) error {
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
