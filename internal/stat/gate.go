package stat

import (
	"math"
	"slices"
)

// A ProjectTrials holds the trials of one project on both sides: credits of an audit, out of Entries,
// for [GateRecall]; false findings for [GateFalseFindings]; dollars or seconds for [GateCost].
type ProjectTrials struct {
	Name          string
	Entries       int
	Baseline, Now []float64
}

// A Decision is what a gate says of a change.
type Decision string

// The decisions.
const (
	Drop         Decision = "drop"          // worse than chance explains
	PossibleDrop Decision = "possible drop" // chance may explain it, at 5 % or less
	// no sign of a drop, but one of 25 points is not excluded
	TooWide Decision = "too wide"
	NoDrop  Decision = "no drop"
)

// A Rule is the rule that led to a decision other than [NoDrop].
type Rule string

// The rules.
const (
	ByExchange Rule = "exchange" // the exchange of runs, or of families
	BySize     Rule = "size"     // too few exchanges, but a drop of three standard errors
	ByProject  Rule = "project"  // one of several projects
	ByCollapse Rule = "collapse" // less than a quarter of the worst trial of the baseline, twice
	ByBound    Rule = "bound"
)

// A Gate is what a gate found. Drop, Bound, SE and D80 are fractions, not points.
type Gate struct {
	Decision Decision
	Rule     Rule
	Project  string // that ByProject or ByCollapse is about
	Exchange
	Alpha   float64 // P is compared with it
	SE, Phi float64 // standard error by the noise table; how much more these runs vary
	D80     float64 // drop that a design like this one finds with 80 % power
	Stage   int     // number of trials that were tested
	Now     int     // trials that the new side has, at least this stage's
	Confirm []string
	Advice  Advice
}

// Advice is what would decide a possible drop or narrow a bound.
type Advice struct {
	Trials, Baseline int    // more trials of each side
	Project          string // only of this project; empty: of all
	Units            int    // more projects (Bench: families), since no more trials help
	Sure             bool   // the drop is as large as what these trials find with 80 % power
}

// A stage is a number of trials at which the gates test. Testing after every trial, and
// stopping at the first sign of a drop, would find one in any auditor.
type stage struct {
	trials                int
	recall, falseFindings float64 // alpha
}

var stages = []stage{{1, 0.0040, 0.0010}, {3, 0.0020, 0.0005}, {6, 0.0011, 0.0003}}

// StageOf returns the number of trials that the gate tests of so many new ones.
func StageOf(trials int) int {
	n := 1
	for _, s := range stages {
		if s.trials <= trials {
			n = s.trials
		}
	}
	return n
}

const (
	// fewExchanges is the number of exchanges below which size counts, too: p alone
	// cannot become small enough, or is too coarse for a bound.
	fewExchanges = 1000
	// noExchanges is the number below which p is never 5 % or less.
	noExchanges = 20
	z95         = 1.645
	large       = 3.0  // standard errors of a drop that is large
	largeAlone  = 4.0  // the same for one of several projects
	widest      = 0.25 // a larger drop must be excluded for PASS
	confirming  = 3    // trials that a baseline needs for ByProject and ByCollapse
)

// atStage returns the projects with the trials that the stage tests: those of the last
// stage that more than half of the projects reached.
func atStage(projects []ProjectTrials) ([]ProjectTrials, stage) {
	at := stages[0]
	for _, s := range stages[1:] {
		n := 0
		for _, p := range projects {
			if len(p.Now) >= s.trials {
				n++
			}
		}
		if 2*n > len(projects) {
			at = s
		}
	}
	out := slices.Clone(projects)
	for i := range out {
		out[i].Baseline = first(out[i].Baseline, MaxBaseline)
		out[i].Now = first(out[i].Now, at.trials)
	}
	return out, at
}

// first returns the first n values, or all if there are fewer.
func first(x []float64, n int) []float64 { return x[:min(n, len(x))] }

// GateRecall judges recall by the exchange of runs within projects (see [ExchangeRuns]
// and the package documentation). Projects without a trial on a side must be left out.
func GateRecall(projects []ProjectTrials) (Gate, error) { return gateRecall(projects, maxExchanges) }

// gateRecall is GateRecall with at most so many exchanges.
func gateRecall(projects []ProjectTrials, most int) (Gate, error) {
	tested, at := atStage(projects)
	samples := make([]Sample, len(tested))
	for i, p := range tested {
		samples[i] = p.sample()
	}
	e, err := exchangeRuns(samples, most)
	if err != nil {
		return Gate{}, err
	}
	g := Gate{Exchange: e, Decision: NoDrop, Alpha: at.recall, Stage: at.trials, Now: math.MaxInt}
	for _, p := range projects {
		if n := len(p.Now); n >= at.trials {
			g.Now = min(g.Now, n)
		}
	}
	g.SE, g.Phi = SE(tested), Phi(tested)
	g.D80 = d80(tested, g.Phi, 0, 0)
	if g.Count < fewExchanges {
		g.Bound = max(0, g.Drop+z95*g.Phi*g.SE)
	}
	switch {
	case g.P <= g.Alpha:
		g.Decision, g.Rule = Drop, ByExchange
	case g.Count < fewExchanges && g.P <= wrong && g.Drop >= large*g.SE:
		g.Decision, g.Rule = Drop, BySize
	case g.P <= wrong, g.Count < noExchanges && g.Drop > z95*g.SE:
		g.Decision, g.Rule = PossibleDrop, ByExchange
	case g.Bound > widest:
		g.Decision, g.Rule = TooWide, ByBound
	}
	g.alone(projects)
	g.collapse(projects)
	g.advise(projects)
	return g, nil
}

// alone looks for a project, among several, that is below all trials of its baseline.
func (g *Gate) alone(projects []ProjectTrials) {
	if len(projects) < 2 || g.Decision == Drop {
		return
	}
	last := stages[len(stages)-1].trials
	for _, p := range projects {
		p.Baseline, p.Now = first(p.Baseline, MaxBaseline), first(p.Now, last)
		if len(p.Baseline) < confirming || slices.Max(p.Now) >= slices.Min(p.Baseline) ||
			p.drop() < largeAlone*SE([]ProjectTrials{p}) {
			continue
		}
		switch {
		case len(p.Now) == last:
			g.Decision, g.Rule, g.Project = Drop, ByProject, p.Name
			return
		case g.Decision != PossibleDrop:
			g.Decision, g.Rule, g.Project = PossibleDrop, ByProject, p.Name
		}
	}
}

// collapse looks for projects, among fewer than four, whose new trials found almost nothing.
func (g *Gate) collapse(projects []ProjectTrials) {
	if len(projects) >= 4 || g.Decision == Drop {
		return
	}
	for _, p := range projects {
		least := slices.Min(p.Baseline)
		if len(p.Baseline) < confirming || least < 8 || p.Now[0] >= least/4 {
			continue
		}
		switch {
		case len(p.Now) == 1:
			g.Decision, g.Rule, g.Project = PossibleDrop, ByCollapse, p.Name
			g.Confirm = append(g.Confirm, p.Name)
		case p.Now[1] < least/4:
			g.Decision, g.Rule, g.Project, g.Confirm = Drop, ByCollapse, p.Name, nil
			return
		}
	}
}

// advise sets what would decide. It asks for the first stage that finds a drop like this
// one with 80 % power, or the last; after that only more projects help.
func (g *Gate) advise(projects []ProjectTrials) {
	last := stages[len(stages)-1].trials
	switch {
	case g.Decision == NoDrop || g.Decision == Drop:
		return
	case g.Rule == ByCollapse:
		g.Advice = Advice{Trials: 1, Project: g.Project, Sure: true}
		return
	case g.Rule == ByProject:
		i := slices.IndexFunc(projects, func(p ProjectTrials) bool { return p.Name == g.Project })
		g.Advice = Advice{Trials: last - len(projects[i].Now), Project: g.Project}
		return
	}
	for _, s := range stages {
		if s.trials <= g.Stage {
			continue
		}
		have := math.MaxInt
		for _, p := range projects {
			have = min(have, len(p.Baseline))
		}
		a := Advice{Trials: max(1, s.trials-g.Now), Baseline: max(0, s.trials-have)}
		b := max(have, s.trials)
		a.Sure = d80(projects, g.Phi, b, s.trials) <= g.Drop
		g.Advice = a
		if a.Sure || g.Decision == TooWide {
			return
		}
	}
	if g.Advice == (Advice{}) {
		d, n := g.Drop, float64(len(projects))
		if g.Decision == TooWide {
			d = widest
		}
		g.Advice.Units = max(1, int(math.Ceil(n*(g.D80/d)*(g.D80/d)))-len(projects))
	}
}

// GateFalseFindings judges whether the sum of false findings over projects with whole
// keys rose. Drop is the rise a project.
func GateFalseFindings(projects []ProjectTrials) (Gate, error) {
	return rise(projects, func(v float64) float64 { return -v })
}

// GateCost judges whether dollars or seconds, which must be positive, rose by a quarter
// or more. It never decides that they did: the verdict is a possible drop at most.
// exp(Drop) is the ratio of the new side to the baseline.
func GateCost(projects []ProjectTrials) (Gate, error) {
	g, err := rise(projects, func(v float64) float64 { return -math.Log(v) })
	switch {
	case g.Drop < math.Log(1.25)-rounding:
		g.Decision = NoDrop
	case g.Decision == Drop:
		g.Decision = PossibleDrop
	}
	return g, err
}

// rise tests for a rise of a figure after the transformation of.
func rise(projects []ProjectTrials, of func(float64) float64) (Gate, error) {
	tested, at := atStage(projects)
	var samples []Sample
	for _, p := range tested {
		s := Sample{Weight: 1}
		for _, v := range p.Baseline {
			s.Baseline = append(s.Baseline, of(v))
		}
		for _, v := range p.Now {
			s.Now = append(s.Now, of(v))
		}
		samples = append(samples, s)
	}
	e, err := ExchangeRuns(samples)
	g := Gate{Exchange: e, Decision: NoDrop, Alpha: at.falseFindings, Stage: at.trials}
	switch {
	case err != nil:
	case g.P <= g.Alpha:
		g.Decision, g.Rule = Drop, ByExchange
	case g.P <= 0.01:
		g.Decision, g.Rule = PossibleDrop, ByExchange
	}
	return g, err
}
