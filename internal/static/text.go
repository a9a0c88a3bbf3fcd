package static

import (
	"bytes"
	"regexp"
	"slices"

	"assay/internal/static/flow"
)

var (
	// cleanName are names of markup that the program made or cleaned itself.
	cleanName  = regexp.MustCompile(`(?i)(\w_html|[a-z]html|clean|cleaned|sanitized|rendered)\s*(%>|\||\}|!!|\)|")`)
	sanitizing = regexp.MustCompile(`sanitize-?[hH]tml|DOMPurify|dompurify|bleach\.clean|nh3\.clean|HTMLPurifier|HtmlSanitizer|Jsoup\.clean|PolicyFactory|bluemonday|clean_html`)
)

// sanitizes: the application cleans markup before it keeps it.
func (a *application) sanitizes() bool {
	return slices.ContainsFunc(a.project.Units, func(u *flow.Unit) bool { return sanitizing.Match(u.File.Src) })
}

// checkTexts runs the rules that read templates and settings line by line.
func (a *application) checkTexts() {
	a.each(func(a *application, s *source) {
		if s.raw == nil || len(s.raw) > 2<<20 || isTest(s.path) {
			return
		}
		for _, t := range a.set.Texts {
			if !t.Files.MatchString(s.path) || t.Present.Regexp != nil && !t.Present.Match(s.raw) {
				continue
			}
			n := 0
			for l := range bytes.Lines(s.raw) {
				n++
				l = bytes.TrimSuffix(l, []byte("\n"))
				if len(l) > 5000 || !t.Line.Match(l) || t.Unless.Regexp != nil && t.Unless.Match(l) {
					continue
				}
				if t.Rule.ID == "template.unescaped" && cleanName.Match(l) && a.sanitizes() {
					continue
				}
				a.add(finding(t.Rule, s.path, line(n)))
			}
		}
	})
}
