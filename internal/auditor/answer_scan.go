package auditor

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/kaptinlin/jsonrepair"
)

// maxStray bounds how many braces may stand open in a text before it is given
// up: looking for the end of each costs a pass over the rest.
const maxStray = 64

type span struct{ from, to int }

func (s span) of(text string) string { return text[s.from:s.to] }

// without gives a text with the end of a line in the place of each object.
func without(text string, objects []span) string {
	var b strings.Builder
	at := 0
	for _, o := range objects {
		b.WriteString(text[at:o.from] + "\n")
		at = o.to
	}
	return b.String() + text[at:]
}

// scanObjects finds the complete objects of a text, from outermost brace to
// outermost brace, in order. cut says that an object that looks like an answer
// breaks off: it may have been the one that counts, and what stands within it is
// a part of it.
func scanObjects(text string) (objects []span, cut bool) {
	stray := 0
	for i := 0; i < len(text); {
		open := strings.IndexByte(text[i:], '{')
		if open < 0 {
			break
		}
		open += i
		end := closing(text[open:])
		switch {
		case end > 0:
			objects = append(objects, span{open, open + end})
			i = open + end
		case beginning.MatchString(text[open:]):
			return objects, true
		default: // a brace in prose or in quoted code
			if stray++; stray > maxStray {
				return objects, false
			}
			i = open + 1
		}
	}
	return objects, false
}

// beginning matches how an object begins: with the name of a field and a colon, or cut
// off before the colon. Code and prose rarely do.
var beginning = regexp.MustCompile(`^\{\s*(?:$|\w{1,40}\s*:|["“][\w -]{0,40}(?:$|["”]\s*(?:$|:))|'[\w -]{0,40}(?:$|'\s*(?:$|:)))`)

// closing gives the length of the object at the beginning of s, or -1. Braces
// within strings do not count. An object whose first name is in single quotes is
// one as Python prints it: there a single quote closes a string when what may
// follow a string follows it, so that an apostrophe does not.
func closing(s string) int {
	python := strings.HasPrefix(strings.TrimLeft(s[1:], " \t\r\n"), "'")
	depth, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote == '\'' && c == '\'':
			if next := strings.TrimLeft(s[i+1:min(len(s), i+40)], " \t\r\n"); next != "" && strings.IndexByte(",:}]", next[0]) >= 0 {
				quote = 0
			}
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || python && c == '\'':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// fields are the members of an object, by names that normalKey has folded.
type fields map[string]any

func fold(object map[string]any) fields {
	folded := make(fields, len(object))
	for k, v := range object {
		k = normalKey(k)
		if _, twice := folded[k]; twice {
			v = nil // neither counts
		}
		folded[k] = v
	}
	return folded
}

// normalKey folds "violatedRequirements", "Violated Requirements" and
// "violated-requirements" to one.
func normalKey(k string) string { return strings.ToLower(separators.Replace(strings.TrimSpace(k))) }

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// maxNesting bounds how deep an answer is looked for.
const maxNesting = 4

// collect gives take an object and those within it, where some wrap the answer:
// {"evaluation": {"verdict": ...}}. It looks no deeper where take says that it has it.
func collect(v any, depth int, take func(fields) bool) {
	if depth > maxNesting {
		return
	}
	switch v := v.(type) {
	case fields:
		if take(v) {
			return
		}
		for _, k := range sortedKeys(v) {
			collect(v[k], depth+1, take)
		}
	case map[string]any:
		collect(fold(v), depth, take)
	case []any:
		for _, e := range v {
			collect(e, depth+1, take)
		}
	}
}

// Bounds of what is mended: the time that it takes grows with the square of the
// text, and a reply made for it would hold a run up for minutes.
const (
	maxMended  = 32 << 10 // bytes of an object
	maxDepth   = 64       // of brackets within brackets
	maxObjects = 64       // of a reply, from the last
)

// deepest gives how deep brackets stand within brackets; those in strings count
// too.
func deepest(text string) int {
	depth, most := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '{', '[':
			depth++
			most = max(most, depth)
		case '}', ']':
			depth--
		}
	}
	return most
}

// decode reads an object, mended where it has to be. Mending never completes: the
// text is known to be complete.
func decode(text string) (fields, error) {
	object, err := decodeStrict(text)
	if err == nil {
		return object, nil
	}
	if len(text) > maxMended || deepest(text) > maxDepth {
		return nil, err
	}
	mended, mendErr := jsonrepair.Repair(text)
	if mendErr != nil {
		return nil, err
	}
	return decodeStrict(mended)
}

// decodeStrict refuses a name that stands twice: nobody can tell which is meant.
func decodeStrict(text string) (fields, error) {
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object, jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, err
	}
	return fold(object), nil
}
