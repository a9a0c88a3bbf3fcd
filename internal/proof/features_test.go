package proof

import (
	"regexp"
	"slices"
	"strings"

	"assay/audit"
)

// Shortcuts gives the shortcuts that are tried: keywords, words in comments,
// length, lines, comments, and the rank by length within the family, which a
// reviewer who sees all variants of a query could use.
func Shortcuts() []Shortcut {
	bare := once(func(c *audit.Case) string { return strings.ToLower(dialectOf(c.Language).strip(c.Code)) })
	remarks := once(func(c *audit.Case) []string { return dialectOf(c.Language).comments(c.Code) })
	all := []Shortcut{
		each("length", func(c *audit.Case) float64 { return float64(len(c.Code)) }),
		each("length without comments",
			func(c *audit.Case) float64 { return float64(len(bare(c))) }),
		each("lines", func(c *audit.Case) float64 { return float64(strings.Count(c.Code, "\n")) }),
		each("longest line", func(c *audit.Case) float64 {
			most := 0
			for l := range strings.Lines(c.Code) {
				most = max(most, len(l))
			}
			return float64(most)
		}),
		each("number of comments", func(c *audit.Case) float64 { return float64(len(remarks(c))) }),
		each("comment length",
			func(c *audit.Case) float64 { return float64(len(strings.Join(remarks(c), " "))) }),
		each("first line is a comment", func(c *audit.Case) float64 {
			t := strings.TrimSpace(c.Code)
			return flag(strings.HasPrefix(t, "--") || strings.HasPrefix(t, "//") ||
				strings.HasPrefix(t, "#") || strings.HasPrefix(t, "/*"))
		}),
		ranked("rank by length", func(c *audit.Case) float64 { return float64(len(c.Code)) }),
		ranked("rank by lines",
			func(c *audit.Case) float64 { return float64(strings.Count(c.Code, "\n")) }),
		ranked("rank by comments", func(c *audit.Case) float64 { return float64(len(remarks(c))) }),
	}
	for _, w := range []string{"safe", "secure", "only", "never", "always", "ensure", "must",
		"check", "tenant", "own", "because",
		"so that", "no longer", "not", "already", "all", "every", "here", "client", "the"} {
		all = append(all,
			each("comment says "+w,
				func(c *audit.Case) float64 {
					return float64(words(strings.Join(remarks(c), " "),
						w))
				}))
	}
	for _, k := range []string{`\bwith\b`, `\bexists\b`, `\bleft join\b`, `\bcoalesce\b`,
		`\bleast\b|\bgreatest\b|\bmin\b|\bmax\b`,
		`\bfor update\b`, `\bor\b|\|\|`, `\bnot in\b`, `\bin\b`, `\bany\b`, `\blateral\b`,
		`\bdistinct\b`, `\bgroup by\b`, `\bover\b`,
		`\bcase\b|\bswitch\b`, `\bunion\b`, `\blimit\b|\bfetch\b`, `\boffset\b`,
		`\bnull\b|\bnil\b|\bnone\b`, `<>|!=`, `<=|>=`, `\$\{`,
		`\bnow\b|current_`, `\bif\b`, `\btry\b|\bcatch\b|\bexcept\b`, `\breturn\b`, `\bjoin\b`,
		`\band\b|&&`, `\bselect\b`, `\*`} {
		re := regexp.MustCompile(k)
		all = append(all, each("code has "+strings.ReplaceAll(k, `\b`, ""),
			func(c *audit.Case) float64 {
				return float64(len(re.FindAllStringIndex(bare(c), -1)))
			}))
	}
	return all
}

func each(name string, score func(*audit.Case) float64) Shortcut {
	return Shortcut{name, func(fam *audit.Family) []float64 {
		out := make([]float64, len(fam.Cases))
		for i, c := range fam.Cases {
			out[i] = score(c)
		}
		return out
	}}
}

// ranked scores a case by how many of its family stand below it; equals share.
func ranked(name string, score func(*audit.Case) float64) Shortcut {
	return Shortcut{name, func(fam *audit.Family) []float64 {
		raw := make([]float64, len(fam.Cases))
		for i, c := range fam.Cases {
			raw[i] = score(c)
		}
		out := make([]float64, len(raw))
		for i, x := range raw {
			for _, y := range raw {
				if y < x {
					out[i]++
				}
			}
		}
		return out
	}}
}

// once keeps what f gives of a case: cutting code into tokens takes most of the time.
func once[T any](f func(*audit.Case) T) func(*audit.Case) T {
	kept := map[*audit.Case]T{}
	return func(c *audit.Case) T {
		if _, known := kept[c]; !known {
			kept[c] = f(c)
		}
		return kept[c]
	}
}

func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// words counts a word, or several, in a text, without regard to case.
func words(text, w string) int {
	notWord := func(r rune) bool { return !(r >= 'a' && r <= 'z') }
	want := strings.Fields(w)
	have := strings.FieldsFunc(strings.ToLower(text), notWord)
	n := 0
	for i := 0; i+len(want) <= len(have); i++ {
		if slices.Equal(have[i:i+len(want)], want) {
			n++
		}
	}
	return n
}
