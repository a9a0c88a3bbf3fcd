package findings

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/audit"
)

// quote returns a Go string literal without characters that Markdown, tables or terminals
// interpret: |, ` and < are escaped.
func quote(s string) string {
	return strings.NewReplacer("|", `\x7c`, "`", `\x60`, "<", `\x3c`).Replace(strconv.Quote(s))
}

// literal reads the Go string literal at the start of a value and returns what follows it. ok
// is false if there is none.
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

// value returns a field's value: a literal unquoted, other texts without Markdown. Placeholders
// become "".
func value(of field, raw string) string {
	raw = strings.TrimSpace(raw)
	if v, rest, ok := literal(raw); ok && rest == "" {
		return v
	}
	v := filled(plain(raw))
	switch of {
	case fID:
		v = strings.Trim(v, "[]")
	case fFunction:
		v = functionName(v)
	case fSuppressed:
		v = withdrawal(v)
	}
	return v
}

// shortID matches an ID that needs no quotes in brackets.
var shortID = regexp.MustCompile(`^(?:#\d+|[A-Za-z]{0,12}-?\d{1,5})$`)

// asValue writes a value plainly if value reads it back unchanged, else as a literal.
func asValue(of field, v string) string {
	if value(of, v) == v && safe(v) && !strings.HasPrefix(v, `"`) &&
		(of != fID || shortID.MatchString(v)) {
		return v
	}
	return quote(v)
}

// safe reports whether a value survives the cleaning of a report's lines and does not end a
// cell.
func safe(v string) bool {
	return !strings.Contains(v, "|") && utf8.ValidString(v) &&
		!strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsPrint(r) })
}

var (
	rangeSuffix = regexp.MustCompile(`^(?::(\d{1,18})(?:-(\d{1,18}))?)?$`)
	innerLine   = regexp.MustCompile(`:\d+\b`) // within a path, where it means a second place
	link        = regexp.MustCompile(`^\[([^\[\]]*)\]\(([^()\s]*)\)$`)
)

// place reads the value of a File field: a path with its lines. For a link it reads the target,
// because agents abbreviate labels. one is false if there are several places.
func place(raw string) (s audit.Step, one bool) {
	raw = strings.TrimSpace(raw)
	if file, rest, ok := literal(raw); ok {
		if m := rangeSuffix.FindStringSubmatch(rest); m != nil {
			return audit.Step{File: file, Lines: rangeOf(m[1], m[2])}, true
		}
	}
	if m := link.FindStringSubmatch(raw); m != nil {
		raw = m[2]
	}
	s = placeOf(plain(raw))
	return s, !innerLine.MatchString(s.File)
}

// asPlace writes a path with its lines; "" without a path.
func asPlace(s audit.Step) string {
	if s.File == "" {
		return ""
	}
	s.Note = ""
	lines := ""
	if !s.Lines.IsZero() {
		lines = ":" + s.Lines.String()
	}
	span := "`" + s.File + lines + "`"
	if got, one := place(span); one && got == s && safe(s.File) && value(fFile, span) != "" {
		return span
	}
	return quote(s.File) + lines
}

// step reads a step of a trace: a place and a note. An empty text is the zero step.
func step(raw string) audit.Step {
	raw = strings.TrimSpace(raw)
	if raw == "" {
		return audit.Step{}
	}
	at, note, _ := strings.Cut(raw, " ")
	if _, rest, ok := literal(raw); ok {
		suffix, _, _ := strings.Cut(rest, " ")
		at, note = raw[:len(raw)-len(rest)]+suffix, strings.TrimPrefix(rest[len(suffix):], " ")
	} else if span, rest, ok := strings.Cut(strings.TrimPrefix(raw, "`"), "`"); ok &&
		raw[0] == '`' {
		at, note = "`"+span+"`", rest
	}
	s, _ := place(at)
	if at[0] != '`' && at[0] != '"' && s.Lines.IsZero() {
		return audit.Step{Note: plain(raw)}
	}
	s.Note = strings.TrimLeft(plain(note), " :–—-")
	if v, rest, ok := literal(note); ok && rest == "" {
		s.Note = v
	}
	return s
}

// asStep writes a step such that step reads it back.
func asStep(s audit.Step) string {
	try := strings.TrimSpace(cmp.Or(asPlace(s), quote("")) + " " + s.Note)
	if safe(s.Note) && step(try) == s {
		return try
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

// markup matches Markdown's code spans, bold text, and escapes.
var markup = regexp.MustCompile("`[^`]*`?|\\*\\*|\\\\[|`*\\[\\]<>#\\\\]")

// plain removes Markdown's markup from a value. Within a code span only \| is an escape.
func plain(s string) string {
	s = markup.ReplaceAllStringFunc(s, func(m string) string {
		switch m[0] {
		case '`':
			return strings.ReplaceAll(strings.Trim(m, "`"), `\|`, "|")
		case '\\':
			return m[1:]
		}
		return ""
	})
	return strings.TrimSpace(s)
}
