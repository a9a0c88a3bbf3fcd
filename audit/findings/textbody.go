package findings

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

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

var withdrawn = regexp.MustCompile(`(?i)\b(?:false[ -]positive|suppressed|withdrawn|dismissed|not (?:a )?vulnerab\w*|not exploitable|won'?t fix|risk accepted|rejected)\b|误报|已排除|不成立`)

// set fills one field of a draft. What is filled stays: a second file, or a
// second range, is a further location.
func (b *body) set(d *draft, f field, raw string, line int) {
	val, exact := value(f, raw)
	step := f == fTrace || f == fOthers
	if f == fIgnored || val == "" && !(exact && step) {
		return
	}
	ok, want := true, ""
	switch f {
	case fID:
		ok, want = exact || len(val) <= 40, "a short ID like F-01"
		if ok && (d.ID == "" || !d.named) {
			d.ID, d.named = val, exact || !isDigits(val)
		}
	case fSeverity:
		want = "CRITICAL, HIGH, MEDIUM, LOW or INFO"
		var sev audit.Severity
		sev, ok = severityOf(val)
		first(&d.Severity, sev)
	case fCWE:
		cwes := cwesInField(val)
		d.CWEs = addCWEs(d.CWEs, cwes...)
		ok, want = cwes != nil, "a form like CWE-89"
	case fDimension, fKind:
		var dim audit.Dimension
		dim, ok = dimensionOf(val)
		first(&d.Dimension, dim)
		if want = "one of the ten dimensions"; f == fKind {
			first(&d.Title, val)
			d.CWEs = addCWEs(d.CWEs, cwesInProse(val)...)
			ok = true
		}
	case fFile:
		d.addPlaces(places(raw))
	case fLines, fEnd:
		want = "a form like 12 or 12-18"
		ok = d.addLines(f, val)
	case fFunction:
		first(&d.Function, val)
	case fTitle:
		if d.Title == "" {
			d.Title, d.exact = val, exact
		}
	case fDescription:
		if d.Description = strings.TrimSpace(d.Description + " " + val); exact {
			d.Description = val
		}
	case fConfidence:
		want = "a share, a percentage, or high, medium, low"
		d.Confidence, ok = confidenceOf(val)
	case fRule:
		first(&d.RuleID, val)
	case fTrace:
		d.Trace = append(d.Trace, steps(raw)...)
	case fOthers:
		d.Others = append(d.Others, steps(raw)...)
	case fStatus, fSuppressed:
		if f == fSuppressed || withdrawn.MatchString(val) {
			first(&d.Suppressed, val)
		}
	}
	if !ok {
		b.add(line, "the %s %q cannot be read: expected %s", f, clip(val), want)
		return
	}
	d.fields++
}

// addPlaces makes the first place the finding's, unless it has one.
func (d *draft) addPlaces(ps []audit.Step) {
	for i, p := range ps {
		switch {
		case i == 0 && d.File == "":
			d.File = p.File
			first(&d.Lines, p.Lines)
		case p.File == d.File && d.Lines.IsZero():
			d.Lines = p.Lines
		case p.File != d.File || p.Lines != d.Lines && !p.Lines.IsZero():
			d.Others = append(d.Others, p)
		}
	}
}

// addLines takes the ranges of a Lines field. They are more exact than those
// that came with the file.
func (d *draft) addLines(f field, val string) bool {
	rs, ok := linesOf(val)
	switch {
	case !ok:
	case f == fEnd:
		d.Lines = lineRange(d.Lines.Start, rs[0].End)
	default:
		d.Lines = rs[0]
		for _, r := range rs[1:] {
			d.Others = append(d.Others, audit.Step{File: d.File, Lines: r})
		}
	}
	return ok
}

// A title is a heading, or what stands in a heading's place, taken apart.
type title struct {
	id   string
	sev  audit.Severity
	cwes []audit.CWE
	text string
}

// What may stand in a title beside its words: an ID, after a word for finding or
// alone; a number; a severity in brackets, at the start or the end; a CWE.
var (
	titleWord   = regexp.MustCompile(`^(?i)(?:finding|vulnerability|vuln|issue|bug|漏洞|问题|发现|缺陷)\s*[#＃]?\s*([A-Za-z]{0,12}[-_]?\d{1,5})(?:\s*[\]】)）:：.、|–—-]+\s*|\s+|$)(.*)$`)
	titleID     = regexp.MustCompile(`^[\[【(（#]?([A-Z][A-Z0-9]{0,11}(?:[-_][A-Z0-9]{1,12})*?[-_]?\d{1,5})(?:[\]】)）]?\s*[:：.、|–—-]+\s*|[\]】)）]\s*|\s+|$)(.*)$`)
	titleNumber = regexp.MustCompile(`^[\[(#]?(\d{1,4}(?:\.\d{1,3}){0,3})[\])]?\s*[.)、:：]?\s+(.*)$`)
	titleSev    = regexp.MustCompile(`(?i)[\[【(（]\s*(?:severity\s*[:：]\s*|risk\s*[:：]\s*)?(?:critical|crit|high|medium|moderate|low|info|informational|严重|致命|超危|高危|中危|低危|提示|高|中|低)(?:\s*(?:severity|risk))?\s*[\]】)）]|^(?:critical|high|medium|low|info|严重|高危|中危|低危)\s*(?:[:：–—|]|-\s)\s*|\s*[–—|-]\s*(?:critical|high|medium|low|info|严重|高危|中危|低危)(?:\s+severity)?\s*$`)
	titleCWE    = regexp.MustCompile(`(?i)\s*[\[【(（]?\s*\bcwe[-‐‑‒–—_ :：#]{0,2}\d{1,5}\s*[\]】)）]?\s*[:：–—-]?\s*`)
)

func parseTitle(s string) (t title) {
	s = t.takeID(trimTitle(s))
	if m := titleSev.FindStringIndex(s); m != nil {
		t.sev, _ = severityOf(s[m[0]:m[1]])
		s = trimTitle(s[:m[0]] + " " + s[m[1]:])
	}
	if isDigits(t.id) { // "[HIGH] F-01: x", "1. [F-01] x"
		s = t.takeID(s)
	}
	t.cwes = cwesInProse(s)
	if short := trimTitle(titleCWE.ReplaceAllString(s, " ")); short != "" && len(t.cwes) > 0 {
		s = strings.Join(strings.Fields(short), " ")
	}
	t.text = s
	return t
}

// takeID takes an ID or a number off the start.
func (t *title) takeID(s string) string {
	if m := titleWord.FindStringSubmatch(s); m != nil && t.id == "" {
		t.id, s = m[1], m[2]
	} else if m := titleID.FindStringSubmatch(s); m != nil && !strings.HasPrefix(m[1], "CWE") && (t.id == "" || strings.ContainsAny(m[1], "-_")) {
		t.id, s = m[1], m[2]
	} else if m := titleNumber.FindStringSubmatch(s); m != nil && t.id == "" {
		t.id, s = m[1], m[2]
	}
	return trimTitle(s)
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789.") == "" }

// readTitle takes from a title what no field says: "[HIGH] F-01: SQL injection
// (CWE-89)". Of a row's title it is taken and the title stays as it stands.
func (d *draft) readTitle() {
	if d.exact {
		return
	}
	t := parseTitle(d.Title)
	if d.table == 0 || d.ID == "" && !isDigits(t.id) {
		first(&d.ID, t.id)
		d.named = d.named || d.ID == t.id && !isDigits(t.id)
		d.Title = t.text
	}
	first(&d.Severity, t.sev)
	if len(d.CWEs) == 0 {
		d.CWEs = t.cwes
	}
}

// trimTitle takes decoration from the ends of a title.
func trimTitle(s string) string {
	s = strings.TrimLeftFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("*#:：>-–—•", r) || unicode.Is(unicode.So, r)
	})
	return strings.TrimRight(s, " *:：–—-")
}

var (
	delimiter = regexp.MustCompile(`^\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?$`)
	tableID   = regexp.MustCompile(`^[\[#]?[A-Za-z]{0,12}(?:[-_][A-Za-z0-9]{1,12})*[-_]?\d{1,5}\]?$`)
	rowPipe   = regexp.MustCompile(`"(?:[^"\\|]|\\.)*"|\\.|\|`)
)

func isDelimiter(s string) bool {
	return strings.Contains(s, "|") && delimiter.MatchString(strings.TrimSpace(s))
}

// cells cuts a row at the pipes that stand in no literal and have no backslash.
func cells(row string) (out []string) {
	from := 0
	row = strings.TrimPrefix(strings.TrimSpace(row), "|")
	for _, m := range rowPipe.FindAllStringIndex(row, -1) {
		if row[m[0]:m[1]] == "|" {
			out = append(out, strings.TrimSpace(row[from:m[0]]))
			from = m[1]
		}
	}
	if last := strings.TrimSpace(row[from:]); last != "" {
		out = append(out, last)
	}
	return out
}

// row takes a line that belongs to a table, and reports whether it does: it
// starts with a pipe, stands over a line of dashes, or goes on with a table
// whose rows start with none.
func (b *body) row(s, next string, line int) bool {
	piped := strings.HasPrefix(s, "|") && strings.Count(s, "|") > 1
	head := strings.Contains(s, "|") && isDelimiter(next)
	if !piped && !head && !(b.inTable && strings.Contains(s, "|")) {
		b.inTable = false
		return false
	}
	switch row := cells(s); {
	case isDelimiter(s):
	case head || b.columns == nil && !b.inTable:
		b.head(row, next, line)
	case b.columns != nil:
		b.rowOf(row, strings.HasSuffix(s, "|"), line)
	case b.pairs != nil:
		b.pair(row, line)
	}
	b.inTable = true
	return true
}

// head takes a table's heading: of findings, of the fields of one finding, or of
// neither, such as statistics.
func (b *body) head(names []string, next string, line int) {
	b.columns, b.pairs = columnsOf(names), nil
	if b.columns == nil {
		if len(names) == 2 {
			b.pairs = names
		}
		return
	}
	if b.busy() {
		b.close()
	}
	b.tables++
	switch {
	case !isDelimiter(next):
		b.add(line, "the table has no rule under its heading: it is no table in Markdown, and was read by its heading")
	case len(cells(next)) != len(names):
		b.add(line, "the table's heading has %d cells and its rule %d: it is no table in Markdown, and was read by its heading", len(names), len(cells(next)))
	}
}

// columnsOf maps the columns to fields. It is nil for a table that holds no
// findings: one needs a file or a CWE column and a second known one, or an ID
// column with a title and a severity.
func columnsOf(names []string) []field {
	cols := make([]field, len(names))
	seen := map[field]bool{}
	for i, n := range names {
		f := fieldOf(plain(n))
		if f != "" && f != fIgnored && (!seen[f] || f == fFile || f == fDescription) {
			cols[i], seen[f] = f, true
		}
	}
	if (seen[fFile] || seen[fCWE]) && len(seen) >= 2 || seen[fSeverity] && (seen[fTitle] || seen[fKind]) && (seen[fID] || seen[fLines]) {
		return cols
	}
	return nil
}

// pair takes a row of a table of two columns. Its heading is such a row when a
// field stands in it.
func (b *body) pair(row []string, line int) {
	if len(row) < 2 || fieldOf(plain(row[0])) == "" {
		return
	}
	if h := b.pairs; len(h) == 2 {
		b.pairs = []string{}
		if f := fieldOf(plain(h[0])); f != fID && f != fTitle && fieldOf(plain(h[1])) == "" {
			b.pair(h, line)
		}
	}
	if b.cur != nil {
		b.set(b.cur, fieldOf(plain(row[0])), row[1], line)
	}
}

// rowOf makes a draft of a row of a table of findings.
func (b *body) rowOf(row []string, closed bool, line int) {
	if len(row) > len(b.columns) {
		b.add(line, "the row has %d cells, its table %d columns: a | inside a cell is written \\|", len(row), len(b.columns))
	}
	d := &draft{line: line, table: b.tables}
	for _, file := range []bool{true, false} { // the file first: lines are in it
		for i, f := range b.columns {
			if i < len(row) && f != "" && (f == fFile) == file {
				b.set(d, f, row[i], line)
			}
		}
	}
	d.readTitle()
	nowhere := d.File == "" && d.Lines.IsZero() && len(d.CWEs) == 0
	switch {
	case !slices.ContainsFunc(row, func(c string) bool { return filled(plain(c)) != "" }):
	case nowhere && !closed && len(row) < len(b.columns):
		b.add(line, "the row breaks off: it is no finding")
	case nowhere && d.ID == "":
		b.add(line, "the row names neither ID nor file nor CWE: it is no finding")
	default:
		b.keep(d)
	}
}
