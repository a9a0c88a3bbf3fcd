package findings

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A walker takes apart a JSON value that jsontext has found valid, without a second
// look at that: most of a result is passed over.
type walker struct {
	b     []byte
	i     int
	known known // short texts
}

// peek gives the first byte of the next value.
func (w *walker) peek() byte {
	for w.b[w.i] <= ' ' || w.b[w.i] == ',' || w.b[w.i] == ':' {
		w.i++
	}
	return w.b[w.i]
}

// quoted passes over a string and gives it with its quotes.
func (w *walker) quoted() []byte {
	from := w.i
	for at := from + 1; ; at++ {
		at += bytes.IndexByte(w.b[at:], '"')
		back := at
		for w.b[back-1] == '\\' {
			back--
		}
		if (at-back)%2 == 0 {
			w.i = at + 1
			return w.b[from:w.i]
		}
	}
}

// bare passes over a number, true, false or null.
func (w *walker) bare() []byte {
	from := w.i
	for w.i < len(w.b) && w.b[w.i] > ' ' && w.b[w.i] != ',' && w.b[w.i] != '}' && w.b[w.i] != ']' {
		w.i++
	}
	return w.b[from:w.i]
}

// skip passes over a value.
func (w *walker) skip() {
	switch w.peek() {
	case '"':
		w.quoted()
		return
	case '{', '[':
	default:
		w.bare()
		return
	}
	for deep := 0; ; {
		switch w.b[w.i] {
		case '"':
			w.quoted()
			continue
		case '{', '[':
			deep++
		case '}', ']':
			deep--
		}
		w.i++
		if deep == 0 {
			return
		}
	}
}

// object calls f with each member's name; f must pass over the value. What is no
// object is passed over.
func (w *walker) object(f func(name []byte)) {
	if w.peek() != '{' {
		w.skip()
		return
	}
	for w.i++; w.peek() != '}'; {
		f(unquoted(w.quoted()))
	}
	w.i++
}

// array calls f for each element, which f must pass over. What is no array is passed over.
func (w *walker) array(f func()) {
	if w.peek() != '[' {
		w.skip()
		return
	}
	for w.i++; w.peek() != ']'; {
		f()
	}
	w.i++
}

// strings gives every string and number in a value, however deep, as they come.
func (w *walker) strings(f func(string)) {
	switch w.peek() {
	case '[':
		w.array(func() { w.strings(f) })
	case '{':
		w.object(func([]byte) { w.strings(f) })
	default:
		if s := w.text(); s != "" {
			f(s)
		}
	}
}

// unquoted takes the quotes off a JSON string.
func unquoted(s []byte) []byte {
	if in := s[1 : len(s)-1]; bytes.IndexByte(in, '\\') < 0 && utf8.Valid(in) {
		return in
	}
	s, _ = jsontext.AppendUnquote(nil, s)
	return s
}

// maxKnown bounds what is held of texts that come again and again; a larger map is
// slower than the memory that it spares.
const maxKnown = 1 << 12

// text reads a string or the digits of a number; of other values nothing.
func (w *walker) text() string {
	var s []byte
	switch k := w.peek(); {
	case k == '"':
		s = unquoted(w.quoted())
	case k == '-' || k >= '0' && k <= '9':
		s = w.bare()
	default:
		w.skip()
		return ""
	}
	if len(s) > 128 {
		return string(s)
	}
	return w.known.hold(s)
}

// known holds texts that come again and again.
type known map[string]string

// hold gives equal texts one place in memory, as long as they are not too many.
func (k known) hold(s []byte) string {
	if v, ok := k[string(s)]; ok {
		return v
	}
	if len(k) >= maxKnown {
		clear(k)
	}
	v := string(s)
	k[v] = v
	return v
}

// A shape says which member of an object goes into which field of a struct.
type shape map[string]struct {
	at int
	of shape // of a struct, or of a list's or map's structs
}

func shapeOf(t reflect.Type) shape {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[properties]() {
		return nil
	}
	s := shape{}
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			m := s[name]
			m.at, m.of = f.Index[0], shapeOf(f.Type)
			s[name] = m
		}
	}
	return s
}

// read reads a value into v, whose structs have the shape s. What is of another type
// than v's is passed over; a number may stand for a text, and its text for a number.
func (w *walker) read(v reflect.Value, s shape) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(w.text())
	case reflect.Int:
		text := w.text()
		n, err := strconv.Atoi(text)
		if f, bad := strconv.ParseFloat(text, 64); err != nil && bad == nil && f == float64(int(f)) {
			n, err = int(f), nil
		}
		if v.Type() != reflect.TypeFor[ordinal]() {
			v.SetInt(int64(n))
		} else if v.SetZero(); err == nil && n >= 0 && n == int(int32(n)) {
			v.SetInt(int64(n) + 1)
		}
	case reflect.Bool:
		if k := w.peek(); k == 't' || k == 'f' {
			v.SetBool(k == 't')
		}
		w.skip()
	case reflect.Slice:
		v.SetLen(0)
		w.array(func() {
			n := v.Len()
			if n == v.Cap() {
				v.Grow(1 + 3*n) // most lists have one element; a trace has many
			}
			v.SetLen(n + 1)
			v.Index(n).SetZero()
			w.read(v.Index(n), s)
		})
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		w.object(func(name []byte) {
			e := reflect.New(v.Type().Elem()).Elem()
			key := reflect.ValueOf(string(name))
			w.read(e, s)
			v.SetMapIndex(key, e)
		})
	case reflect.Struct:
		if p, ok := v.Addr().Interface().(*properties); ok {
			p.read(w)
			return
		}
		w.object(func(name []byte) {
			if m, ok := s[string(name)]; ok {
				w.read(v.Field(m.at), m.of)
			} else {
				w.skip()
			}
		})
	}
}
