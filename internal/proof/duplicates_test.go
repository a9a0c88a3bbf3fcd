package proof

import (
	"fmt"
	"hash/fnv"
	"strings"

	"assay/audit"
)

// NearlyIdentical is the share of common runs of five tokens from which two cases
// of different families count as duplicates.
const NearlyIdentical = 0.8

// Duplicates finds cases of different families whose code, comments aside, is
// nearly the same (Jaccard index of their runs of five tokens, names kept and
// literals made one, at least NearlyIdentical), and cases of one family that are
// the same but for space and comments.
func Duplicates(apps []*audit.App) []audit.Problem {
	type entry struct {
		c    *audit.Case
		runs map[uint64]bool
		text string
	}
	var all []entry
	index := map[uint64][]int{} // run -> entries, to compare only what has something in common
	var problems []audit.Problem
	for _, app := range apps {
		for _, fam := range app.Families {
			for _, c := range fam.Cases {
				runs, text := shingles(c)
				common := map[int]int{}
				for r := range runs {
					for _, i := range index[r] {
						common[i]++
					}
				}
				for i, n := range common {
					o := all[i]
					same := o.c.Family() == c.Family()
					like := float64(n) / float64(len(runs)+len(o.runs)-n)
					if same && o.text == text || !same && like >= NearlyIdentical {
						problems = append(problems, audit.Problem{Pos: c.Pos,
							What: fmt.Sprintf(
								"%s is nearly the same as %s (%.0f %%): expected a query of its own", c.ID(), o.c.ID(), 100*like)})
					}
				}
				for r := range runs {
					index[r] = append(index[r], len(all))
				}
				all = append(all, entry{c, runs, text})
			}
		}
	}
	return problems
}

func shingles(c *audit.Case) (map[uint64]bool, string) {
	var ts, exact []string
	for _, t := range codeOf(dialectOf(c.Language).cut(c.Code)) {
		exact = append(exact, t.text)
		if t.kind == str || t.kind == number {
			t.text = "?"
		}
		ts = append(ts, strings.ToLower(t.text))
	}
	runs := map[uint64]bool{}
	for i := 0; i+5 <= len(ts); i++ {
		h := fnv.New64a()
		_, _ = h.Write([]byte(strings.Join(ts[i:i+5], " ")))
		runs[h.Sum64()] = true
	}
	return runs, strings.Join(exact, " ")
}
