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
