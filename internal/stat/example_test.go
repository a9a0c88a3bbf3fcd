package stat_test

import (
	"fmt"

	"assay/internal/stat"
)

// An auditor used to find all 40 vulnerabilities of a key, a file each; now it
// finds two. One run a side settles it.
func ExampleGateRecall() {
	var entries []stat.Item
	for i := range 40 {
		now := 0.0
		if i < 2 {
			now = 1
		}
		entries = append(entries, stat.Item{Group: "dvja", ID: fmt.Sprint(i), Family: fmt.Sprint(i), Baseline: []float64{1}, Now: []float64{now}})
	}
	parts, err := stat.GateRecall(entries, stat.DefaultPlan())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %.0f points\n", parts[0].Decision, parts[0].Drop)

	// Of a fall to 33 one run says little.
	for i := range entries {
		entries[i].Now[0] = 1
		if i < 7 {
			entries[i].Now[0] = 0
		}
	}
	parts, err = stat.GateRecall(entries, stat.DefaultPlan())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %.1f points; %d more trials, %d of the baseline\n", parts[0].Decision, parts[0].Drop, parts[0].More.Now, parts[0].More.Baseline)
	// Output:
	// drop: 95 points
	// not settled: 17.5 points; 5 more trials, 5 of the baseline
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
	fmt.Printf("with families %.2f to %.2f, as if alone %.2f to %.2f\n", families.Lo, families.Hi, alone.Lo, alone.Hi)
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
			pairs = append(pairs, stat.Item{ID: fmt.Sprint(i), Family: fmt.Sprint(f), Bad: i >= 2, Now: []float64{1}, Baseline: []float64{b}})
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
