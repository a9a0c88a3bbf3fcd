package static

import (
	"regexp"
	"strings"

	"assay/internal/static/flow"
	"assay/internal/static/lang"
)

var (
	passwordName = regexp.MustCompile(`(?i)^(get_?)?(user_?|stored_?|db_?|current_?|plain_?)?(password|passwd|pwd|pass)$`)
	givenName    = regexp.MustCompile(`(?i)^(get_?)?(user_?|input_?|given_?|entered_?|submitted_?|candidate_?|req_?|form_?|login_?|old_?|raw_?|plain_?)?(password|passwd|pwd|pass|candidate|candidate_?password)$`)
	hashing      = regexp.MustCompile(`(?i)hash|bcrypt|encode[rd]?\b|matches\(|digest|md5|sha[0-9-]|crypt|check_?password|verify|pbkdf|argon`)
	plainSQL     = regexp.MustCompile(`(?is)\bselect\b[^;]{0,300}\bwhere\b[^;]{0,200}\b(password|passwd|pwd|pass)\s*=`)
)

// checkPasswords reports passwords that are compared as they are: the one that is
// stored has to be stored as it is then.
func (a *application) checkPasswords() {
	rule := a.set.Checks["auth.plaintext-password"]
	if rule == nil {
		return
	}
	for _, u := range a.project.Units {
		if isTest(u.File.Path) {
			continue
		}
		lang.Walk(u.File.Root, func(n *lang.Node) bool {
			if a.comparesPassword(u, n) {
				f := finding(rule, u.File.Path, n, nil)
				f.Function = functionAt(u, int(n.Start))
				a.add(f)
			}
			return true
		})
	}
}

func (a *application) comparesPassword(u *flow.Unit, n *lang.Node) bool {
	var x, y *lang.Node
	switch {
	case n.Kind == lang.Binary && (n.Op == "==" || n.Op == "===" || n.Op == "!=" || n.Op == "!=="):
		x, y = n.X, n.Y
	case n.Kind == lang.Call && (n.Name == "equals" || n.Name == "contentEquals") && len(n.List) == 1 && n.X != nil:
		x, y = n.X, n.List[0]
	case n.Kind == lang.Call && (n.Name == "filter" || n.Name == "filter_by" || n.Name == "findOne" || n.Name == "find_one" || strings.HasPrefix(n.Name, "findBy") && strings.HasSuffix(n.Name, "AndPassword")):
		return a.looksUp(u, n)
	case n.Kind == lang.String && plainSQL.MatchString(n.Name), n.Kind == lang.Template && plainSQL.MatchString(u.File.Text(n)):
		return !a.hashesNear(u, n) && strings.Contains(strings.ToLower(u.File.Text(n)), "from")
	default:
		return false
	}
	px, py := tail(x), tail(y)
	if px == "" || py == "" || !passwordName.MatchString(px) && !passwordName.MatchString(py) || !givenName.MatchString(px) || !givenName.MatchString(py) {
		return false
	}
	// One of them has to be stored: a member or a column of something that is no form.
	if !stored(u, x) && !stored(u, y) || lang.Dotted(x) == lang.Dotted(y) || root(x) == root(y) && root(x) != "" {
		return false
	}
	return !a.hashesNear(u, n)
}

// looksUp: a record is found by its password.
func (a *application) looksUp(u *flow.Unit, n *lang.Node) bool {
	if strings.HasSuffix(n.Name, "AndPassword") {
		return len(n.List) >= 2 && !a.hashesNear(u, n)
	}
	found := false
	for _, arg := range n.List {
		lang.Walk(arg, func(k *lang.Node) bool {
			if k.Kind == lang.Pair && passwordName.MatchString(k.Name) && k.Y != nil && givenName.MatchString(tail(k.Y)) {
				found = true
			}
			return k.Kind != lang.Func
		})
	}
	return found && !a.hashesNear(u, n)
}

// hashesNear: the function around n has to do with hashes.
func (a *application) hashesNear(u *flow.Unit, n *lang.Node) bool {
	size, text := int32(1<<30), u.File.Text(&lang.Node{Off: max(0, n.Off-1500), To: min(int32(len(u.File.Src)), n.To+600)})
	for _, fn := range u.Funcs {
		if fn.Name != "" && fn.Node.Off <= n.Off && n.To <= fn.Node.To && fn.Node.To-fn.Node.Off < size {
			size, text = fn.Node.To-fn.Node.Off, u.File.Text(fn.Node)
		}
	}
	return hashing.MatchString(text)
}

func tail(n *lang.Node) string {
	if n == nil {
		return ""
	}
	switch n.Kind {
	case lang.Ident, lang.Member:
		return n.Name
	case lang.Call:
		if len(n.List) == 0 {
			return n.Name
		}
		if len(n.List) == 1 && n.List[0].Kind == lang.String { // request.getParameter("password")
			return n.List[0].Name
		}
	case lang.Index:
		if n.Y != nil {
			return n.Y.Name
		}
	}
	return ""
}

func root(n *lang.Node) string {
	for n != nil && (n.Kind == lang.Member || n.Kind == lang.Index || n.Kind == lang.Call) {
		n = n.X
	}
	if n == nil {
		return ""
	}
	return n.Name
}

var formRoot = regexp.MustCompile(`(?i)^(req|request|form|body|params|args|dto|input|data|cmd|ctx|c|r|event|_POST|_GET|_REQUEST|config|settings|options|opts|env|process)$`)

func stored(u *flow.Unit, n *lang.Node) bool {
	return n.Kind != lang.Ident && !formRoot.MatchString(root(n)) && !strings.Contains(strings.ToLower(u.File.Text(n)), "confirm")
}
