package proof

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"assay/audit"
)

// MeetCode lets the first of each pair meet the second in the application's own harness,
// which holds every schedule against the two orders, one after the other: the second
// passes the first whole at each of its statements. All pairs are of the same two codes.
// It gives by pair what neither order leaves, and how many of them could meet at all.
func MeetCode(ctx context.Context, c *LanguageRunner, pairs [][2]Writer) (told [][]Violation,
	met int, err error) {
	var lines []any
	for _, p := range pairs {
		lines = append(lines, map[string]any{"query": p[0].Fam.Query, "set": audit.SetAttack,
			"now": Now, "params": p[0].Set.Values, "rival": p[1].Set.Values})
	}
	all, err := RunLines(ctx, c, pairs[0][0].Case.Code, pairs[0][1].Case.Code, lines)
	for _, es := range all {
		told = append(told, es[0].Violated)
		if es[0].Result != `{
 "met": 0
}` {
			met++
		}
	}
	return told, met, err
}

// RunLines hands lines to the harness of a case, beside which the rival lies ("" for none).
func RunLines(ctx context.Context, c *LanguageRunner, code, rival string, lines []any) ([][]Effect, error) {
	dir, err := os.MkdirTemp(c.dir, "lines")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program, args, err := c.ready(ctx, dir, code)
	if err != nil {
		return nil, err
	}
	if c.golang != nil {
		args = append(args, key(rival))
	} else if rival != "" {
		if err := os.Mkdir(filepath.Join(dir, "rival"), 0o700); err != nil {
			return nil, err
		}
		if err := layCase(filepath.Join(dir, "rival"), c.lang.file, rival); err != nil {
			return nil, err
		}
	}
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			return nil, err
		}
	}
	return c.ask(ctx, dir, in.Bytes(), len(lines), program, args...)
}
