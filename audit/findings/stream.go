package findings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"assay/audit"
)

// A stream reads JSON member by member, in memory bounded by the largest value
// that is decoded as a whole: one result, one table of a run.
type stream struct {
	dec   *jsontext.Decoder
	lines lineReader
}

var permissive = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// tolerant passes over what is of another type than the member's. A number may stand for
// a text, and its text for a number; one that no float64 holds is infinite.
var tolerant = json.JoinOptions(permissive, json.WithUnmarshalers(json.UnmarshalFromFunc(func(dec *jsontext.Decoder, v any) error {
	to, kind := reflect.ValueOf(v).Elem(), dec.PeekKind()
	number := to.Kind() == reflect.Int || to.Kind() == reflect.Interface && kind == '0'
	switch _, own := v.(json.UnmarshalerFrom); {
	case own, kind == 'n', !number && strings.ContainsRune(fitting[to.Kind()], rune(kind)):
		return errors.ErrUnsupported
	case number:
		raw, err := dec.ReadValue()
		f, _ := strconv.ParseFloat(unquoted(raw), 64)
		if to.Kind() == reflect.Interface {
			to.Set(reflect.ValueOf(f))
		} else if n := int(f); float64(n) == f {
			to.SetInt(int64(n))
		}
		return err
	case to.Kind() == reflect.String && kind == '0':
		raw, err := dec.ReadValue()
		to.SetString(string(raw))
		return err
	}
	return dec.SkipValue()
})))

// fitting are the kinds of JSON values that a Go value takes.
var fitting = map[reflect.Kind]string{reflect.String: `"`, reflect.Bool: "tf", reflect.Slice: "[", reflect.Struct: "{", reflect.Map: "{",
	reflect.Interface: `"tf[{`, reflect.Pointer: `"tf[{0`}

func unquoted(raw jsontext.Value) string { return strings.Trim(string(raw), `"`) }

func newStream(r io.Reader) *stream {
	s := &stream{lines: lineReader{r: r}}
	s.dec = jsontext.NewDecoder(&s.lines, permissive)
	s.lines.done = s.dec.InputOffset
	return s
}

// line gives the line of what was read last. It must not go back.
func (s *stream) line() int { return s.lines.at(s.dec.InputOffset()) }

// object calls f with each member's name; f must consume the value. What is no
// object is passed over.
func (s *stream) object(f func(name string) error) error {
	return s.inside('{', func(int) error {
		name, err := s.dec.ReadToken()
		if err != nil {
			return err
		}
		return f(name.String())
	})
}

// array calls f for each element; f must consume it. What is no array is passed
// over.
func (s *stream) array(f func(i int) error) error { return s.inside('[', f) }

func (s *stream) inside(opens jsontext.Kind, f func(i int) error) error {
	if s.dec.PeekKind() != opens {
		return s.dec.SkipValue()
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return err
	}
	for i := 0; s.dec.PeekKind() != opens+2; i++ { // } or ]
		if err := f(i); err != nil {
			return err
		}
	}
	_, err := s.dec.ReadToken()
	return err
}

// decode reads a value into v, piece by piece.
func (s *stream) decode(v any) error { return json.UnmarshalDecode(s.dec, v, tolerant) }

// element reads a value into v as a whole, and gives the line of the first mark in it.
func (s *stream) element(v any, mark byte) (line int, err error) {
	raw, err := s.dec.ReadValue()
	if err != nil {
		return s.line(), err
	}
	if json.Unmarshal(raw, v, permissive) != nil { // the faster way for what is of the right types
		err = json.Unmarshal(raw, v, tolerant)
	}
	head := max(bytes.IndexByte(raw, mark), 0)
	return s.lines.at(s.dec.InputOffset() - int64(len(raw)-head)), err
}

// fault turns a decoding error into one that says where and what to do.
func (s *stream) fault(name string, err error) error {
	pos := audit.Pos{File: name, Line: s.line()}
	if taken := (*takeError)(nil); errors.As(err, &taken) {
		return fmt.Errorf("%s: %w", pos, err)
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
	done func() int64 // nobody asks for what lies before it
	off  int64
	ends []int64 // of the lines that nobody asked for yet
	line int     // how many ended before them
}

func (l *lineReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	l.at(l.done())
	for i, b := range p[:n] {
		if b == '\n' {
			l.ends = append(l.ends, l.off+int64(i))
		}
	}
	l.off += int64(n)
	return n, err
}

// at gives the line of a place in what was read. It must not go back.
func (l *lineReader) at(off int64) int {
	n, _ := slices.BinarySearch(l.ends, off)
	l.ends, l.line = l.ends[n:], l.line+n
	return l.line + 1
}
