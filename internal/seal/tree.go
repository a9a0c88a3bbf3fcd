package seal

import (
	"context"
	"strings"

	"assay/audit"
)

// Tree lists the text files at the pin that an answer key can name.
func (c *Clone) Tree(ctx context.Context) (audit.Tree, error) {
	bs, err := c.blobs(ctx)
	if err != nil {
		return nil, err
	}
	tree := audit.Tree{}
	err = c.read(ctx, bs, func(b blob, content []byte, err error) error {
		if err == nil && isText(content) && nameable(b.path) {
			tree[b.path] = audit.TreeFile{Path: b.path, Lines: audit.CountLines(content), Blob: b.hash}
		}
		return err
	})
	return tree, err
}

// nameable: in a manifest tabs and ends of lines separate.
func nameable(path string) bool { return !strings.ContainsAny(path, "\t\r\n") }

// Others lists the files at the pin that the manifest does not: the export holds
// them too, and a finding that names one names no missing path.
func (c *Clone) Others(ctx context.Context) ([]string, error) {
	bs, err := c.blobs(ctx)
	if err != nil {
		return nil, err
	}
	var others []string
	for _, b := range bs {
		if _, source := c.Project.Tree[b.path]; !source {
			others = append(others, b.path)
		}
	}
	return others, nil
}
