package hostreview

import (
	"regexp"

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
	logName = regexp.MustCompile(`^(log|info|warn|warning|error|debug|exception|critical|fatal|trace|Info|Warn|Error|Debug|Printf|Println|Print|InfoContext|ErrorContext|WarnContext)$`)
)

var (
	fullStop = regexp.MustCompile(`\.\**\s+`)
)

// gives: a variable holds a whole row of the statement.
func (v *view) gives(s statement, name string) bool {
	for _, y := range v.values[name] {
		if holds(y, s.call) || v.fetched(y, s.call) {
			return true
		}
	}
	return false
}
