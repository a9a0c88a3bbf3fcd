package hostreview

import (
	"regexp"
	"strings"
)

var (
	scopeRE   = regexp.MustCompile(`(?i)\b(own|belongs?|another|other|same|across|within|inside|isolat\w*|tenan\w*|scop\w*|restrict\w*|filter\w*|limited to|outside|between|separat\w*)\b`)
	foreignRE = regexp.MustCompile(`(?i)\b(every|each|all|any|only|never|nothing|nobody|cannot|must)\b`)
	anyAccess = regexp.MustCompile(`(?i)\b(see|sees|read|reads|change|changes|access\w*|reach\w*|rows?|data|records?|statements?|quer\w+|everything|things?)\b`)
)

// tenancy gives the one requirement that keeps tenants apart, 0 for none: the one
// whose words speak of the tenant and of staying within it.
func (b *brief) tenancy() int {
	if b.apart < 0 {
		b.apart = b.findTenancy()
	}
	return b.apart
}

func (b *brief) findTenancy() int {
	if b.tenant == "" {
		return 0
	}
	noun := strings.TrimSuffix(b.tenant, "_id")
	best, at := 2, 0
	for _, r := range b.reqs {
		score := 0
		named := strings.Contains(r.Text, b.tenant)
		for _, w := range wordRE.FindAllString(strings.ToLower(spanRE.ReplaceAllString(r.Text, " ")), -1) {
			named = named || strings.HasPrefix(w, noun) || w == "tenant" || w == "tenants"
		}
		if !named || !scopeRE.MatchString(r.Text) && !strings.Contains(r.Text, b.tenant) {
			continue
		}
		score += 2
		if scopeRE.MatchString(r.Text) {
			score++
		}
		if strings.Contains(r.Text, b.tenant) {
			score++
		}
		if foreignRE.MatchString(r.Text) {
			score++
		}
		if anyAccess.MatchString(r.Text) {
			score++
		}
		if score > best {
			best, at = score, r.Number
		}
	}
	return at
}

func (v *view) touchesAny(tables []string) bool {
	if len(tables) == 0 {
		return true
	}
	for _, t := range v.touched() {
		if contains(tables, t) {
			return true
		}
	}
	return false
}

// phraseIn: the words of a phrase stand one after the other in a text.
func phraseIn(text, phrase string) bool {
	words, want := roots(text), roots(phrase)
	if len(want) == 0 {
		return false
	}
	for i := 0; i+len(want) <= len(words); i++ {
		all := true
		for k := range want {
			all = all && meet(words[i+k], want[k])
		}
		if all {
			return true
		}
	}
	return false
}

// namesRows: the text speaks of the rows of a table.
func (b *brief) namesRows(text, table string) bool {
	if strings.Contains(text, "`"+table+"`") || contains(b.tablesIn(text), table) {
		return true
	}
	all := roots(table) // zone_duties: "in a zone in which they are on duty"
	for _, w := range all {
		if !hasWord(text, w) {
			return false
		}
	}
	return len(all) > 1
}

var (
	hashCol = regexp.MustCompile(`(?i)(^|_)(hash|digest|sha256|sha)$`)
	limitRE = regexp.MustCompile(`(?i)\blimit\b|\bfetch\s+(first|next)\b`)
)

// having counts the tables that have a column.
func (b *brief) having(col string) int {
	n := 0
	for _, cols := range b.tables {
		if contains(cols, col) {
			n++
		}
	}
	return n
}

// commonKey gives the foreign key that most tables have, more than half of at least six:
// whatever the prose calls its thing, that is what rows are kept apart by.
func (b *brief) commonKey() string {
	best, most := "", 0
	for _, cols := range b.tables {
		for _, c := range cols {
			if n := b.having(c); strings.HasSuffix(c, "_id") && (n > most || n == most && c < best) {
				best, most = c, n
			}
		}
	}
	if len(b.tables) < 6 || 2*most < len(b.tables) {
		return ""
	}
	return best
}
