package findings

import (
	"regexp"
	"strings"

	"assay/audit"
)

var delimiterCell = regexp.MustCompile(`^\s*:?-+:?\s*$`)
var tableID = regexp.MustCompile(`^[\[#]?[A-Za-z]{0,12}(?:[-_][A-Za-z0-9]{1,12})*[-_]?\d{1,5}\]?$`)

// table takes a table: findings, the fields of one finding, or neither.
func (d *drafts) table(header []string, rows [][]string, at []int) {
	if d.keyed(header, rows, at) {
		return
	}
	cols := columnsOf(header, rows)
	d.columns, d.header = nil, nil
	if cols == nil {
		return // statistics, coverage, a plan: no findings
	}
	if c := d.cur; c != nil && (c.strong || c.fields > 0) {
		d.close()
	}
	d.columns, d.header = cols, header
	for i, r := range rows {
		d.row(r, at[i])
	}
}

// columnsOf maps the columns to fields. It is nil for a table that holds no
// findings: one needs a file or a CWE column and a second known one, or an ID
// column with a title or a severity.
func columnsOf(header []string, rows [][]string) []field {
	cols := make([]field, len(header))
	seen := map[field]bool{}
	for i, h := range header {
		f := fieldOf(h)
		if f == fIgnored || seen[f] && f != fFile && f != fDescription {
			f = ""
		}
		cols[i] = f
		if f != "" {
			seen[f] = true
		}
	}
	if !seen[fID] {
		for i, f := range cols {
			if f == fTitle && allIDs(rows, i) {
				cols[i] = fID
				seen[fID], seen[fTitle] = true, false
			}
		}
	}
	known := len(seen)
	delete(seen, "")
	known = len(seen)
	if (seen[fFile] || seen[fCWE]) && known >= 2 || seen[fID] && (seen[fTitle] || seen[fKind]) && seen[fSeverity] ||
		seen[fLines] && (seen[fTitle] || seen[fSeverity]) {
		return cols
	}
	return nil
}

func allIDs(rows [][]string, col int) bool {
	for _, r := range rows {
		if col >= len(r) || !tableID.MatchString(plainWord(r[col])) {
			return false
		}
	}
	return len(rows) > 0
}

// keyed reads a table of two columns, field and value.
func (d *drafts) keyed(header []string, rows [][]string, at []int) bool {
	if len(header) != 2 {
		return false
	}
	known := 0
	for _, r := range rows {
		if len(r) > 0 && fieldOf(r[0]) != "" {
			known++
		}
	}
	head := fieldOf(header[0])
	if known < 2 && (known < 1 || head == "") || known*2 < len(rows) {
		return false
	}
	if head != "" && fieldOf(header[1]) == "" && strings.TrimSpace(header[1]) != "" && len(at) > 0 {
		d.field(head, header[1], at[0]-2, 0)
	}
	for i, r := range rows {
		if len(r) < 2 {
			continue
		}
		if f := fieldOf(r[0]); f != "" {
			d.field(f, r[1], at[i], 0)
		}
	}
	d.at = ""
	return true
}

// looseRows takes lines that look like table rows and stand in no table.
func (d *drafts) looseRows(rows [][]string, at []int) {
	if len(rows) >= 2 && isDelimiter(rows[1]) {
		d.p.add(at[0], "the table's heading has %d cells and its rule %d: it is no table in Markdown, and was read by its heading", len(rows[0]), len(rows[1]))
		d.table(rows[0], rows[2:], at[2:])
		return
	}
	if d.columns == nil {
		if cols := columnsOf(rows[0], rows[1:]); cols != nil && len(rows) > 1 {
			d.p.add(at[0], "the table has no rule under its heading: it is no table in Markdown, and was read by its heading")
			d.table(rows[0], rows[1:], at[1:])
			return
		}
		d.p.add(at[0], "%d lines look like table rows and belong to no table of findings", len(rows))
		return
	}
	for i, r := range rows {
		if !isDelimiter(r) {
			d.row(r, at[i])
		}
	}
}

func isDelimiter(cells []string) bool {
	for _, c := range cells {
		if !delimiterCell.MatchString(c) {
			return false
		}
	}
	return len(cells) > 0
}

// row makes a draft of a row of a table of findings.
func (d *drafts) row(cells []string, line int) {
	n := &draft{line: line, table: true}
	empty := true
	for i, f := range d.columns {
		if i >= len(cells) || placeholder(cells[i]) == "" {
			continue
		}
		empty = false
		if f != "" {
			d.set(n, f, cells[i], line)
		}
	}
	if empty {
		return
	}
	n.titled()
	if n.ID == "" && n.File == "" && n.Lines.IsZero() && len(n.CWEs) == 0 {
		d.p.add(line, "the row names neither ID nor file nor CWE: it is no finding")
		return
	}
	d.inherit(n)
	d.found = append(d.found, n)
}

// titled takes from a title field what no other field says: "[HIGH] F-01: SQL
// injection (CWE-89)".
func (c *draft) titled() {
	t := parseTitle(c.Title)
	if c.ID == "" && t.strong {
		c.ID, c.strong, c.Title = t.id, true, t.text
	}
	if c.Severity == audit.SeverityUnknown {
		c.Severity = t.sev
	}
	if len(c.CWEs) == 0 {
		c.CWEs = t.cwes
	}
}

// set fills one field of a draft. What is filled stays: a second file, or a
// second range, is a further location.
func (d *drafts) set(c *draft, f field, val string, line int) {
	val = strings.TrimSpace(strings.Trim(val, "*"))
	if placeholder(val) == "" {
		return
	}
	c.fields++
	bad := func(want string) {
		c.fields--
		d.p.add(line, "the %s %q cannot be read: expected %s", f, clip(val), want)
	}
	switch f {
	case fID:
		id := strings.Trim(plainWord(val), "[]【】()`#")
		if m := tableID.FindString(id); m == "" && len(id) > 40 {
			bad("a short ID like F-01")
			return
		}
		if c.ID == "" || !c.strong {
			c.ID, c.strong = id, !isDigits(strings.ReplaceAll(id, ".", ""))
		}
	case fSeverity:
		sev, ok := severityOf(val)
		if !ok {
			bad("CRITICAL, HIGH, MEDIUM, LOW or INFO")
			return
		}
		if c.Severity == audit.SeverityUnknown || !c.sevField && !c.table {
			c.Severity = sev
		}
		c.sevField = true
	case fCWE:
		cwes := cwesInField(val)
		if len(cwes) == 0 {
			bad("a form like CWE-89")
			return
		}
		c.CWEs = addCWEs(c.CWEs, cwes...)
	case fDimension, fKind:
		dim, ok := dimensionOf(val)
		switch {
		case ok && c.Dimension == "":
			c.Dimension = dim
		case f == fDimension && !ok:
			bad("one of the ten dimensions")
		}
		if f == fKind && c.Title == "" {
			c.Title = val
		}
		if f == fKind {
			c.CWEs = addCWEs(c.CWEs, cwesInProse(val)...)
		}
	case fFile:
		c.addPlaces(placesOf(val))
	case fLines, fEnd:
		rs, ok := linesOf(val)
		if !ok {
			if ps := placesOf(val); len(ps) > 0 && !ps[0].Lines.IsZero() && c.File == "" {
				c.addPlaces(ps)
				return
			}
			bad("a form like 12 or 12-18")
			return
		}
		c.addLines(rs, f == fEnd)
	case fFunction:
		if c.Function == "" {
			c.Function = functionName(val)
		}
	case fTitle:
		if c.Title == "" || c.record {
			c.Title = trimTitle(val)
		}
	case fDescription:
		d.describe(c, val, line)
	case fConfidence:
		conf, ok := confidenceOf(val)
		if !ok {
			bad("a share, a percentage, or high, medium, low")
			return
		}
		c.Confidence = conf
	case fRule:
		c.RuleID = val
	case fTrace, fOthers:
		c.step(f, val)
	case fStatus:
		if withdrawn.MatchString(val) {
			c.Suppressed = strings.TrimPrefix(val, "suppressed: ")
		}
	case fIgnored:
		c.fields--
	}
}

var withdrawn = regexp.MustCompile(`(?i)\b(?:false[ -]positive|suppressed|withdrawn|dismissed|not (?:a )?vulnerab\w*|not exploitable|won'?t fix|rejected)\b|误报|已排除|不成立`)

func clip(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "..."
	}
	return s
}

// addPlaces makes the first place the finding's, unless it has one.
func (c *draft) addPlaces(ps []audit.Step) {
	for i, p := range ps {
		switch {
		case i == 0 && c.File == "":
			c.File, c.place = p.File, true
			if c.Lines.IsZero() {
				c.Lines = p.Lines
			}
		case p.File == c.File && c.Lines.IsZero():
			c.Lines = p.Lines
		case p.File != c.File || p.Lines != c.Lines && !p.Lines.IsZero():
			c.Others = append(c.Others, p)
		}
	}
}

// addLines takes the ranges of a Lines field. They are more exact than those
// that came with the file.
func (c *draft) addLines(rs []audit.Range, end bool) {
	if len(rs) == 0 {
		return
	}
	if end {
		c.Lines = lineRange(c.Lines.Start, rs[0].End)
		return
	}
	c.Lines = rs[0]
	for _, r := range rs[1:] {
		c.Others = append(c.Others, audit.Step{File: c.File, Lines: r})
	}
}
