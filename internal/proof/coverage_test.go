package proof_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/internal/proof"
)

func TestRequirementsAreBroken(t *testing.T) {
	for _, app := range corpora(t) {
		for _, p := range proof.Thin(app) {
			t.Errorf("%s: %s", p.Pos, p.What)
		}
	}
}

// Every pattern is covered widely enough that a reviewer's figures say something
// of it.
func TestPatternsAreCovered(t *testing.T) {
	if os.Getenv("ASSAY_APP") != "" {
		t.Skip("ASSAY_APP: one application alone")
	}
	covered := proof.Coverage(corpora(t))
	applications, code := audit.Patterns()
	for _, p := range applications {
		t.Logf("%-28s %d families", p, covered[p])
		require.GreaterOrEqual(t, covered[p], 8, "%s", p)
	}
	for _, p := range code {
		t.Logf("%-28s %d families", p, covered[p])
		require.GreaterOrEqual(t, covered[p], 2, "%s", p)
	}
}

func TestCoverageCountsFamilies(t *testing.T) {
	spec := &audit.Spec{Patterns: []audit.PatternRow{{Requirement: 1, Pattern: "SSRF"},
		{Requirement: 2, Pattern: "XSS", CWEs: []audit.CWE{79}}}}
	bad := func(n int, cwe audit.CWE) *audit.Case {
		return &audit.Case{Label: audit.Bad, Violates: []int{n}, CWEs: []audit.CWE{cwe}}
	}
	apps := []*audit.App{{Spec: spec, Families: []audit.Family{
		{Cases: []*audit.Case{bad(1, 918), bad(1, 918), {Label: audit.Good}}},
		{Cases: []*audit.Case{bad(1, 918), bad(2, 89)}},
		{Cases: []*audit.Case{bad(2, 79)}}}}}
	require.Equal(t, map[audit.Pattern]int{"SSRF": 2, "XSS": 1}, proof.Coverage(apps))
}
