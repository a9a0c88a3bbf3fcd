package sqlreview

import (
	"regexp"
	"strings"
)

// hushRE finds the names of columns that hold what is kept to oneself.
var hushRE = regexp.MustCompile(`(^|_)(hash|secret|pin|code|token|password|passphrase|key|note|notes|iban|bank|card|ssn|salary|cost|margin|birth|diagnosis|medical|ref)(_|$)`)

// looseCols lists the columns of sensitive names of which the text says all parts
// near each other, in whatever form and order ("what it costs us wholesale").
func (s *spec) looseCols(r *requirement) []colRef {
	var out []colRef
	words := wordRE.FindAllString(spanRE.ReplaceAllString(r.low, " "), -1)
	for _, t := range s.sch.order {
		for _, c := range t.cols {
			parts := strings.Split(c.name, "_")
			if len(parts) < 2 || len(parts) > 3 || !hushRE.MatchString(c.name) || namesCol(r, t.name, c.name) || strings.HasSuffix(c.name, "_id") || c.isTime() {
				continue
			}
			if nearAll(words, parts, 4) {
				out = append(out, colRef{t.name, c.name})
			}
		}
	}
	return out
}

// nearAll: some run of words of length n has a word for each part that begins with it.
func nearAll(words, parts []string, n int) bool {
	for i := range words {
		found := 0
		for _, p := range parts {
			for k := i; k < len(words) && k < i+n; k++ {
				if len(p) >= 3 && strings.HasPrefix(words[k], stem(p)) {
					found++
					break
				}
			}
		}
		if found == len(parts) {
			return true
		}
	}
	return false
}
