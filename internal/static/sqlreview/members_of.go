package sqlreview

// isMembership: the table's rows make people members of tenants: a key of it joins a
// person with the tenant.
func (s *spec) isMembership(t *table) bool {
	if len(s.tenants) == 0 || t.column(s.tenants[0]) == nil {
		return false
	}
	for _, key := range t.keys {
		tenant, person := false, false
		for _, k := range key {
			tenant = tenant || k == s.tenants[0]
			ref := s.sch.tables[s.refOf(t, k)]
			person = person || k != s.tenants[0] && ref != nil && ref != t && personRE.MatchString(ref.name)
		}
		if tenant && person {
			return true
		}
	}
	return false
}
