package seal

import (
	"context"
	"strings"
	"unicode/utf8"

	"assay/audit"
)

// Tree returns the text files at the pin that an answer key can name.
func (c *Clone) Tree(ctx context.Context) (audit.Tree, error) {
	tree := audit.Tree{}
	err := c.each(ctx, nameable, func(b blob, content []byte) {
		if isText(content) {
			tree[b.path] = audit.TreeFile{Path: b.path, Lines: audit.CountLines(content),
				Blob: b.hash}
		}
	})
	return tree, err
}

// nameable reports whether a manifest, whose columns are separated by tabs, can hold the path.
func nameable(path string) bool { return listable(path) && !strings.Contains(path, "\t") }

// listable reports whether a list of paths in UTF-8, one a line, can hold the path.
func listable(path string) bool {
	return utf8.ValidString(path) &&
		!strings.ContainsAny(path, "\r\n")
}

// Others returns the files at the pin that the manifest does not list. The export holds them
// too, so a finding there does not name a missing path.
func (c *Clone) Others(ctx context.Context) ([]string, error) {
	bs, err := c.blobs(ctx)
	if err != nil {
		return nil, err
	}
	var others []string
	for _, b := range bs {
		if _, source := c.Project.Tree[b.path]; !source && listable(b.path) {
			others = append(others, b.path)
		}
	}
	return others, nil
}
