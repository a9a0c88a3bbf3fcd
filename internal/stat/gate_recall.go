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

// The parts that hold several projects.
const (
	Pool      = "all projects"
	SmallKeys = "small keys" // the projects that are too small to gate alone, together
)

// GateRecall judges recall against a baseline: over all projects (credit over
// known vulnerabilities, whatever the project), in each project that has
// plan.MinItems entries, and in the smaller ones together where they reach that
// number. Half of each look's alpha is the pool's, half is split evenly over the
// other parts that gate; where there is no other the pool has it all. The parts
// are the pool, the small keys together if there are several, and each project
// by name; of a single project there is one part.
//
// A part of several projects compares as many trials as every project has; a project that needs
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
	if len(projects) == 1 {
		part, err := plan.recall(projects[0][0].Project, projects[0], plan.shareOf(projects[0], 1), true)
		if err != nil {
			return Gate{}, err
		}
		return gate([]Part{part}), nil
	}
	var small [][]Entry
	for _, p := range projects {
		if len(p) < plan.MinItems {
			small = append(small, p)
		}
	}
	group := slices.Concat(small...)
	gating := len(projects) - len(small)
	// The small keys are the pool itself where there are no others.
	grouped := len(small) > 1 && gating > 0
	if grouped && len(group) >= plan.MinItems {
		gating++
	}
	whole, each := 1.0, 0.0
	if gating > 0 {
		whole, each = 0.5, 0.5/float64(gating)
	}
	type member struct {
		name    string
		entries []Entry
		share   float64
	}
	members := []member{{Pool, slices.Concat(projects...), whole}}
	if grouped {
		members = append(members, member{SmallKeys, group, each})
	}
	for _, p := range projects {
		members = append(members, member{p[0].Project, p, each})
	}
	var parts []Part
	for i, m := range members {
		part, err := plan.recall(m.name, m.entries, plan.shareOf(m.entries, m.share), i == 0)
		if err != nil {
			return Gate{}, err
		}
		parts = append(parts, part)
	}
	return gate(parts), nil
}

// shareOf is share for entries that are enough to gate, else 0.
func (p Plan) shareOf(entries []Entry, share float64) float64 {
	if len(entries) < p.MinItems {
		return 0
	}
	return share
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
	var sums [2]float64 // of halves, and so exact
	for _, e := range entries {
		var st Stratum
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
		s.strata = append(s.strata, st)
	}
	points := 100 / float64(len(entries))
	for _, runs := range [][]float64{s.baseline, s.now} {
		for i := range runs {
			runs[i] *= points
		}
	}
	s.drop, s.lost = math.NaN(), math.NaN()
	if used.Baseline > 0 && used.Now > 0 {
		s.lost = sums[0]/float64(used.Baseline) - sums[1]/float64(used.Now)
		s.drop = s.lost * points
	}
	return p.judge(part, s, at, share, whole)
}
