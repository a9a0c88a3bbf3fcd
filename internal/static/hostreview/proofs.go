package hostreview

import (
	"regexp"
	"strings"

	"assay/audit"
	"assay/internal/static/lang"
)

var (
	escapeRE = regexp.MustCompile(`(?i)escap\w*|encod\w*|sanitiz\w*|saniti[sz]ed`)
	tagRE    = regexp.MustCompile(`<[a-zA-Z/!]`)
	safeName = regexp.MustCompile(`(?i)^(id|count|total|len|length|size|index|i|n|status|created_?at|price|amount|number|page)$`)
)

// markup: text that becomes part of HTML in the code goes through an escape.
func markup(v *view, r Requirement) *Breach {
	if !v.b.asks(escapeRE, r) || !strings.Contains(strings.ToLower(r.Text), "html") && !strings.Contains(strings.ToLower(r.Text), "markup") && !strings.Contains(strings.ToLower(r.Text), "xss") {
		return nil
	}
	why := ""
	lang.Walk(v.f.Root, func(n *lang.Node) bool {
		if why != "" {
			return false
		}
		var parts []*lang.Node
		switch {
		case n.Kind == lang.Template:
			parts = n.List
		case n.Kind == lang.Binary && n.Op == "+" || n.Kind == lang.Binary && n.Op == ".":
			parts = joinedParts(n)
		default:
			return true
		}
		tag := false
		for _, p := range parts {
			tag = tag || p.Kind == lang.String && tagRE.MatchString(p.Name)
		}
		if !tag {
			return true
		}
		for _, p := range parts {
			x := p
			if x.Kind == lang.Ident {
				x = v.resolve(x)
			}
			if (x.Kind == lang.Member || x.Kind == lang.Index || x.Kind == lang.Ident) && !safeName.MatchString(lastName(x)) {
				why = v.f.Text(p) + " becomes part of HTML as it is"
			}
		}
		return false
	})
	if why == "" {
		return nil
	}
	return &Breach{Why: "requirement " + itoa(r.Number) + ": " + why, CWEs: []audit.CWE{79}, Confidence: 0.7}
}

// varies: the expression is more than texts of the code.
func (v *view) varies(n *lang.Node) bool {
	some := false
	lang.Walk(n, func(x *lang.Node) bool {
		some = some || x.Kind == lang.Ident && !v.constant(x, 0)
		return !some
	})
	return some
}

// digest: a variable was given what a hash or a MAC function made.
func (v *view) digest(n *lang.Node) bool {
	n = plain(n)
	if n == nil || n.Kind != lang.Ident {
		return false
	}
	for _, y := range v.values[n.Name] {
		if digestCall.MatchString(v.f.Text(y)) && !v.sends(y) {
			return true
		}
	}
	return false
}

var digestCall = regexp.MustCompile(`(?i)\b(\w*sha256\w*|\w*hmac\w*|digest|hexdigest|keyed_hash|hash_?(code|token|key)|Sum)\s*\(`)

// rawMarkup: text that a program takes for safe markup is made of no variable that was
// not escaped, and nothing that closes a script goes into one.
func rawMarkup(v *view, r Requirement) *Breach {
	if !expr(`(?i)\b(html|markup|escap\w*|script)\b`).MatchString(r.Text) {
		return nil
	}
	why := ""
	lang.Walk(v.f.Root, func(n *lang.Node) bool {
		switch {
		case why != "":
		case n.Kind == lang.Call && (lang.Dotted(n.X) == "template" && (n.Name == "HTML" || n.Name == "JS") || n.X == nil && (n.Name == "Markup" || n.Name == "mark_safe")) && len(n.List) == 1:
			if v.varies(n.List[0]) && !expr(`(?i)escape|sanitiz`).MatchString(v.origin(n.List[0])) {
				why = clip(v.f.Text(n)) + " is taken for markup as it is"
			}
		case n.Kind == lang.Template:
			open := false
			for _, p := range n.List {
				if p.Kind == lang.String {
					if i, j := strings.LastIndex(p.Name, "<script"), strings.LastIndex(p.Name, "</script"); i > j {
						open = true
					} else if j >= 0 {
						open = false
					}
				} else if t := v.f.Text(p); open && strings.Contains(t, "JSON.stringify") && !strings.Contains(t, "replace") {
					why = clip(t) + " goes into a script, which a text in it can end"
				}
			}
		}
		return why == ""
	})
	if why == "" {
		return nil
	}
	return &Breach{Why: "requirement " + itoa(r.Number) + ": " + why, CWEs: []audit.CWE{79}, Confidence: 0.8}
}

func joinedParts(n *lang.Node) []*lang.Node {
	if n.Kind == lang.Binary && (n.Op == "+" || n.Op == ".") {
		return append(joinedParts(n.X), joinedParts(n.Y)...)
	}
	if n.Kind == lang.Template {
		return n.List
	}
	return []*lang.Node{n}
}

var (
	constantRE = regexp.MustCompile(`(?i)constant[- ]time|timing`)
	signedRE   = regexp.MustCompile(`(?i)\b(signature|hmac|signed)\b`)
	macName    = regexp.MustCompile(`(?i)(^|_|\.)(sig|signature|token|mac|hmac|digest|hash|expected|computed|actual|given|tag|checksum)\w*$|(Sig|Signature|Token|Mac|Hmac|Digest|Hash)$`)
)

// timing: what proves something is not compared with == or by its beginning.
func timing(v *view, r Requirement) *Breach {
	constant := v.b.asks(constantRE, r)
	if !constant && !v.b.asks(signedRE, r) {
		return nil
	}
	why := ""
	lang.Walk(v.f.Root, func(n *lang.Node) bool {
		if why != "" {
			return false
		}
		switch {
		case n.Kind == lang.Binary && (n.Op == "==" || n.Op == "!=" || n.Op == "===" || n.Op == "!==") && constant:
			if variable(n.X) && variable(n.Y) && (macName.MatchString(lastName(plain(n.X))) || macName.MatchString(lastName(plain(n.Y))) || v.digest(n.X) || v.digest(n.Y)) {
				why = v.f.Text(n) + " is no comparison in constant time"
			}
		case n.Kind == lang.Call && (n.Name == "equals" || n.Name == "Equal" && lang.Dotted(n.X) == "bytes") && constant:
			if len(n.List) > 0 && (macName.MatchString(lastName(n.List[0])) || n.X != nil && macName.MatchString(lastName(n.X))) {
				why = v.f.Text(n) + " is no comparison in constant time"
			}
		case n.Kind == lang.Call && (n.Name == "EqualFold" || n.Name == "equalsIgnoreCase" || n.Name == "localeCompare" || n.Name == "Compare" && lang.Dotted(n.X) == "bytes") && constant:
			if len(n.List) > 0 && (macName.MatchString(lastName(n.List[0])) || v.digest(n.List[0]) || len(n.List) > 1 && v.digest(n.List[1])) {
				why = v.f.Text(n) + " is no comparison in constant time"
			}
		case n.Kind == lang.Call && (n.Name == "startswith" || n.Name == "startsWith" || n.Name == "HasPrefix" || n.Name == "includes"):
			if n.X != nil && macName.MatchString(lastName(n.X)) || len(n.List) > 0 && macName.MatchString(lastName(n.List[0])) {
				why = v.f.Text(n) + " accepts a part"
			}
		}
		return true
	})
	if why == "" {
		return nil
	}
	return &Breach{Why: "requirement " + itoa(r.Number) + ": " + clip(why), CWEs: []audit.CWE{208, 347}, Confidence: 0.7}
}

// plain takes a conversion off: string(x).
func plain(n *lang.Node) *lang.Node {
	for n != nil && n.Kind == lang.Call && n.X == nil && len(n.List) == 1 && (n.Name == "string" || n.Name == "str" || n.Name == "String") {
		n = n.List[0]
	}
	return n
}

func variable(n *lang.Node) bool {
	if n == nil {
		return false
	}
	switch n.Kind {
	case lang.Ident:
		return n.Name != "None" && n.Name != "nil" && n.Name != "null" && n.Name != "undefined"
	case lang.Member, lang.Index:
		return true
	case lang.Call:
		return n.Name != "len" && n.Name != "length"
	}
	return false
}
