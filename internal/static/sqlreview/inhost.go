package sqlreview

import (
	"fmt"
	"maps"
	"strings"

	"assay/audit"
)

// A Session says what host code knows of the parameters of its statements, by their
// names without the colon.
type Session struct {
	Actors []string // hold who acts
	Scopes []string // hold the tenant of who acts

	// Tenancy is the requirement that keeps tenants apart, where the caller knows it;
	// no other is then taken for one.
	Tenancy int
	Column  string // says which tenant a row belongs to, where the SPEC's prose does not
}

// onlyTenancy gives the requirements with n as the only one that is about tenants.
func onlyTenancy(reqs []*requirement, n int) []*requirement {
	out := make([]*requirement, len(reqs))
	for i, q := range reqs {
		c := *q
		c.kinds = maps.Clone(q.kinds)
		delete(c.kinds, kTenant)
		if q.n == n {
			c.kinds[kTenant] = true
		}
		out[i] = &c
	}
	return out
}

// A Breach is one requirement that a statement of host code does not meet.
type Breach struct {
	Requirement int
	Kind        string // tenant, soft delete, limit, state, permission, ...
	CWEs        []audit.CWE
	Confidence  float64 // 0.5 to 1
	Why         string
}

// InHost judges the SQL that host code sends, its placeholders written as :name,
// against spec. Injection is not judged: the text is the caller's own. Nothing is
// reported where the SPEC or the SQL is not understood.
func InHost(spec, sql string, sess Session) (out []Breach) {
	defer func() {
		if p := recover(); p != nil {
			out = nil
		}
	}()
	if strings.TrimSpace(sql) == "" || len(sql) > maxCode {
		return nil
	}
	s := *specOf(spec)
	s.actors, s.scopeP, s.params = map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, n := range sess.Actors {
		s.actors[n], s.params[n] = true, true
	}
	for _, n := range sess.Scopes {
		s.scopeP[n], s.params[n] = true, true
	}
	if sess.Tenancy > 0 {
		if len(s.tenants) == 0 && sess.Column != "" {
			s.tenants = []string{sess.Column}
		}
		s.reqs = onlyTenancy(s.reqs, sess.Tenancy)
	}
	r := &reviewer{s: &s, seen: map[string]bool{}, code: sql}
	stmts, broken := parse(sql)
	r.a = analyse(s.sch, sql, stmts)
	if len(broken) > 0 {
		return nil
	}
	r.judge()
	for _, v := range r.found {
		if v.conf >= 0.5 && v.kind != kInjection && v.req > 0 {
			out = append(out, Breach{Requirement: v.req, Kind: string(v.kind), CWEs: v.cwe, Confidence: v.conf, Why: fmt.Sprintf("requirement %d: %s", v.req, v.why)})
		}
	}
	return out
}

// TenantColumn gives the column that a SPEC scopes rows by, "" where it has none.
func TenantColumn(spec string) string {
	if s := specOf(spec); len(s.tenants) > 0 {
		return s.tenants[0]
	}
	return ""
}

// Names gives the tables of a SPEC with the columns of each.
func Names(spec string) map[string][]string {
	out := map[string][]string{}
	for _, t := range specOf(spec).sch.order {
		for _, c := range t.cols {
			out[t.name] = append(out[t.name], c.name)
		}
	}
	return out
}

// Secrets gives the columns that a SPEC forbids to give out, by requirement.
func Secrets(spec string) map[int][]string {
	s := specOf(spec)
	out := map[int][]string{}
	for _, r := range s.reqs {
		if r.kinds[kSecret] {
			for _, c := range s.secretCols(r) {
				out[r.n] = append(out[r.n], c.col)
			}
		}
	}
	return out
}
