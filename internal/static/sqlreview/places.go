package sqlreview

import "strings"

func matchBrackets(toks []token) {
	var open []int
	for i := range toks {
		if toks[i].kind != tPunct {
			continue
		}
		switch toks[i].text {
		case "(", "[":
			open = append(open, i)
		case ")", "]":
			if n := len(open); n > 0 {
				toks[i].mate, toks[open[n-1]].mate = open[n-1], i
				open = open[:n-1]
			}
		}
	}
}

// reserved are the words that end an expression or an alias.
var reserved = words(`select from where group having order limit offset fetch union intersect except
 on using join inner left right full cross natural window for returning set values and or not in is
 case when then else end as with into do conflict distinct all any some exists between like ilike similar
 by asc desc nulls default null true false array lateral collate check primary unique
 foreign references constraint create grant user analyze both cast column if loop raise elsif begin declare
 return perform`)

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// places turns offsets into lines and columns.
type places struct {
	starts []int
	base   int
}

func newPlaces(src string) *places {
	p := &places{starts: []int{0}}
	for i := 0; i < len(src); i++ {
		if src[i] == '\n' {
			p.starts = append(p.starts, i+1)
		}
	}
	return p
}
