package auditor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"

	"assay/audit"
	"assay/audit/findings"
)

// PromptHash returns the hash of an agent's instructions: a sha256, in hex, over its
// command line, the report format where the command line uses it, and the files that the
// row Prompt of its section names. It returns "" for an entry that is no agent.
func PromptHash(entry audit.AuditorEntry) (string, error) {
	if entry.Kind != "agent" {
		return "", nil
	}
	h := sha256.New()
	add(h, "command", []byte(entry.Command))
	if strings.Contains(entry.Command, "ASSAY_FORMAT") {
		add(h, "format", []byte(findings.Instructions))
	}
	found := map[string][]byte{}
	for _, pattern := range entry.Prompt {
		if err := addPattern(found, entry, pattern); err != nil {
			return "", fmt.Errorf("%s: %s: Prompt %s: %w", entry.Pos, entry.Name, pattern, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		add(h, name, found[name])
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// add adds a named part, with its length, so that no two lists of parts are alike.
func add(h hash.Hash, name string, content []byte) {
	fmt.Fprintf(h, "%d:%s%d:", len(name), name, len(content))
	h.Write(content)
}
