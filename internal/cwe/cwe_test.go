package cwe_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/internal/cwe"
)

// catalogue gives every entry, by number.
func catalogue() (all []cwe.Entry) {
	for n := range 10_000 {
		if e, ok := cwe.Lookup(n); ok {
			all = append(all, e)
		}
	}
	return all
}

func TestTableHoldsTheWholeCatalogue(t *testing.T) {
	count := map[cwe.Kind]int{}
	edges := 0
	last := 0
	for _, e := range catalogue() {
		require.Greater(t, e.Number, last, "the table ascends")
		last = e.Number
		require.NotEmpty(t, e.Name, "CWE-%d", e.Number)
		count[e.Kind]++
		edges += len(e.Parents)
		for _, p := range e.Parents {
			parent, ok := cwe.Lookup(p)
			require.True(t, ok, "CWE-%d names the parent CWE-%d, which is not in the table",
				e.Number, p)
			require.Equal(t, cwe.Weakness, parent.Kind)
			require.Contains(t, cwe.Neighbours(p), e.Number)
		}
	}
	// Counted in the XML by other means (grep for the elements).
	require.Equal(t, map[cwe.Kind]int{cwe.Weakness: 964, cwe.Category: 409, cwe.View: 54}, count)
	require.Equal(t, 1077, edges, "ChildOf relations of view 1000")
	require.Contains(t, cwe.Source(), "CWE 4.15 of 2024-07-16")
	require.Equal(t, "4.15 (2024-07-16)", cwe.Version())
}

// inForce reports whether n is a weakness that is not deprecated.
func inForce(n int) bool {
	e, ok := cwe.Lookup(n)
	return ok && e.Kind == cwe.Weakness && !e.Deprecated
}

func TestLookup(t *testing.T) {
	sqli, ok := cwe.Lookup(89)
	require.True(t, ok)
	require.Equal(t, []int{943}, sqli.Parents)
	require.False(t, sqli.Deprecated)
	require.Contains(t, cwe.Name(89), "SQL Injection")
	require.True(t, inForce(89))

	require.True(t, cwe.Known(310))
	require.False(t, inForce(310), "CWE-310 is a category")
	require.True(t, cwe.Known(1000))
	require.False(t, inForce(1000), "CWE-1000 is a view")
	require.True(t, cwe.Known(132))
	require.False(t, inForce(132), "CWE-132 is deprecated")

	for _, n := range []int{-1, 0, 99998, 99999} {
		require.False(t, cwe.Known(n))
		require.Empty(t, cwe.Name(n))
		require.Equal(t, []int{n}, cwe.Neighbours(n))
	}
}

func TestRelate(t *testing.T) {
	for _, c := range []struct {
		a, b int
		want cwe.Relation
	}{
		{89, 89, cwe.Same},
		{564, 89, cwe.ChildOf}, // Hibernate injection is a SQL injection
		{89, 564, cwe.ParentOf},
		{564, 943, cwe.Unrelated}, // two steps up
		{22, 23, cwe.ParentOf},
		{23, 36, cwe.Unrelated}, // siblings
		{99998, 99998, cwe.Same},
		{89, 99998, cwe.Unrelated},
	} {
		require.Equal(t, c.want, cwe.Relate(c.a, c.b), "CWE-%d to CWE-%d", c.a, c.b)
		require.Equal(t, c.want != cwe.Unrelated, cwe.Related(c.b, c.a), "related runs both ways")
		require.Equal(t, c.want != cwe.Unrelated, slices.Contains(cwe.Neighbours(c.a), c.b))
	}
}

func TestSuccessors(t *testing.T) {
	for n, want := range map[int][]int{
		132:  {170},      // "a duplicate of CWE-170"
		217:  {766, 767}, // "can be found at CWE-766 and CWE-767"
		534:  {532},      // "See CWE-532"
		365:  nil,        // deprecated, and its text names none
		310:  {261, 324, 325, 328, 331, 334, 335, 338, 347, 916, 1204, 1240},
		1035: {1104}, // of 2017 and empty; the category of 2021 lists it beside CWE-1104
		937:  {1104},
		89:   nil, // in force
		1000: nil, // a view
	} {
		e, _ := cwe.Lookup(n)
		require.Equal(t, want, e.Successors, "CWE-%d", n)
	}
	for _, e := range catalogue() {
		if e.Kind == cwe.Weakness && !e.Deprecated || e.Kind == cwe.View {
			require.Empty(t, e.Successors, "CWE-%d", e.Number)
		}
		require.True(t, slices.IsSorted(e.Successors))
		for _, s := range e.Successors {
			require.True(t, inForce(s), "CWE-%d names CWE-%d, which is no weakness in force",
				e.Number, s)
		}
	}
}

func TestWhatIsGivenOutIsACopy(t *testing.T) {
	cwe.Neighbours(89)[0] = 1
	require.Equal(t, []int{89, 564, 943}, cwe.Neighbours(89))
}
