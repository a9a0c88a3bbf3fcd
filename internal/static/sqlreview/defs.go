package sqlreview

import (
	"regexp"
	"strings"
)

// A definition binds a word of the SPEC, outside of its requirements, to a text.
type definition struct{ term, text string }

var (
	defRE = regexp.MustCompile(`^[ \t]*(?:[-*+|][ \t]*)?(?:\*\*|\*|"|“)([A-Z][A-Za-z ]{2,40}?)(?: \([^)]*\))?[:.]?(?:\*\*|\*|"|”)(?: \([^)]*\))?[:.]?[ \t]*(?:\||means|is|are|:|–|—|-)?[ \t]*(.+)$`)
)

// findDefinitions reads lines that begin with a word in bold type and explain it.
func (s *spec) findDefinitions() {
	for _, line := range strings.Split(s.prompt, "\n") {
		if itemRE.MatchString(line) {
			continue
		}
		m := defRE.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		s.defs = append(s.defs, definition{m[1], m[2]})
	}
}

// defined gives the definitions of the words that a requirement uses.
func (s *spec) defined(text string) []definition {
	var out []definition
	for _, d := range s.defs {
		if i := strings.Index(text, d.term); i >= 0 && (i == 0 || !isWord(text[i-1])) {
			out = append(out, d)
		}
	}
	return out
}
