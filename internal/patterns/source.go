package patterns

import (
	"regexp"
	"slices"
	"sort"
	"strings"
)

// A source is one file, its comments blanked out so that offsets stay.
type source struct {
	path, language, text string
	starts               []int // of the lines, and where the last one ends
	functions            []*function
	whole                *function // what lies outside of all functions is judged by the file
}

// A function is a declaration with its annotations and body.
type function struct {
	name, text string
	start, end int      // offsets in the file
	words      []string // names that hold what came from a request; nil before taints is called
}

// newSource prepares a file for the rules.
func newSource(path, language, text string) *source {
	s := &source{path: path, language: language, text: text, starts: []int{0}}
	if comments := table.expressions["comment "+language]; comments != nil {
		s.text = comments.ReplaceAllStringFunc(text, func(m string) string {
			if strings.ContainsAny(m[:1], "\"'`") {
				return m // a string, which may hold what looks like a comment
			}
			return notNewline.ReplaceAllString(m, " ")
		})
	}
	for line := range strings.Lines(s.text) {
		s.starts = append(s.starts, s.starts[len(s.starts)-1]+len(line))
	}
	s.whole = &function{text: s.text, end: len(s.text)}
	if declaration := table.expressions["function "+language]; declaration != nil {
		for _, m := range declaration.FindAllStringSubmatchIndex(s.text, -1) {
			name := ""
			for g := 2; g < len(m); g += 2 {
				name += s.text[max(0, m[g]):max(0, m[g+1])]
			}
			if !table.matches("keyword", name) {
				s.functions = append(s.functions, s.extent(name, m[0]))
			}
		}
	}
	return s
}

// extent returns the function that is declared at an offset. It begins with the annotations
// above and ends by its indentation.
func (s *source) extent(name string, at int) *function {
	first := s.line(at) - 1
	for strings.TrimSpace(s.lineAt(first)) == "" {
		first++ // the expression took blank lines along
	}
	indent, last := indentation(s.lineAt(first)), first
	for i := first + 1; i < len(s.starts)-1; i++ {
		line := s.lineAt(i)
		trimmed, deeper := strings.TrimSpace(line), indentation(line)-indent
		if trimmed == "" {
			continue
		}
		if deeper < 0 || deeper == 0 && !strings.ContainsAny(trimmed[:1], "){}]") {
			break
		}
		last = i
		if deeper == 0 && trimmed[0] == '}' {
			break
		}
	}
	for first > 0 {
		above := strings.TrimSpace(s.lineAt(first - 1))
		if above == "" || strings.ContainsAny(above[len(above)-1:], ";{}:") {
			break
		}
		first--
	}
	start, end := s.starts[first], s.starts[last+1]
	return &function{name: name, text: s.text[start:end], start: start, end: end}
}

// functionAt returns the innermost function that holds an offset.
func (s *source) functionAt(offset int) *function {
	inner := s.whole
	for _, f := range s.functions {
		if f.start <= offset && offset < f.end && f.end-f.start <= inner.end-inner.start {
			inner = f
		}
	}
	return inner
}

// line returns the number of the line, from 1, that holds an offset.
func (s *source) line(offset int) int {
	return sort.Search(len(s.starts), func(i int) bool { return s.starts[i] > offset })
}

func (s *source) lineAt(i int) string { return s.text[s.starts[i]:s.starts[i+1]] }

func indentation(line string) int {
	line = strings.ReplaceAll(line, "\t", "    ")
	return len(line) - len(strings.TrimLeft(line, " "))
}

var (
	assignment = regexp.MustCompile(`([\w$ ,{}\[\]:<>?.]+?)\s*(?::=|\.?=)\s*([^=;\n][^;\n]*(?:\n\s+[.+?|&][^;\n]*)*)`)
	loop       = regexp.MustCompile(`\bfor(?:each)?\b[\s(]*(?:[\w<>\[\]., ]*[ $])??(\w+)\s*(?::|\bin\b|\bof\b)\s*([^\n{]*)`)
	parameters = regexp.MustCompile(`(?s)^(.*?)\)\s*(?:->[^:]*)?(?:throws[^{]*)?[{:]`)
	word       = regexp.MustCompile(`\w+`)
	notNewline = regexp.MustCompile(`[^\n]`)
)

// taints reports whether text holds what came from a request, within this function.
func (f *function) taints(language, text string) bool {
	from := table.expressions["source "+language]
	if from == nil {
		return false
	}
	if f.words == nil {
		f.words = f.tainted(from)
	}
	return from.MatchString(text) || holdsAny(text, f.words)
}

// tainted returns the names that hold what came from a request: they are declared so, or
// are assigned from what does.
func (f *function) tainted(from *regexp.Regexp) []string {
	words := []string{""}
	for _, m := range from.FindAllStringSubmatch(f.text, -1) {
		words = append(words, m[1:]...)
	}
	head, body, _ := strings.Cut(f.text, " "+f.name+"(")
	if m := parameters.FindStringSubmatch(body); m != nil && table.matches("endpoint", head) {
		for p := range strings.SplitSeq(m[1], ",") {
			words = append(words, declared(p)...)
		}
	}
	assigned := append(assignment.FindAllStringSubmatch(f.text, -1), loop.FindAllStringSubmatch(f.text, -1)...)
	for range 3 { // what is assigned from what is assigned
		for _, m := range assigned {
			if (from.MatchString(m[2]) || holdsAny(m[2], words)) && !table.matches("clean", m[2]) {
				words = append(words, declared(m[1])...)
			}
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// declared returns the names on the left of an assignment, or of a parameter: the last word
// of each, without a type behind a colon.
func declared(left string) (names []string) {
	for part := range strings.SplitSeq(strings.Trim(left, " {}[]"), ",") {
		part, _, _ = strings.Cut(part, ":")
		part, _, _ = strings.Cut(part, "=")
		if ws := word.FindAllString(part, -1); len(ws) > 0 && ws[len(ws)-1] != "self" {
			names = append(names, ws[len(ws)-1])
		}
	}
	return names
}

func holdsAny(text string, words []string) bool {
	return slices.ContainsFunc(word.FindAllString(text, -1),
		func(w string) bool { return slices.Contains(words, w) })
}
