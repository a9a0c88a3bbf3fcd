package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/findings"
)

// TestImportOfSARIF: results of every kind are read, of which those that are no
// problem become decoys, and reading ends at the limit.
func TestImportOfSARIF(t *testing.T) {
	log := func(results string) *strings.Reader {
		return strings.NewReader("\ufeff" + `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[` + strings.TrimSuffix(results, ",") + `]}]}`)
	}
	at := `"message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"a.py"},"region":{"startLine":14}}}]},`
	rows, err := sarifRows("log.sarif", log(`{"ruleId":"CWE-89",`+at+`{"ruleId":"CWE-89","kind":"fail",`+at+`{"ruleId":"CWE-89","kind":"pass",`+at+
		`{"ruleId":"CWE-89","kind":"review",`+at+`{"ruleId":"CWE-89","kind":"open",`+at+`{"ruleId":"CWE-89","suppressions":[{"kind":"external","justification":"constant"}],`+at))
	require.NoError(t, err)
	var vulnerable []bool
	var why []string
	for _, r := range rows {
		require.Equal(t, "a.py 14 CWE-89", r.path+" "+r.lines+" "+r.cwes[0].String())
		vulnerable, why = append(vulnerable, r.vulnerable), append(why, r.why)
	}
	require.Equal(t, []bool{true, true, false, false, false, false}, vulnerable)
	require.Equal(t, []string{"of kind pass", "of kind review", "of kind open", "constant"}, why[2:])

	_, err = sarifRows("log.sarif", log(strings.Repeat(`{"ruleId":"r"},`, findings.DefaultMaxFindings+1)))
	require.ErrorContains(t, err, "more than 100000 findings")
	_, err = sarifRows("log.sarif", strings.NewReader(`{"version":"2.1.0","runs":[{"results":[{]`))
	require.ErrorContains(t, err, "log.sarif:1")
}

func TestAProblemIsToldOnce(t *testing.T) {
	at := func(line int, what string) audit.Problem {
		return audit.Problem{Pos: audit.Pos{File: "log.sarif", Line: line}, What: what}
	}
	var out strings.Builder
	tellProblems(&out, []audit.Problem{at(3, "no file"), at(4, "the ID \x1b[2J counts"), at(9, "no file"), at(12, "no file")})
	require.Equal(t, `noted: log.sarif:3: no file (and 2 more like it)
noted: log.sarif:4: the ID \u001b[2J counts
`, out.String())
}
