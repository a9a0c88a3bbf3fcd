package stat_test

import (
	"fmt"

	"assay/internal/stat"
)

// Seven projects of 20 vulnerabilities: three trials of the baseline found about 15, the
// new trial about 11.
func ExampleGateRecall() {
	var projects []stat.ProjectTrials
	for i := range 7 {
		v := float64(i % 3)
		projects = append(projects, stat.ProjectTrials{Name: fmt.Sprint("p", i), Entries: 20,
			Baseline: []float64{15, 14 + v, 16 - v}, Now: []float64{10 + v}})
	}
	g, err := stat.GateRecall(projects)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s of %.0f points, p %.3f %%\n", g.Decision, 100*g.Drop, 100*g.P)
	// Output:
	// drop of 21 points, p 0.006 %
}

// Ten families of six cases, all right: the families, not the sixty answers, say
// how sure that is.
func ExampleProportion() {
	var obs []stat.Observation
	for f := range 10 {
		for range 6 {
			obs = append(obs, stat.Observation{Cluster: fmt.Sprint(f), Value: 1})
		}
	}
	families, err := stat.Proportion(obs, 0.95)
	if err != nil {
		fmt.Println(err)
		return
	}
	alone, err := stat.Wilson(60, 60, 0.95)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("with families %.2f to %.2f, as if alone %.2f to %.2f\n", families.Lo, families.Hi,
		alone.Lo, alone.Hi)
	// Output:
	// with families 0.66 to 1.00, as if alone 0.94 to 1.00
}

// Reviewer A judges everything rightly; B calls one bad case of each of twelve
// families good.
func ExampleCompare() {
	var pairs []stat.Item
	for f := range 12 {
		for i := range 6 {
			b := 1.0
			if i == 5 {
				b = 0
			}
			pairs = append(pairs, stat.Item{ID: fmt.Sprint(i), Family: fmt.Sprint(f), Bad: i >= 2,
				Now: []float64{1}, Baseline: []float64{b}})
		}
	}
	c, err := stat.Compare(pairs, 0.95)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("A is %s by %.1f points, p = %.2g\n", c.Standing, c.Diff.Center, c.P)
	// Output:
	// A is better by 12.5 points, p = 0.00049
}
