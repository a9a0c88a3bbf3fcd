package findings

import (
	"regexp"
	"strings"

	"assay/audit"
)

// An entry is a finding of the report: a row, a section, or both.
type entry struct {
	*draft
	section bool
}

// A joiner brings together the row and the section of the same finding. Every
// row is a finding; of the sections, those that name a place or a CWE.
type joiner struct {
	*body
	out     []*entry
	byID    map[string][]*entry
	byTitle map[string][]*entry
}

// finish makes findings of the drafts.
func (b *body) finish() error {
	j := joiner{body: b, byID: map[string][]*entry{}, byTitle: map[string][]*entry{}}
	for _, d := range b.drafts {
		if d.table > 0 {
			j.row(d)
		}
	}
	for _, d := range b.drafts {
		if d.table == 0 {
			j.section(d)
		}
	}
	for _, e := range j.out {
		d := e.draft
		d.Pos = audit.Pos{File: b.name, Line: d.line}
		if len(d.CWEs) == 0 {
			d.CWEs = mapped(b.opt.RuleMap, d.RuleID)
		}
		switch cs := cwesInProse(d.Description); {
		case len(d.CWEs) == 0 && cs != nil:
			b.add(d.line, "%s names %s in its prose alone, which does not count: expected a CWE field", clip(d.ID), cs[0])
		case len(d.CWEs) == 0 && d.File == "":
			b.add(d.line, "%s names neither file nor CWE", clip(d.ID))
		}
		if err := b.take(d.Finding); err != nil {
			return err
		}
	}
	return nil
}

func (j *joiner) add(e *entry) {
	j.out = append(j.out, e)
	j.byID[idKey(e.ID)] = append(j.byID[idKey(e.ID)], e)
	j.byTitle[fold(e.Title)] = append(j.byTitle[fold(e.Title)], e)
}

// row takes a row: a finding, unless it stands in another table by its ID.
func (j *joiner) row(d *draft) {
	same := j.byID[idKey(d.ID)]
	if !d.named || len(same) == 0 {
		j.add(&entry{draft: d})
		return
	}
	for _, e := range same[:min(len(same), sameKeys)] {
		if e.table != d.table && samePlace(e.draft, d) {
			j.join(e, d)
			return
		}
	}
	j.twice(same[0], d)
}

// twice takes a draft up whose ID stands for something else as well.
func (j *joiner) twice(e *entry, d *draft) {
	j.body.add(d.line, "%s stands for %s here and for %s in line %d: taken as two findings", clip(d.ID), where(d), where(e.draft), e.line)
	j.add(&entry{draft: d, section: d.table == 0})
}

// section takes a section: that of the first row with its ID that has none yet
// and names no other place, or of one with its title where it has no ID.
func (j *joiner) section(d *draft) {
	key := idKey(d.ID)
	same := unsectioned(j.byID, key)
	if key == "" {
		same = unsectioned(j.byTitle, fold(d.Title))
	}
	for _, e := range same[:min(len(same), sameKeys)] {
		if (d.ID != "" || d.Title != "") && (e.table > 0 && !e.section || d.named) && samePlace(e.draft, d) {
			e.section = true
			j.join(e, d)
			return
		}
	}
	switch {
	case d.File == "" && len(d.CWEs) == 0 && (d.Severity == 0 || d.Title == "" || !d.named && d.fields == 0):
		if d.named || d.fields > 1 && d.Severity != 0 {
			j.body.add(d.line, "%q is named without file, CWE and severity: it is not counted", clip(d.ID+" "+d.Title))
		}
	case d.fields == 0 && !d.named: // a chapter "CWE-89"
	case d.named && len(j.byID[key]) > 0:
		j.twice(j.byID[key][0], d)
	default:
		j.add(&entry{draft: d, section: true})
	}
}

// sameKeys bounds the search where a report gives everything the same ID.
const sameKeys = 50

// unsectioned gives the entries under a key, from the first row without a section.
func unsectioned(m map[string][]*entry, key string) []*entry {
	list := m[key]
	for i, e := range list {
		if e.table == 0 || !e.section {
			m[key] = list[i:]
			return list[i:]
		}
	}
	return list
}

func where(d *draft) string {
	if d.Lines.IsZero() {
		return clip(d.File)
	}
	return clip(d.File) + ":" + d.Lines.String()
}

func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// samePlace reports whether two places can be the same: one path ends in the
// other, and lines that both name touch.
func samePlace(a, b *draft) bool {
	if a.File != "" && b.File != "" {
		x := "/" + strings.TrimPrefix(strings.ToLower(strings.ReplaceAll(a.File, `\`, "/")), "./")
		y := "/" + strings.TrimPrefix(strings.ToLower(strings.ReplaceAll(b.File, `\`, "/")), "./")
		if !strings.HasSuffix(x, y) && !strings.HasSuffix(y, x) {
			return false
		}
	}
	return a.Lines.IsZero() || b.Lines.IsZero() || a.Lines.Start <= b.Lines.End+10 && b.Lines.Start <= a.Lines.End+10
}

// join fills e with what d adds. Where they differ, the first one stands, and
// the longer path.
func (j *joiner) join(e *entry, d *draft) {
	if e.Severity != 0 && d.Severity != 0 && e.Severity != d.Severity {
		j.body.add(d.line, "%s is %s here and %s in line %d, which stands", clip(e.ID), d.Severity, e.Severity, e.line)
	}
	if len(d.File) > len(e.File) {
		e.File = d.File
	}
	e.CWEs = addCWEs(e.CWEs, d.CWEs...)
	first(&e.ID, d.ID)
	first(&e.Severity, d.Severity)
	first(&e.Lines, d.Lines)
	first(&e.Title, d.Title)
	first(&e.Description, d.Description)
	first(&e.Function, d.Function)
	first(&e.RuleID, d.RuleID)
	first(&e.Suppressed, d.Suppressed)
	first(&e.Dimension, d.Dimension)
	first(&e.Confidence, d.Confidence)
	e.Trace = append(e.Trace, d.Trace...)
	if len(e.Others) == 0 {
		e.Others = d.Others
	}
}

// first keeps what is there and takes what is not.
func first[T comparable](have *T, more T) {
	var none T
	if *have == none {
		*have = more
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

// idKey is what findings with the same ID have in common, "" for none.
func idKey(id string) string {
	if n := normID(id); n != "" || id == "" {
		return n
	}
	return "=" + id
}

// mapped looks a rule up in the rule map: itself, then its parents by "/".
func mapped(rules map[string][]audit.CWE, id string) []audit.CWE {
	for ok := len(rules) > 0; ok && id != ""; {
		if c, found := rules[id]; found {
			return append([]audit.CWE(nil), c...)
		}
		i := strings.LastIndexByte(id, '/')
		if ok = i >= 0; ok {
			id = id[:i]
		}
	}
	return nil
}
