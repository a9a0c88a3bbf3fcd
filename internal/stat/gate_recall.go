package stat

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// An Entry is one known vulnerability with what it earned in each trial: 0, 0.5
// or 1, in the order of the runs. All entries of a project have as many trials a
// side.
type Entry struct {
	Project, ID   string
	Baseline, Now []float64
}

// Pool is the name of the part that holds all projects.
const Pool = "all projects"

// GateRecall judges recall against a baseline: over all projects (credit over
// known vulnerabilities, whatever the project), and in each project that has
// plan.MinItems entries. Half of each look's alpha is the pool's, half is split
// evenly over those projects; a single project has it all. Smaller keys count in
// the pool only.
//
// The pool compares as many trials as every project has; a project that needs
// more trials than others can be given them alone. Before the first look, and
// without a baseline (no trials), the answer is not settled.
//
// It returns an error for a plan that does not validate, an entry without
// project or ID or named twice, trials that differ in number within a project,
// and values other than 0, 0.5 and 1; of no entries [ErrEmpty].
func GateRecall(entries []Entry, plan Plan) (Gate, error) {
	if err := plan.Validate(); err != nil {
		return Gate{}, err
	}
	projects, err := byProject(entries)
	if err != nil {
		return Gate{}, err
	}
	alone := 0
	for _, p := range projects {
		if len(p) >= plan.MinItems {
			alone++
		}
	}
	poolShare, projectShare := 1.0, 0.0
	switch {
	case len(entries) < plan.MinItems:
		poolShare = 0
	case len(projects) > 1 && alone > 0:
		poolShare, projectShare = 0.5, 0.5/float64(alone)
	}
	pool, err := plan.recall(Pool, slices.Concat(projects...), poolShare, true)
	if err != nil {
		return Gate{}, err
	}
	parts := []Part{pool}
	for _, p := range projects {
		share := projectShare
		if len(p) < plan.MinItems {
			share = 0
		}
		if len(projects) == 1 {
			parts[0].Name = p[0].Project // the pool is the project
			break
		}
		part, err := plan.recall(p[0].Project, p, share, false)
		if err != nil {
			return Gate{}, err
		}
		parts = append(parts, part)
	}
	return gate(parts), nil
}

// byProject checks entries and groups them, projects by name, entries by ID.
func byProject(entries []Entry) ([][]Entry, error) {
	if len(entries) == 0 {
		return nil, ErrEmpty
	}
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.ID, b.ID))
	})
	var out [][]Entry
	for i, e := range entries {
		if e.Project == "" || e.ID == "" {
			return nil, fmt.Errorf("entry %q of project %q: both must be named", e.ID, e.Project)
		}
		for _, v := range slices.Concat(e.Baseline, e.Now) {
			if v != 0 && v != 0.5 && v != 1 {
				return nil, fmt.Errorf("%s, entry %s: credit %g: must be 0, 0.5 or 1; leave a run that does not count out of every entry", e.Project, e.ID, v)
			}
		}
		if i == 0 || entries[i-1].Project != e.Project {
			out = append(out, nil)
		}
		p := &out[len(out)-1]
		if n := len(*p); n > 0 {
			first := (*p)[0]
			if (*p)[n-1].ID == e.ID {
				return nil, fmt.Errorf("%s, entry %s: named twice", e.Project, e.ID)
			}
			if len(first.Baseline) != len(e.Baseline) || len(first.Now) != len(e.Now) {
				return nil, fmt.Errorf("%s, entry %s: %d baseline and %d new trials, entry %s has %d and %d: all entries of a project share its runs",
					e.Project, e.ID, len(e.Baseline), len(e.Now), first.ID, len(first.Baseline), len(first.Now))
			}
		}
		*p = append(*p, e)
	}
	return out, nil
}

// recall judges one set of entries by the trials that all of them have.
func (p Plan) recall(name string, entries []Entry, share float64, whole bool) (Part, error) {
	have := Trials{len(entries[0].Baseline), len(entries[0].Now)}
	for _, e := range entries {
		have = Trials{min(have.Baseline, len(e.Baseline)), min(have.Now, len(e.Now))}
	}
	at, used := p.look(have)
	part := Part{Name: name, Items: len(entries), Trials: have, Used: used}
	s := sample{baseline: make([]float64, used.Baseline), now: make([]float64, used.Now)}
	for _, e := range entries {
		var st Stratum
		var sums [2]float64
		for i, v := range e.Baseline[:used.Baseline] {
			s.baseline[i] += v
			sums[0] += v
			st.Baseline = append(st.Baseline, int(2*v))
		}
		for i, v := range e.Now[:used.Now] {
			s.now[i] += v
			sums[1] += v
			st.Now = append(st.Now, int(2*v))
		}
		if used.Baseline > 0 && used.Now > 0 {
			s.lost += sums[0]/float64(used.Baseline) - sums[1]/float64(used.Now)
		}
		s.strata = append(s.strata, st)
	}
	points := 100 / float64(len(entries))
	for _, runs := range [][]float64{s.baseline, s.now} {
		for i := range runs {
			runs[i] *= points
		}
	}
	s.drop = s.lost * points
	if used.Baseline == 0 || used.Now == 0 {
		s.drop, s.lost = math.NaN(), math.NaN()
	}
	return p.judge(part, s, at, share, whole)
}
