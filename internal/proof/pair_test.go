package proof

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"assay/audit"
)

// MeetCode lets the first of each pair meet the second in the application's own harness,
// which holds every schedule against the two orders, one after the other: the second
// passes the first whole at each of its statements. All pairs are of the same two codes.
// It gives by pair what neither order leaves, and how many of them could meet at all.
func MeetCode(ctx context.Context, c *Code, pairs [][2]Writer) (told [][]Violation, met int, err error) {
	dir, err := os.MkdirTemp(c.dir, "pair")
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(dir)
	a, b := pairs[0][0].Case.Code, pairs[0][1].Case.Code
	program, args := c.program, c.lang.args
	if c.golang != nil {
		if program, err = c.golang.binary(ctx, a); err != nil {
			return nil, 0, err
		}
		args = []string{key(a), key(b)}
	} else if err := c.lay(dir, a); err != nil {
		return nil, 0, err
	} else if err := os.Mkdir(filepath.Join(dir, "rival"), 0o700); err != nil {
		return nil, 0, err
	} else if err := layCase(filepath.Join(dir, "rival"), c.lang.file, b); err != nil {
		return nil, 0, err
	}
	var in []byte
	for _, p := range pairs {
		line, err := json.Marshal(map[string]any{"query": p[0].Fam.Query, "set": audit.SetAttack, "now": Now, "params": p[0].Set.Values, "rival": p[1].Set.Values})
		if err != nil {
			return nil, 0, err
		}
		in = append(append(in, line...), '\n')
	}
	out, stderr, err := runIn(ctx, c.deadline, dir, in, program, args...)
	if err != nil {
		return nil, 0, fmt.Errorf("the harness failed: %w\n%s", err, clip(string(stderr), 2000))
	}
	all, err := effects(out, len(pairs))
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
