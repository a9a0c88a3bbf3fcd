package planted

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A pair is a site's two variants as text: the primary region and all others.
type pair struct {
	id        string
	text      [2]variant // good, bad
	goodFirst bool       // the good variant is written first
}

// A variant is what one of the two shows.
type variant struct {
	code     string // without comments
	comments []string
	regions  int // that are not empty
}

// pairsOf gives the pairs of a project in the order of its table.
func pairsOf(p *Template) []*pair {
	byID := map[string]*pair{}
	var all []*pair
	for _, s := range p.Sites {
		byID[s.ID] = &pair{id: p.Name + " " + s.ID}
		all = append(all, byID[s.ID])
	}
	for _, src := range p.sources {
		for _, g := range regions(src.nodes) {
			one := byID[g.site]
			if !g.plus {
				one.goodFirst = g.goodFirst
			}
			for i, lines := range [2][]string{g.good, g.bad} {
				if len(lines) > 0 {
					one.text[i].add(src.path, strings.Join(lines, ""))
				}
			}
		}
	}
	return all
}

// commentPatterns find comments by the family of the file's language. Quoted
// leaders are rare enough in a few lines of code not to matter here.
var commentPatterns = map[string]*regexp.Regexp{
	"hash":  regexp.MustCompile(`(?m)(?:^|\s)#[^\n]*`),
	"slash": regexp.MustCompile(`(?ms)(?:^|\s)//[^\n]*|/\*.*?\*/`),
	"dash":  regexp.MustCompile(`(?m)(?:^|\s)--[^\n]*`),
	"mark":  regexp.MustCompile(`(?s)<!--.*?-->|\{#.*?#\}|\{\{/\*.*?\*/\}\}|<%#.*?%>`),
}

func commentFamily(file string) string {
	switch path.Ext(file) {
	case ".go", ".ts", ".tsx", ".js", ".mjs", ".cjs", ".java", ".kt", ".php", ".css", ".json",
		".mod":
		return "slash"
	case ".sql":
		return "dash"
	case ".html", ".htm", ".tmpl", ".gohtml", ".twig", ".ejs", ".jsp", ".xml", ".md", ".svg":
		return "mark"
	}
	return "hash"
}

func (v *variant) add(file, text string) {
	re := commentPatterns[commentFamily(file)]
	for _, c := range re.FindAllString(text, -1) {
		v.comments = append(v.comments, strings.TrimSpace(c))
	}
	v.code += re.ReplaceAllString(text, "")
	v.regions++
}

func (v variant) all() string { return v.code + "\n" + strings.Join(v.comments, "\n") }

// A feature gives a number for each variant.
type feature struct {
	name  string
	score func(v variant) float64
}

func counts(name, pattern string) feature {
	re := regexp.MustCompile(pattern)
	return feature{name,
		func(v variant) float64 { return float64(len(re.FindAllStringIndex(v.code, -1))) }}
}

// figures are the features that ask for no word.
func figures() []feature {
	return []feature{
		{"characters",
			func(v variant) float64 {
				return float64(len(strings.Join(strings.Fields(v.code),
					"")))
			}},
		{"lines", func(v variant) float64 { return float64(len(codeLines(v.code))) }},
		{"longest line", func(v variant) float64 {
			most := 0
			for _, l := range codeLines(v.code) {
				most = max(most, len(l))
			}
			return float64(most)
		}},
		{"comments", func(v variant) float64 { return float64(len(v.comments)) }},
		{"characters of comments",
			func(v variant) float64 { return float64(len(strings.Join(v.comments, ""))) }},
		{"regions", func(v variant) float64 { return float64(v.regions) }},
		{"different words", func(v variant) float64 { return float64(len(wordsOf(v.code))) }},
		{"longest word", func(v variant) float64 {
			most := 0
			for _, w := range wordPattern.FindAllString(v.code, -1) {
				most = max(most, len(w))
			}
			return float64(most)
		}},
		counts("tokens", `\w+|[^\w\s]`),
		counts("conditions",
			`(?i)\b(?:if|elif|elsif|else|unless|when|case|switch|match|where|and|or)\b|&&|\|\||\?`),
		counts("comparisons",
			`[=!]==?|<=|>=|<>|[^<\-=>]<[^<]|[^\-=>]>[^>]|(?i)\b(?:in|is|like|between|equals|compare\w*)\b`),
		counts("calls", `\w\s*\(`),
		counts("negations", `!|(?i)\bnot\b|\bunless\b`),
		counts("empty values", `(?i)\b(?:nil|null|none|undefined)\b`),
		counts("returns", `\b(?:return|raise|throw|panic|abort)\b`),
		counts("digits", `[0-9]`),
		counts("numbers", `\b[0-9]+\b`),
		counts("string literals", `"[^"\n]*"|'[^'\n]*'|`+"`[^`]*`"),
		counts("commas", `,`),
		counts("dots", `\.`),
		counts("assignments", `:=|[^=!<>]=[^=>]`),
		counts("parameters of statements", `\$[0-9]|\?|:\w+|%s`),
		counts("braces and blocks", `[{}]|:\s*$`),
	}
}

func codeLines(code string) []string {
	var out []string
	for _, l := range strings.Split(code, "\n") {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

var symbols = regexp.MustCompile(`[^\w\s]+`)

// wordsOf counts the words of a text: parts of identifiers in lower case, and
// runs of symbols.
func wordsOf(text string) map[string]float64 {
	n := map[string]float64{}
	for _, w := range wordPattern.FindAllString(text, -1) {
		for _, part := range parts(w) {
			n[part]++
		}
	}
	for _, s := range symbols.FindAllString(text, -1) {
		n[s]++
	}
	return n
}

// parts cuts an identifier at underscores and humps.
func parts(w string) []string {
	var out []string
	for _, piece := range strings.Split(w, "_") {
		start := 0
		rs := []rune(piece)
		for i := 1; i <= len(rs); i++ {
			if i == len(rs) || unicode.IsUpper(rs[i]) && !unicode.IsUpper(rs[i-1]) {
				if part := strings.ToLower(string(rs[start:i])); part != "" {
					out = append(out, part)
				}
				start = i
			}
		}
	}
	return slices.Clip(out)
}
