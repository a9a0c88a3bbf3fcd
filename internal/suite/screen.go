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
	lines int  // at most, with the two of go test
	all   bool // every row and figure, on as many lines as they take
}

// The screen for which the summary is made. A narrower terminal gets less width.
const (
	screenWidth = 100
	screenLines = 40
)

// A block is a row with its reason and its command.
type block struct {
	row  *line // nil for a table of recorded auditors
	text []string
	more int // lines at the end of text that may be left out: reason and command
}

// A table is what the screen shows of one suite.
type table struct {
	head    []string
	blocks  []*block
	context *block   // recorded auditors to compare with; nil without any
	end     []string // a line about the recordings that are as recorded
}

// show prints the summary. Where the screen has no room for all of it, the gravest rows are
// shown first, rows before reasons, and the rest is counted.
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
	free := v.lines - 2 - len(foot) - min(1, len(foot)) // a blank line before them
	var tables []table
	var blocks []*block
	for _, suite := range suiteNames {
		t := s.table(suite, v)
		if len(t.head)+len(t.end) > 0 || t.context != nil {
			tables = append(tables, t)
			blocks = append(blocks, t.blocks...)
			free -= 1 + len(t.head) + len(t.end) + len(leftOut(t.blocks, v.width))
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
	chosen, free := choose(blocks, free, v.all)
	for _, t := range tables {
		lines := t.head
		for _, b := range t.blocks {
			lines = append(lines, chosen[b]...)
		}
		left := slices.DeleteFunc(t.blocks, func(b *block) bool { return chosen[b] != nil })
		lines = append(lines, leftOut(left, v.width)...)
		if c := t.context; c != nil && (len(c.text) <= free || v.all) {
			lines = append(lines, c.text...)
			free -= len(c.text)
		}
		fmt.Fprintf(w, "\n%s\n", strings.Join(append(lines, t.end...), "\n"))
	}
	if len(foot) > 0 {
		fmt.Fprintf(w, "\n%s\n", strings.Join(foot, "\n"))
	}
}

// choose returns the lines of each block that are shown, and how many lines remain: the
// gravest block whole, then rows, then reasons and commands.
func choose(blocks []*block, free int, all bool) (map[*block][]string, int) {
	chosen := map[*block][]string{}
	ranked := slices.Clone(blocks)
	slices.SortStableFunc(ranked, func(a, b *block) int {
		return cmp.Compare(urgency(a.row.verdict), urgency(b.row.verdict))
	})
	take := func(b *block, text []string) {
		if more := len(text) - len(chosen[b]); more <= free || all || len(chosen) == 0 {
			chosen[b], free = text, free-more
		}
	}
	for i, b := range ranked {
		if i == 0 {
			take(b, b.text)
		} else {
			take(b, b.text[:len(b.text)-b.more])
		}
	}
	for _, b := range ranked {
		if chosen[b] != nil {
			take(b, b.text)
		}
	}
	return chosen, free
}

// leftOut returns a line that counts blocks by verdict; none without blocks.
func leftOut(blocks []*block, width int) []string {
	by := map[audit.Verdict]int{}
	for _, b := range blocks {
		by[b.row.verdict]++
	}
	if len(by) == 0 {
		return nil
	}
	verdicts := slices.SortedFunc(maps.Keys(by), func(a, b audit.Verdict) int {
		return cmp.Or(cmp.Compare(urgency(a), urgency(b)), cmp.Compare(a, b))
	})
	var counts []string
	for _, v := range verdicts {
		counts = append(counts, fmt.Sprintf("%d %s", by[v], v))
	}
	return wrap("", fmt.Sprintf("and %s: %s", plural(len(blocks), "more row"),
		strings.Join(counts, ", ")), width)
}

// table lays out one suite: a row for each variant, of recorded auditors for those that
// changed; with v.all also a row for each target and recording.
func (s *summary) table(suite string, v view) (t table) {
	var shown, parts []*line
	for _, l := range s.rows(suite) {
		if l.about != "" {
			parts = append(parts, l)
		}
		if l.about == "" || v.all {
			shown = append(shown, l)
		}
	}
	if n := recorded(parts); n != "" && !v.all {
		t.end = append(t.end, n)
	}
	if suite == "Regression" && len(s.known) > 0 {
		var known []*line
		for i := range s.known {
			known = append(known, &s.known[i])
		}
		text, _ := lay(suite, known, v, "RECORDED on "+s.on, "$/project", "time")
		t.context = &block{text: append([]string{""}, text...)}
		if len(shown) == 0 {
			t.context.text = text
		}
	}
	if len(shown) == 0 {
		if len(t.end) > 0 && t.context == nil {
			t.end[0] = strings.ToUpper(suite) + "  " + t.end[0]
		}
		return t
	}
	text, stacked := lay(suite, shown, v, strings.ToUpper(suite), "cost", "time")
	t.head = text[:1]
	if stacked {
		t.head = []string{strings.ToUpper(suite)}
	}
	for i, l := range shown {
		b := &block{row: l, text: []string{text[i+1]}}
		if stacked {
			b.text = wrap(fmt.Sprintf("%-7s  ", l.verdict), stack(suite, l), v.width)
		}
		n := len(b.text)
		if l.cause != "" {
			b.text = append(b.text, wrap("         ", audit.OneLine(l.cause, 0), v.width)...)
		}
		if l.next != "" {
			b.text = append(b.text, "         next: "+l.next) // not broken: it is to be copied
		}
		b.more = len(b.text) - n
		t.blocks = append(t.blocks, b)
	}
	return t
}

// lay aligns as many columns as there is room for. It reports stacked where there is no room
// for the fewest. The first head, and those of cost and time, are replaced.
func lay(suite string, shown []*line, v view, head, cost, time string) (text []string,
	stacked bool) {
	long := func(l string) bool { return utf8.RuneCountInString(l) > v.width }
	for _, most := range []rank{detailed, roomy, wide, everywhere} {
		if most == detailed && !v.all {
			continue
		}
		heads, cells := grid(suite, shown, most)
		for i, h := range heads {
			switch {
			case i == 0:
				heads[i] = head
			case h == "cost":
				heads[i] = cost
			case h == "time":
				heads[i] = time
			}
		}
		if text = align(append([][]string{heads}, cells...)); v.all ||
			!slices.ContainsFunc(text, long) {
			return text, false
		}
	}
	return text, true
}

// stack returns a row as a sentence.
func stack(suite string, l *line) string {
	who := l.who
	if about := cmp.Or(l.about, l.whole); about != "" {
		who += " on " + about
	}
	return who + ": " + pairs(columns(suite)[3:], l)
}

// pairs returns the cells of a row with their heads.
func pairs(cs []column, l *line) string {
	var named []string
	for _, c := range cs {
		if x := c.of(l); x != "" && x != "-" && c.rank < detailed {
			switch c.head {
			case "baseline":
				x = "was " + x
			case "change", "cost", "time": // without a head
			default:
				x = c.head + " " + x
			}
			named = append(named, x)
		}
	}
	return strings.Join(named, ", ")
}

// align returns the rows with their cells in columns.
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
// indented as far. A word that is longer than a line is broken.
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
