package static

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"assay/internal/static/lang"
)

// pageFile tells files of markup whose scripts are read as code.
func pageFile(p string) bool {
	if isTest(p) {
		return false
	}
	switch strings.ToLower(path.Ext(p)) {
	case ".html", ".htm", ".ejs", ".hbs", ".twig", ".jinja2", ".j2", ".ftl", ".jsp", ".tmpl", ".gohtml", ".mustache":
		return true
	}
	return false
}

var (
	writesPage = regexp.MustCompile(`innerHTML|outerHTML|document\.write|insertAdjacentHTML|\.html\(|eval\(|srcdoc|location(\.href)?\s*=`)
	script     = regexp.MustCompile(`(?is)<script\b([^>]*)>(.*?)</script>`)
	noScript   = regexp.MustCompile(`(?i)\bsrc\s*=|type\s*=\s*["']?(application/(json|ld)|text/(template|html|x-))`)
	inScript   = regexp.MustCompile(`(?s)<%.*?%>|\{%.*?%\}|\{\{.*?\}\}`)
)

// parsePage reads the scripts of a page as JavaScript, each at its own lines; pages
// whose scripts write no markup are left out.
func parsePage(p string, b []byte) *lang.File {
	if len(b) > 512<<10 || !bytes.Contains(b, []byte("<script")) || !writesPage.Match(b) {
		return nil
	}
	text := bytes.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, b)
	if len(text) != len(b) { // wider letters: keep bytes where they are
		text = make([]byte, len(b))
		for i, c := range b {
			if text[i] = ' '; c == '\n' {
				text[i] = c
			}
		}
	}
	found := false
	for _, m := range script.FindAllSubmatchIndex(b, -1) {
		if noScript.Match(b[m[2]:m[3]]) || !writesPage.Match(b[m[4]:m[5]]) {
			continue
		}
		body := append([]byte(nil), b[m[4]:m[5]]...)
		for _, e := range inScript.FindAllIndex(body, -1) { // values of the template: a name
			for i := e[0]; i < e[1]; i++ {
				if body[i] != '\n' {
					body[i] = '_'
				}
			}
		}
		copy(text[m[4]:m[5]], body)
		found = true
	}
	if !found {
		return nil
	}
	f, err := lang.Parse(p+".js", text)
	if err != nil {
		return nil
	}
	f.Path, f.Errors = p, 0
	return f
}
