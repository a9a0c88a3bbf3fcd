package sqlreview

import (
	"regexp"
	"strings"
)

var (
	tableRowRE = regexp.MustCompile(`^[ \t]*\|(.+)\|[ \t]*$`)
	yesRE      = regexp.MustCompile(`^(yes|y|x|✓|✔|allowed|may)$`)
	byTableRE  = regexp.MustCompile(`\btable\b|\bsection \d|\bmatrix\b|listed (above|below)|(above|below) allows`)
)

// findAuthority reads tables that say which roles may do what: a column of roles beside
// one of acts, or a column for each role with yes and no. Each row is a clause of the
// requirement that refers to the table.
func (s *spec) findAuthority() {
	target := s.authorityRequirement()
	if target == nil {
		return
	}
	var head []string
	for _, line := range strings.Split(s.prompt, "\n") {
		m := tableRowRE.FindStringSubmatch(line)
		if m == nil {
			head = nil
			continue
		}
		cells := strings.Split(m[1], "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if head == nil {
			head = cells
			continue
		}
		roles := s.rowRoles(head, cells)
		if len(roles) == 0 || strings.Contains(cells[0], "(") || s.isRoleValue(strings.ToLower(strings.Trim(cells[0], "`* "))) || strings.HasPrefix(cells[0], "-") {
			continue
		}
		for _, act := range strings.Split(cells[0], ";") {
			c := s.readRequirement(target.n, act)
			c.values, c.firm = roles, roles
			if c.kinds = target.kinds; len(c.tables) > 0 {
				target.parts = append(target.parts, c)
			}
		}
	}
}

// authorityRequirement gives the requirement about permission that refers to a table.
func (s *spec) authorityRequirement() *requirement {
	for _, r := range s.reqs {
		if byTableRE.MatchString(r.low) && !r.kinds[kTenant] && !r.kinds[kInjection] && (r.kinds[kPerm] || permRE.MatchString(r.low) && regexp.MustCompile(`\brole|authori|\bacts?\b`).MatchString(r.low)) {
			r.kinds[kPerm] = true
			return r
		}
	}
	return nil
}

// rowRoles gives the roles that a row of such a table allows.
func (s *spec) rowRoles(head, cells []string) []string {
	var out []string
	for i := 1; i < len(cells); i++ {
		if i < len(head) && s.isRoleValue(strings.ToLower(strings.Trim(head[i], "`*"))) {
			if yesRE.MatchString(strings.ToLower(cells[i])) {
				out = append(out, strings.ToLower(strings.Trim(head[i], "`*")))
			}
			continue
		}
		for _, w := range wordRE.FindAllString(strings.ToLower(cells[i]), -1) {
			if s.isRoleValue(w) && !contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}
