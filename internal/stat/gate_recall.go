package stat

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Pool is the name of the part that holds all of several projects.
const Pool = "all projects"

// GateRecall judges recall against a baseline: over all projects (credit over
// known vulnerabilities, whatever the project) and in each. An entry's Group is its
// project, its Family the file, and its values are 0, 0.5 and 1. Four fifths of each
// look's alpha are the pool's, the rest is split evenly over the projects; of a
// single project there is one part, which has all of it.
//
// A drop counts when it is more than one entry, and more than 5 points or a rise
// of missed entries by half; it is called when, besides, chance explains it no
// better than alpha. Chance is what [Exchange] says of the files, plus what moves
// whole trials: bounded beforehand (0.30 logits a trial for several projects, 0.50
// for one), or as the runs of three trials a side and more show. A day that the
// trials of one side share may move 0.15 logits, unless plan.Beside.
//
// Until there are three trials a side the pool's drop must stand without the
// project that fell most, and a project of several decides at its second trial: a
// single run that went wrong is no drop.
//
// A part of several projects compares as many trials as every project has; a
// project that needs more trials than others can be given them alone. Without a
// baseline (no trials) the answer is not settled.
//
// The parts are the whole first, then the projects by name. It returns an error for
// an entry without project or ID or named twice, trials that differ in number within
// a project, and values other than 0, 0.5 and 1; of no entries [ErrEmpty].
func GateRecall(entries []Item, plan Plan) ([]Part, error) {
	entries, err := checked(entries, byGroup, "0, 0.5 or 1", func(v float64) bool { return v == 0 || v == 0.5 || v == 1 })
	if err != nil {
		return nil, err
	}
	var projects []project
	for _, es := range runsOf(entries, byGroup) {
		if err := sameTrials(es); err != nil {
			return nil, fmt.Errorf("%s: %w", es[0].Group, err)
		}
		projects = append(projects, newProject(es))
	}
	return plan.recall(projects)
}

type project struct {
	name   string
	items  int
	trials Trials
	files  []Stratum // half credits by trial
	runs   Stratum   // their sums
}

// recall takes projects sorted by name.
func (p Plan) recall(projects []project) ([]Part, error) {
	if len(projects) == 1 {
		part, err := p.recallOf(projects[0].name, projects, 1, 1, false)
		return []Part{part}, err
	}
	whole, err := p.recallOf(Pool, projects, poolShare, 1, false)
	if err != nil {
		return nil, err
	}
	if whole.Decision == Drop && min(whole.Used.Baseline, whole.Used.Now) < measured {
		exact := p
		exact.lazy = false
		rest, err := exact.recallOf(Pool, withoutWorst(projects, whole.Used), poolShare, 1, false)
		if err != nil {
			return nil, err
		}
		if rest.P > others {
			whole.Decision = NotSettled
			whole.More = Trials{max(0, measured-whole.Trials.Baseline), max(0, measured-whole.Trials.Now)}
			whole.Warnings = append(whole.Warnings, "the drop is that of one project: more trials must confirm it")
		}
	}
	parts := []Part{whole}
	for i := range projects {
		part, err := p.recallOf(projects[i].name, projects[i:i+1], (1-poolShare)/float64(len(projects)), confirmed, true)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// withoutWorst leaves out the project that lost most entries; of equals the last
// by name.
func withoutWorst(projects []project, used Trials) []project {
	lost := func(q project) float64 {
		return float64(sum(q.runs.Baseline[:used.Baseline]))/float64(used.Baseline) - float64(sum(q.runs.Now[:used.Now]))/float64(used.Now)
	}
	out := slices.Clone(projects)
	slices.SortStableFunc(out, func(a, b project) int { return cmp.Compare(lost(a), lost(b)) })
	return out[:len(out)-1]
}

func (p Plan) recallOf(name string, projects []project, share float64, least int, alone bool) (Part, error) {
	part := Part{Name: name, Trials: projects[0].trials}
	for _, q := range projects {
		part.Items += q.items
		part.Trials = Trials{min(part.Trials.Baseline, q.trials.Baseline), min(part.Trials.Now, q.trials.Now)}
	}
	at, used := p.lookAt(part.Trials, least)
	part.Used = used
	s := sample{unit: 50 / float64(part.Items), baseline: make([]float64, used.Baseline), now: make([]float64, used.Now)}
	add := func(scores []float64, runs []int) (credit int) {
		for i := range scores {
			scores[i] += float64(runs[i]) * s.unit
			credit += runs[i]
		}
		return credit
	}
	var credit [2]int
	for _, q := range projects {
		for _, f := range q.files {
			s.strata = append(s.strata, Stratum{f.Baseline[:used.Baseline], f.Now[:used.Now]})
		}
		credit[0] += add(s.baseline, q.runs.Baseline)
		credit[1] += add(s.now, q.runs.Now)
	}
	for i, trials := range []int{used.Baseline, used.Now} {
		part.Errors[i] = float64(part.Items) - float64(credit[i])/float64(2*trials)
	}
	part.Lost = part.Errors[1] - part.Errors[0]
	part.Drop = 100 * part.Lost / float64(part.Items)
	n := noise{trial: max(suiteNoise, projectNoise/math.Sqrt(float64(len(projects)))), day: dayNoise}
	t := test{share: share, least: least, noise: n, alone: alone,
		counts: func() bool { return part.pointsDrop() || part.ErrorsRise() }}
	err := p.judge(&part, &s, at, t)
	return part, err
}

func sum(values []int) int {
	n := 0
	for _, v := range values {
		n += v
	}
	return n
}

var halfCredits = [2]int{2, 2}

func newProject(entries []Item) project {
	first := entries[0]
	q := project{name: first.Group, items: len(entries), trials: Trials{len(first.Baseline), len(first.Now)}}
	q.runs, _ = stratum(entries, halfCredits, q.trials)
	slices.SortStableFunc(entries, func(a, b Item) int { return cmp.Compare(a.Family, b.Family) })
	for _, file := range runsOf(entries, byFamily) {
		st, _ := stratum(file, halfCredits, q.trials)
		q.files = append(q.files, st)
	}
	return q
}
