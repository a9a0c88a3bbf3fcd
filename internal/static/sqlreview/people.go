package sqlreview

import "regexp"

var permNameRE = regexp.MustCompile(`member|grant|role|assign|permission|access|share|acl|staff|delegat|entitle|guardian|enrol|teach|consent|care_team|participant|collaborator|crew|shift|mandate|authori|approver|signator`)

var makerRE = regexp.MustCompile(`^(created|made|issued|added|uploaded|written|revoked|updated|changed|recorded|entered|sent)_by|^(author|creator|sender|issuer)(_id)?$`)

// onlyMakers: the persons that t names made its rows; they hold nothing by that.
func (s *spec) onlyMakers(t *table) bool {
	cols := s.personCols(t)
	for _, c := range cols {
		if !makerRE.MatchString(c) {
			return false
		}
	}
	return len(cols) > 0
}

var personRE = regexp.MustCompile(`^(user|staff|employee|person|people|member|account_user|actor|teacher|operator|clinician|agent|worker|login|profile|principal|practitioner|nurse|doctor|guardian|student|contact|app_user|customer)s?$|(^|_)users?$|staff|people|employee|person|operators?$|clinicians?$|teachers?$|members?$`)

// isPerson: the table's rows are people who act.
func (s *spec) isPerson(t *table) bool {
	if s.people[t.name] {
		return true
	}
	if !personRE.MatchString(t.name) || len(t.keys) == 0 || len(t.keys[0]) != 1 || s.employs(t) {
		return false
	}
	for _, fk := range t.fks { // a tie to a person is no person
		if x := s.sch.tables[fk.ref]; fk.ref != t.name && personRE.MatchString(fk.ref) && (x == nil || !s.employs(x)) {
			return false
		}
	}
	return true
}

// employs: the name could be a person's, but the rows are firms: people of another
// table belong to them and they have nothing of a person.
func (s *spec) employs(t *table) bool {
	if !firmNameRE.MatchString(t.name) {
		return false
	}
	for _, c := range t.cols {
		if personAttrRE.MatchString(c.name) {
			return false
		}
	}
	for _, x := range s.sch.order {
		if x != t && personRE.MatchString(x.name) && s.refTo(x, t.name) && len(x.keys) > 0 && len(x.keys[0]) == 1 {
			return true
		}
	}
	return false
}

func (s *spec) refTo(t *table, ref string) bool {
	for _, fk := range t.fks {
		if fk.ref == ref {
			return true
		}
	}
	return false
}

var personColRE = regexp.MustCompile(`(^|_)(user|staff|employee|person|member|actor|teacher|operator|owner|author|assignee|assigned|clinician|agent|worker|creator|created_by|guardian|manager|approver|nurse|doctor|requester|reviewer|grantee|principal)(_id|_to|_by)?$|_by$|_to$`)

// personCols lists the columns of t that name a person.
func (s *spec) personCols(t *table) []string {
	var out []string
	for _, fk := range t.fks {
		if r := s.sch.tables[fk.ref]; r != nil && s.isPerson(r) {
			c := fk.cols[len(fk.cols)-1]
			if !contains(s.tenants, c) {
				out = append(out, c)
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, c := range t.cols {
		if personColRE.MatchString(c.name) && !contains(s.tenants, c.name) && !c.isTime() {
			out = append(out, c.name)
		}
	}
	return out
}
