package planted

import (
	"regexp"
	"strings"

	"assay/audit"
	"assay/audit/fixture"
)

// A node is a piece of a source file: a line of text, a region of a site, or a group of parts
// in any order. Exactly one of its fields is set.
type node struct {
	text   string // one line with its end
	region *region
	group  *group
}

// A region holds the two variants of a site, or of a part of it.
type region struct {
	site      string
	plus      bool // not where the flaw is, but belongs to it
	goodFirst bool // the good variant is written before the bad one
	good, bad []string
	pos       audit.Pos // of the first marker
}

// A group is a sequence of parts that a draw may reorder.
type group struct {
	parts [][]node // in any order
	pos   audit.Pos
}

// leaders are the beginnings and ends of comments that may hold a marker.
var leaders = [][2]string{
	{"{{- /*", "*/ -}}"}, {"{{/*", "*/}}"}, {"{{!--", "--}}"}, {"{{--", "--}}"}, {"{/*", "*/}"},
	{"<%--", "--%>"}, {"<%#", "%>"},
	{"<!--", "-->"}, {"{#-", "-#}"}, {"{#", "#}"}, {"/*", "*/"}, {"//", ""}, {"--", ""}, {"#", ""},
	{";", ""},
}

var (
	siteMarker  = regexp.MustCompile(`^site:([A-Z]{2,4}-[0-9]+)(\+?) (good|bad|end)$`)
	orderMarker = regexp.MustCompile(`^order:(begin|next|end)$`)
	// suspect finds what was meant as a marker and is none, so that no draw shows it.
	suspect     = regexp.MustCompile(`(?i)\bsite:\s*[a-z]{2,4}-?[0-9]|\border:(begin|next|end)\b`)
	nearlyOrder = regexp.MustCompile(`^(site|order):\S`)
)

// A mark is a marker in the source.
type mark struct {
	site string // empty: about the order
	plus bool
	word string // good, bad, end; begin, next, end
}

// readMark parses a line as a marker. It returns a problem if the line looks like a marker and
// is not one.
func readMark(line string) (m mark, ok bool, problem string) {
	line = strings.TrimSpace(line)
	for _, l := range leaders {
		body, is := strings.CutPrefix(line, l[0])
		if !is {
			continue
		}
		body, closed := strings.CutSuffix(body, l[1])
		body = strings.TrimSpace(body)
		if s := siteMarker.FindStringSubmatch(body); s != nil && closed {
			return mark{s[1], s[2] == "+", s[3]}, true, ""
		}
		if s := orderMarker.FindStringSubmatch(body); s != nil && closed {
			return mark{word: s[1]}, true, ""
		}
		if nearlyOrder.MatchString(body) {
			return mark{}, false,
				"is no marker: expected site:ABC-12 or site:ABC-12+ and one of good, bad, end; or order:begin, order:next, order:end"
		}
		break
	}
	if suspect.MatchString(line) {
		return mark{}, false,
			"holds a marker beside something else: expected it in a comment on a line of its own"
	}
	return mark{}, false, ""
}

// A sourceParser splits a source file into nodes.
type sourceParser struct {
	c       *fixture.Complaints
	pos     audit.Pos
	nodes   []node
	group   *group
	region  *region
	variant string   // of the open region: good or bad
	seen    []string // variants of the open region
}

// parseSource returns the nodes of a file and adds its errors to c.
func parseSource(file, src string, c *fixture.Complaints) []node {
	p := &sourceParser{c: c, pos: audit.Pos{File: file}}
	for l := range strings.Lines(src) {
		p.pos.Line++
		m, ok, problem := readMark(l)
		switch {
		case problem != "":
			c.Errorf(p.pos, "%q %s", strings.TrimSpace(l), problem)
		case !ok && p.region == nil:
			p.add(node{text: l})
		case !ok && p.variant == "bad":
			p.region.bad = append(p.region.bad, l)
		case !ok:
			p.region.good = append(p.region.good, l)
		case m.site != "":
			p.siteMark(m)
		default:
			p.orderMark(m)
		}
	}
	if p.region != nil {
		c.Errorf(p.region.pos, "the region of %s has no end: expected site:%s end",
			p.region.label(), p.region.label())
	}
	if p.group != nil {
		c.Errorf(p.group.pos, "the group has no end: expected order:end")
	}
	return p.nodes
}

// label returns the region's site as its marker spells it.
func (r *region) label() string {
	if r.plus {
		return r.site + "+"
	}
	return r.site
}

// add appends a node to the open group or the file.
func (p *sourceParser) add(n node) {
	if p.group == nil {
		p.nodes = append(p.nodes, n)
		return
	}
	last := len(p.group.parts) - 1
	p.group.parts[last] = append(p.group.parts[last], n)
}

// siteMark begins, continues or ends a region.
func (p *sourceParser) siteMark(m mark) {
	here := &region{site: m.site, plus: m.plus, pos: p.pos}
	switch {
	case m.word == "end" && p.region == nil:
		p.c.Errorf(p.pos, "the end of %s has no beginning: expected site:%s good or bad before it",
			here.label(), here.label())
	case p.region != nil && p.region.label() != here.label():
		p.c.Errorf(p.pos,
			"a marker of %s within the region of %s that begins at line %d: expected site:%s end before it (regions do not nest)",
			here.label(), p.region.label(), p.region.pos.Line, p.region.label())
		// The open region is dropped, so that the error is reported once.
		if p.region = nil; m.word != "end" {
			p.siteMark(m)
		}
	case m.word == "end":
		p.endRegion()
	case p.region == nil:
		here.goodFirst = m.word == "good"
		p.region, p.variant, p.seen = here, m.word, []string{m.word}
	default:
		p.variant = m.word
		p.seen = append(p.seen, m.word)
	}
}

// endRegion ends the open region and checks its variants.
func (p *sourceParser) endRegion() {
	r := p.region
	p.region = nil
	p.add(node{region: r})
	switch {
	case len(p.seen) != 2 || p.seen[0] == p.seen[1]:
		p.c.Errorf(r.pos,
			"the region of %s holds the variants %s: expected good and bad, each once", r.label(),
			strings.Join(p.seen, ", "))
	case !r.plus && (blank(r.good) || blank(r.bad)):
		p.c.Errorf(r.pos,
			"the primary region of %s has an empty variant: expected lines in both (only a region marked + may lack one)", r.site)
	case blank(r.good) && blank(r.bad):
		p.c.Errorf(r.pos, "the region of %s is empty in both variants", r.label())
	case strings.Join(r.good, "") == strings.Join(r.bad, ""):
		p.c.Errorf(r.pos,
			"the region of %s holds the same lines twice: expected variants that differ", r.label())
	case len(r.good) > maxRegion || len(r.bad) > maxRegion:
		p.c.Errorf(r.pos,
			"the region of %s holds %d good and %d bad lines: expected at most %d, or an entry would match by its function alone", r.label(), len(r.good), len(r.bad), maxRegion)
	}
}

// maxRegion is the number of lines that an entry of a key may span.
const maxRegion = 50 // lines that an entry of a key may span

// blank reports whether the lines hold nothing but white space.
func blank(lines []string) bool { return strings.TrimSpace(strings.Join(lines, "")) == "" }

// orderMark begins, continues or ends a group.
func (p *sourceParser) orderMark(m mark) {
	switch {
	case p.region != nil:
		p.c.Errorf(p.pos,
			"order:%s within the region of %s that begins at line %d: expected groups around regions, not within them", m.word, p.region.label(), p.region.pos.Line)
	case m.word == "begin" && p.group != nil:
		p.c.Errorf(p.pos,
			"order:begin within the group that begins at line %d: expected order:end before it (groups do not nest)", p.group.pos.Line)
	case m.word == "begin":
		p.group = &group{pos: p.pos, parts: make([][]node, 1)}
	case p.group == nil:
		p.c.Errorf(p.pos, "order:%s outside of a group: expected order:begin before it", m.word)
	case m.word == "next":
		p.group.parts = append(p.group.parts, nil)
	default:
		p.endGroup()
	}
}

// endGroup ends the open group and checks its parts.
func (p *sourceParser) endGroup() {
	g := p.group
	p.group = nil
	p.nodes = append(p.nodes, node{group: g})
	if len(g.parts) < 2 {
		p.c.Errorf(g.pos, "the group has one part: expected order:next between at least two")
	}
	for i, part := range g.parts {
		if lead, _ := margins(part); lead == len(part) {
			p.c.Errorf(g.pos, "part %d of the group is empty: expected lines between its markers",
				i+1)
		}
	}
}

// margins returns the numbers of blank lines at both ends of a part. They belong to the
// position and are not moved with the part.
func margins(part []node) (lead, trail int) {
	empty := func(n node) bool {
		return n.region == nil && n.group == nil &&
			strings.TrimSpace(n.text) == ""
	}
	for lead < len(part) && empty(part[lead]) {
		lead++
	}
	for trail < len(part)-lead && empty(part[len(part)-1-trail]) {
		trail++
	}
	return lead, trail
}

// regions returns the regions in the order of the source.
func regions(nodes []node) []*region {
	var rs []*region
	for _, n := range nodes {
		switch {
		case n.region != nil:
			rs = append(rs, n.region)
		case n.group != nil:
			for _, part := range n.group.parts {
				rs = append(rs, regions(part)...)
			}
		}
	}
	return rs
}
