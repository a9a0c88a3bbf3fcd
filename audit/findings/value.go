package findings

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/audit"
)

// quote writes a value as a literal in which nothing has a meaning to Markdown,
// to a table or to a terminal: a Go string literal of printable characters,
// without |, ` and <.
func quote(s string) string {
	var b strings.Builder
	for _, r := range strconv.Quote(s) {
		switch {
		case r == '|' || r == '`' || r == '<':
			b.WriteString(`\x` + strconv.FormatInt(int64(r), 16))
		case r == emoji:
			b.WriteString(`\ufe0f`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// literal reads the literal at the start of a value, and what follows it. ok is
// false when there is none.
func literal(raw string) (v, rest string, ok bool) {
	if !strings.HasPrefix(raw, `"`) {
		return "", raw, false
	}
	lit, err := strconv.QuotedPrefix(raw)
	if err != nil {
		return "", raw, false
	}
	v, err = strconv.Unquote(lit)
	return v, raw[len(lit):], err == nil
}

// value reads a field's value: exact when it is a literal, else by the field's
// tolerance. A word that stands for nothing is the empty string.
func value(f field, raw string) (v string, exact bool) {
	raw = strings.TrimSpace(raw)
	if v, rest, ok := literal(raw); ok && rest == "" {
		return v, true
	}
	v = filled(strings.TrimSpace(plain(raw)))
	switch f {
	case fID:
		v = strings.Trim(v, "[]【】()_:-> ")
		if !numbered.MatchString(v) {
			v = strings.Trim(v, "#")
		}
	case fFunction:
		v = functionName(v)
	case fTitle:
		v = trimTitle(v)
	case fRule:
		v = strings.Trim(v, "*")
	}
	return v, false
}

// emoji asks for the coloured form of the character before it. The reader drops it.
const emoji = '\ufe0f'

// numbered is the ID of a finding that its auditor gave none.
var numbered = regexp.MustCompile(`^#\d+$`)

// asValue writes a value plain where the reader gives the same back, else as a
// literal.
func asValue(f field, v string) string {
	if got, exact := value(f, v); got == v && !exact && safe(v) {
		return v
	}
	return quote(v)
}

// safe says that a value survives the cleaning of a report's lines, and that it
// ends no cell.
func safe(v string) bool {
	return !strings.Contains(v, "|") && strings.IndexFunc(v, func(r rune) bool { return !unicode.IsPrint(r) || r == emoji }) < 0 && utf8.ValidString(v)
}

// places reads the value of a File field: paths with their lines.
func places(raw string) []audit.Step {
	raw = strings.TrimSpace(raw)
	if file, rest, ok := literal(raw); ok {
		if r, ok := rangeSuffix(rest); ok {
			return []audit.Step{{File: file, Lines: r}}
		}
	}
	return placesOf(plainPlace(raw))
}

var suffix = regexp.MustCompile(`^(?::(\d{1,18})(?:-(\d{1,18}))?)?$`)

// rangeSuffix reads "", ":12" or ":12-18".
func rangeSuffix(s string) (audit.Range, bool) {
	if m := suffix.FindStringSubmatch(s); m != nil {
		return rangeOf(m[1], m[2]), true
	}
	return audit.Range{}, false
}

// asPlace writes a path with its lines.
func asPlace(s audit.Step) string {
	s.Note = ""
	lines := ""
	if !s.Lines.IsZero() {
		lines = ":" + s.Lines.String()
	}
	span := "`" + s.File + lines + "`"
	if ps := places(span); s.File != "" && safe(s.File) && len(ps) == 1 && ps[0].File == s.File && (lines == "") == ps[0].Lines.IsZero() {
		return span
	}
	return quote(s.File) + lines
}

var (
	// codePath is a code span that holds a path: it has an extension or a line.
	codePath   = regexp.MustCompile("^([^`]*)`([^`]*[\\w$-]\\.[A-Za-z][A-Za-z0-9]{0,9}(?:(?::|#L)\\d[\\dL:-]*)?|[^`]*[/\\\\][^`]*:\\d[\\d:-]*)`[:：]?(.*)$")
	arrows     = regexp.MustCompile(`\s*(?:→|⇒|->|=>)\s*`)
	listNumber = regexp.MustCompile(`^\d{1,3}[.)]\s+`)
)

// steps reads a step of a trace, or several with arrows between them.
func steps(raw string) (out []audit.Step) {
	raw = strings.TrimSpace(raw)
	if file, rest, ok := literal(raw); ok {
		at, note, _ := strings.Cut(rest, " ")
		if r, ok := rangeSuffix(at); ok {
			if v, tail, ok := literal(note); ok && tail == "" {
				note = v
			}
			return []audit.Step{{File: file, Lines: r, Note: note}}
		}
	}
	parts := []string{raw}
	if strings.Count(raw, "`") != 2 {
		parts = arrows.Split(raw, -1)
	}
	for _, part := range parts {
		part = listNumber.ReplaceAllString(strings.TrimSpace(part), "")
		if part == "" {
			continue
		}
		s := audit.Step{Note: strings.TrimSpace(plain(part))}
		if m := codePath.FindStringSubmatch(part); m != nil {
			s = placeOf(m[2])
			s.Note = strings.Trim(plain(strings.TrimSpace(m[1])+" "+m[3]), " :：()（）–—-")
		} else if m := pathInProse.FindStringIndex(part); m != nil {
			s = placeOf(part[m[0]:m[1]])
			s.Note = strings.Trim(plain(part[:m[0]]+part[m[1]:]), " `:：()（）–—-")
		}
		out = append(out, s)
	}
	return out
}

// asStep writes a step of a trace.
func asStep(s audit.Step) string {
	if place := asPlace(s); place[0] == '`' {
		try := strings.TrimSpace(place + " " + s.Note)
		if got := steps(try); safe(s.Note) && len(got) == 1 && got[0] == s {
			return try
		}
	}
	out := quote(s.File)
	if !s.Lines.IsZero() {
		out += ":" + s.Lines.String()
	}
	if s.Note != "" {
		out += " " + quote(s.Note)
	}
	return out
}

var (
	link      = regexp.MustCompile(`\[([^\[\]]{0,300})\]\(<?([^)\s>]{0,1000})[^)]{0,100}\)`)
	breakTag  = regexp.MustCompile(`(?i)<br\s*/?>`)
	inlineTag = regexp.MustCompile(`(?i)</?(?:b|i|u|em|strong|code|kbd|sub|sup|span|font|a|p|div|details|summary|mark|small|ul|ol|li|pre|center)\b[^<>]{0,200}>`)
)

// plain takes Markdown's marks off a value: bold, code spans, links, tags, and
// the backslash before a mark. Within a code span a backslash is one.
func plain(s string) string {
	s = link.ReplaceAllString(s, "$1")
	return unmarked(s)
}

// plainPlace is plain for places: of a link its target counts, as what it is
// labelled with only abbreviates it.
func plainPlace(s string) string {
	return unmarked(link.ReplaceAllStringFunc(s, func(l string) string {
		m := link.FindStringSubmatch(l)
		return linkPlace(strings.Trim(m[1], "`* "), m[2])
	}))
}

func unmarked(s string) string {
	if strings.Contains(s, "<") {
		s = inlineTag.ReplaceAllString(breakTag.ReplaceAllString(s, "; "), "")
	}
	if !strings.ContainsAny(s, "`*\\") {
		return s
	}
	var b strings.Builder
	code := false
	for i := 0; i < len(s); i++ {
		next := byte(0)
		if i+1 < len(s) {
			next = s[i+1]
		}
		switch {
		case s[i] == '`':
			code = !code
		case s[i] == '*' && next == '*' && !code:
			i++
		case s[i] == '\\' && next == '|', s[i] == '\\' && !code && next != 0 && strings.IndexByte("`*[]<>#\\", next) >= 0:
			b.WriteByte(next)
			i++
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// linkPlace gives the place that a link names: its target's path, with the lines
// of the label or else of the target. An address elsewhere counts by its label.
func linkPlace(label, target string) string {
	if m := blobURL.FindStringSubmatch(target); m != nil {
		target = m[1]
	} else if strings.Contains(target, "://") && !strings.HasPrefix(target, "file:") {
		return label
	}
	file, frag, _ := strings.Cut(target, "#")
	if file == "" {
		return label
	}
	file, _ = uriPath(file)
	named := placeOf(label)
	if strings.HasSuffix(named.File, "/"+strings.TrimPrefix(file, "./")) {
		file = named.File // the label says more than the target
	}
	lines := named.Lines
	for _, s := range []string{label, frag} {
		if rs, ok := linesOf(s); ok && len(rs) > 0 && lines.IsZero() {
			lines = rs[0]
		}
	}
	if lines.IsZero() {
		return file
	}
	return file + ":" + lines.String()
}
