package auditor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"assay/audit"
	"assay/audit/findings"
)

// PromptHash gives the hash of what an agent is told: a sha256, in hex, over its
// command line, the report format where the command line uses it, and path and
// content of each file that a pattern of the entry's Prompt matches. A pattern is
// one below root, or $NAME/pattern below the folder that a variable names, and
// nothing where it is not set. An entry that is no agent gives "". A pattern that
// matches no file is an error: a prompt that is not there is not measured.
func PromptHash(root fs.FS, entry audit.AuditorEntry) (string, error) {
	if entry.Kind != "agent" {
		return "", nil
	}
	h := sha256.New()
	add(h, "command", []byte(entry.Command))
	if strings.Contains(entry.Command, "ASSAY_FORMAT") {
		add(h, "format", []byte(findings.Instructions))
	}
	for _, pattern := range entry.Prompt {
		in, below := root, pattern
		if name, rest, ok := strings.Cut(pattern, "/"); ok && strings.HasPrefix(name, "$") {
			folder := os.Getenv(name[1:])
			if folder == "" {
				continue
			}
			in, below = audit.PlainFiles(os.DirFS(folder)), rest
		}
		if err := addFiles(h, in, below); err != nil {
			return "", fmt.Errorf("%s: %s: its prompt %s: %w", entry.Pos, entry.Name, pattern, err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func addFiles(h hash.Hash, in fs.FS, pattern string) error {
	files, err := doublestar.Glob(in, pattern, doublestar.WithFilesOnly(), doublestar.WithFailOnIOErrors())
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no file matches: expected the files that instruct it")
	}
	slices.Sort(files)
	for _, file := range files {
		content, err := fs.ReadFile(in, file)
		if err != nil {
			return err
		}
		add(h, file, content)
	}
	return nil
}

// add adds a named part, with its length, so that no two lists of parts are alike.
func add(h hash.Hash, name string, content []byte) {
	fmt.Fprintf(h, "%d:%s%d:", len(name), name, len(content))
	h.Write(content)
}
