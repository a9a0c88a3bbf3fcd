package findings

import (
	"regexp"
	"strconv"
	"strings"

	"assay/audit"
)

// finish makes findings of the drafts: it leaves out the headings that head no
// finding and brings together the table row and the section of the same one.
func (d *drafts) finish() []audit.Finding {
	d.close()
	m := merger{d: d, byID: map[string][]*draft{}, byPlace: map[string][]*draft{}}
	var loose []*draft // named, without file and CWE: worth something to a namesake only
	for _, c := range d.found {
		if !c.table {
			if c.record {
				c.titled()
			}
			c.glean(c.Title)
			if c.strong || c.fields > 0 {
				c.glean(c.Description)
			}
		}
		for i := range c.Others {
			if c.Others[i].File == "" {
				c.Others[i].File = c.File
			}
		}
		switch {
		case c.usable():
			m.add(c)
		case c.ID != "" && (c.strong || c.table) && !(c.chapter && c.fields == 0):
			loose = append(loose, c)
		case c.fields > 1:
			d.p.add(c.line, "%q has fields of a finding and neither file nor CWE: it is not counted", clip(c.Title))
		}
	}
	for _, c := range loose {
		if have := m.named(c); have != nil {
			m.merge(have, c)
		} else if c.Severity != 0 && c.Title != "" && (c.fields > 0 || c.table) {
			d.p.add(c.line, "%s names neither file nor CWE", c.ID)
			m.add(c)
		} else {
			d.p.add(c.line, "%s is named without file, CWE and severity: it is not counted", clip(c.ID))
		}
	}
	out := make([]audit.Finding, 0, len(m.out))
	for _, c := range m.out {
		c.Pos = audit.Pos{File: d.p.name, Line: c.line}
		c.Description = strings.TrimSpace(c.Description)
		c.harden()
		if len(c.CWEs) == 0 {
			c.CWEs = mapped(d.rules, c.RuleID)
		}
		out = append(out, c.Finding)
	}
	return out
}

// usable reports whether a draft is a finding by itself. A section needs more
// than a heading with a CWE in it: a chapter "CWE-89" is none.
func (c *draft) usable() bool {
	switch {
	case c.table:
		return c.File != "" || len(c.CWEs) > 0 || !c.Lines.IsZero()
	case c.place:
		return c.strong || c.ID != "" || len(c.CWEs) > 0 || c.Severity != 0 || !c.Lines.IsZero()
	case c.File != "" || c.soft.File != "":
		return c.strong || c.fields > 0
	}
	return len(c.CWEs)+len(c.soft.cwes) > 0 && (c.strong || c.fields > 0)
}

// A merger holds the findings so far by ID and by place.
type merger struct {
	d       *drafts
	out     []*draft
	byID    map[string][]*draft
	byPlace map[string][]*draft
}

// sameIDs bounds the search where a report gives everything the same ID.
const sameIDs = 50

func (m *merger) add(c *draft) {
	if have := m.named(c); have != nil {
		m.merge(have, c)
		return
	}
	if have := m.placed(c); have != nil {
		m.merge(have, c)
		return
	}
	m.out = append(m.out, c)
	if k := normID(c.ID); k != "" && len(m.byID[k]) < sameIDs {
		m.byID[k] = append(m.byID[k], c)
	}
	for _, k := range c.placeKeys() {
		if len(m.byPlace[k]) < sameIDs {
			m.byPlace[k] = append(m.byPlace[k], c)
		}
	}
}

// named finds the finding with the same ID. Two places contradict each other:
// mere numbers start anew in each table, so they are two findings then; an ID
// with letters is told as a problem, and they are two as well.
func (m *merger) named(c *draft) *draft {
	k := normID(c.ID)
	if k == "" {
		return nil
	}
	for _, have := range m.byID[k] {
		if samePlace(have, c) {
			return have
		}
	}
	if c.strong && len(m.byID[k]) > 0 {
		have := m.byID[k][0]
		m.d.p.add(c.line, "%s stands for %s here and for %s in line %d: taken as two findings", clip(c.ID),
			where(c), where(have), have.line)
	}
	return nil
}

func where(c *draft) string {
	if c.Lines.IsZero() {
		return clip(c.File)
	}
	return clip(c.File) + ":" + c.Lines.String()
}

// placed finds the section of a table's row, or the row of a section, when one
// of them has no ID or a mere number: by the same start line and a CWE or title
// in common.
func (m *merger) placed(c *draft) *draft {
	for _, k := range c.placeKeys() {
		for _, have := range m.byPlace[k] {
			if have.table != c.table && !(have.strong && c.strong) && samePlace(have, c) &&
				(shareCWE(have, c) || fold(have.Title) == fold(c.Title)) {
				return have
			}
		}
	}
	return nil
}

func (c *draft) placeKeys() (ks []string) {
	if c.File == "" {
		return nil
	}
	base := strings.ToLower(c.File)
	base = base[strings.LastIndexAny(base, `/\`)+1:]
	if !c.Lines.IsZero() {
		ks = append(ks, base+"\x00"+strconv.Itoa(c.Lines.Start))
	}
	if c.Title != "" {
		ks = append(ks, base+"\x01"+fold(c.Title))
	}
	return ks
}

func shareCWE(a, b *draft) bool {
	for _, x := range a.CWEs {
		for _, y := range b.CWEs {
			if x == y {
				return true
			}
		}
	}
	return len(a.CWEs) == 0 || len(b.CWEs) == 0
}

func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// samePlace reports whether two places can be the same: one path ends in the
// other, and lines that both name touch.
func samePlace(a, b *draft) bool {
	if a.File != "" && b.File != "" {
		x := strings.TrimPrefix(strings.ToLower(strings.ReplaceAll(a.File, `\`, "/")), "./")
		y := strings.TrimPrefix(strings.ToLower(strings.ReplaceAll(b.File, `\`, "/")), "./")
		if x != y && !strings.HasSuffix(x, "/"+y) && !strings.HasSuffix(y, "/"+x) {
			return false
		}
	}
	if a.Lines.IsZero() || b.Lines.IsZero() {
		return true
	}
	return a.Lines.Start <= b.Lines.End+10 && b.Lines.Start <= a.Lines.End+10
}

// merge fills a with what b adds. Where they differ, the first one stands, and
// the longer path.
func (m *merger) merge(a, b *draft) {
	if a.Severity != 0 && b.Severity != 0 && a.Severity != b.Severity {
		m.d.p.add(b.line, "%s is %s here and %s in line %d, which stands", clip(a.ID), b.Severity, a.Severity, a.line)
	}
	if a.ID == "" || !a.strong && b.strong {
		a.ID, a.strong = b.ID, b.strong
	}
	if a.Severity == 0 {
		a.Severity = b.Severity
	}
	if len(b.File) > len(a.File) {
		a.File = b.File
	}
	if a.Lines.IsZero() {
		a.Lines = b.Lines
	}
	a.CWEs = addCWEs(a.CWEs, b.CWEs...)
	first := func(x *string, y string) {
		if *x == "" {
			*x = y
		}
	}
	first(&a.Title, b.Title)
	first(&a.Description, b.Description)
	first(&a.Function, b.Function)
	first(&a.RuleID, b.RuleID)
	first(&a.Suppressed, b.Suppressed)
	if a.Dimension == "" {
		a.Dimension = b.Dimension
	}
	if a.Confidence == 0 {
		a.Confidence = b.Confidence
	}
	if len(a.Trace) == 0 {
		a.Trace = b.Trace
	}
	if len(a.Others) == 0 {
		a.Others = b.Others
	}
	a.place = a.place || b.place
	if a.soft.File == "" {
		a.soft.Step = b.soft.Step
	}
	if len(a.soft.cwes) == 0 {
		a.soft.cwes = b.soft.cwes
	}
}

var idParts = regexp.MustCompile(`[A-Za-z]+|\d+`)

// normID makes F-01, f-1 and [F1] one.
func normID(id string) string {
	parts := idParts.FindAllString(id, -1)
	for i, p := range parts {
		if p = strings.TrimLeft(p, "0"); p == "" {
			p = "0"
		}
		parts[i] = strings.ToUpper(p)
	}
	return strings.Join(parts, ".")
}

// mapped looks a rule up in the rule map: itself, then its parents by "/".
func mapped(rules map[string][]audit.CWE, id string) []audit.CWE {
	for id != "" && len(rules) > 0 {
		if c, ok := rules[id]; ok {
			return append([]audit.CWE(nil), c...)
		}
		i := strings.LastIndexByte(id, '/')
		if i < 0 {
			break
		}
		id = id[:i]
	}
	return nil
}
