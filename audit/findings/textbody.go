package findings

import (
	"regexp"
	"slices"
	"strings"

	"assay/audit"
)

// A draft is a finding while its parts come together: a table's row, or a
// section.
type draft struct {
	audit.Finding
	line   int
	table  int  // the number of the table that it is a row of; 0 for a section
	named  bool // the ID has letters: it is the auditor's own, no mere numbering
	exact  bool // nothing is read out of its title
	joined bool // a row: its section was found
	scope  bool // its heading says something on all that stands under it
	level  int  // of its heading
	fields int  // how many fields were filled
}

// A scope is what a heading says about all that stands under it.
type scope struct {
	level int
	sev   audit.Severity
	dim   audit.Dimension
}

// A body takes a report's lines in order and makes drafts of them.
type body struct {
	*collector
	drafts  []*draft
	cur     *draft // the section that is open
	at      field  // the field that lines without a key continue
	indent  int    // of the line that set at
	scopes  []scope
	tables  int
	columns []field  // of the last table of findings
	pairs   []string // the heading of a table of two columns, field and value
	inTable bool
	fence   string // the mark that opened the fence that we are in
	fenced  int    // its line
	passed  bool   // what lies in it is evidence or code
}

var (
	fenceLine = regexp.MustCompile("^[\\s>]*(```+|~~~+)\\s*([\\w-]*)\\s*$")
	quoteMark = regexp.MustCompile(`^(?:\s*>)+ ?`)
	heading   = regexp.MustCompile(`^(#{1,6})\s+(.*?)[\s#]*$`)
	boldLine  = regexp.MustCompile(`^\*\*([^*]+)\*\*[:：]?$`)
	thematic  = regexp.MustCompile(`^(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,}|(?:=\s*){3,})$`)
	bullet    = regexp.MustCompile(`^(?:[-*•+]|\d{1,3}[.)])\s+(.*)$`)
	blockTag  = regexp.MustCompile(`^(?:</?(?:details|summary)[^>]*>\s*)+`)
	// transparent are the languages of fences that may hold a report.
	transparent = words("markdown md text txt plaintext plain")
)

func (b *body) read(lines []string) {
	for i, l := range lines {
		if b.inFence(l, i+1) {
			continue
		}
		l = quoteMark.ReplaceAllString(l, "")
		s, next := strings.TrimSpace(l), ""
		if i+1 < len(lines) {
			next = quoteMark.ReplaceAllString(lines[i+1], "")
		}
		switch {
		case s == "":
			b.inTable = false
		case b.row(s, next, i+1):
		default:
			b.block(s, len(l)-len(strings.TrimLeft(l, " ")), i+1)
		}
	}
	if b.passed {
		b.add(b.fenced, "the fence is not closed: nothing after it is read")
	}
	b.close()
}

// inFence follows fences. What lies in one is passed over where a finding is
// open, or where it names a language: it is evidence. Else it is the report.
func (b *body) inFence(l string, line int) bool {
	m := fenceLine.FindStringSubmatch(l)
	switch {
	case m == nil:
		return b.passed
	case b.fence == "":
		b.fence, b.fenced = m[1], line
		b.passed = m[2] != "" && !transparent[strings.ToLower(m[2])] || b.busy()
	case m[2] == "" && strings.HasPrefix(m[1], b.fence):
		b.fence, b.passed = "", false
	}
	return true
}

// block takes a line that belongs to no table.
func (b *body) block(s string, indent, line int) {
	s = strings.TrimSpace(blockTag.ReplaceAllString(strings.TrimSuffix(s, "</summary>"), ""))
	h, item := heading.FindStringSubmatch(s), bullet.FindStringSubmatch(s)
	switch {
	case s == "":
	case h != nil:
		b.heading(len(h[1]), h[2], line)
	case indent == 0 && boldLine.MatchString(s) && fieldsIn(s) == nil:
		b.heading(7, s, line)
	case thematic.MatchString(s):
		b.at = ""
	case item != nil:
		b.text(strings.TrimSpace(item[1]), indent, line)
	case idLine.MatchString(s) && b.at != fTrace && b.at != fOthers:
		b.heading(8, s, line)
	default:
		b.text(s, indent, line)
	}
}

// busy reports whether a section is open that is a finding's.
func (b *body) busy() bool { return b.cur != nil && (b.cur.named || b.cur.fields > 0) }

func (b *body) close() {
	if b.cur != nil {
		b.keep(b.cur)
	}
	b.cur, b.at = nil, ""
}

// keep holds a draft, with what its title and the headings above say. A heading
// that says something on all that stands under it is none.
func (b *body) keep(d *draft) {
	if d.scope && d.fields == 0 {
		return
	}
	d.readTitle()
	for _, s := range slices.Backward(b.scopes) {
		first(&d.Severity, s.sev)
		first(&d.Dimension, s.dim)
	}
	b.drafts = append(b.drafts, d)
}

var (
	// sectionHead is the heading of a section as the grammar wants it.
	sectionHead = regexp.MustCompile(`^\[("(?:[^"\\]|\\.)*"|[^\[\]"]{1,40})\](?:\s+(.*))?$`)
	// idLine is a line that heads a section without being a heading.
	idLine     = regexp.MustCompile(`^[\[【]?[A-Z][A-Z0-9]{0,11}[-_]\d{1,5}[\]】]?\s*[:：.、|–—-]\s*[^.。]{1,200}$`)
	scopeNoise = regexp.MustCompile(`(?i)\b(?:severity|risk|level|findings?|vulnerabilit(?:y|ies)|issues?|priority)\b|级别|等级|风险|漏洞|问题|发现|[(（]\s*\d+[^)）]*[)）]|^[\d.]+|[^\p{L}\p{N}]`)
)

func (b *body) heading(level int, text string, line int) {
	d := &draft{level: level, line: line}
	if m := sectionHead.FindStringSubmatch(text); m != nil && (m[1][0] == '"' || tableID.MatchString(m[1]) || numbered.MatchString(m[1])) {
		b.set(d, fID, m[1], line)
		b.set(d, fTitle, m[2], line)
		d.fields = 0
	} else {
		text = plain(text)
		t, f := parseTitle(text), fieldOf(text)
		if deeper := b.cur != nil && level > b.cur.level; deeper && f != "" && f != fTitle {
			b.at, b.indent = f, -1
			return
		} else if deeper && t.id == "" && t.sev == 0 && t.cwes == nil && b.busy() {
			b.at = fIgnored // "Exploitation", "Fixed code": no part of a finding
			return
		}
		d.ID, d.named, d.Title = t.id, !isDigits(t.id), text
	}
	b.close()
	b.scopes = slices.DeleteFunc(b.scopes, func(s scope) bool { return s.level >= level })
	s := scope{level: level, sev: severities[strings.ToLower(scopeNoise.ReplaceAllString(text, ""))]}
	s.dim, _ = dimensionOf(bracketed.ReplaceAllString(text, ""))
	if d.scope = (s.sev != 0 || s.dim != "") && !strings.HasPrefix(text, "["); d.scope {
		b.scopes = append(b.scopes, s)
	}
	b.cur = d
}

// text takes a line of a paragraph or of a list item.
func (b *body) text(s string, indent, line int) {
	list := b.at == fTrace || b.at == fOthers
	fs := fieldsIn(s)
	if fs != nil && fs[0].field == fID && (b.cur == nil || b.cur.fields > 0) && !(list && indent > b.indent) {
		b.close() // a record of "Key: value" lines, its ID first
		b.cur = &draft{level: 8, line: line}
	}
	switch {
	case b.cur == nil && fs != nil, !b.busy() && fs == nil && cwesInProse(s) != nil && pathInProse.MatchString(s):
		b.add(line, "the line speaks of a finding and belongs to none: expected a row of a table, or a section with a heading")
	case b.cur == nil:
	case list && indent > b.indent, fs == nil && b.at != "" && b.at != fIgnored:
		b.set(b.cur, b.at, s, line)
		if b.at != fDescription && !list && b.at != fFile {
			b.at = ""
		}
	case fs != nil:
		for _, f := range fs {
			b.at, b.indent = f.field, indent
			b.set(b.cur, f.field, f.raw, line)
			if f.raw != "" && f.field != fDescription && f.field != fTrace && f.field != fOthers && f.field != fIgnored {
				b.at = ""
			}
		}
	case b.at == "":
		b.set(b.cur, fDescription, s, line)
	}
}
