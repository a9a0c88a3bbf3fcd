package findings

import (
	"regexp"
	"strings"

	"assay/audit"
)

// A draft is a finding while its parts come together.
type draft struct {
	audit.Finding
	line     int
	strong   bool // the ID has letters: it is the auditor's own, no mere numbering
	table    bool // stands in a table, not in a section
	record   bool // opened by a field, not by a heading
	level    int  // of the heading; 100 and up for a list's
	fields   int  // recognised fields that were filled
	place    bool // the file came from a field
	sevField bool
	chapter  bool     // its heading says something on all that stands under it
	soft     struct { // read out of prose: holds where no field says better
		audit.Step
		cwes []audit.CWE
	}
}

// A scope is what a heading says about all that stands under it.
type scope struct {
	level int
	sev   audit.Severity
	dim   audit.Dimension
	file  string
}

// drafts takes a document's blocks in order and makes findings of them.
type drafts struct {
	p      *problems
	rules  map[string][]audit.CWE
	found  []*draft
	cur    *draft
	at     field // the field that lines without a key continue
	depth  int   // of the list in which at was set
	scopes []scope
	bullet struct { // the last list item that is no field
		text        string
		line, depth int
	}
	columns []field // of the last table of findings
	header  []string
}

func (d *drafts) open(n *draft) *draft {
	d.close()
	d.cur, d.at, d.depth = n, "", 0
	return n
}

func (d *drafts) close() {
	if c := d.cur; c != nil {
		d.inherit(c)
		d.found = append(d.found, c)
	}
	d.cur, d.at = nil, ""
}

// inherit fills what the headings above say.
func (d *drafts) inherit(c *draft) {
	for i := len(d.scopes) - 1; i >= 0; i-- {
		s := d.scopes[i]
		if c.Severity == audit.SeverityUnknown {
			c.Severity = s.sev
		}
		if c.Dimension == "" {
			c.Dimension = s.dim
		}
		if c.File == "" && s.file != "" && (c.table || c.fields > 0) && !c.Lines.IsZero() {
			c.File, c.place = s.file, true
		}
	}
}

func (d *drafts) rule() {
	if d.cur != nil && d.cur.record {
		d.close()
	}
	d.at = ""
}

func (d *drafts) heading(level int, text string, line int) {
	if d.cur != nil && level > d.cur.level {
		if f := fieldOf(text); f != "" && f != fTitle {
			d.at, d.depth = f, 0
			return
		}
		if isField(text) && parseTitle(text).id == "" {
			d.line(text, line, 0, false)
			return
		}
	}
	t := parseTitle(text)
	if c := d.cur; c != nil && level > c.level && !t.finding() && (c.strong || c.fields > 0) {
		d.at = fIgnored // "Exploitation", "Fixed code": no part of a finding
		return
	}
	d.close()
	for len(d.scopes) > 0 && d.scopes[len(d.scopes)-1].level >= level {
		d.scopes = d.scopes[:len(d.scopes)-1]
	}
	n := t.draft(level, line)
	if s, ok := scopeOf(text, level); ok {
		d.scopes = append(d.scopes, s)
		n.chapter = true
	}
	d.open(n)
}

var (
	scopeNoise = regexp.MustCompile(`(?i)\b(?:severity|risk|level|findings?|vulnerabilit(?:y|ies)|issues?|priority)\b|级别|等级|风险|漏洞|问题|发现|[(（]\s*\d+[^)）]*[)）]|^[\d.]+|[^\p{L}\p{N}]`)
	pathAlone  = regexp.MustCompile(`^(?:file:?\s*)?([\w./\\@+~$() -]*[\w$-]+\.[A-Za-z][A-Za-z0-9]{0,9})$`)
)

// scopeOf reads a heading like "High Severity (3)", "D1 Injection" or
// "src/A.java".
func scopeOf(text string, level int) (scope, bool) {
	s := scope{level: level}
	word := strings.ToLower(strings.TrimSpace(scopeNoise.ReplaceAllString(text, "")))
	if sev, ok := severities[word]; ok {
		s.sev = sev
	} else if sev, ok := severities[strings.TrimSuffix(word, "危")+"危"]; ok && word != "" {
		s.sev = sev
	}
	if d, ok := dimensionOf(bracketed.ReplaceAllString(text, "")); ok {
		s.dim = d
	}
	if m := pathAlone.FindStringSubmatch(strings.TrimSpace(text)); m != nil && !strings.Contains(m[1], " ") {
		s.file = cleanPath(m[1])
	}
	return s, s.sev != 0 || s.dim != "" || s.file != ""
}

// A title is a heading, or what stands in a heading's place, taken apart.
type title struct {
	id     string
	strong bool
	sev    audit.Severity
	cwes   []audit.CWE
	text   string
}

var (
	titleWord   = regexp.MustCompile(`^(?i)(?:finding|vulnerability|vuln|issue|bug|漏洞|问题|发现|缺陷)\s*[#＃]?\s*([A-Za-z]{0,12}[-_]?\d{1,5})(?:\s*[\]】)）:：.、|–—-]+\s*|\s+|$)(.*)$`)
	titleID     = regexp.MustCompile(`^[\[【(（#]?([A-Z][A-Z0-9]{0,11}(?:[-_][A-Z0-9]{1,12})*?[-_]?\d{1,5})[\]】)）]?(\s*[:：.、|–—-]+\s*|\s+|$)(.*)$`)
	titleNumber = regexp.MustCompile(`^[\[(#]?(\d{1,4}(?:\.\d{1,3}){0,3})[\])]?\s*[.)、:：]?\s+(.*)$`)
	titleSev    = regexp.MustCompile(`(?i)[\[【(（]\s*(?:severity\s*[:：]\s*|risk\s*[:：]\s*)?(critical|crit|high|medium|moderate|low|info|informational|严重|致命|超危|高危|中危|低危|提示|高|中|低)(?:\s*(?:severity|risk))?\s*[\]】)）]|^(critical|high|medium|low|info|严重|高危|中危|低危)\s*(?:[:：–—|]|-\s)\s*|\s*[–—|-]\s*(critical|high|medium|low|info|严重|高危|中危|低危)(?:\s+severity)?\s*$`)
	titleCWE    = regexp.MustCompile(`(?i)\s*[\[【(（]?\s*\bcwe[-‐‑‒–—_ :：#]{0,2}\d{1,5}\s*[\]】)）]?\s*[:：–—-]?\s*`)
	listNumber  = regexp.MustCompile(`^\d{1,3}[.)]\s+`)
)

func parseTitle(s string) title {
	var t title
	s = trimTitle(strings.ReplaceAll(s, "**", ""))
	take := func() {
		if m := titleSev.FindStringSubmatchIndex(s); m != nil && t.sev == 0 {
			for g := 2; g < len(m); g += 2 {
				if m[g] >= 0 {
					t.sev, _ = severityOf(s[m[g]:m[g+1]])
				}
			}
			s = trimTitle(s[:m[0]] + " " + s[m[1]:])
		}
	}
	ident := func() {
		if t.id != "" {
			return
		}
		if m := titleWord.FindStringSubmatch(s); m != nil {
			t.id, t.strong, s = m[1], !isDigits(m[1]), m[2]
		} else if m := titleID.FindStringSubmatch(s); m != nil && !strings.HasPrefix(m[1], "CWE") && (len(m[2]) > 0 || m[3] == "") {
			t.id, t.strong, s = m[1], true, m[3]
		} else if m := titleNumber.FindStringSubmatch(s); m != nil {
			t.id, s = m[1], m[2]
		}
		s = trimTitle(s)
	}
	ident()
	take()
	ident()
	if !t.strong { // "1. [F-01] SQL injection"
		if m := titleID.FindStringSubmatch(s); m != nil && !strings.HasPrefix(m[1], "CWE") && strings.ContainsAny(m[1], "-_") {
			t.id, t.strong, s = m[1], true, trimTitle(m[3])
		}
	}
	t.cwes = cwesInProse(s)
	if short := trimTitle(titleCWE.ReplaceAllString(s, " ")); short != "" && len(t.cwes) > 0 {
		s = strings.Join(strings.Fields(short), " ")
	}
	t.text = s
	return t
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// finding reports whether a heading says by itself that it heads a finding.
func (t title) finding() bool { return t.id != "" || t.sev != 0 || len(t.cwes) > 0 }

func (t title) draft(level, line int) *draft {
	n := &draft{level: level, line: line, strong: t.strong}
	n.ID, n.Severity, n.CWEs, n.Title = t.id, t.sev, t.cwes, t.text
	return n
}

// line takes a line of a paragraph or the first line of a list item.
func (d *drafts) line(text string, line, depth int, bullet bool) {
	marked := text
	text = strings.TrimSpace(noMarks.Replace(text))
	if fs, vals := cutFields(text); fs != nil {
		for i, f := range fs {
			d.field(f, vals[i], line, depth)
		}
		return
	}
	if d.opens(text, line, depth, bullet) {
		return
	}
	if bullet {
		d.bullet.text, d.bullet.line, d.bullet.depth = text, line, depth
	}
	c := d.cur
	if c == nil {
		return
	}
	switch d.at {
	case fIgnored:
	case fTrace, fOthers:
		c.step(d.at, marked)
	case fFile:
		d.set(c, fFile, text, line)
	case "", fDescription:
		d.describe(c, text, line)
	default:
		if strings.TrimSpace(text) != "" {
			d.set(c, d.at, text, line)
			d.at = ""
		}
	}
}

// opens tells a line that heads a finding of its own: "F-01: SQL injection",
// "[HIGH] ...", or a list item that says it all in one line.
func (d *drafts) opens(text string, line, depth int, bullet bool) bool {
	c := d.cur
	if c != nil && c.level >= 100 && bullet && depth <= c.level-100 {
		d.close() // the next item of the list that c is an item of
		c = nil
	}
	t := parseTitle(text)
	sentence := strings.HasSuffix(text, ".") || strings.HasSuffix(text, "。") || len(text) > 200
	if t.strong && !sentence && d.at != fTrace && d.at != fOthers {
		n := d.open(t.draft(100+depth, line))
		n.glean(text)
		return true
	}
	busy := c != nil && (c.strong || c.fields > 0)
	if busy || d.at == fTrace || d.at == fOthers || d.at == fIgnored {
		return false
	}
	place := pathInProse.FindString(text)
	if (bullet || t.sev != 0) && (place != "" && (len(t.cwes) > 0 || t.sev != 0 || d.scopeSeverity() != 0)) {
		n := d.open(t.draft(100+depth, line))
		n.glean(text)
		n.fields++
		return true
	}
	if t.sev != 0 && !sentence && (!bullet || t.text != "") {
		d.open(t.draft(100+depth, line))
		return true
	}
	return false
}

func (d *drafts) scopeSeverity() audit.Severity {
	for i := len(d.scopes) - 1; i >= 0; i-- {
		if d.scopes[i].sev != 0 {
			return d.scopes[i].sev
		}
	}
	return 0
}

// glean takes place and CWEs from running text, for where no field gives them.
func (c *draft) glean(text string) {
	if c.soft.File == "" {
		if m := pathInProse.FindString(text); m != "" {
			c.soft.Step = placeOf(m)
			if i := strings.Index(c.Title, m); i > 0 {
				c.Title = strings.TrimRight(plainWord(strings.TrimSuffix(strings.TrimRight(c.Title[:i], " `(（–—-:："), " in")), " ")
			}
		}
	}
	if len(c.soft.cwes) == 0 {
		c.soft.cwes = cwesInProse(text)
	}
}

// harden makes what prose said the draft's own where nothing else did.
func (c *draft) harden() {
	if c.File == "" {
		c.File = c.soft.File
		if c.Lines.IsZero() {
			c.Lines = c.soft.Lines
		}
	}
	if len(c.CWEs) == 0 {
		c.CWEs = c.soft.cwes
	}
}

// field takes one "key: value".
func (d *drafts) field(f field, val string, line, depth int) {
	c := d.cur
	plain := c == nil || !c.strong && c.fields == 0
	if b := d.bullet; b.text != "" && depth > b.depth && (plain || c.level >= 100 && b.depth <= c.level-100) && f != fIgnored {
		d.open(parseTitle(b.text).draft(100+b.depth, b.line))
		d.cur.glean(b.text)
		c = d.cur
	}
	d.bullet.text = ""
	switch {
	case c == nil, f == fID && c.fields > 0 && c.ID != "" && normID(val) != normID(c.ID),
		c.record && (f == fID && c.ID != "" || f == fTitle && c.Title != "" || f == fSeverity && c.sevField):
		if f == fIgnored || f == fDescription || f == fStatus || f == fTrace || f == fOthers || f == fRule || f == fConfidence || f == fFunction {
			if c == nil {
				return
			}
			break
		}
		c = d.open(&draft{line: line, record: true, level: 99})
	}
	d.at, d.depth = f, depth
	if val != "" {
		d.set(c, f, val, line)
		if f != fDescription && f != fTrace && f != fOthers && f != fIgnored && f != fFile {
			d.at = ""
		}
		if f == fFile && placeholder(val) != "" {
			d.at = ""
		}
	}
}

// step reads one step of a trace, or several with arrows between them.
func (c *draft) step(f field, text string) {
	parts := []string{text}
	if strings.Count(text, string(codeOpen)) != 1 {
		parts = splitSteps.Split(text, -1)
	}
	for _, part := range parts {
		part = listNumber.ReplaceAllString(strings.TrimSpace(part), "")
		if part == "" {
			continue
		}
		s := audit.Step{Note: noMarks.Replace(part)}
		if m := codePath.FindStringSubmatch(part); m != nil {
			p := placeOf(m[2])
			s.File, s.Lines = p.File, p.Lines
			s.Note = strings.Trim(noMarks.Replace(strings.TrimSpace(m[1])+" "+m[3]), " :：()（）–—-")
		} else if m := pathInProse.FindStringIndex(part); m != nil {
			p := placeOf(part[m[0]:m[1]])
			s.File, s.Lines = p.File, p.Lines
			s.Note = strings.Trim(part[:m[0]]+part[m[1]:], " `:：()（）–—-")
		}
		if f == fOthers {
			c.Others = append(c.Others, s)
		} else {
			c.Trace = append(c.Trace, s)
		}
	}
}

// codePath is a code span that holds a path: it has an extension or a line.
var codePath = regexp.MustCompile("^([^\x02]*)\x02([^\x02\x03]*[\\w$-]\\.[A-Za-z][A-Za-z0-9]{0,9}(?:(?::|#L)\\d[\\dL:-]*)?|[^\x02\x03]*[/\\\\][^\x02\x03]*:\\d[\\d:-]*)\x03[:：]?(.*)$")

var splitSteps = regexp.MustCompile(`\s*(?:→|⇒|->|=>)\s*`)

// maxDescription bounds a description, in bytes.
const maxDescription = 16 << 10

// describe adds to a description, up to the bound, and says when it is reached.
func (d *drafts) describe(c *draft, text string, line int) {
	switch {
	case c.Description == "":
		c.Description = text
	case len(c.Description) < maxDescription:
		if c.Description += " " + text; len(c.Description) >= maxDescription {
			d.p.add(line, "the description of %q is longer than 16 KB: the rest is not held", clip(c.Title))
		}
	}
}
