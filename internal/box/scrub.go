package box

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
)

// A scrubber replaces a key by a token, however the key is written: as it is, with characters
// escaped for URLs or JSON, or in base64 at any of three alignments.
type scrubber struct {
	forms [][]byte
	first [256]bool // what a form can begin with
	token []byte
}

// endOfKey is the number of characters of a key that are taken for it at the end of a text.
const endOfKey = 8

func newScrubber(key, token string) *scrubber {
	s := &scrubber{forms: [][]byte{[]byte(key)}, token: []byte(token)}
	for shift := range 3 {
		padded := append(make([]byte, shift), key...)
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			// A character at either end that also holds bits of a neighbour is left out.
			text := e.EncodeToString(padded)[(shift*8+5)/6 : len(padded)*8/6]
			s.forms = append(s.forms, []byte(text))
		}
	}
	s.first['%'], s.first['\\'] = true, true
	for _, f := range s.forms {
		s.first[f[0]] = true
	}
	return s
}

func (s *scrubber) text(in string) string {
	out, _ := s.replace(nil, []byte(in), true)
	return string(out)
}

// replace appends to out what it has read of in with the key replaced, and returns the rest: it
// could become the key with what follows. At the end there is no rest.
func (s *scrubber) replace(out, in []byte, end bool) (scrubbed, rest []byte) {
	for i := 0; i < len(in); {
		n, open := 0, false
		if s.first[in[i]] {
			n, open = s.match(in[i:], end)
		}
		switch {
		case n > 0:
			out = append(out, s.token...)
			i += n
		case open:
			return out, in[i:]
		default:
			out = append(out, in[i])
			i++
		}
	}
	return out, nil
}

// match returns the length of the key at the beginning of in; open reports whether in ends
// within what may be the key.
func (s *scrubber) match(in []byte, end bool) (n int, open bool) {
	for _, form := range s.forms {
		at, matched := 0, 0
		for matched < len(form) && at < len(in) {
			width, more := escaped(in[at:], form[matched])
			if width == 0 && !more {
				at = -1
				break
			}
			if more {
				break
			}
			at += width
			matched++
		}
		switch {
		case at < 0:
		case matched == len(form):
			return at, false
		case end && matched >= endOfKey:
			return len(in), false
		case !end:
			open = true
		}
	}
	return 0, open
}

// maxBackslashes bounds how often JSON in JSON escapes one character.
const maxBackslashes = 8

// escaped returns how many bytes at the beginning of in stand for the character c; more
// reports whether in ends before that can be said.
func escaped(in []byte, c byte) (width int, more bool) {
	if in[0] == c {
		return 1, false
	}
	digits, at := 2, 1
	if in[0] == '\\' {
		for at < len(in) && at < maxBackslashes && in[at] == '\\' {
			at++
		}
		if at == len(in) {
			return 0, true
		}
		if in[at] == c {
			return at + 1, false
		}
		if in[at] != 'u' {
			return 0, false
		}
		digits, at = 4, at+1
	} else if in[0] != '%' {
		return 0, false
	}
	want := "00" + hex.EncodeToString([]byte{c})
	want = want[4-digits:]
	got := strings.ToLower(string(in[at:min(at+digits, len(in))]))
	if got == want {
		return at + digits, false
	}
	return 0, at+digits > len(in) && strings.HasPrefix(want, got)
}

// A scrubbedBody is the body of an answer without the key. It holds back what may be the
// beginning of the key, and nothing else.
type scrubbedBody struct {
	*scrubber
	answer  *http.Response
	body    io.ReadCloser
	in, out []byte
	err     error
}

func (b *scrubbedBody) Read(p []byte) (int, error) {
	buffer := make([]byte, 32<<10)
	for len(b.out) == 0 && b.err == nil {
		var n int
		n, b.err = b.body.Read(buffer)
		b.in = append(b.in, buffer[:n]...)
		b.out, b.in = b.replace(b.out[:0], b.in, b.err != nil)
		if errors.Is(b.err, io.EOF) {
			b.headers(b.answer.Trailer)
		}
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	if n == 0 && len(p) > 0 {
		return 0, b.err
	}
	return n, nil
}

func (b *scrubbedBody) Close() error { return b.body.Close() }

func (s *scrubber) headers(h http.Header) {
	for _, values := range h {
		for i := range values {
			values[i] = s.text(values[i])
		}
	}
}
