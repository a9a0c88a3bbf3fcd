package auditor

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/audit"
)

// keyForm matches the usual forms of providers' keys, for keys that are not in our
// configuration.
var keyForm = regexp.MustCompile(`\b(?:sk-[A-Za-z0-9_-]{16,}|Bearer\s+[A-Za-z0-9._~+/-]{16,}=*)`)

// Redact replaces secrets in a text that is stored or shown: the given ones in all encodings,
// and everything that looks like a provider's key.
func Redact(s string, secrets ...string) string { return maskForms(Mask(s, secrets...)) }

// withoutSecrets redacts all that is kept of a review, once it is read: what was
// written as JSON may not have shown them.
func withoutSecrets(r audit.Review, redact func(string) string) audit.Review {
	texts := []*string{&r.Detail, &r.Raw, &r.Explanation}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		texts = append(texts, &a.Error, &a.Model, &a.FinishReason)
	}
	for _, text := range texts {
		*text = redact(*text)
	}
	return r
}

// maskForms replaces everything that looks like a provider's key.
func maskForms(s string) string {
	// most texts: the expression is slow
	if !strings.Contains(s, "sk-") && !strings.Contains(s, "Bearer") {
		return s
	}
	return keyForm.ReplaceAllString(s, "[key]")
}

// Mask replaces the secrets given: also where they are written in hex, in base64
// (alone or within a longer text), for a URL or as a string of JSON, where a
// stream's events hold a piece each, and what a cut has left of them.
func Mask(s string, secrets ...string) string {
	for _, k := range secrets {
		m := newMasker(k)
		s = m.mask(s)
	}
	return s
}

// A masker hides one key in all of its encodings.
type masker struct {
	key    string
	quoted string // as a string of Go or JSON
	forms  []string
}

// newMasker returns the masker of a key; it masks nothing if the key is too short.
func newMasker(k string) masker {
	k = strings.TrimSpace(k) // as it is sent
	if len(k) < 6 {          // no key, and would tear words apart
		return masker{}
	}
	return masker{k, strconv.Quote(k), written(k)}
}

// mask replaces the key in a text.
func (k *masker) mask(s string) string {
	if k.key == "" || len(s) < min(len(k.key), partLength) {
		return s
	}
	s = strings.ReplaceAll(s, k.quoted, `"[key]"`)
	for _, form := range k.forms {
		s = strings.ReplaceAll(s, form, "[key]")
	}
	return maskParts(maskPieces(s, k.key), k.key)
}

// pieceGap is the largest distance, in bytes, between two pieces of a secret in a stream of
// events.
const pieceGap = 2000

// A piece is a part of a secret, at the end of a string of JSON or of all.
type piece struct {
	start, end int
	before     *piece // nil for the first
}

// maskPieces replaces a secret that is split over the ends of consecutive JSON strings. It
// reads the text once: of the pieces that end at the same position of the secret it keeps the
// last.
func maskPieces(s, k string) string {
	var out strings.Builder
	done := 0
	upTo := map[int]*piece{} // by how much of the secret is there when it ends
	for i := range len(s) {
		first := i == 0 || s[i-1] != '"' // no other piece begins elsewhere than a string
		if i < done || first && s[i] != k[0] {
			continue
		}
		for from := range len(k) {
			if i < done || from > 0 && (first || len(upTo) == 0) {
				break
			}
			if s[i] != k[from] {
				continue
			}
			before := upTo[from]
			if from > 0 && (before == nil || i-1 <= before.end || i-before.end > pieceGap) {
				continue
			}
			end := i + shared(s[i:], k[from:])
			switch last := from + end - i; {
			case last == len(k):
				for _, p := range chain(&piece{i, end, before}) {
					out.WriteString(s[done:p.start] + "[key]")
					done = p.end
				}
				clear(upTo)
			case end < len(s) && s[end] == '"':
				upTo[last] = &piece{i, end, before}
			}
		}
	}
	if done == 0 {
		return s
	}
	return out.String() + s[done:]
}

// chain returns a piece and those before it, in order.
func chain(p *piece) (ps []*piece) {
	for ; p != nil; p = p.before {
		ps = append(ps, p)
	}
	slices.Reverse(ps)
	return ps
}

// shared returns the length of the common prefix of two texts.
func shared(s, t string) int {
	n := 0
	for n < min(len(s), len(t)) && s[n] == t[n] {
		n++
	}
	return n
}

// partLength is the number of characters of a long secret that reveal it.
const partLength = 12

// maskParts replaces remaining parts of a secret that was cut. Parts of a short secret, or of
// one made of words, may be ordinary words and are kept.
func maskParts(s, k string) string {
	if len(k) < 20 || !strings.ContainsAny(k, "0123456789") {
		return s
	}
	for i := 0; i+partLength <= len(k); i++ {
		before, after, found := strings.Cut(s, k[i:i+partLength])
		if !found {
			continue
		}
		var out strings.Builder
		for ; found; before, after, found = strings.Cut(after, k[i:i+partLength]) {
			out.WriteString(before + "[key]")
			after = after[shared(after, k[i+partLength:]):]
		}
		s = out.String() + before
	}
	return s
}

// written returns the ways in which a secret can stand in a text, longer ones first
// where one holds another.
func written(k string) []string {
	quoted := strconv.Quote(k)
	hexed := hex.EncodeToString([]byte(k))
	forms := []string{k, quoted[1 : len(quoted)-1],
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
