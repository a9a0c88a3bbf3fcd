package flow

import (
	"regexp"
	"slices"
	"strings"

	"assay/internal/static/lang"
	"assay/internal/static/rules"
)

// guard applies what a condition proves when it came out as truth: values that
// were compared with constants, looked up in fixed sets, matched against
// anchored expressions or checked by a function that the rules know.
func (f *frame) guard(n *lang.Node, truth bool) {
	if n == nil {
		return
	}
	switch n.Kind {
	case lang.Unary:
		if n.Op == "!" || n.Op == "not" {
			f.guard(n.X, !truth)
		}
	case lang.Binary:
		f.guardBinary(n, truth)
	case lang.Call:
		f.guardCall(n, truth)
	case lang.Index: // allowed[x]
		if truth && n.Y != nil && n.Y.Kind != lang.String {
			f.trust(n.Y, rules.All, 0)
		}
	case lang.Assign:
		f.guard(n.Y, truth)
	}
}

func (f *frame) trust(n *lang.Node, bits, need rules.Classes) {
	v := f.quiet(n)
	if n != nil && hostOf(n) { // who owns the host of an address owns the address
		v.from = slices.Clone(v.from)
		for i, o := range v.from {
			v.from[i].sel = o.sel[:max(0, strings.LastIndexByte(o.sel, '.'))]
		}
	}
	f.env.trust(v, bits, need)
	if k := key(n); k != "" && need == 0 { // also where its path is too deep to be told
		if w, ok := f.env[k]; ok {
			f.env[k] = w.cleaned(bits)
		}
	}
}

func (f *frame) quiet(n *lang.Node) value {
	f.s.mute++
	v := f.eval(n)
	f.s.mute--
	return v
}

func (f *frame) guardBinary(n *lang.Node, truth bool) {
	switch op := n.Op; op {
	case "&&", "and":
		if truth {
			f.guard(n.X, true)
			f.guard(n.Y, true)
		}
	case "||", "or":
		if !truth {
			f.guard(n.X, false)
			f.guard(n.Y, false)
		}
	case "==", "===", "is", "=":
		f.guardEqual(n, truth)
	case "!=", "!==", "<>", "is not":
		f.guardEqual(n, !truth)
	case "in", "not in":
		if truth == (op == "in") && fixedSet(f, n.Y) {
			f.trust(n.X, rules.All, 0)
		}
	case ">=", ">", "<", "<=":
		if n.X != nil && n.X.Kind == lang.Call && n.Y != nil { // indexOf(x) >= 0
			f.guardCall(n.X, truth == (op == ">=" || op == ">"))
		}
	}
}

func (f *frame) guardEqual(n *lang.Node, equal bool) {
	x, y := n.X, n.Y
	if x == nil || y == nil {
		return
	}
	if constant(x) {
		x, y = y, x
	}
	if equal && hostOf(x) { // urlparse(next).netloc == "", u.Host == r.Host
		f.trust(x, rules.URL|rules.Redirect, 0)
		return
	}
	if x.Kind == lang.Call && constant(y) {
		// indexOf(x) == -1, strpos(..) === false, preg_match(..) === 1
		v := strings.TrimSpace(y.Name)
		if y.Kind == lang.Unary && y.X != nil {
			v = y.Op + y.X.Name
		}
		negative := v == "-1" || v == "false" || v == "False" || y.Op == "null" || v == "0" && x.Name != "strpos" && x.Name != "indexOf" && x.Name != "stripos" && x.Name != "strncmp" && x.Name != "lastIndexOf"
		f.guardCall(x, equal != negative)
		if !equal || y.Kind != lang.String || y.Name == "" {
			return
		}
	}
	if equal && constant(y) && y.Op != "null" && !(y.Kind == lang.String && y.Name == "") {
		f.trust(x, rules.All, 0)
	}
}

func hostOf(n *lang.Node) bool {
	return hostNames[n.Name] && (n.Kind == lang.Member || n.Kind == lang.Call)
}

var hostNames = lang.Words("netloc hostname host Host Hostname getHost origin authority")

func constant(n *lang.Node) bool {
	switch n.Kind {
	case lang.String, lang.Lit:
		return true
	case lang.Unary:
		return n.X != nil && n.X.Kind == lang.Lit
	case lang.Member, lang.Ident:
		return upper(n.Name)
	}
	return false
}

func upper(s string) bool {
	return len(s) > 1 && s == strings.ToUpper(s) && s != strings.ToLower(s)
}

// fixedSet tells whether n is a collection that the program fixes.
func fixedSet(f *frame, n *lang.Node) bool {
	if n == nil {
		return false
	}
	switch n.Kind {
	case lang.Array, lang.Dict:
		return true
	case lang.String, lang.Template:
		return false
	case lang.Call: // d.keys()
		return n.X != nil && (n.Name == "keys" || n.Name == "values" || n.Name == "items") && fixedSet(f, n.X)
	}
	return !f.quiet(n).tainted() && n.Kind != lang.Lit
}

func (f *frame) guardCall(n *lang.Node, truth bool) {
	if x := n.X; x != nil && x.Kind == lang.Unary && x.Op == "await" {
		bare := *n // other shards read the tree
		n, bare.X = &bare, x.X
	}
	if n.X != nil && (n.X.Kind == lang.Array || n.X.Kind == lang.Dict) && truth && len(n.List) > 0 {
		f.trust(n.List[0], rules.All, 0) // ["a", "b"].includes(x)
	}
	if truth && n.Name == "matches" && n.X != nil && n.X.Kind == lang.Call && n.X.Name == "matcher" && len(n.X.List) == 1 {
		f.trust(n.X.List[0], rules.All, 0) // Pattern.matcher(x).matches()
	}
	f.s.mute++ // the call itself is evaluated elsewhere
	ci := f.info(n)
	f.s.mute--
	for _, m := range f.s.models(f, ci, f.u.Table.Guards) {
		// A note of "false" marks a guard that proves something when it fails:
		// path.contains("..").
		if (m.Note == "false") == truth {
			continue
		}
		switch m.Arg {
		case "recv":
			f.trust(n.X, m.Class, m.Needs)
		case "":
			for _, a := range n.List {
				f.trust(a, m.Class, m.Needs)
			}
		default:
			if a, _ := argument(n, m.Arg); a != nil {
				f.trust(a, m.Class, m.Needs)
			}
		}
	}
	f.guardHelper(n, truth)
}

// guardHelper trusts what a helper of the project that is named as a check was
// given: isSafe(x), validatePath(p), is_allowed(u).
func (f *frame) guardHelper(n *lang.Node, truth bool) {
	name := strings.ReplaceAll(n.Name, "_", "")
	if checkName.MatchString(name) && truth != negatedCheck.MatchString(name) {
		for _, a := range n.List {
			f.trust(a, rules.All, 0)
		}
	}
}

var (
	checkName    = regexp.MustCompile(`(?i)valid|safe|allow|whitelist|permitted|sanit|iswithin|legal|trusted`)
	negatedCheck = regexp.MustCompile(`(?i)invalid|unsafe|illegal`)
)
