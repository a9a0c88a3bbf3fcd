package auditor

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/kaptinlin/jsonrepair"
	"github.com/tidwall/gjson"
)

// Bounds of what is looked at in one reply.
const (
	maxObjects = 64       // objects, from the last
	maxMended  = 32 << 10 // bytes to the end of the last object: mending takes time by the square of its text
	maxStray   = 64       // braces that stand open: looking for the end of each costs a pass over the rest
	maxNesting = 4        // how deep an answer is looked for
	maxListed  = 100      // requirements or weaknesses that an answer may name
)

type span struct{ from, to int }

// scanObjects finds the complete objects of a text, from outermost brace to
// outermost brace, in order, and what stands beside them. cut says that an object that
// looks like an answer breaks off: it may have been the one that counts, and what stands
// within it is a part of it.
func scanObjects(text string) (objects []span, beside string, cut bool) {
	var rest strings.Builder
	done, stray := 0, 0
	for i := 0; stray <= maxStray; {
		open := strings.IndexByte(text[i:], '{')
		if open < 0 {
			break
		}
		open += i
		end := closing(text[open:])
		switch {
		case end > 0:
			i = open + end
			objects = append(objects, span{open, i})
			rest.WriteString(text[done:open] + "\n")
			done = i
		case beginning.MatchString(text[open:]):
			return nil, text, true
		default: // a brace in prose or in quoted code
			stray++
			i = open + 1
		}
	}
	return objects, rest.String() + text[done:], false
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

// decode reads an object, mended where it has to be and may be; mending never completes,
// the text is known to be complete. It refuses a name that stands twice: nobody can tell
// which is meant.
func decode(text string, mend bool) (gjson.Result, error) {
	valid := func(text string) error {
		var object map[string]any
		return json.Unmarshal([]byte(text), &object, jsontext.AllowInvalidUTF8(true))
	}
	err := valid(text)
	if err != nil && mend {
		if mended, mendErr := jsonrepair.Repair(text); mendErr == nil {
			text, err = mended, valid(mended)
		}
	}
	if err != nil {
		return gjson.Result{}, err
	}
	return gjson.Parse(text), nil
}

// fields are the members of an object, by names that normalKey has folded.
type fields map[string]gjson.Result

func fold(object gjson.Result) fields {
	folded := fields{}
	object.ForEach(func(name, v gjson.Result) bool {
		k := normalKey(name.Str)
		if _, twice := folded[k]; twice {
			v = gjson.Result{} // neither counts
		}
		folded[k] = v
		return true
	})
	return folded
}

// normalKey brings "Violated Requirements", "violated_requirements" and
// "violated-requirements" to one.
func normalKey(k string) string { return strings.ToLower(separators.Replace(strings.TrimSpace(k))) }

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// first gives the first of these members that there is, and that is not null.
func (f fields) first(names []string) gjson.Result {
	for _, name := range names {
		if v := f[name]; v.Type != gjson.Null {
			return v
		}
	}
	return gjson.Result{}
}

// items gives what these members list.
func (f fields) items(names []string, within ...string) (out []string) {
	for _, name := range names {
		out = append(out, items(f[name], within...)...)
	}
	return out
}

// items gives what a field lists, as text: a value alone, a list, or objects that hold
// the item in the first of these members that they have.
func items(v gjson.Result, within ...string) (out []string) {
	list := v.Array() // of a value alone, or of none
	for _, item := range list[:min(len(list), maxListed)] {
		for _, name := range within {
			if inner := item.Get(name); item.IsObject() && inner.Type != gjson.Null {
				item = inner
			}
		}
		if !item.IsObject() {
			out = append(out, item.String())
		}
	}
	return out
}
