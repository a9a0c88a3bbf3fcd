package findings

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
)

var htmlTag = regexp.MustCompile(`<[^>]*>`)
var breakTag = regexp.MustCompile(`(?i)<br\s*/?>`)

// html reads the text of an HTML block (<details><summary>...).
func (w *walker) html(n *ast.HTMLBlock) {
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		l := strings.TrimSpace(htmlTag.ReplaceAllString(string(seg.Value(w.src)), ""))
		if l != "" {
			w.d.line(strings.ReplaceAll(l, "**", ""), w.line(seg.Start), 0, false)
		}
	}
}

// inline gives the text of a block, cut at line ends: without bold, code spans
// without their backticks, links as linkText gives them.
func (w *walker) inline(n ast.Node) []string {
	return strings.Split(noMarks.Replace(w.marked(n)), "\n")
}

// codeOpen and codeClose mark code spans where their bounds matter: a path in a
// trace may hold spaces. They never come from the input.
const codeOpen, codeClose = '\x02', '\x03'

var noMarks = strings.NewReplacer(string(codeOpen), "", string(codeClose), "")

func (w *walker) marked(n ast.Node) string {
	var sb strings.Builder
	w.spans(n, &sb, 0)
	return sb.String()
}

func (w *walker) spans(n ast.Node, sb *strings.Builder, deep int) {
	if deep > 50 {
		return
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			s := string(c.Segment.Value(w.src))
			if n.Kind() != ast.KindCodeSpan {
				s = unescape(strings.ReplaceAll(s, "**", ""))
			}
			sb.WriteString(s)
			if c.SoftLineBreak() || c.HardLineBreak() {
				sb.WriteByte('\n')
			}
		case *ast.String:
			sb.Write(c.Value)
		case *ast.Link:
			var in strings.Builder
			w.spans(c, &in, deep+1)
			sb.WriteString(linkText(noMarks.Replace(in.String()), string(c.Destination)))
		case *ast.AutoLink:
			sb.Write(c.Label(w.src))
		case *ast.RawHTML:
			var raw strings.Builder
			for i := range c.Segments.Len() {
				seg := c.Segments.At(i)
				raw.Write(seg.Value(w.src))
			}
			if breakTag.MatchString(raw.String()) {
				sb.WriteString("; ")
			} else if !htmlTagName.MatchString(raw.String()) {
				sb.WriteString(raw.String()) // List<String> is no tag
			}
		case *ast.CodeSpan:
			sb.WriteRune(codeOpen)
			w.spans(c, sb, deep+1)
			sb.WriteRune(codeClose)
		default:
			w.spans(c, sb, deep+1)
		}
	}
}

var htmlTagName = regexp.MustCompile(`(?i)^</?(?:b|i|u|em|strong|code|kbd|sub|sup|span|font|a|p|div|details|summary|mark|small|ul|ol|li|pre|center)\b`)

// unescape takes the backslash from the marks that Markdown has a meaning for
// and that no Windows path continues with.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\|`, "|", "\\`", "`", `\*`, "*", `\[`, "[", `\]`, "]", `\<`, "<", `\>`, ">", `\#`, "#", `\\`, `\`).Replace(s)
}

// idleLabel is a link's text that says nothing: the target does.
var idleLabel = regexp.MustCompile(`(?i)^\s*(?:link|here|source|src|code|view|file|location|github|permalink|see|line|查看|链接|源码|代码|文件|位置)?\s*$`)

// linkText gives the text of a link, with its target in place of a path that
// only abbreviates it: [A.java:12](src/A.java#L12) is src/A.java:12.
func linkText(label, dest string) string {
	label = strings.ReplaceAll(label, "**", "")
	target := dest
	if m := blobURL.FindStringSubmatch(dest); m != nil {
		target = m[1]
	} else if strings.Contains(dest, "://") && !strings.HasPrefix(dest, "file:") {
		return label
	}
	path, frag, _ := strings.Cut(target, "#")
	if path == "" {
		return label
	}
	path, _ = uriPath(path)
	place := placeOf(strings.Trim(label, "` "))
	lines := place.Lines
	if rs, ok := linesOf(frag); ok && len(rs) > 0 && lines.IsZero() {
		lines = rs[0]
	}
	fwd := strings.ReplaceAll(path, `\`, "/")
	name := strings.ReplaceAll(place.File, `\`, "/")
	switch {
	case name != "" && (fwd == name || strings.HasSuffix(fwd, "/"+strings.TrimPrefix(name, "./"))):
	case strings.HasSuffix(name, "/"+strings.TrimPrefix(fwd, "./")):
		path = place.File // the label says more than the target
	case onlyLines.MatchString(label) || idleLabel.MatchString(label):
		if rs, ok := linesOf(label); ok && len(rs) > 0 && lines.IsZero() {
			lines = rs[0]
		}
	default:
		return label
	}
	if lines.IsZero() {
		return path
	}
	return path + ":" + lines.String()
}
