package static

import (
	"bytes"
	"regexp"
	"strings"

	"assay/internal/static/flow"
	"assay/internal/static/lang"
)

var returnsTrue = regexp.MustCompile(`^\{\s*return\s+true;\s*\}$`)

// trustsAll reports trust managers and verifiers of host names that look at nothing.
func (a *application) trustsAll(u *flow.Unit) {
	if !bytes.Contains(u.File.Src, []byte("checkServerTrusted")) && !bytes.Contains(u.File.Src, []byte("HostnameVerifier")) {
		return
	}
	for _, fn := range u.Funcs {
		b := fn.Node.Body
		if b == nil {
			continue
		}
		empty := fn.Name == "checkServerTrusted" && b.Kind == lang.Block && (len(b.List) == 0 || len(b.List) == 1 && b.List[0].Kind == lang.Return && b.List[0].X == nil)
		all := fn.Name == "verify" && len(fn.Node.List) == 2 && returnsTrue.MatchString(strings.TrimSpace(u.File.Text(b)))
		if empty || all {
			a.add(finding(a.set.ByID["java.tls-off"], u.File.Path, fn.Node, fn.Node))
		}
	}
}

var (
	keyChecked = regexp.MustCompile(`(?i)__proto__|prototype|hasOwn|Object\.create\(null\)|\.has\(|allow|includes\(|whitelist|new Map|isSafeKey|forbidden|\bin\s+\w*(defaults|schema|allowed)`)
	bodyLoop   = regexp.MustCompile(`^(?:Object\.(?:keys|entries)\(\s*)?(?:req|request|ctx\.request)\.body\s*\)?$`)
)

// mergesKeys reports functions that copy the keys of one object into another,
// however deep, and loops that copy those of a request.
func (a *application) mergesKeys(u *flow.Unit) {
	for _, fn := range u.Funcs {
		if fn.Name == "" || fn.Node.Body == nil || len(fn.Node.List) < 2 {
			continue
		}
		text := u.File.Text(fn.Node)
		if strings.Count(text, fn.Name+"(") < 1+strings.Count(text, "function "+fn.Name+"(") || !strings.Contains(text, "[") || keyChecked.MatchString(text) {
			continue
		}
		if at := keyWrite(fn.Node.Body, fn.Node.List[0].Name); at != nil {
			a.add(finding(a.set.ByID["js.prototype-pollution"], u.File.Path, at, fn.Node))
		}
	}
	if !bytes.Contains(u.File.Src, []byte(".body")) {
		return
	}
	lang.Walk(u.File.Root, func(n *lang.Node) bool {
		if n.Kind == lang.Loop && n.X != nil && bodyLoop.MatchString(u.File.Text(n.X)) && !keyChecked.MatchString(u.File.Text(n)) {
			if at := keyWrite(n.Body, ""); at != nil {
				f := finding(a.set.ByID["js.mass-assignment"], u.File.Path, at, nil)
				f.Function = functionAt(u, int(at.Start))
				a.add(f)
			}
		}
		return true
	})
}

// keyWrite finds the last "target[key] = value" within a loop, of the object with
// the given name or of any.
func keyWrite(n *lang.Node, target string) *lang.Node {
	var at *lang.Node
	loops := 0
	var walk func(k *lang.Node)
	walk = func(k *lang.Node) {
		if k == nil {
			return
		}
		if k.Kind == lang.Loop {
			loops++
			defer func() { loops-- }()
		}
		forEach := k.Kind == lang.Call && k.Name == "forEach"
		if forEach {
			loops++
			defer func() { loops-- }()
		}
		if (loops > 0 || target == "") && k.Kind == lang.Assign && k.X != nil && k.X.Kind == lang.Index && k.X.Y != nil && k.X.Y.Kind == lang.Ident &&
			(target == "" || root(k.X) == target) && k.Y != nil && k.Y.Kind != lang.Dict {
			at = k
		}
		children(k, walk)
	}
	walk(n)
	return at
}

var (
	textImport = regexp.MustCompile(`(?m)^\s*(?:import\s+)?(\w+)?\s*"text/template"`)
	markupText = regexp.MustCompile(`(?i)<(html|body|head|title|h[1-6]|p|div|table|tr|td|ul|li|span|a\s|form|section)\b`)
)

// textTemplates reports pages made by a template of text/template that the program
// parsed from markup, in files that also know html/template: the rule for the others
// goes by the writer.
func (a *application) textTemplates(u *flow.Unit) {
	m := textImport.FindSubmatch(u.File.Src)
	if m == nil {
		return
	}
	pkg := string(m[1])
	if pkg == "" {
		pkg = "template"
	}
	parsed := regexp.MustCompile(`(\w+)\s*(?:,\s*\w+\s*)?:?=\s*(?:` + pkg + `\.Must\(\s*)?` + pkg + `\.New\([^)]*\)(?:\.\w+\([^)]*\))*\.Parse\((\w+|` + "`[^`]*`" + `)\s*\)`)
	held := map[string]bool{}
	src := string(u.File.Src)
	for _, p := range parsed.FindAllStringSubmatch(src, -1) {
		text := p[2]
		if text[0] != '`' {
			c := regexp.MustCompile(`\b` + text + `\s*=\s*(` + "`[^`]*`" + `|"[^"\n]*")`).FindStringSubmatch(src)
			if c == nil {
				continue
			}
			text = c[1]
		}
		if markupText.MatchString(text) {
			held[p[1]] = true
			for _, f := range regexp.MustCompile(`(\w+):\s*`+p[1]+`\b`).FindAllStringSubmatch(src, -1) {
				held[f[1]] = true
			}
		}
	}
	if len(held) == 0 {
		return
	}
	for _, fn := range u.Funcs {
		if fn.Name == "" {
			continue
		}
		lang.Walk(fn.Node.Body, func(n *lang.Node) bool {
			if n.Kind == lang.Call && (n.Name == "Execute" || n.Name == "ExecuteTemplate") && n.X != nil && held[n.X.Name] {
				a.add(finding(a.set.ByID["go.text-template"], u.File.Path, n, fn.Node))
			}
			return true
		})
	}
}

var (
	macMade   = regexp.MustCompile(`createHmac\(|hmac\.new\(|hmac\.New\(|hash_hmac\(|Mac\.getInstance\(|HmacUtils|hmac\.digest\(`)
	macName   = regexp.MustCompile(`(?i)sig(nature)?$|^h?mac$|_mac$|hmac|digest|expected|computed|calculated|checksum`)
	macSafely = regexp.MustCompile(`timingSafeEqual|compare_digest|hmac\.Equal|ConstantTimeCompare|hash_equals|MessageDigest\.isEqual|constantTime`)
)

// comparesSignatures reports functions that make a keyed hash and compare it with
// an operator that stops at the first difference.
func (a *application) comparesSignatures(u *flow.Unit) {
	rule := a.set.Checks["auth.timing"]
	if rule == nil || !bytes.Contains(u.File.Src, []byte("mac")) && !bytes.Contains(u.File.Src, []byte("Mac")) || !macMade.Match(u.File.Src) {
		return
	}
	visit := func(fn *lang.Node) {
		text := u.File.Text(fn)
		if !macMade.MatchString(text) || macSafely.MatchString(text) {
			return
		}
		lang.Walk(fn.Body, func(n *lang.Node) bool {
			if n.Kind == lang.Func && n.Name != "" && n != fn {
				return false
			}
			var x, y *lang.Node
			switch {
			case n.Kind == lang.Binary && (n.Op == "==" || n.Op == "===" || n.Op == "!=" || n.Op == "!=="):
				x, y = n.X, n.Y
			case n.Kind == lang.Call && (n.Name == "equals" || n.Name == "equalsIgnoreCase") && len(n.List) == 1:
				x, y = n.X, n.List[0]
			}
			if x != nil && y != nil && x.Kind != lang.Lit && y.Kind != lang.Lit && x.Kind != lang.String && y.Kind != lang.String && (macName.MatchString(tail(x)) || macName.MatchString(tail(y))) {
				f := finding(rule, u.File.Path, n, nil)
				f.Function = functionAt(u, int(n.Start))
				a.add(f)
			}
			return true
		})
	}
	lang.Walk(u.File.Root, func(n *lang.Node) bool {
		if n.Kind == lang.Func && n.Body != nil {
			visit(n)
			return n.Name == ""
		}
		return true
	})
	for _, fn := range u.Funcs {
		if fn.Name != "" && fn.Class != nil {
			visit(fn.Node)
		}
	}
}
