package planted

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Version is that of the proof: it goes up when what a proof tries or asks for
// changes, so that what was proved before is proved again.
const Version = 1

// Hash identifies everything that a proof of the project depends on but the
// runtimes: SHA-256, in hex, over project.md, source, functional tests, exploits,
// setup and Version.
func (p *Project) Hash() string {
	h := newHash(p)
	for _, s := range p.sources {
		part(h, s.path, s.text)
	}
	for _, name := range sortedKeys(p.tools) {
		part(h, name, string(p.tools[name]))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// SiteHash identifies what the flips of one site depend on: the source without
// the regions of other sites (that they do not matter is what the covering array
// proves), the site's own, functional tests and setup, and of the exploits the
// files that name the site with all that they import, and those that name no site.
func (p *Project) SiteHash(id string) string {
	h := newHash(p)
	part(h, "site", id)
	for _, s := range p.sources {
		part(h, s.path, ownText(s.nodes, id))
	}
	own := p.exploitFiles(id)
	for _, name := range sortedKeys(p.tools) {
		if !strings.HasPrefix(name, "exploits/") || slices.Contains(own, name) {
			part(h, name, string(p.tools[name]))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func newHash(p *Project) hash.Hash {
	h := sha256.New()
	fmt.Fprintf(h, "planted proof %d\n%q\n", Version, p.Commands)
	for _, table := range [][]choice{p.names, p.files} {
		for _, c := range table {
			fmt.Fprintf(h, "%q %q\n", c.from, c.to)
		}
	}
	return h
}

func part(h hash.Hash, name, content string) {
	fmt.Fprintf(h, "%q %d\n%s\n", name, len(content), content)
}

// ownText gives a file with both variants of one site and none of the others.
func ownText(nodes []node, id string) string {
	var b strings.Builder
	for _, n := range nodes {
		switch {
		case n.group != nil:
			for i, p := range n.group.parts {
				fmt.Fprintf(&b, "order %d\n%s", i, ownText(p, id))
			}
		case n.region == nil:
			b.WriteString(n.text)
		case n.region.site == id:
			fmt.Fprintf(&b, "good\n%sbad\n%s", strings.Join(n.region.good, ""), strings.Join(n.region.bad, ""))
		default:
			fmt.Fprintf(&b, "%s\n", n.region.label())
		}
	}
	return b.String()
}

var module = regexp.MustCompile(`(?m)^\s*(?:from\s+\.*([\w.]*)\s+import|import\s+([\w., ]+))`)

// exploitFiles gives the files of exploits/ that an exploit depends on.
func (p *Project) exploitFiles(id string) []string {
	named := map[string][]string{} // module -> files
	var own []string
	for name, content := range p.tools {
		if !strings.HasPrefix(name, "exploits/") {
			continue
		}
		base := strings.TrimSuffix(path.Base(name), path.Ext(name))
		named[base] = append(named[base], name)
		names := func(s Site) bool { return strings.Contains(string(content), s.ID) }
		if !slices.ContainsFunc(p.Sites, names) || strings.Contains(string(content), id) {
			own = append(own, name)
		}
	}
	for i := 0; i < len(own); i++ {
		if !strings.Contains(string(p.tools[own[i]]), id) {
			continue // it names no site: what it gathers is not what this one needs
		}
		for _, m := range module.FindAllStringSubmatch(string(p.tools[own[i]]), -1) {
			for _, word := range wordPattern.FindAllString(m[1]+" "+m[2], -1) {
				for _, file := range named[word] {
					if !slices.Contains(own, file) {
						own = append(own, file)
					}
				}
			}
		}
	}
	return own
}
