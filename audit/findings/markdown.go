package findings

import (
	"regexp"
	"sort"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// mdParser is CommonMark with tables and without emphasis, because __init__.py
// is a file name: ** is taken away by hand.
var mdParser = parser.NewParser(
	parser.WithBlockParsers(
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(parser.NewListParser(), 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(parser.NewBlockquoteParser(), 800),
		util.Prioritized(parser.NewHTMLBlockParser(), 900),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	),
	parser.WithInlineParsers(
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(parser.NewLinkParser(), 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewRawHTMLParser(), 400),
	),
	parser.WithParagraphTransformers(
		util.Prioritized(parser.LinkReferenceParagraphTransformer, 100),
		util.Prioritized(extension.NewTableParagraphTransformer(), 200),
	),
	parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
)

// A walker turns one Markdown document into calls on drafts, in the document's
// order. base is the line of the document's first line, less one.
type walker struct {
	src  []byte
	base int
	nl   []int // offsets of the line ends
	d    *drafts
	deep int // how many fences lie around
}

func (t *textReport) parse(src []byte, base int) { walk(&t.drafts, src, base, 0) }

func walk(d *drafts, src []byte, base, deep int) {
	w := &walker{src: src, base: base, d: d, deep: deep}
	for i, b := range src {
		if b == '\n' {
			w.nl = append(w.nl, i)
		}
	}
	w.blocks(mdParser.Parse(text.NewReader(src)), 0)
}

// line gives the line, from 1, of an offset.
func (w *walker) line(off int) int { return w.base + sort.SearchInts(w.nl, off) + 1 }

func (w *walker) lineOf(n ast.Node) int {
	for c := n; c != nil; c = c.FirstChild() {
		if c.Type() == ast.TypeBlock && c.Lines().Len() > 0 {
			return w.line(c.Lines().At(0).Start)
		}
	}
	return w.line(max(n.Pos(), 0))
}

// blocks walks the children of n. depth counts the lists around.
func (w *walker) blocks(n ast.Node, depth int) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Heading:
			w.heading(c, depth)
		case *ast.Paragraph, *ast.TextBlock:
			w.paragraph(c, depth, false)
		case *ast.List:
			for it := c.FirstChild(); it != nil; it = it.NextSibling() {
				w.item(it, c, depth+1)
			}
		case *east.Table:
			w.table(c)
		case *ast.FencedCodeBlock:
			w.fenced(c)
		case *ast.CodeBlock:
			w.indented(c)
		case *ast.Blockquote:
			w.blocks(c, depth)
		case *ast.HTMLBlock:
			w.html(c)
		case *ast.ThematicBreak:
			w.d.rule()
		}
	}
}

// indented reads the fields in indented code, since models indent the fields of
// a finding. Other lines of it are code.
func (w *walker) indented(n *ast.CodeBlock) {
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		l := strings.NewReplacer("**", "", "`", "").Replace(string(seg.Value(w.src)))
		if l = strings.TrimSpace(l); isField(l) {
			w.d.line(l, w.line(seg.Start), 0, false)
		}
	}
}

// heading hands a heading on; one that is a field in truth (a line of dashes
// after "Severity: HIGH" makes a heading of it) is a paragraph.
func (w *walker) heading(h *ast.Heading, depth int) {
	lines := w.inline(h)
	all := strings.TrimSpace(strings.Join(lines, " "))
	if len(lines) > 1 || isField(all) && h.Level <= 2 && !strings.HasPrefix(w.rawLine(h), "#") {
		w.paragraph(h, depth, false)
		w.d.rule()
		return
	}
	w.d.heading(h.Level, all, w.lineOf(h))
}

func (w *walker) rawLine(n ast.Node) string {
	if n.Lines().Len() == 0 {
		return "#"
	}
	start := n.Lines().At(0).Start
	for start > 0 && w.src[start-1] != '\n' {
		start--
	}
	return strings.TrimLeft(string(w.src[start:n.Lines().At(0).Stop]), " \t>")
}

// item hands on a list item: the first line of its first block as a bullet.
func (w *walker) item(it ast.Node, list *ast.List, depth int) {
	first := true
	for c := it.FirstChild(); c != nil; c = c.NextSibling() {
		switch c.(type) {
		case *ast.Paragraph, *ast.TextBlock:
			w.paragraph(c, depth, first)
			first = false
		default:
			// reuse the switch above for one child
			w.child(c, depth)
		}
	}
}

func (w *walker) child(c ast.Node, depth int) {
	switch c := c.(type) {
	case *ast.List:
		for it := c.FirstChild(); it != nil; it = it.NextSibling() {
			w.item(it, c, depth+1)
		}
	case *ast.Heading:
		w.heading(c, depth)
	case *east.Table:
		w.table(c)
	case *ast.FencedCodeBlock:
		w.fenced(c)
	case *ast.CodeBlock:
		w.indented(c)
	case *ast.Blockquote:
		w.blocks(c, depth)
	case *ast.HTMLBlock:
		w.html(c)
	}
}

// paragraph hands on the lines of a paragraph. Lines that start with a pipe are
// rows of a table that Markdown does not take for one (wrong number of columns,
// a blank line between rows).
func (w *walker) paragraph(n ast.Node, depth int, bullet bool) {
	lines := strings.Split(w.marked(n), "\n")
	at := w.lineOf(n)
	var rows [][]string
	var rowAt []int
	for i, l := range lines {
		if n.Lines().Len() > i {
			at = w.line(n.Lines().At(i).Start)
		}
		if strings.HasPrefix(strings.TrimSpace(l), "|") && strings.Count(l, "|") > 1 {
			raw := l
			if i < n.Lines().Len() {
				seg := n.Lines().At(i)
				raw = string(seg.Value(w.src))
			}
			rows, rowAt = append(rows, splitRow(raw)), append(rowAt, at)
			continue
		}
		if strings.TrimSpace(l) == "" {
			continue
		}
		w.d.line(l, at, depth, bullet && i == 0)
	}
	if rows != nil {
		w.d.looseRows(rows, rowAt)
	}
}

var cellPipe = regexp.MustCompile(`\\\||\|`)

// splitRow cuts a raw table row at the pipes that are not escaped.
func splitRow(l string) []string {
	l = strings.TrimSpace(l)
	var cells []string
	from := 0
	for _, m := range cellPipe.FindAllStringIndex(l, -1) {
		if m[1]-m[0] == 2 {
			continue
		}
		cells = append(cells, l[from:m[0]])
		from = m[1]
	}
	cells = append(cells, l[from:])
	if len(cells) > 0 && strings.TrimSpace(cells[0]) == "" {
		cells = cells[1:]
	}
	if len(cells) > 0 && strings.TrimSpace(cells[len(cells)-1]) == "" {
		cells = cells[:len(cells)-1]
	}
	for i, c := range cells {
		cells[i] = plainCell(c)
	}
	return cells
}

var linkInCell = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]*)[^)]*\)`)

func plainCell(c string) string {
	c = linkInCell.ReplaceAllStringFunc(c, func(s string) string {
		m := linkInCell.FindStringSubmatch(s)
		return linkText(m[1], m[2])
	})
	c = breakTag.ReplaceAllString(c, "\n")
	return strings.TrimSpace(strings.NewReplacer("**", "", "`", "", `\|`, "|").Replace(c))
}

func (w *walker) table(n *east.Table) {
	var header []string
	var rows [][]string
	var at []int
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		cells := make([]string, 0, r.ChildCount())
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, strings.TrimSpace(strings.Join(w.inline(c), " ")))
		}
		if _, ok := r.(*east.TableHeader); ok {
			header = cells
			continue
		}
		line := w.line(r.Pos())
		raw := w.sourceLine(r.Pos())
		if !strings.Contains(raw, "|") {
			// text right under a table is a row to Markdown and to nobody else
			w.d.table(header, rows, at)
			rows, at = nil, nil
			w.d.line(strings.Join(cells, " "), line, 0, false)
			continue
		}
		if got := len(splitRow(raw)); got > len(header) {
			w.d.p.add(line, "the row has %d cells, its table %d columns: a | inside a cell is written \\|", got, len(header))
		}
		rows, at = append(rows, cells), append(at, line)
	}
	w.d.table(header, rows, at)
}

func (w *walker) sourceLine(off int) string {
	if off < 0 || off > len(w.src) {
		return ""
	}
	i := sort.SearchInts(w.nl, off)
	end := len(w.src)
	if i < len(w.nl) {
		end = w.nl[i]
	}
	return string(w.src[off:end])
}

// fenced reads what lies in a fence when it is a report, and passes over code.
func (w *walker) fenced(n *ast.FencedCodeBlock) {
	lang := strings.ToLower(string(n.Language(w.src)))
	switch lang {
	case "", "markdown", "md", "text", "txt", "plaintext", "plain":
	default:
		return
	}
	if n.Lines().Len() == 0 || w.deep >= 3 {
		return
	}
	var body []byte
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		body = append(body, seg.Value(w.src)...)
	}
	if !looksLikeReport(string(body)) {
		return
	}
	walk(w.d, body, w.line(n.Lines().At(0).Start)-1, w.deep+1)
}

var reportLine = regexp.MustCompile(`(?mi)^\s*(?:#{1,6}\s|\|.*\|\s*$|[-*]?\s*\**(?:severity|cwe|file|location|严重\S*|文件\S*)\**\s*[:：])`)

func looksLikeReport(s string) bool { return reportLine.MatchString(s) }
