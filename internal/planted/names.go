package planted

import (
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
)

var identifier = regexp.MustCompile(`^[A-Za-z_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?$`)

// checkNames checks the table of names: a name must occur in the source, and its alternatives
// must not.
func (r *reader) checkNames() {
	has := func(name string) bool {
		return slices.ContainsFunc(r.p.sources, func(s source) bool {
			return s.words[name] || strings.Contains(name, "-") && strings.Contains(s.text, name)
		})
	}
	taken := map[string]audit.Pos{}
	for _, n := range r.p.names {
		if len(n.to) == 0 {
			r.c.Errorf(n.pos, "the name %s has no alternative: expected at least one", n.from)
		}
		for i, word := range append([]string{n.from}, n.to...) {
			first, twice := taken[word]
			taken[word] = n.pos
			switch {
			case !identifier.MatchString(word):
				r.c.Errorf(n.pos, "%q is not a name: expected letters, digits, _ and -", word)
			case twice:
				r.c.Errorf(n.pos, "%s occurs twice: also at line %d", word, first.Line)
			case i == 0 && !has(word):
				r.c.Errorf(n.pos, "the name %s does not occur in source/ as a whole word", word)
			case i > 0 && has(word):
				r.c.Errorf(n.pos,
					"the alternative %s for %s occurs in source/ already: expected a word that is free", word, n.from)
			}
		}
	}
}

var wordPattern = regexp.MustCompile(`[A-Za-z0-9_]+`)

// wordsIn returns the words of a text.
func wordsIn(text string) map[string]bool {
	words := map[string]bool{}
	for _, w := range wordPattern.FindAllString(text, -1) {
		words[w] = true
	}
	return words
}

// checkFiles checks the table of files: a file must exist, and its alternatives must be free
// paths with the same extension.
func (r *reader) checkFiles() {
	taken := map[string]bool{}
	for _, s := range r.p.sources {
		taken[s.path] = true
	}
	for _, f := range r.p.files {
		if !taken[f.from] {
			r.c.Errorf(f.pos,
				"the file %s is not in source/: expected its path as the export has it", f.from)
		}
		if len(f.to) == 0 {
			r.c.Errorf(f.pos, "the file %s has no alternative: expected at least one", f.from)
		}
		for _, to := range f.to {
			switch {
			case !fs.ValidPath(to) || to == ".":
				r.c.Errorf(f.pos,
					"%q is not a path: expected one from the root of source/, with slashes", to)
			case taken[to]:
				r.c.Errorf(f.pos, "the path %s is taken: expected one that is free", to)
			case path.Ext(to) != path.Ext(f.from):
				r.c.Errorf(f.pos, "%s ends otherwise than %s: expected the same extension", to,
					f.from)
			}
			taken[to] = true
		}
	}
}

// A renamer replaces names and paths by those of a draw.
type renamer struct{ names, paths map[string]string }

// apply replaces every name that occurs as a whole word and every complete path.
func (n renamer) apply(text string) string {
	for _, from := range slices.Sorted(maps.Keys(n.paths)) {
		if strings.Contains(text, from) {
			text = replacePath(text, from, n.paths[from])
		}
	}
	var b strings.Builder
	for text != "" {
		end := span(text, func(c byte) bool { return isWordByte(c) || c == '-' })
		for end > 0 && n.names[text[:end]] == "" { // of two names that begin alike the longer one
			end = strings.LastIndexByte(text[:end], '-')
		}
		if end > 0 {
			b.WriteString(n.names[text[:end]])
		} else { // none begins here
			end = span(text, isWordByte)
			end += span(text[end:], func(c byte) bool { return !isWordByte(c) })
			b.WriteString(text[:end])
		}
		text = text[end:]
	}
	return b.String()
}

// all applies the renamer to each text.
func (n renamer) all(texts []string) (out []string) {
	for _, t := range texts {
		out = append(out, n.apply(t))
	}
	return out
}

// span returns the number of leading bytes that satisfy in.
func span(text string, in func(byte) bool) int {
	n := 0
	for n < len(text) && in(text[n]) {
		n++
	}
	return n
}

// replacePath replaces a path where it is not part of a longer one.
func replacePath(text, from, to string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, from)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		end := i + len(from)
		before := i > 0 && isPathByte(text[i-1]) && text[i-1] != '/'
		after := end < len(text) && isPathByte(text[end]) &&
			(text[end] != '.' || end+1 < len(text) && isPathByte(text[end+1]))
		b.WriteString(text[:i])
		if before || after {
			b.WriteString(from)
		} else {
			b.WriteString(to)
		}
		text = text[end:]
	}
}

// isWordByte reports whether c may occur in an identifier.
func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// isPathByte reports whether c may occur in a path.
func isPathByte(c byte) bool { return isWordByte(c) || c == '-' || c == '.' || c == '/' }
