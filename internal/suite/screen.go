package suite

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"assay/audit"
)

type view struct {
	width int  // columns
	lines int  // at most, go test's own two among them
	all   bool // every row and figure, on as many lines as they take
}

// The screen for which the summary is made; a narrower terminal gets less width.
const (
	screenWidth = 100
	screenLines = 40
)

// A block is rows that stand or fall together, and their cause.
type block struct {
	rank  int
	rows  []*line
	text  []string
	cause int // how many lines at the end of text are the cause
}

type table struct {
	head   []string
	blocks []*block
	end    []string // the lines that tell recordings and controls
}

// show counts the blocks that do not fit the lines: the gravest are shown, and of everybody the
// whole before the parts, and before causes.
func (s *summary) show(w io.Writer, v view) {
	var foot []string
	for _, n := range s.notes {
		foot = append(foot, wrap("", audit.OneLine(n, 0), v.width)...)
	}
	next := s.next
	if len(s.lines) > 0 && s.last.command != "" {
		next = append(slices.Clone(next), s.last)
	}
	for _, n := range next {
		foot = append(foot, n.to+": "+n.command) // not broken: it is to be copied
	}
	free := v.lines - 2 - len(foot) - min(1, len(foot)) // a blank before them
	var tables []table
	var blocks []*block
	for _, suite := range suiteNames {
		t := s.table(suite, v)
		if len(t.head)+len(t.end) > 0 {
			tables = append(tables, t)
			blocks = append(blocks, t.blocks...)
			free -= 1 + len(t.head) + len(t.end) + len(leftOut(t.blocks, v.width)) // a blank, and what counts the rest, at most
		}
	}
	var heads []string
	for _, h := range s.heads {
		heads = append(heads, wrap("", audit.OneLine(h, 0), v.width)...)
	}
	if len(heads) > 0 {
		free -= len(heads) + 1
		fmt.Fprintf(w, "\n%s\n", strings.Join(heads, "\n"))
	}
	chosen := choose(blocks, free, v.all)
	for _, t := range tables {
		lines := t.head
		for _, b := range t.blocks {
			lines = append(lines, chosen[b]...)
		}
		left := slices.DeleteFunc(t.blocks, func(b *block) bool { return chosen[b] != nil })
		lines = append(append(lines, leftOut(left, v.width)...), t.end...)
		fmt.Fprintf(w, "\n%s\n", strings.Join(lines, "\n"))
	}
	if len(foot) > 0 {
		fmt.Fprintf(w, "\n%s\n", strings.Join(foot, "\n"))
	}
}

// choose shows the first block whole, and wholes with their verdict before anybody's cause.
func choose(blocks []*block, free int, all bool) map[*block][]string {
	chosen := map[*block][]string{}
	ranked := slices.Clone(blocks)
	slices.SortStableFunc(ranked, func(a, b *block) int { return a.rank - b.rank })
	take := func(b *block, text []string) bool {
		more := len(text) - len(chosen[b])
		if more > free && !all && len(chosen) > 0 {
			return false
		}
		chosen[b], free = text, free-more
		return true
	}
	for i, b := range ranked {
		switch {
		case i == 0:
			take(b, b.text)
		case b.rank < parts:
			take(b, b.text[:len(b.text)-b.cause])
		}
	}
	for _, b := range ranked {
		if b.rank < parts && chosen[b] == nil {
			continue
		}
		if !take(b, b.text) && b.rank >= parts {
			break
		}
	}
	return chosen
}

func leftOut(blocks []*block, width int) []string {
	by := map[audit.Verdict]int{}
	for _, b := range blocks {
		for _, l := range b.rows {
			by[l.verdict]++
		}
	}
	var counts []string
	n := 0
	for _, v := range slices.SortedFunc(maps.Keys(by), func(a, b audit.Verdict) int { return cmp.Or(cmp.Compare(urgency(a), urgency(b)), cmp.Compare(a, b)) }) {
		counts = append(counts, fmt.Sprintf("%d %s", by[v], v))
		n += by[v]
	}
	if n == 0 {
		return nil
	}
	return wrap("", fmt.Sprintf("and %d more rows: %s", n, strings.Join(counts, ", ")), width)
}

func (s *summary) table(suite string, v view) (t table) {
	var shown []*line
	recorded := 0
	for _, l := range s.rows(suite) {
		switch {
		case v.all:
			shown = append(shown, l)
		case l.asRecorded():
			recorded++
		case l.control && l.about == "":
			t.end = append(t.end, wrap("", l.who+", a control: "+pairs(columns(suite)[3:], &line{figures: l.figures}), v.width)...)
		case !l.detail && !l.control:
			shown = append(shown, l)
		}
	}
	if recorded > 0 {
		t.end = append(t.end, fmt.Sprintf("%d recordings as recorded", recorded))
	}
	if len(shown) == 0 {
		if len(t.end) > 0 {
			t.end[0] = strings.ToUpper(suite) + "  " + t.end[0]
		}
		return t
	}
	text, stacked := lay(suite, shown, v)
	t.head = text[:1]
	if stacked {
		t.head = []string{strings.ToUpper(suite)}
	}
	for i, l := range shown {
		rows := []string{text[i+1]}
		if stacked {
			rows = wrap(fmt.Sprintf("%-7s  ", l.verdict), stack(suite, l), v.width)
		}
		t.blocks = addRow(t.blocks, l, rows, v.width)
	}
	return t
}

// lay takes as many columns as there is room for; stacked: not even for the fewest.
func lay(suite string, shown []*line, v view) (text []string, stacked bool) {
	wide := func(l string) bool { return utf8.RuneCountInString(l) > v.width }
	for _, most := range []rank{detailed, roomy, everywhere} {
		if most == detailed && !v.all {
			continue
		}
		heads, cells := grid(suite, shown, most)
		heads[0] = strings.ToUpper(suite)
		if text = align(append([][]string{heads}, cells...)); v.all || !slices.ContainsFunc(text, wide) {
			return text, false
		}
	}
	return text, true
}

// parts is by how much parts rank behind wholes, however grave they are.
const parts = 4

// addRow adds a row to the block before it where both have the same cause, told once.
func addRow(blocks []*block, l *line, rows []string, width int) []*block {
	if n := len(blocks); n > 0 && l.cause != "" {
		b := blocks[n-1]
		if last := b.rows[len(b.rows)-1]; last.who == l.who && last.cause == l.cause && last.verdict == l.verdict && last.about != "" {
			b.rows = append(b.rows, l)
			b.text = slices.Insert(b.text, len(b.text)-b.cause, rows...)
			return blocks
		}
	}
	b := &block{rank: urgency(l.verdict), rows: []*line{l}, text: rows}
	if l.cause != "" {
		cause := wrap("         ", audit.OneLine(l.cause, 0), width)
		b.text, b.cause = append(b.text, cause...), len(cause)
	}
	if l.about != "" {
		b.rank += parts
	}
	return append(blocks, b)
}

func stack(suite string, l *line) string {
	who := l.who
	if about := cmp.Or(l.about, l.whole); about != "" {
		who += " on " + about
	}
	return who + ": " + pairs(columns(suite)[3:], l)
}

func pairs(cs []column, l *line) string {
	var named []string
	for _, c := range cs {
		if x := c.of(l); x != "" && x != "-" && c.rank < detailed {
			switch c.head {
			case "baseline":
				x = "was " + x
			case "change", "cost", "time": // tell themselves
			default:
				x = c.head + " " + x
			}
			named = append(named, x)
		}
	}
	return strings.Join(named, ", ")
}

func align(rows [][]string) []string {
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(tw, strings.Join(r, "\t"))
	}
	tw.Flush()
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// wrap breaks a text into lines of width characters: head begins the first, the others are
// indented as far. Nothing is cut: a word that is longer than a line is broken.
func wrap(head, text string, width int) []string {
	indent := strings.Repeat(" ", utf8.RuneCountInString(head))
	room := max(20, width-len(indent))
	var lines []string
	var line []rune
	for _, word := range strings.Fields(text) {
		w := []rune(word)
		if len(line) > 0 && len(line)+1+len(w) > room {
			lines, line = append(lines, string(line)), nil
		}
		if len(line) > 0 {
			line = append(line, ' ')
		}
		for line = append(line, w...); len(line) > room; line = line[room:] {
			lines = append(lines, string(line[:room]))
		}
	}
	lines = append(lines, string(line))
	for i := range lines {
		lines[i] = head + lines[i]
		head = indent
	}
	return lines
}
