package stat

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

const simulationSeed = 20261121

// A world is one way in which results come about, with the gate followed to the
// end of what it asks for.
type world struct {
	name string
	run  func(rng *rand.Rand, drop float64) (answer, error)
}

// worlds gives those that the gate must hold in: (a) the seven projects, (b) 240
// and 504 cases; each with a baseline that grows with the new side, and with one
// that holds all trials from the start.
func worlds(plan Plan) []world {
	var out []world
	for _, full := range []bool{false, true} {
		kind := "baseline grows"
		if full {
			kind = fmt.Sprintf("baseline of %d", plan.last())
		}
		for _, concentration := range []float64{2, 8} {
			for e, effects := range []string{"no run effect", "0.3 logit a run", "0.3 logit a trial"} {
				out = append(out, world{fmt.Sprintf("seven projects, Beta mean 0.70 (%g), %s, %s", concentration, effects, kind),
					func(rng *rand.Rand, drop float64) (answer, error) {
						return followRecall(projects(effect(e), concentration, "", drop)(rng, plan.last()), plan, full)
					}})
			}
		}
		for _, n := range []int{240, 504} {
			for _, everywhere := range []bool{false, true} {
				for _, together := range []bool{false, true} {
					name := fmt.Sprintf("%d cases, ", n)
					name += map[bool]string{false: "12 % are coins, ", true: "12 % of answers flip, "}[everywhere]
					name += map[bool]string{false: "each alone, ", true: "families together, "}[together] + kind
					out = append(out, world{name, func(rng *rand.Rand, drop float64) (answer, error) {
						return followBench(cases(n, 0.12, everywhere, together, drop)(rng, plan.last()), plan, full)
					}})
				}
			}
		}
	}
	return out
}

// raced is set when the tests run under the race detector.
var raced bool

// brief reports whether simulations are to be cut to a glance.
func brief() bool { return testing.Short() || raced }

// full reports whether the full form of the simulations was asked for.
func full() bool { return os.Getenv("ASSAY_SIM") == "full" }

// TestGateHolds is what the gate promises: at most 1 % of unchanged comparisons
// fail, and at least 95 % of true drops of 10 points do, at the number of trials
// that the gate itself asks for. The short form follows 30 comparisons a world
// and sees a gate that is off in all of them, or far off in one; the full form,
// 2,000, is
//
//	ASSAY_SIM=full go test -run 'TestGate(Holds|Reach)' -v -timeout 60m ./internal/stat
//
// and its numbers stand in docs/gate.md.
func TestGateHolds(t *testing.T) {
	n := 30
	if brief() {
		n = 5
	}
	if full() {
		n = 2000
	}
	plan := DefaultPlan()
	plan.lazy = true
	// In the short form a world is wrong when chance alone would show as much in
	// fewer than one of a thousand worlds that just keep the promise.
	mostFails, leastFound := 0.01*float64(n), 0.95*float64(n)
	if !full() {
		mostFails = distuv.Binomial{N: float64(n), P: 0.01}.Mean() + 0.5
		for (distuv.Binomial{N: float64(n), P: 0.01}).Survival(mostFails) > 0.001 {
			mostFails++
		}
		for (distuv.Binomial{N: float64(n), P: 0.95}).CDF(leastFound) > 0.001 {
			leastFound--
		}
	}
	var unchanged, dropped tally
	for _, w := range worlds(plan) {
		t.Run(w.name, func(t *testing.T) {
			same, err := simulate(n, simulationSeed, func(rng *rand.Rand) (answer, error) { return w.run(rng, 0) })
			require.NoError(t, err)
			worse, err := simulate(n, simulationSeed+1, func(rng *rand.Rand) (answer, error) { return w.run(rng, 10) })
			require.NoError(t, err)
			t.Logf("%d unchanged: %v", n, same)
			t.Logf("%d dropped 10: %v", n, worse)
			require.LessOrEqual(t, float64(same.drop), mostFails, "false FAILs: %v", same)
			require.GreaterOrEqual(t, float64(worse.drop), leastFound, "drops of 10 points found: %v", worse)
			unchanged.runs += same.runs
			unchanged.drop += same.drop
			dropped.runs += worse.runs
			dropped.drop += worse.drop
		})
	}
	if unchanged.runs > 0 { // -run may have chosen none
		t.Logf("all worlds: %d of %d unchanged failed, %d of %d drops of 10 points were found", unchanged.drop, unchanged.runs, dropped.drop, dropped.runs)
		require.LessOrEqual(t, unchanged.share(unchanged.drop), 0.01)
		require.GreaterOrEqual(t, dropped.share(dropped.drop), 0.95)
	}
}

// TestGateIsNotVacuous breaks the plan and expects to see it: a gate that asks
// for no proof fails unchanged suites, one that asks for too much finds nothing.
func TestGateIsNotVacuous(t *testing.T) {
	loose := DefaultPlan()
	loose.lazy = true
	for i := range loose.Looks {
		loose.Looks[i].Alpha = 0.3
	}
	strict := DefaultPlan()
	strict.lazy = true
	strict.Looks = strict.Looks[:1]
	w := projects(perRun, 8, "", 0)
	c, err := simulate(40, simulationSeed, func(rng *rand.Rand) (answer, error) { return followRecall(w(rng, 24), loose, false) })
	require.NoError(t, err)
	require.Greater(t, c.share(c.drop), 0.05, "%v", c)
	w = projects(perRun, 8, "", 10)
	c, err = simulate(40, simulationSeed, func(rng *rand.Rand) (answer, error) { return followRecall(w(rng, 24), strict, false) })
	require.NoError(t, err)
	require.Less(t, c.share(c.drop), 0.5, "%v", c)
}

// TestGateReach measures, in the full form, what the gate does not promise: drops
// of other sizes, drops in one project alone, and the literal rule (one trial a
// side, more than 5 points in any project fails) for comparison.
func TestGateReach(t *testing.T) {
	if !full() {
		t.Skip("measured in the full form: ASSAY_SIM=full")
	}
	const n = 1000
	plan := DefaultPlan()
	plan.lazy = true
	for _, drop := range []float64{2.5, 5, 7.5, 10, 15} {
		for _, e := range []effect{noEffect, perRun} {
			w := projects(e, 2, "", drop)
			c, err := simulate(n, simulationSeed, func(rng *rand.Rand) (answer, error) { return followRecall(w(rng, plan.last()), plan, false) })
			require.NoError(t, err)
			t.Logf("seven projects, effect %d, everywhere -%g: %v", e, drop, c)
		}
		w := cases(240, 0.12, true, false, drop)
		c, err := simulate(n, simulationSeed, func(rng *rand.Rand) (answer, error) { return followBench(w(rng, plan.last()), plan, false) })
		require.NoError(t, err)
		t.Logf("240 cases, 12 %% of answers flip alone, -%g: %v", drop, c)
	}
	for _, p := range sevenProjects {
		for _, drop := range []float64{10, 20, 40} {
			w := projects(noEffect, 2, p.name, drop)
			c, err := simulate(n, simulationSeed, func(rng *rand.Rand) (answer, error) { return followRecall(w(rng, plan.last()), plan, false) })
			require.NoError(t, err)
			t.Logf("only %s (%d entries) -%g: %v", p.name, p.entries, drop, c)
		}
	}
	watchful := plan
	watchful.Doubt = 2.5
	for _, only := range []string{"", "p1", "p7"} {
		drop := 10.0
		if only == "" {
			drop = 0
		}
		w := projects(noEffect, 2, only, drop)
		c, err := simulate(n, simulationSeed, func(rng *rand.Rand) (answer, error) { return followRecall(w(rng, plan.last()), watchful, false) })
		require.NoError(t, err)
		t.Logf("doubt above 2.5 points, only %q -%g: %v", only, drop, c)
	}
	for _, only := range []string{"", "p1"} {
		w := projects(noEffect, 2, "", 0)
		c, err := simulate(n, simulationSeed, func(rng *rand.Rand) (answer, error) { return literal(w(rng, 1), only), nil })
		require.NoError(t, err)
		t.Logf("literal rule, one trial, unchanged, projects %q: %v", only, c)
	}
}

// literal is the rule that the gate replaces.
func literal(entries []Entry, only string) answer {
	lost, n := map[string]float64{}, map[string]float64{}
	for _, e := range entries {
		lost[e.Project] += e.Baseline[0] - e.Now[0]
		n[e.Project]++
	}
	for name := range n {
		if (only == "" || only == name) && 100*lost[name]/n[name] > 5 {
			return answer{decision: Drop, trials: 1}
		}
	}
	return answer{decision: NoDrop, trials: 1}
}
