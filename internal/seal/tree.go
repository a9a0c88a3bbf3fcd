package seal

import (
	"bytes"
	"context"

	"assay/audit"
)

// Tree lists the text files at the pin: what an answer key can name. A file is text
// when its first 8000 bytes hold no NUL, as git tells it.
func (c *Clone) Tree(ctx context.Context) (audit.Tree, error) {
	bs, err := c.blobs(ctx)
	if err != nil {
		return nil, err
	}
	hashes := map[string]string{}
	for _, b := range bs {
		hashes[b.path] = b.hash
	}
	tree := audit.Tree{}
	err = c.read(ctx, bs, func(path string, content []byte, err error) error {
		if err != nil || bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0 {
			return err
		}
		lines := bytes.Count(content, []byte("\n"))
		if len(content) > 0 && content[len(content)-1] != '\n' {
			lines++
		}
		tree[path] = audit.TreeFile{Path: path, Lines: lines, Blob: hashes[path]}
		return nil
	})
	return tree, err
}
