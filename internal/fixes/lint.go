package fixes

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/audit/fixture"
)

// Leaks returns what the trees that auditors will see say of the fixes: numbers of their
// advisories, within the scope.
func (r *Repository) Leaks(ctx context.Context, t *Benchmark) (leaks fixture.Errors, err error) {
	for i := range t.Fixes {
		f := &t.Fixes[i]
		numbers := advisory.FindAllString(f.Advisory, -1)
		heads := map[string]string{"the pool": t.Pin, "the change that brought it": f.Introduced}
		for _, where := range []string{"the pool", "the change that brought it"} {
			if heads[where] == "" || len(numbers) == 0 || where == "the pool" &&
				len(f.Places[AtPin]) == 0 {
				continue
			}
			args := []string{"grep", "-I", "-l", "-F", "--no-textconv"}
			for _, n := range numbers {
				args = append(args, "-e", n)
			}
			args = append(args, heads[where], "--")
			for _, folder := range t.Scope {
				args = append(args, ":(literal)"+folder)
			}
			out, err := r.git(ctx, args...)
			if err != nil && out == "" { // nothing found is status 1
				if strings.Contains(err.Error(), "exit status 1:") {
					continue
				}
				return nil, err
			}
			for _, line := range splitLines(out) {
				_, file, _ := strings.Cut(line, ":")
				leaks = append(leaks,
					&fixture.Error{Pos: f.Pos,
						What: fmt.Sprintf(
							"%s: %s names %s in %s: choose another pin, or leave the entry out",
							f.ID, where, strings.Join(numbers, " or "), file)})
			}
		}
	}
	return leaks, nil
}

// A Size is how much an auditor has to read.
type Size struct {
	Files int // of code
	Bytes int
}

// Tokens estimates the tokens of a model's input.
func (s Size) Tokens() int { return s.Bytes / 4 }

// String returns "1442 files, 1.15 million tokens".
func (s Size) String() string {
	tokens := fmt.Sprintf("%d,000", (s.Tokens()+500)/1000)
	if s.Tokens() >= 1_000_000 {
		tokens = fmt.Sprintf("%.2f million", float64(s.Tokens())/1e6)
	}
	return fmt.Sprintf("%d files of code, about %s tokens", s.Files, tokens)
}

// Measure returns the size of a commit's code within the scope.
func (r *Repository) Measure(ctx context.Context, commit string,
	scope []string) (s Size, err error) {
	out, err := r.git(ctx, "ls-tree", "-r", "-l", "-z", commit)
	for _, line := range strings.Split(out, "\x00") {
		meta, file, ok := strings.Cut(line, "\t")
		cells := strings.Fields(meta)
		in := len(scope) == 0 ||
			slices.ContainsFunc(scope,
				func(folder string) bool { return strings.HasPrefix(file, folder+"/") })
		if !ok || len(cells) != 4 || !isCode(file) || !in {
			continue
		}
		n, _ := strconv.Atoi(cells[3])
		s.Files, s.Bytes = s.Files+1, s.Bytes+n
	}
	return s, err
}
