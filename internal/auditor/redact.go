package auditor

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// keyForm is what the providers' keys look like, for those that come from
// somewhere else than our configuration.
var keyForm = regexp.MustCompile(`\b(?:sk-[A-Za-z0-9_-]{16,}|Bearer\s+[A-Za-z0-9._~+/-]{16,}=*)`)

// Redact replaces secrets in a text that is going to be kept or shown: those
// given, in whatever way they are written, and whatever looks like a provider's
// key.
func Redact(s string, secrets ...string) string {
	return keyForm.ReplaceAllString(Mask(s, secrets...), "[key]")
}

// Mask replaces the secrets given: also where they are written in hex, in base64
// (alone or within a longer text), for a URL or as a string of JSON, where a
// stream's events hold a piece each, and what a cut has left of them.
func Mask(s string, secrets ...string) string {
	for _, k := range secrets {
		if len(k) < 6 { // shorter ones are no keys, and would tear words apart
			continue
		}
		s = strings.ReplaceAll(s, strconv.Quote(k), `"[key]"`)
		for _, form := range written(k) {
			s = strings.ReplaceAll(s, form, "[key]")
		}
		s = maskParts(maskPieces(s, k), k)
	}
	return s
}

// pieceGap is how far behind one another two pieces of a secret stand in a stream
// of events, in bytes.
const pieceGap = 2000

// maskPieces replaces a secret whose pieces stand at the ends of strings of JSON,
// one behind another.
func maskPieces(s, k string) string {
	var out strings.Builder
	done := 0
	for from := 0; ; {
		i := strings.IndexByte(s[from:], k[0])
		if i < 0 {
			break
		}
		from += i + 1
		for _, at := range pieces(s, k, from-1, 1000) {
			out.WriteString(s[done:at[0]])
			out.WriteString("[key]")
			done, from = at[1], at[1]
		}
	}
	return out.String() + s[done:]
}

// pieces gives where the pieces of k stand, the first at i; nil where they do not
// make it up. It gives up after so many tries.
func pieces(s, k string, i, tries int) [][2]int {
	n := 0
	for n < len(k) && i+n < len(s) && s[i+n] == k[n] {
		n++
	}
	switch {
	case n == len(k):
		return [][2]int{{i, i + n}}
	case n == 0, tries <= 0, i+n >= len(s), s[i+n] != '"':
		return nil
	}
	rest := s[i+n : min(len(s), i+n+pieceGap)]
	for j := 1; j < len(rest)-1; j++ {
		if rest[j] == '"' && rest[j+1] == k[n] {
			tries--
			if more := pieces(s, k[n:], i+n+j+1, tries); more != nil {
				return append([][2]int{{i, i + n}}, more...)
			}
		}
	}
	return nil
}

// partLength is how much of a long secret gives it away.
const partLength = 12

// maskParts replaces what is left of a secret that was cut. Of a short one, or one
// of words, a part is a word that may stand anywhere.
func maskParts(s, k string) string {
	if len(k) < 20 || !strings.ContainsAny(k, "0123456789") {
		return s
	}
	for i := 0; i+partLength <= len(k); i++ {
		for {
			at := strings.Index(s, k[i:i+partLength])
			if at < 0 {
				break
			}
			n := partLength
			for i+n < len(k) && at+n < len(s) && s[at+n] == k[i+n] {
				n++
			}
			s = s[:at] + "[key]" + s[at+n:]
		}
	}
	return s
}

// written gives the ways in which a secret can stand in a text, longer ones first
// where one holds another.
func written(k string) []string {
	quoted := strconv.Quote(k)
	hexed := hex.EncodeToString([]byte(k))
	var percent strings.Builder
	for _, b := range []byte(k) {
		fmt.Fprintf(&percent, "%%%02x", b)
	}
	forms := []string{percent.String(), strings.ToUpper(percent.String()), k, quoted[1 : len(quoted)-1],
		url.QueryEscape(k), url.PathEscape(k), hexed, strings.ToUpper(hexed)}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		// Where it stands in a longer text decides how its bytes fall into groups of
		// three; the digits that its neighbours have a part in are left.
		for before := range 3 {
			digits := enc.EncodeToString(append(make([]byte, before), k...))
			digits = digits[(before*8+5)/6 : (before+len(k))*8/6]
			if len(digits) >= 6 {
				forms = append(forms, digits)
			}
		}
	}
	return forms
}
