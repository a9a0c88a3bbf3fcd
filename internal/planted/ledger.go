package planted

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"
)

// Version is the version of the proof. It increases when a proof tests something else, which
// makes earlier proofs stale.
const Version = 1

// Hash returns a SHA-256 hash, in hex, of everything that a proof of the project depends on
// except the runtimes: project.md, source, functional tests, exploits, setup and Version.
func (p *Template) Hash() string {
	h := sha256.New()
	fmt.Fprintf(h, "planted proof %d\n%q\n", Version, p.Commands)
	for _, table := range [][]choice{p.names, p.files} {
		for _, c := range table {
			fmt.Fprintf(h, "%q %q\n", c.from, c.to)
		}
	}
	for _, s := range p.sources {
		part(h, s.path, s.text)
	}
	for _, name := range slices.Sorted(maps.Keys(p.tools)) {
		part(h, name, string(p.tools[name]))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// part adds a named content to the hash.
func part(h hash.Hash, name, content string) {
	fmt.Fprintf(h, "%q %d\n%s\n", name, len(content), content)
}
