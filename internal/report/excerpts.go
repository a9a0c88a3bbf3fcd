package report

import (
	"fmt"
	"strings"

	"assay/audit"
)

type excerpts struct {
	read    func(project, path string) ([]byte, error) // nil without any source
	project string
	lines   map[string][]string // by path; nil where the file is not at hand
	room    int                 // bytes that the page has left
}

const (
	excerptsMost = MaxPage / 4 // bytes of source that a page holds
	aroundMost   = 45          // lines of either range that are shown
)

// around returns the lines of a file around a finding, an entry, or both; "" if the file is not
// available, neither has lines, or the page is full.
func (e *excerpts) around(file string, finding, entry audit.Range) string {
	if e.read == nil || file == "" || finding.IsZero() && entry.IsZero() {
		return ""
	}
	lines, ok := e.lines[file]
	if !ok {
		if b, err := e.read(e.project, file); err == nil {
			lines = strings.Split(string(b), "\n")
		}
		e.lines[file] = lines
	}
	out := marked(lines, finding, entry)
	if e.room -= len(out); e.room < 0 {
		return ""
	}
	return out
}

// marked returns the lines of a source with eight before and after, numbered: those of the
// finding are marked with >, of the entry with *, of both with #. If the two are far apart the
// finding's are shown.
func marked(all []string, finding, entry audit.Range) string {
	main := finding
	if main.IsZero() {
		main = entry
	}
	from, to := main.Start, min(max(main.Start, main.End), main.Start+aroundMost-1)
	if !entry.IsZero() && entry.Start > from-aroundMost && entry.Start < to+aroundMost {
		from, to = min(from, entry.Start),
			max(to, min(max(entry.Start, entry.End), entry.Start+aroundMost-1))
	}
	within := func(n int, r audit.Range) bool {
		return !r.IsZero() && n >= r.Start &&
			n <= max(r.Start, r.End)
	}
	var b strings.Builder
	for n := max(1, from-8); n <= min(len(all), to+8); n++ {
		sign := " "
		switch f, e := within(n, finding), within(n, entry); {
		case f && e:
			sign = "#"
		case f:
			sign = ">"
		case e:
			sign = "*"
		}
		line := strings.ReplaceAll(all[n-1], "\t", "    ")
		code := strings.TrimLeft(line, " ")
		indent := min(150, len(line)-len(code))
		fmt.Fprintf(&b, "%s %5d  %s%s\n", sign, n, line[:indent], clip(code, 160-indent))
	}
	return b.String()
}
