package hostreview

import (
	"regexp"
	"strings"

	"assay/audit"
	"assay/internal/static/lang"
)

var (
	togetherRE = regexp.MustCompile(`(?i)\b(same|one|single|a) transaction\b|stands? (or|and) falls?|falls? together|rolls? back together|atomic\w*|at the same (time|moment)|simultaneous\w*|together with`)
	poolRE     = regexp.MustCompile(`(?i)^((\w+\.)?(db|pool|pg)|[\w.]*\.DB)$`)
)

// together: a statement inside of a transaction's function is sent on its connection,
// and not past it on the pool.
func together(v *view, r Requirement) *Breach {
	if !v.b.asks(togetherRE, r) {
		return nil
	}
	if b := v.apart(r); b != nil {
		return b
	}
	for _, c := range v.calls {
		f := lastFunc(c)
		if f == nil || len(f.List) == 0 || !v.inTransaction(c) {
			continue
		}
		conn := f.List[0].Name
		inside := false
		var past *statement
		for i := range v.sql {
			s := &v.sql[i]
			if s.call.Off < f.Off || s.call.To > f.To || s.call.X == nil {
				continue
			}
			x := lang.Dotted(s.call.X)
			inside = inside || x == conn
			if x != conn && poolRE.MatchString(x) && (writeRE.MatchString(s.text) || lockRE.MatchString(s.text)) {
				past = s
			}
		}
		if past != nil && conn != "" {
			return &Breach{Why: "requirement " + itoa(r.Number) + ": a statement is sent past the transaction: " + clip(past.text), CWEs: []audit.CWE{362, 662, 840}, Confidence: 0.8}
		}
	}
	return nil
}

func lastFunc(c *lang.Node) *lang.Node {
	if len(c.List) == 0 {
		return nil
	}
	if f := c.List[len(c.List)-1]; f.Kind == lang.Func {
		return f
	}
	return nil
}

// inTransaction: the call runs a function in a transaction, by its name or by what the
// SPEC says of it.
func (v *view) inTransaction(c *lang.Node) bool {
	if expr(`(?i)^(tx|in_?tx|with_?tx|transact\w*|with_?transaction|run_?in_?transaction|begin)$`).MatchString(c.Name) {
		return true
	}
	h := v.b.helpers[c.Name]
	return h != nil && strings.Contains(strings.ToLower(h.doc), "transaction")
}

// apart: what records a change is called on the pool, or in a transaction of its own.
func (v *view) apart(r Requirement) *Breach {
	w := v.change()
	if w == nil || !v.isStatement(w) {
		return nil
	}
	for _, c := range v.calls {
		h := v.b.helpers[c.Name]
		if h == nil || h.gate || h.load || !recorder.MatchString(c.Name) || !hasWord(r.Text, c.Name) && !writtenRE.MatchString(r.Text) {
			continue
		}
		why := ""
		if len(c.List) > 0 && poolRE.MatchString(v.f.Text(c.List[0])) {
			why = " on a connection of its own"
		}
		if last := v.opened(c.Off); last != nil && last.Off > w.Off {
			why = " in a transaction of its own"
		}
		if why != "" {
			return &Breach{Why: "requirement " + itoa(r.Number) + ": " + c.Name + " is called" + why, CWEs: []audit.CWE{778, 662}, Confidence: 0.8}
		}
	}
	return nil
}

var recorder = regexp.MustCompile(`(?i)audit|journal|trail|record|^log_?\w+|write_?log|note|ledger`)

func (v *view) isStatement(c *lang.Node) bool {
	for _, s := range v.sql {
		if s.call == c {
			return true
		}
	}
	return false
}

// opened gives the last call before a place that begins a transaction.
func (v *view) opened(off int32) *lang.Node {
	var last *lang.Node
	for _, c := range v.calls {
		h := v.b.helpers[c.Name]
		if c.Off < off && (v.inTransaction(c) && lastFunc(c) != nil && c.To > off || h != nil && len(c.List) == 0 && expr(`(?i)commits|opens a connection`).MatchString(h.doc)) {
			last = c
		}
	}
	return last
}
