package findings

import (
	"regexp"
	"strings"

	"assay/audit"
)

// sameKeys bounds the search where a report gives everything the same ID.
const sameKeys = 50

// A joiner brings together the row and the section of the same finding. Every
// row is a finding; of the sections, those that name a place or a CWE.
type joiner struct {
	*body
	out     []*draft
	byID    map[string][]*draft
	byTitle map[string][]*draft
}

// finish makes findings of the drafts.
func (b *body) finish() error {
	j := joiner{body: b, byID: map[string][]*draft{}, byTitle: map[string][]*draft{}}
	for _, section := range []bool{false, true} {
		for _, d := range b.drafts {
			if (d.table == 0) == section {
				j.draft(d)
			}
		}
	}
	for _, d := range j.out {
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

// draft takes a draft up: as what another one of the same finding lacks, or as a
// finding of its own. The section of a row is the first with its ID that names
// no other place, or where it has no ID, with its title; a row of another table
// is the same finding when its ID has letters.
func (j *joiner) draft(d *draft) {
	if d.table == 0 && d.fields == 0 && !d.named {
		return // a chapter
	}
	index, key := j.byID, idKey(d.ID)
	if key == "" {
		index, key = j.byTitle, fold(d.Title)
	}
	list := index[key]
	for d.table == 0 && len(list) > 0 && list[0].table > 0 && list[0].joined {
		list = list[1:] // the rows that have their sections are not looked at again
	}
	index[key] = list
	for _, e := range list[:min(len(list), sameKeys)] {
		if key != "" && d.partOf(e) && samePlace(e, d) {
			e.joined = e.joined || d.table == 0
			j.join(e, d)
			return
		}
	}
	nowhere := d.File == "" && len(d.CWEs) == 0
	switch {
	case d.table > 0:
	case nowhere && (d.Severity == 0 || d.Title == ""):
		if d.named || d.fields > 1 && d.Severity != 0 {
			j.add(d.line, "%q is named without file, CWE and severity: it is not counted", clip(d.ID+" "+d.Title))
		}
		return
	}
	if d.named && len(list) > 0 {
		j.add(d.line, "%s stands for %s here and for %s in line %d: taken as two findings", clip(d.ID), where(d), where(list[0]), list[0].line)
	}
	j.out = append(j.out, d)
	j.byID[idKey(d.ID)] = append(j.byID[idKey(d.ID)], d)
	j.byTitle[fold(d.Title)] = append(j.byTitle[fold(d.Title)], d)
}

// partOf reports whether d can be another part of e: its section, or a second
// row or section under an ID that is the auditor's own.
func (d *draft) partOf(e *draft) bool {
	switch {
	case d.table == 0 && e.table > 0:
		return !e.joined
	case d.table > 0:
		return d.named && e.table != d.table
	}
	return d.named
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
func (j *joiner) join(e, d *draft) {
	if e.Severity != 0 && d.Severity != 0 && e.Severity != d.Severity {
		j.add(d.line, "%s is %s here and %s in line %d, which stands", clip(e.ID), d.Severity, e.Severity, e.line)
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
