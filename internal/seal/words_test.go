package seal

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"assay/audit"
)

type vocabulary struct {
	own    map[string]bool // the project declares them
	given  map[string]bool // by the table of renames
	within []string        // given as parts of names
	common func(name string) bool
}

func newVocabulary(renames []audit.Rename, files []*markFile,
	common func(string) bool) *vocabulary {
	v := &vocabulary{own: map[string]bool{}, given: map[string]bool{}, common: common}
	for _, f := range files {
		f.declares(v.own)
	}
	for _, r := range renames {
		v.given[r.To] = true
		if r.Within {
			v.within = append(v.within, r.To)
		}
	}
	return v
}

// names gives what is tried of the names in the lines: whole ones, and, with a ~
// before them, the words that they are made of.
func (v *vocabulary) names(lines []string) map[string]bool {
	tried := map[string]bool{}
	seen := map[string]bool{}
	for _, l := range lines {
		if len(l) > longest || importing.MatchString(l) {
			continue
		}
		for _, n := range aName.FindAllString(l, -1) {
			if !seen[n] {
				seen[n] = true
				v.try(n, tried)
			}
		}
	}
	return tried
}

// folders are the names that the servlet specification gives to folders, which no
// other project of ours has.
var folders = map[string]bool{"webapp": true, "WEB": true, "INF": true, "META": true}

func (v *vocabulary) try(name string, tried map[string]bool) {
	if v.given[name] || !v.own[name] || folders[name] {
		return
	}
	rest := name
	for _, part := range v.within {
		rest = strings.ReplaceAll(rest, part, "_")
	}
	if rest == name && len(name) >= 3 && !v.common(name) {
		tried[name] = true
	}
	for _, w := range wordsOf(rest) {
		if !v.common(w) {
			tried["~"+w] = true
		}
	}
}

// longest is how long a line may be that somebody wrote: longer ones are packed
// code, whose names nobody gave.
const longest = 2000

// importing are lines that name what stands elsewhere: they are no place.
var importing = regexp.MustCompile(`^\s*(import|package|from|using|use|require|#include)\b`)

var aWord = regexp.MustCompile(`[A-Z]+[a-z]*|[a-z]+`)

// wordsOf gives a name's words of three letters or more, in small letters.
func wordsOf(name string) []string {
	var words []string
	for _, w := range aWord.FindAllString(name, -1) {
		if len(w) >= 3 {
			words = append(words, strings.ToLower(w))
		}
	}
	return words
}

// tells are words that speak of flaws or of lessons: no ordinary code uses them,
// whatever other projects do.
var tells = regexp.MustCompile(
	`(?i)vuln|insecur|unsafe|exploit|attack|hack|inject|xss|csrf|xxe|ssrf|idor|sqli|traversal|lesson|challenge|assignment|hint|solution|solve|mitigat|tamper|spoof|bypass|payload|victim|malicious|flaw|weak|goat|dvwa|dvja|juice|owasp|secur`)

// Words gives the names that stand in the text files of fsys, and the words that
// they are made of, as far as ordinary code may use them.
func Words(fsys fs.FS) (map[string]bool, error) {
	words := map[string]bool{}
	err := fs.WalkDir(fsys, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(fsys, file)
		if err != nil || !isText(content) || len(content) > mostBytes {
			return err
		}
		for _, l := range append(strings.Split(string(content), "\n"), file) {
			if len(l) <= longest {
				addWords(words, l)
			}
		}
		return nil
	})
	return words, err
}

func addWords(words map[string]bool, line string) {
	for _, name := range aName.FindAllString(line, -1) {
		if words[name] || tells.MatchString(name) {
			continue
		}
		words[name] = true
		for _, w := range wordsOf(name) {
			words[w] = true
		}
	}
}

const mostBytes = 1 << 20 // what is longer is data

var (
	aName = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

	// declarations give the names that a file declares, as far as their shape shows
	// it in the languages of the projects: keyword and name, type and name, name and
	// value, attributes of markup, keys, routes.
	declarations = []*regexp.Regexp{
		regexp.MustCompile(
			`\b(?:class|interface|enum|struct|trait|type|func|def|function|const|let|var|namespace|record|contract|event|package)\s+\*?(\w+)`),
		regexp.MustCompile(`\bfunc \([^)]*\) (\w+)`),
		regexp.MustCompile(`\b[A-Za-z_][\w.]*(?:<[^<>]*>)?(?:\[\])?\s+(\w+)\s*[=;,):(]`),
		regexp.MustCompile(`(\w+)\s*:?=[^=>]`),
		regexp.MustCompile(`["']?\b([\w-]+)["']?\s*\??:\s`),
		regexp.MustCompile(`(?:id|name|class|for|formControlName|key)\s*=\s*["']([\w -]+)["']`),
		regexp.MustCompile("[\"'`(/]((?:[\\w-]+/)+[\\w-]+)"),
		regexp.MustCompile(`^([\w.-]+)\s*=`),
	}
)

// after are words that stand before the use of a name, where a type would stand
// before its declaration.
var after = regexp.MustCompile(
	`^(return|new|throw|else|case|in|of|and|or|not|await|yield|echo|print|instanceof|typeof|delete|go|defer)\s`)

// address: what it names, others declare.
var address = regexp.MustCompile(`https?://[^\s"'<>]+`)

// declares adds the names that the file declares, and the parts of its path.
func (f *markFile) declares(own map[string]bool) {
	of := declarations
	// a variable has its $, and what has none is PHP's own as often as not
	if path.Ext(f.path) == ".php" {
		of = slices.Concat(declarations[:1], []*regexp.Regexp{regexp.MustCompile(`\$(_*[a-z]\w*)`)},
			declarations[5:])
	}
	inherited := false
	for _, l := range f.lines {
		if len(l) > longest {
			continue
		}
		plain := address.ReplaceAllString(l, "")
		for _, re := range of {
			for _, m := range re.FindAllStringSubmatch(plain, -1) {
				if inherited || after.MatchString(m[0]) {
					continue
				}
				for _, name := range aName.FindAllString(m[1], -1) {
					own[name] = true
				}
			}
		}
		inherited = strings.Contains(l, "@Override")
	}
	for _, name := range aName.FindAllString(f.path, -1) {
		own[name] = true
	}
}
