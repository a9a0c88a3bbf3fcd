package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

// The seven projects by the number of their entries.
var sevenProjects = []struct {
	name    string
	entries int
}{{"p1", 55}, {"p2", 28}, {"p3", 28}, {"p4", 70}, {"p5", 18}, {"p6", 60}, {"p7", 95}}

// effect says what a run effect is shared by.
type effect int

const (
	noEffect  effect = iota
	perRun           // each run of each project has one of its own
	perTrial         // all projects of a trial share one
	runLogits = 0.3
)

// projects makes entries whose chance of being found is Beta distributed with
// mean 0.70; concentration 2 means that most entries are found nearly always or
// nearly never, 8 that most are a matter of luck. A drop takes its points from
// every entry in proportion to its chance. only names the one project that
// drops; empty means all.
func projects(e effect, concentration float64, only string, drop float64) func(*rand.Rand, int) []Entry {
	return func(rng *rand.Rand, trials int) []Entry {
		beta := distuv.Beta{Alpha: 0.7 * concentration, Beta: 0.3 * concentration, Src: rng}
		shared := [2][]float64{effects(rng, trials), effects(rng, trials)}
		var out []Entry
		for _, p := range sevenProjects {
			shift := [2][]float64{make([]float64, trials), make([]float64, trials)}
			switch e {
			case perRun:
				shift = [2][]float64{effects(rng, trials), effects(rng, trials)}
			case perTrial:
				shift = shared
			}
			for i := range p.entries {
				chance := beta.Rand()
				later := chance
				if only == "" || only == p.name {
					later = chance * (1 - drop/70)
				}
				out = append(out, Entry{Project: p.name, ID: fmt.Sprint(i),
					Baseline: found(rng, chance, shift[0]), Now: found(rng, later, shift[1])})
			}
		}
		return out
	}
}

func effects(rng *rand.Rand, trials int) []float64 {
	out := make([]float64, trials)
	for i := range out {
		out[i] = runLogits * rng.NormFloat64()
	}
	return out
}

func found(rng *rand.Rand, chance float64, shift []float64) []float64 {
	out := make([]float64, len(shift))
	for i, s := range shift {
		c := chance
		if s != 0 {
			odds := chance / (1 - chance) * math.Exp(s)
			c = odds / (1 + odds)
			if chance >= 1 {
				c = 1
			}
		}
		if rng.Float64() < c {
			out[i] = 1
		}
	}
	return out
}

// cases makes n cases in families of six, two good and four bad. share of them
// (of the families, where together) are coins in every trial, or where everywhere
// is set, every answer goes wrong with that chance. A drop takes its points from
// every case alike.
func cases(n int, share float64, everywhere, together bool, drop float64) func(*rand.Rand, int) []Case {
	return func(rng *rand.Rand, trials int) []Case {
		var out []Case
		for f := range n / 6 {
			familyCoin := rng.Float64() < share
			members := make([]Case, 6)
			wrong := make([][2]float64, 6)
			for i := range members {
				coin := familyCoin
				if !together {
					coin = rng.Float64() < share
				}
				base := 0.0
				switch {
				case everywhere:
					base = share
				case coin:
					base = 0.5
				}
				wrong[i] = [2]float64{base, min(1, base+drop/100)}
				members[i] = Case{ID: fmt.Sprint(i), Family: fmt.Sprint(f), Bad: i >= 2}
			}
			for range trials {
				for side := range 2 {
					u := rng.Float64()
					for i := range members {
						if !together {
							u = rng.Float64()
						}
						v := 1.0
						if u < wrong[i][side] {
							v = 0
						}
						if side == 0 {
							members[i].Baseline = append(members[i].Baseline, v)
						} else {
							members[i].Now = append(members[i].Now, v)
						}
					}
				}
			}
			out = append(out, members...)
		}
		return out
	}
}

// An answer is where one simulated comparison ended.
type answer struct {
	decision Decision
	trials   float64 // of the new side, mean over entries or cases
	first    bool    // settled at the first look
}

// followRecall does what the gate asks for until it asks no more. full says that the
// baseline holds all its trials from the start; else it grows with the new side.
func followRecall(all []Entry, plan Plan, full bool) (answer, error) {
	give, sizes := map[string]int{}, map[string]int{}
	for _, p := range sevenProjects {
		sizes[p.name] = p.entries
		give[p.name] = plan.Looks[0].Trials
	}
	cut := make([]Entry, len(all))
	for round := 0; ; round++ {
		total := 0
		for i, e := range all {
			n := give[e.Project]
			total += n
			cut[i] = Entry{Project: e.Project, ID: e.ID, Baseline: e.Baseline[:n], Now: e.Now[:n]}
			if full {
				cut[i].Baseline = e.Baseline
			}
		}
		g, err := GateRecall(cut, plan)
		if err != nil {
			return answer{}, err
		}
		if g.Decision != NotSettled || g.More == (Trials{}) {
			return answer{g.Decision, float64(total) / float64(len(all)), round == 0}, nil
		}
		for _, part := range g.Parts {
			for name := range give {
				if part.Gates && (part.Name == name || part.Name == Pool || part.Name == SmallKeys && sizes[name] < plan.MinItems) {
					give[name] = max(give[name], min(plan.last(), part.Trials.Now+part.More.Now))
				}
			}
		}
	}
}

// followBench is followRecall for cases.
func followBench(all []Case, plan Plan, full bool) (answer, error) {
	n := plan.Looks[0].Trials
	cut := make([]Case, len(all))
	for round := 0; ; round++ {
		for i, c := range all {
			cut[i] = c
			cut[i].Now = c.Now[:n]
			if !full {
				cut[i].Baseline = c.Baseline[:n]
			}
		}
		g, err := GateBench(cut, plan)
		if err != nil {
			return answer{}, err
		}
		if g.Decision != NotSettled || g.More == (Trials{}) {
			return answer{g.Decision, float64(n), round == 0}, nil
		}
		n += g.More.Now
	}
}

// A tally sums up simulated comparisons.
type tally struct {
	runs, drop, none, open, first int
	trials                        float64
}

func (c tally) share(n int) float64 { return float64(n) / float64(c.runs) }

func (c tally) String() string {
	return fmt.Sprintf("drop %6.2f %%  no drop %6.2f %%  not settled %5.2f %%  settled at first look %5.1f %%  mean trials %.1f",
		100*c.share(c.drop), 100*c.share(c.none), 100*c.share(c.open), 100*c.share(c.first), c.trials/float64(c.runs))
}

// simulate follows n comparisons. Each has a stream of its own, so the numbers do
// not depend on the number of workers.
func simulate(n int, seed uint64, one func(*rand.Rand) (answer, error)) (tally, error) {
	answers := make([]answer, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	workers := min(2, runtime.GOMAXPROCS(0))
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				answers[i], errs[i] = one(rand.New(rand.NewPCG(seed, uint64(i))))
			}
		})
	}
	wg.Wait()
	var t tally
	for i, a := range answers {
		if errs[i] != nil {
			return t, errs[i]
		}
		t.runs++
		t.trials += a.trials
		if a.first {
			t.first++
		}
		switch a.decision {
		case Drop:
			t.drop++
		case NoDrop:
			t.none++
		case NotSettled:
			t.open++
		}
	}
	return t, nil
}
