package sqlreview

import (
	"regexp"
	"strings"
)

// A lifecycle is what a requirement says about states: which state may follow which,
// and in which state a row may be edited.
type lifecycle struct {
	prior map[string][]string // state -> the states that it may come from
	edit  []string            // states in which rows may be changed
	only  []string            // states that a related row must be in
	known map[string]bool
	from  []string // the states that were left last
}

var lifeTokRE = regexp.MustCompile("(?i)→|->|=>|>|[;.]|,|/|[`'\"]?[A-Za-z_][A-Za-z0-9_]*[`'\"]?")

var becomeRE = words(`become becomes turn turns turned goes go moves move moved set transition transitions change`)
var editRE = regexp.MustCompile(`^(chang|edit|updat|modif|delet|alter|correct|amend|touch|writ|remov)`)

type lifeTok struct {
	kind string // value, arrow, from, to, become, or, comma, sep, edit, only, not
	val  string
}

// readLife reads the transitions that the text names.
func readLife(text string, values []string) *lifecycle {
	l := &lifecycle{prior: map[string][]string{}, known: map[string]bool{}}
	toks := lifeTokens(text, values)
	for i := 0; i < len(toks); {
		if toks[i].kind != "value" {
			i++
			continue
		}
		g, end := lifeGroup(toks, i)
		before := ""
		for k := i - 1; k >= 0 && toks[k].kind != "sep" && toks[k].kind != "value" && toks[k].kind != "comma"; k-- {
			if toks[k].kind == "from" || toks[k].kind == "only" {
				before = toks[k].kind
				break
			}
		}
		reached := i > 0 && (toks[i-1].kind == "to" || toks[i-1].kind == "arrow")
		l.follow(toks, g, end, before, reached)
		i = end
	}
	return l
}

// follow links a group of states with the next one, by the words between them.
func (l *lifecycle) follow(toks []lifeTok, g []string, end int, before string, reached bool) {
	become, arrow, from, edit := false, false, false, false
	k := end
	if reached && k+2 < len(toks) && toks[k].kind == "or" && toks[k+1].kind == "to" && toks[k+2].kind == "value" {
		next, _ := lifeGroup(toks, k+2) // "a to b or to c": c comes from a
		l.link(l.from, next)
		return
	}
	for ; k < len(toks) && toks[k].kind != "value" && toks[k].kind != "sep"; k++ {
		switch toks[k].kind {
		case "become", "to":
			become = true
		case "arrow":
			arrow = true
		case "from":
			if reached { // "from a to b, from c to d": another clause begins
				return
			}
			from = true
		case "edit":
			edit = true
		}
	}
	var next []string
	if k < len(toks) && toks[k].kind == "value" {
		next, _ = lifeGroup(toks, k)
	}
	switch {
	case arrow, become && !from && len(next) > 0, before == "from" && become:
		l.link(g, next)
	case from && !become && len(next) > 0 && before != "from":
		l.link(next, g)
	}
	if edit && (before != "from") {
		l.edit = append(l.edit, g...)
	}
	if before == "only" && !become && !arrow && !edit && !from {
		l.only = append(l.only, g...)
	}
}

func (l *lifecycle) link(from, to []string) {
	l.from = from
	for _, t := range to {
		l.known[t] = true
		for _, f := range from {
			l.known[f] = true
			if !contains(l.prior[t], f) {
				l.prior[t] = append(l.prior[t], f)
			}
		}
	}
}

func lifeGroup(toks []lifeTok, i int) (vals []string, end int) {
	reached := i > 0 && (toks[i-1].kind == "to" || toks[i-1].kind == "arrow")
	vals = append(vals, toks[i].val)
	i++
	for i+1 < len(toks) && (toks[i].kind == "or" || toks[i].kind == "comma") {
		k := i + 1
		if toks[i].kind == "comma" && toks[k].kind == "or" {
			k++
		}
		if k >= len(toks) || toks[k].kind != "value" {
			break
		}
		if n := k + 1; toks[i].kind == "comma" && n < len(toks) && (toks[n].kind == "from" || toks[n].kind == "arrow") {
			break
		}
		if n := k + 1; toks[i].kind == "comma" && n+2 < len(toks) && toks[n].kind == "or" && toks[n+1].kind == "value" && (toks[n+2].kind == "from" || toks[n+2].kind == "arrow") {
			break
		}
		if n := k + 1; reached && n+1 < len(toks) && (toks[n].kind == "to" || toks[n].kind == "arrow") && toks[n+1].kind == "value" {
			break // "a to b or a to c"
		}
		vals = append(vals, toks[k].val)
		i = k + 1
	}
	return vals, i
}

func lifeTokens(text string, values []string) []lifeTok {
	var out []lifeTok
	for _, w := range lifeTokRE.FindAllString(text, -1) {
		bare := strings.Trim(w, "`'\"")
		low := strings.ToLower(bare)
		switch {
		case w == "→" || w == "->" || w == "=>" || w == ">":
			out = append(out, lifeTok{kind: "arrow"})
		case contains(values, bare) || contains(values, low):
			out = append(out, lifeTok{kind: "value", val: low})
			if contains(values, bare) {
				out[len(out)-1].val = bare
			}
		case w == ";" || w == ".":
			out = append(out, lifeTok{kind: "sep"})
		case w == ",":
			out = append(out, lifeTok{kind: "comma"})
		case low == "or" || low == "and" || w == "/":
			out = append(out, lifeTok{kind: "or"})
		case low == "from":
			out = append(out, lifeTok{kind: "from"})
		case low == "to" || low == "into":
			out = append(out, lifeTok{kind: "to"})
		case low == "be" || becomeRE[low]:
			out = append(out, lifeTok{kind: "become"})
		case editRE.MatchString(low):
			out = append(out, lifeTok{kind: "edit"})
		case low == "only" || low == "while" || low == "unless" || low == "whose":
			out = append(out, lifeTok{kind: "only"})
		default:
			if n := len(out); n == 0 || out[n-1].kind != "word" {
				out = append(out, lifeTok{kind: "word"})
			}
		}
	}
	// Words carry nothing here, save that "a draft grade may be released" has some.
	kept := out[:0]
	for _, t := range out {
		if t.kind != "word" {
			kept = append(kept, t)
		}
	}
	return kept
}
