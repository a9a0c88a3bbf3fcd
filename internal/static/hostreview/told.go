package hostreview

import (
	"regexp"
	"strings"

	"assay/audit"
	"assay/internal/static/lang"
)

var (
	innerRE  = regexp.MustCompile(`(?i)\b(errors?|exceptions?|failures?|stack|messages?)\b[^.;]*\b(never|not|no|nothing|without|fixed|generic|bland|plain)\b|\b(never|not|no|nothing|without|generic|fixed)\b[^.;]*\b(errors?|exceptions?|stack|driver)\b`)
	loggerRE = regexp.MustCompile(`(?i)(^|\.)(log|logger|logging|slog|console|syslog|Log)$`)
	innards  = regexp.MustCompile(`(?i)^(message|stack|detail|toString|getMessage|Error|args)$`)
)

// told: what an exception says of the inside is no part of an answer.
func told(v *view, r Requirement) *Breach {
	if !v.b.asks(innerRE, r) {
		return nil
	}
	why := ""
	tell := func(n *lang.Node, name string) {
		lang.Walk(n, func(c *lang.Node) bool {
			if c.Kind != lang.Call || why != "" || logs(c) || !v.answers(c) {
				return why == ""
			}
			for _, a := range c.List {
				lang.Walk(a, func(x *lang.Node) bool {
					switch {
					case (x.Kind == lang.Member || x.Kind == lang.Call) && x.X != nil && base(x.X) == name && innards.MatchString(x.Name):
						why = v.f.Text(x) + " goes into the answer"
					case x.Kind == lang.Call && x.X == nil && len(x.List) == 1 && base(x.List[0]) == name && (x.Name == "str" || x.Name == "repr" || x.Name == "String"):
						why = v.f.Text(x) + " goes into the answer"
					case x.Kind == lang.Template:
						for _, p := range x.List {
							if p.Kind == lang.Ident && p.Name == name {
								why = name + " goes into the answer"
							}
						}
					}
					return why == ""
				})
			}
			return why == ""
		})
	}
	lang.Walk(v.f.Root, func(n *lang.Node) bool {
		if n.Kind == lang.Catch && n.Y != nil && n.Y.Kind == lang.Ident && !ownError(n.Type) {
			tell(n.Body, n.Y.Name)
		}
		return why == ""
	})
	if v.f.Lang == lang.Go {
		tell(v.f.Root, "err")
	}
	if why == "" {
		return nil
	}
	return &Breach{Why: "requirement " + itoa(r.Number) + ": " + why, CWEs: []audit.CWE{209}, Confidence: 0.75}
}

// ownError: an exception class of the application's own may carry a text for clients.
func ownError(class string) bool {
	return class != "" && !expr(`^(Base)?Exception$|^Error$|^Throwable$|psycopg|Key|Value|Type|OS|IO|DB|SQL|Database`).MatchString(class)
}

func logs(c *lang.Node) bool { return c.X != nil && loggerRE.MatchString(lang.Dotted(c.X)) }

// answers: the call sends something to the client.
func (v *view) answers(c *lang.Node) bool {
	if responseRE.MatchString(c.Name) || expr(`^(abort|fail|Error|HTTPException|writeError|send_error|problem)$`).MatchString(c.Name) {
		return true
	}
	h := v.b.helpers[c.Name]
	return h != nil && expr(`(?i)^(reply|answer|respond|send|json)|\banswers?\b|\bsends JSON`).MatchString(c.Name+" "+h.doc)
}

var (
	logReq  = regexp.MustCompile(`(?i)\blogs?\b|\blogged\b`)
	noLogRE = regexp.MustCompile(`(?i)\b(never|not|no|nothing|without|neither|nor)\b`)
	logName = regexp.MustCompile(`^(log|info|warn|warning|error|debug|exception|critical|fatal|trace|Info|Warn|Error|Debug|Printf|Println|Print|InfoContext|ErrorContext|WarnContext)$`)
	logVerb = map[string]bool{"log": true, "writ": true, "writt": true, "appear": true, "record": true, "hold": true, "lin": true, "ordinary": true, "request": false}
)

// loggedSecrets: what a sentence keeps out of the log is no argument of a call that
// writes to it.
func loggedSecrets(v *view, r Requirement) *Breach {
	for _, part := range fullStop.Split(r.Text, -1) {
		if !logReq.MatchString(part) || !noLogRE.MatchString(part) {
			continue
		}
		kept := keptFromLog(part)
		for _, c := range v.calls {
			if !logs(c) || !logName.MatchString(c.Name) {
				continue
			}
			for _, a := range c.List {
				if x := v.spilled(a, kept); x != "" {
					return &Breach{Why: "requirement " + itoa(r.Number) + ": " + x + " is written to the log", CWEs: []audit.CWE{532}, Confidence: 0.8}
				}
			}
		}
	}
	return nil
}

var (
	fullStop  = regexp.MustCompile(`\.\**\s+`)
	notLogged = regexp.MustCompile(`(?i)\b(are|is|be|were) (never|not)\b|\bnever (logged|written)|\bnot (be )?(logged|written)`)
)

// keptFromLog gives the roots of the words for what a sentence keeps out of the log:
// those behind "never" or "no", or those before "are not written".
func keptFromLog(part string) []string {
	words := part
	if at := notLogged.FindStringIndex(part); at != nil {
		words = part[:at[0]]
	} else if at := noLogRE.FindStringIndex(part); at != nil {
		words = part[at[1]:]
	}
	var kept []string
	for _, w := range roots(words) {
		if len(w) > 2 && (!common[w] || w == "text" || w == "requ" || w == "input") && !logVerb[w] && w != "log" && w != "happen" && w != "number" {
			kept = append(kept, w)
		}
	}
	return kept
}

// spilled gives a part of an argument whose name is of one of the words, "" for none.
// What is said about a thing (its length, its number) is not the thing.
func (v *view) spilled(a *lang.Node, kept []string) string {
	out := ""
	lang.Walk(a, func(n *lang.Node) bool {
		if out != "" || n.Kind == lang.Call && expr(`(?i)^(len|hash\w*|type|count|bool|keyed_hash|sha\w*)$`).MatchString(n.Name) {
			return false
		}
		var name string
		switch n.Kind {
		case lang.Ident, lang.Member:
			name = n.Name
		case lang.Index:
			if n.Y != nil && n.Y.Kind == lang.String {
				name = n.Y.Name
			}
		default:
			return true
		}
		if n.Kind == lang.Ident && v.carries(name, kept) {
			out = name + ", which holds more than its name says,"
			return false
		}
		words := roots(name)
		if len(words) == 0 || idTail.MatchString(name) {
			return n.Kind != lang.Member
		}
		for _, k := range kept {
			if meet(k, words[len(words)-1]) || k == "address" && words[len(words)-1] == "email" || k == "mail" && strings.Contains(strings.ToLower(name), "email") {
				out = v.f.Text(n)
			}
		}
		return false
	})
	return out
}

// carries: the variable holds the body of a request, or a row of which a statement gave a
// column that is one of the words.
func (v *view) carries(name string, kept []string) bool {
	for _, y := range v.values[name] {
		if t := v.f.Text(y); expr(`^(await )?(json_body\(\)|req\.body|request\.(json|form|get_json\(\)))$`).MatchString(t) {
			return true
		}
	}
	if expr(`(?i)\b\w*(json|decode)\w*\([^()]*&` + name + `\)|Unmarshal\([^()]*&` + name + `\)`).MatchString(v.bare) {
		return true
	}
	for _, s := range v.sql {
		if !v.gives(s, name) {
			continue
		}
		for _, col := range wordsRE.FindAllString(givenCols(s.text), -1) {
			for _, k := range kept {
				if meet(k, root(col)) || k == "mail" && col == "email" || k == "address" && col == "email" {
					return true
				}
			}
		}
	}
	return false
}

var wordsRE = regexp.MustCompile(`[a-z_]+`)

// gives: a variable holds a whole row of the statement.
func (v *view) gives(s statement, name string) bool {
	for _, y := range v.values[name] {
		if holds(y, s.call) || v.fetched(y, s.call) {
			return true
		}
	}
	return false
}

// givenCols is what a statement gives back: behind RETURNING, or behind the last SELECT
// of its outermost level.
func givenCols(sql string) string {
	low := strings.ToLower(sql)
	if i := strings.LastIndex(low, "returning"); i >= 0 {
		return low[i+len("returning"):]
	}
	if m := expr(`(?s)^\s*select\b(.*?)\bfrom\b`).FindStringSubmatch(low); m != nil {
		return m[1]
	}
	return ""
}

var idTail = regexp.MustCompile(`(?i)(^|_)id$|ID$|Id$|_hash$|status|_at$|count$`)
