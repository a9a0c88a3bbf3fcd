package seal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"

	"assay/audit"
)

// CheckFunctions holds the functions that a project's entries and decoys name
// against the source at the pin: each stands, as a whole word, at or above the
// entry's last line. It gives an error for each that does not.
func (c *Clone) CheckFunctions(ctx context.Context) error {
	type named struct {
		id        string
		functions []string
		end       int
		pos       audit.Pos
	}
	byFile := map[string][]named{}
	for _, k := range c.Project.Known {
		byFile[k.File] = append(byFile[k.File], named{k.ID, k.Functions, k.Lines.End, k.Pos})
	}
	for _, d := range c.Project.Decoys {
		byFile[d.File] = append(byFile[d.File], named{d.ID, d.Functions, d.Lines.End, d.Pos})
	}
	bs, err := c.blobs(ctx)
	if err != nil {
		return err
	}
	var wanted []blob
	for _, b := range bs {
		if byFile[b.path] != nil {
			wanted = append(wanted, b)
		}
	}
	var errs []error
	err = c.read(ctx, wanted, func(path string, content []byte, err error) error {
		if err != nil {
			return err
		}
		for _, n := range byFile[path] {
			above := firstLines(content, n.end)
			for _, f := range n.functions {
				if !regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(f) + `(\W|$)`).Match(above) {
					errs = append(errs, fmt.Errorf("%s: %s names the function %q, which does not stand in %s up to line %d", n.pos, n.id, f, path, n.end))
				}
			}
		}
		return nil
	})
	return errors.Join(append(errs, err)...)
}

// firstLines gives the first n lines.
func firstLines(content []byte, n int) []byte {
	at := 0
	for range n {
		i := bytes.IndexByte(content[at:], '\n')
		if i < 0 {
			return content
		}
		at += i + 1
	}
	return content[:at]
}
