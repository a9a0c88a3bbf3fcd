package static

import (
	"regexp"
	"strings"

	"assay/internal/static/flow"
	"assay/internal/static/lang"
)

// checkFlaws runs the checks of one function's or application's shape that no call
// or flow tells.
func (a *application) checkFlaws(es []*endpoint) {
	for _, u := range a.project.Units {
		if isTest(u.File.Path) {
			continue
		}
		switch u.File.Lang {
		case lang.PHP:
			a.fallsThrough(u)
		case lang.Python:
			a.returnsError(u)
		case lang.Java:
			a.trustsAll(u)
		case lang.JS:
			a.mergesKeys(u)
		case lang.Go:
			a.textTemplates(u)
		}
		a.comparesSignatures(u)
	}
	a.bindsEntities(es)
	a.trustsPrices(es)
}

var sessionCondition = regexp.MustCompile(`(?i)_SESSION|is_?logged|logged_?in|is_?admin|isset\(\s*\$user|auth`)

// fallsThrough reports pages that send a guest elsewhere and then go on.
func (a *application) fallsThrough(u *flow.Unit) {
	rule := a.set.Checks["php.runs-on"]
	if rule == nil {
		return
	}
	lang.Walk(u.File.Root, func(n *lang.Node) bool {
		if n.Kind != lang.If || n.X == nil || n.Y == nil || n.Z != nil || !sessionCondition.MatchString(u.File.Text(n.X)) {
			return true
		}
		body := u.File.Text(n.Y)
		if !regexp.MustCompile(`(?i)header\s*\(\s*["']\s*location`).MatchString(body) || regexp.MustCompile(`(?i)\b(exit|die|return|throw)\b`).MatchString(body) {
			return true
		}
		if strings.TrimSpace(strings.Trim(string(u.File.Src[n.To:]), " \n?>}")) == "" {
			return true // nothing follows
		}
		f := finding(rule, u.File.Path, n, nil)
		f.Function = functionAt(u, int(n.Start))
		a.add(f)
		return true
	})
}

var errorReturn = regexp.MustCompile(`\bstr\((e|ex|err|exc|error|exception)\)|\{(e|ex|err|exc|error)\}|traceback\.format_exc\(\)|repr\((e|ex|err|exc|error)\)`)

// returnsError reports Python handlers that return the text of an exception.
func (a *application) returnsError(u *flow.Unit) {
	rule := a.set.Checks["py.error-returned"]
	if rule == nil {
		return
	}
	for _, fn := range u.Funcs {
		handler := false
		for _, n := range fn.Node.Notes {
			handler = handler || strings.Contains(u.File.Text(n), "route(") || strings.Contains(u.File.Text(n), "errorhandler") || strings.Contains(u.File.Text(n), "exception_handler")
		}
		if !handler {
			continue
		}
		lang.Walk(fn.Node.Body, func(n *lang.Node) bool {
			if n.Kind == lang.Return && n.X != nil && n.X.Kind != lang.Call && errorReturn.MatchString(u.File.Text(n.X)) {
				a.add(finding(rule, u.File.Path, n, fn.Node))
				return false
			}
			return n.Kind != lang.Func
		})
	}
}

var entityNote = regexp.MustCompile(`^(Entity|Document|Table|TableName|MappedSuperclass|DynamoDBTable|RedisHash|Node)$`)

// bindsEntities reports Java endpoints that fill a stored entity from the request
// and save it.
func (a *application) bindsEntities(es []*endpoint) {
	rule := a.set.Checks["java.entity-binding"]
	if rule == nil {
		return
	}
	for _, e := range es {
		if e.fn.Unit.File.Lang != lang.Java || !e.changes() {
			continue
		}
		if c := e.fn.Class; c != nil && c.Node != nil && strings.Contains(e.fn.Unit.File.Text(c.Node), "lowedFields(") {
			continue // an InitBinder says which fields
		}
		for _, p := range e.node.List {
			if p.Name == "" || !a.entity(p.Type) || !bound(p) {
				continue
			}
			if regexp.MustCompile(`\.\s*(save|saveAndFlush|persist|merge|insert|update|updateById|saveOrUpdate|create|add|register)\w*\(\s*` + regexp.QuoteMeta(p.Name) + `\b`).MatchString(e.text) {
				f := finding(rule, e.fn.Unit.File.Path, e.at, e.node)
				f.Function = e.name
				f.Lines = span(e.at)
				a.add(f)
				break
			}
		}
	}
}

func bound(p *lang.Node) bool {
	if len(p.Notes) == 0 {
		return true
	}
	for _, n := range p.Notes {
		switch n.Name {
		case "RequestBody", "ModelAttribute", "Valid", "Validated", "BeanParam":
			return true
		}
	}
	return false
}

func (a *application) entity(typ string) bool {
	for _, c := range a.project.ClassesNamed(typ) {
		if c.Node == nil {
			continue
		}
		for _, n := range c.Node.Notes {
			if entityNote.MatchString(n.Name) {
				return true
			}
		}
	}
	return false
}

var (
	payment   = regexp.MustCompile(`(?i)order|checkout|cart|purchase|buy|pay|basket|invoice|booking`)
	sentPrice = regexp.MustCompile(`(?i)(req(uest)?\.(body|form|json|data|POST|values|get_json\(\))|\$_(POST|REQUEST|GET)|request\.(input|post)|c\.PostForm|r\.(Post)?FormValue|getParameter)\s*(\.get\(|\.|\[|\(|->)\s*["']?(total_?)?(price|total|amount_?due|unit_?price|discount|grand_?total|cost)\b`)
	ownPrice  = regexp.MustCompile(`(?i)(product|item|row|db|course|plan|variant|catalog|\]\[0\])\w*(\.|->|\[["'])(get)?_?(unit_?)?(price|cost)`)
)

// trustsPrices reports orders whose price the client sends.
func (a *application) trustsPrices(es []*endpoint) {
	rule := a.set.Checks["logic.client-price"]
	if rule == nil {
		return
	}
	for _, e := range es {
		if !payment.MatchString(e.path+" "+e.name) || ownPrice.MatchString(e.text) || regexp.MustCompile(`(?i)admin|product|catalog`).MatchString(e.path) {
			continue
		}
		at := sentPrice.FindStringIndex(e.text)
		if at == nil {
			continue
		}
		f := finding(rule, e.fn.Unit.File.Path, e.at, e.node)
		f.Function = e.name
		f.Lines = span(e.at)
		src := string(e.fn.Unit.File.Src)
		if i := strings.Index(src, e.text[at[0]:at[1]]); i >= int(e.node.Off) && i <= int(e.node.To) {
			line := int(e.node.Start) + strings.Count(src[e.node.Off:i], "\n")
			f.Lines.Start, f.Lines.End = line, line
		}
		a.add(f)
	}
}
