package sqlreview

import (
	"regexp"
	"strings"
)

// stem takes the endings of English plurals and verbs off, roughly.
func stem(w string) string {
	w = strings.ToLower(w)
	if strings.HasSuffix(w, "ings") && len(w) > 6 { // readings, like reading
		w = w[:len(w)-1]
	}
	for _, r := range [...][2]string{{"ies", "y"}, {"sses", "ss"}, {"xes", "x"}, {"ches", "ch"}, {"shes", "sh"}, {"ing", ""}, {"ied", "y"}, {"eed", "ee"}, {"ed", ""}, {"es", "e"}} {
		if strings.HasSuffix(w, r[0]) && len(w) > len(r[0])+2 {
			w = strings.TrimSuffix(w, r[0]) + r[1]
			return strings.TrimSuffix(undouble(w), "e")
		}
	}
	if strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is") && len(w) > 3 {
		w = w[:len(w)-1]
	}
	return strings.TrimSuffix(w, "e")
}

func undouble(w string) string {
	if n := len(w); n > 3 && w[n-1] == w[n-2] && strings.IndexByte("tpnrdm", w[n-1]) >= 0 {
		return w[:n-1]
	}
	return w
}

func stemsOf(text string) []string {
	var out []string
	for _, w := range wordRE.FindAllString(text, -1) {
		for _, p := range strings.Split(w, "_") {
			if p != "" {
				out = append(out, stem(p))
			}
		}
	}
	return out
}

// hasRun reports whether the stems of name stand in list one after the other.
func hasRun(list []string, name string) bool {
	parts := stemsOf(name)
	for i := 0; i+len(parts) <= len(list) && len(parts) > 0; i++ {
		all := true
		for k, p := range parts {
			all = all && list[i+k] == p
		}
		if all {
			return true
		}
	}
	return false
}

func containsWord(text, w string) bool {
	for i := 0; ; {
		k := strings.Index(text[i:], strings.ToLower(w))
		if k < 0 {
			return false
		}
		k += i
		end := k + len(w)
		if (k == 0 || !isWord(text[k-1])) && (end >= len(text) || !isWord(text[end]) || strings.HasPrefix(text[end:], "s")) {
			return true
		}
		i = k + 1
	}
}

// unwrap joins the lines of a paragraph; lists, tables, headings and fenced blocks
// keep theirs.
func unwrap(text string) string {
	var b strings.Builder
	fenced, open := false, false
	for _, line := range strings.Split(text, "\n") {
		t := strings.TrimSpace(line)
		fence := strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~")
		if fence {
			fenced = !fenced
		}
		own := fence || fenced || t == "" || strings.IndexByte("#|-*+", t[0]) >= 0 || itemRE.MatchString(line)
		if open && !own {
			b.WriteString(" " + t)
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line)
		open = !fence && !fenced && t != "" && t[0] != '#' && t[0] != '|'
	}
	return b.String()
}

var (
	lineRE     = regexp.MustCompile(`[.;]\s+|\n+`)  // between the sentences and lines of a text
	sentenceRE = regexp.MustCompile(`[.;:]\s+|\n+`) // the same, a colon ending one too
)

// sentences cuts a text into its sentences and lines.
func sentences(text string) []string { return sentenceRE.Split(text, -1) }
