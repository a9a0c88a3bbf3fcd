package seal

import (
	"context"
)

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
