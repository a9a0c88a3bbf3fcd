package score

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"

	"assay/audit"
)

// Paths brings reported paths under a project's root.
type Paths struct {
	tree  audit.Tree
	other map[string]bool   // what the export holds beside the tree
	fold  map[string]string // lower case -> path; "" where two paths differ in case alone
	roots []string
}

// NewPaths returns a resolver for paths of the tree. Roots are the folders that an auditor may
// have used as the project's root, absolute or relative: the export, and the root in its
// report. Others are exported files outside of the tree. With an empty tree nothing is checked:
// every path below the root is accepted.
func NewPaths(tree audit.Tree, others map[string]bool, roots []string) *Paths {
	p := &Paths{tree: tree, other: others, fold: make(map[string]string, len(tree))}
	for name := range tree {
		low := strings.ToLower(name)
		if _, twice := p.fold[low]; twice {
			p.fold[low] = ""
			continue
		}
		p.fold[low] = name
	}
	for _, r := range roots {
		if r = path.Clean(strings.ReplaceAll(stripScheme(r), `\`, "/")); r != "." && r != "/" && r != "" {
			p.roots = append(p.roots, r)
		}
	}
	return p
}

// Resolve returns the tree's path for a path as an auditor reported it, or an error. It
// handles, in this order: a file:// URL, an unresolved uriBaseId ("%SRCROOT%/a.c"),
// backslashes, "." and ".." parts, one of the roots as prefix, a leading slash for the
// project's root, percent escapes, and different case if exactly one path of the tree matches.
// It never compares suffixes: "index.js" is the index.js at the root and no other.
func (p *Paths) Resolve(file string) (string, error) {
	s := strings.TrimSpace(file)
	if s == "" {
		return "", fmt.Errorf("names no file")
	}
	if p.holds(s) {
		return s, nil
	}
	s = stripScheme(s)
	forms := []string{s}
	if strings.Contains(s, "%") {
		if u, err := url.PathUnescape(s); err == nil {
			forms = append(forms, u)
		}
	}
	var err error
	for _, form := range forms {
		form = path.Clean(baseID.ReplaceAllString(strings.ReplaceAll(form, `\`, "/"), ""))
		var got string
		if got, err = p.under(form, file); err == nil {
			return got, nil
		}
	}
	return "", err
}

// holds reports whether the file exists.
func (p *Paths) holds(name string) bool {
	_, ok := p.tree[name]
	return ok || p.other[name]
}

var baseID = regexp.MustCompile(`^(%[A-Za-z_][A-Za-z0-9_]*%|\$\{?[A-Z_][A-Z0-9_]*\}?)/+`)

// under looks up a cleaned path: below each root, then unchanged.
func (p *Paths) under(s, reported string) (string, error) {
	candidates := make([]string, 0, len(p.roots)+1)
	for _, r := range p.roots {
		if rest, ok := cutRoot(s, r); ok {
			candidates = append(candidates, rest)
		}
	}
	if !isDrive(s) {
		candidates = append(candidates, strings.TrimPrefix(s, "/"))
	}
	for _, c := range candidates {
		if c == "" || c == "." || c == ".." || strings.HasPrefix(c, "../") {
			continue
		}
		if len(p.tree) == 0 {
			return c, nil
		}
		if p.holds(c) {
			return c, nil
		}
		switch name, ok := p.fold[strings.ToLower(c)]; {
		case ok && name != "":
			return name, nil
		case ok:
			return "", fmt.Errorf("%q fits several files that differ in case alone", reported)
		}
	}
	return "", fmt.Errorf("%q is no file of the project", reported)
}

// cutRoot returns the part of s below root. Case is ignored after a drive letter.
func cutRoot(s, root string) (string, bool) {
	if len(s) <= len(root) || s[len(root)] != '/' {
		return "", false
	}
	head := s[:len(root)]
	if head == root || isDrive(root) && strings.EqualFold(head, root) {
		return s[len(root)+1:], true
	}
	return "", false
}

// stripScheme removes file:// from a URL.
func stripScheme(s string) string {
	const scheme = "file:"
	if len(s) < len(scheme) || !strings.EqualFold(s[:len(scheme)], scheme) {
		return s
	}
	s = s[len(scheme):]
	if strings.HasPrefix(s, "//") {
		host, rest, _ := strings.Cut(s[2:], "/")
		if isDrive(host + "/") {
			rest = host + "/" + rest
		}
		s = "/" + rest
	}
	if u, err := url.PathUnescape(s); err == nil {
		s = u
	}
	if isDrive(strings.TrimPrefix(s, "/")) {
		s = strings.TrimPrefix(s, "/")
	}
	return s
}

// isDrive reports whether s begins with a drive letter.
func isDrive(s string) bool {
	return len(s) >= 2 && s[1] == ':' && (s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z')
}
