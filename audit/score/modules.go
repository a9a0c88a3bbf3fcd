package score

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/audit"
	"assay/internal/cwe"
	"assay/internal/stat"
)

// A ModuleScore says what became of the violations that one answer names.
type ModuleScore struct {
	Sites     [][]int // by site of the module: the violations that name it
	Elsewhere []int   // violations that lie off all sites and count as false
	Excused   []int   // likewise, and a ruling says that they are none
}

// ScoreModule holds violations against the sites of a module. A violation names a
// site when it lies in its file, within ten lines of it or in a function of its, and
// breaks one of its rules or is one of its weaknesses or a step from one (the first
// three count). One that states neither rule nor weakness names no site, as a finding
// without a CWE matches nothing: who says only where would else be better off than
// who says what, too, and may be wrong about it. Each names one site: the nearest that
// is not named yet, else the nearest; of violations that are equally near, the one that
// fits the fewest sites comes first. What names no site counts as false once, however
// often it is said, unless a review rules otherwise.
func ScoreModule(m *audit.Module, vs []audit.Violation) ModuleScore {
	s := ModuleScore{Sites: make([][]int, len(m.Sites))}
	type claim struct{ violation, site, distance int }
	var claims []claim
	as := slices.Clone(vs)                                      // by the module's own paths, and without why
	fits, said := make([]int, len(vs)), make([]string, len(vs)) // how many sites, and what
	for i := range as {
		v := &as[i]
		v.File, v.Why = moduleFile(m, v.File), ""
		said[i] = v.String()
		for j := range m.Sites {
			if d, ok := names(v, &m.Sites[j]); ok {
				claims = append(claims, claim{i, j, d})
				fits[i]++
			}
		}
	}
	slices.SortStableFunc(claims, func(a, b claim) int {
		x, y := a.violation, b.violation
		return cmp.Or(a.distance-b.distance, fits[x]-fits[y], strings.Compare(said[x], said[y]))
	})
	named := make([]bool, len(vs))
	for _, again := range []bool{false, true} {
		for _, c := range claims {
			if !named[c.violation] && (again || len(s.Sites[c.site]) == 0) {
				named[c.violation] = true
				s.Sites[c.site] = append(s.Sites[c.site], c.violation)
			}
		}
	}
	seen := map[string]bool{}
	for i := range as {
		switch {
		case named[i] || seen[said[i]]:
		case excused(m, &as[i]):
			s.Excused = append(s.Excused, i)
		default:
			s.Elsewhere = append(s.Elsewhere, i)
		}
		seen[said[i]] = true
	}
	return s
}

// moduleFile gives the module's file that a violation names: the very path, or the
// only one that ends with it or that it ends with; else what it says.
func moduleFile(m *audit.Module, said string) string {
	said = strings.TrimLeft(strings.TrimPrefix(strings.ReplaceAll(said, `\`, "/"), "./"), "/")
	var ends []string
	for _, f := range m.Files {
		switch {
		case f.Path == said:
			return said
		case strings.HasSuffix(f.Path, "/"+said), strings.HasSuffix(said, "/"+f.Path):
			ends = append(ends, f.Path)
		}
	}
	if len(ends) == 1 {
		return ends[0]
	}
	return said
}

// names gives how far from a site a violation lies that names it.
func names(v *audit.Violation, s *audit.Site) (distance int, ok bool) {
	if v.File != s.File {
		return 0, false
	}
	distance = int(usable(v.Lines).distance(usable(s.Lines)))
	if distance >= noGap {
		if !slices.ContainsFunc(s.Functions, func(f string) bool { return FunctionName(f) == FunctionName(v.Function) }) {
			return 0, false
		}
		distance = noGap
	}
	return distance, slices.Contains(s.Rules, v.Rule) || alike(v.CWEs, s.CWEs)
}

// alike is the same weakness, or one a step from it.
func alike(said, meant []audit.CWE) bool {
	for _, c := range said[:min(len(said), maxCWEs)] {
		if slices.ContainsFunc(meant, func(m audit.CWE) bool { return cwe.Related(int(c), int(m)) }) {
			return true
		}
	}
	return false
}

// excused reports whether a ruling takes a violation off the sites for no error: it
// is true, the same as a site, or arguable.
func excused(m *audit.Module, v *audit.Violation) bool {
	return slices.ContainsFunc(m.Reviews, func(r audit.FindingReview) bool {
		return r.Ruling != audit.RuledFalse && r.File == v.File && alike(v.CWEs, r.CWEs) &&
			slices.ContainsFunc(r.Functions, func(f string) bool { return FunctionName(f) == FunctionName(v.Function) })
	})
}

// A ModuleAnswer is what became of one trial of one module.
type ModuleAnswer struct {
	Module     *audit.Module
	Trial      int           // from 0
	Outcome    audit.Outcome // right only when every site is, and nothing else is named
	Violations []audit.Violation
}

// Answered reports whether there is an answer to be scored.
func (a *ModuleAnswer) Answered() bool {
	return a.Outcome == audit.OutcomeCorrect || a.Outcome == audit.OutcomeWrong
}

// Read takes the violations of an answer from its text as it is stored. One that
// somebody changed, so that they cannot be read, becomes malformed.
func (a *ModuleAnswer) Read(text string) {
	if !a.Answered() {
		return
	}
	var err error
	if a.Violations, err = audit.ParseViolations(text); err != nil {
		a.Outcome = audit.OutcomeMalformed
	}
}

// ModuleOutcome gives the outcome of an answer: right when it names every bad site,
// no good one, and nothing else.
func ModuleOutcome(m *audit.Module, vs []audit.Violation) audit.Outcome {
	s := ScoreModule(m, vs)
	for i := range m.Sites {
		if m.Sites[i].Bad != (len(s.Sites[i]) > 0) {
			return audit.OutcomeWrong
		}
	}
	if len(s.Elsewhere) > 0 {
		return audit.OutcomeWrong
	}
	return audit.OutcomeCorrect
}

// SiteAnswers turns answers about modules into answers about sites, for each side
// that is given: a site is a case whose family are its draws, and what is named off
// all sites is a good case that was called bad. As many of these stand on each side
// as on the side, and in the trial, that has the most: where there are fewer, they
// are right. A module of one draw is a group.
func SiteAnswers(sides ...[]ModuleAnswer) [][]Answer {
	var scores [][]ModuleScore
	most := map[string]int{}
	for _, as := range sides {
		var ss []ModuleScore
		for i := range as {
			s := ScoreModule(as[i].Module, as[i].Violations)
			most[as[i].Module.ID()] = max(most[as[i].Module.ID()], len(s.Elsewhere))
			ss = append(ss, s)
		}
		scores = append(scores, ss)
	}
	cases := map[string][]*audit.Case{} // of a module, its sites first
	out := make([][]Answer, len(sides))
	for side, as := range sides {
		for i := range as {
			a, s := &as[i], &scores[side][i]
			id := a.Module.ID()
			if cases[id] == nil {
				cases[id] = siteCases(a.Module, most[id])
			}
			for j, c := range cases[id] {
				answer := Answer{Case: c, Trial: a.Trial, Outcome: a.Outcome, Group: id, Cluster: a.Module.Family()}
				if a.Answered() {
					answer.Outcome, answer.Violates = siteOutcome(a, s, j)
				}
				out[side] = append(out[side], answer)
			}
		}
	}
	return out
}

func siteCases(m *audit.Module, elsewhere int) []*audit.Case {
	var cases []*audit.Case
	for i := range m.Sites {
		s := &m.Sites[i]
		c := &audit.Case{App: m.Project, Query: s.ID, Number: int(m.Seed), Label: audit.Good, CWEs: s.CWEs, Pos: s.Pos}
		if s.Bad {
			c.Label, c.Violates = audit.Bad, s.Rules
		}
		cases = append(cases, c)
	}
	for i := range elsewhere {
		cases = append(cases, &audit.Case{App: m.Project, Query: fmt.Sprintf("%s elsewhere %d", m.Name, i+1), Number: int(m.Seed), Label: audit.Good, Pos: m.Pos})
	}
	return cases
}

// siteOutcome is of the jth case of siteCases; rules are those that are named there.
func siteOutcome(a *ModuleAnswer, s *ModuleScore, j int) (o audit.Outcome, rules []int) {
	wrong := j-len(a.Module.Sites) < len(s.Elsewhere)
	if j < len(a.Module.Sites) {
		wrong = a.Module.Sites[j].Bad != (len(s.Sites[j]) > 0)
		for _, i := range s.Sites[j] {
			if r := a.Violations[i].Rule; r > 0 {
				rules = append(rules, r)
			}
		}
	}
	if wrong {
		return audit.OutcomeWrong, rules
	}
	return audit.OutcomeCorrect, rules
}

// Modules are the figures of a reviewer over modules: those over sites, and what
// only whole modules have.
type Modules struct {
	*Bench           // over sites
	Reviews int      `json:"reviews"`            // modules with an answer, each draw and trial for itself
	Right   Estimate `json:"right"`              // of these, entirely right
	Missed  Estimate `json:"missed_per_hundred"` // bad sites that are not named, in a hundred of what was judged
	False   Estimate `json:"false_per_hundred"`  // good sites, and places elsewhere, that are
	F1      Value    `json:"f1"`                 // of the bad sites
	Off     int      `json:"elsewhere"`          // places off all sites that are named
}

// ModulesOf reckons the figures of one reviewer over modules.
func ModulesOf(answers []ModuleAnswer) (*Modules, error) {
	sites := SiteAnswers(answers)[0]
	b, err := BenchOf(sites)
	if err != nil {
		return nil, err
	}
	m := &Modules{Bench: b}
	var right, missed, alarmed []stat.Observation
	for i := range answers {
		if a := &answers[i]; a.Answered() {
			right = append(right, observed(a.Module.Family(), "", a.Outcome == audit.OutcomeCorrect))
			m.Off += len(ScoreModule(a.Module, a.Violations).Elsewhere)
		}
	}
	m.Reviews = len(right)
	found, lost, alarms := 0.0, 0.0, 0.0
	for i := range sites {
		a := &sites[i]
		bad, wrong := a.Case.Label == audit.Bad, a.Outcome == audit.OutcomeWrong
		switch {
		case !wrong && a.Outcome != audit.OutcomeCorrect:
			continue
		case bad && wrong:
			lost++
		case bad:
			found++
		case wrong:
			alarms++
		}
		missed = append(missed, observed(a.Case.Family(), a.Group, !(bad && wrong)))
		alarmed = append(alarmed, observed(a.Case.Family(), a.Group, bad || !wrong))
	}
	m.F1 = Ratio(2*found, 2*found+lost+alarms)
	for _, e := range []struct {
		to  *Estimate
		obs []stat.Observation
	}{{&m.Right, right}, {&m.Missed, missed}, {&m.False, alarmed}} {
		if *e.to, err = estimate(e.obs, stat.Proportion); err != nil {
			return nil, err
		}
	}
	m.Missed, m.False = m.Missed.errors(), m.False.errors()
	return m, nil
}

func observed(cluster, group string, yes bool) stat.Observation {
	o := stat.Observation{Cluster: cluster, Group: group}
	if yes {
		o.Value = 1
	}
	return o
}
