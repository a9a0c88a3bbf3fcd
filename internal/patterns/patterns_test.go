package patterns

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
)

func audited(t *testing.T, dir string) string {
	t.Helper()
	run, err := Auditor{}.Audit(context.Background(), audit.AuditTask{Dir: dir})
	require.NoError(t, err)
	require.Empty(t, run.Stderr)
	var found []string
	for _, f := range run.Report.Findings {
		found = append(found, fmt.Sprintf("%s %s %s", f.RuleID, f.Function, f.Lines))
	}
	return strings.Join(found, "\n")
}

// The same five flaws as those of the smoke class, under other names and calls.
func TestFlawsOfAnotherClass(t *testing.T) {
	require.Equal(t, strings.Join([]string{
		"sql-concatenation parcels 38",
		"hardcoded-credential archive 43",
		"path-traversal label 51",
		"admin-without-login dismiss 56",
		"deserialization manifest 66"}, "\n"), audited(t, "testdata/flawed"))
	require.Empty(t, audited(t, "testdata/repaired"))
}

// A sample is code that a rule finds, and the same repaired.
func TestSamples(t *testing.T) {
	samples, err := os.ReadFile("testdata/samples.txt")
	require.NoError(t, err)
	for sample := range strings.SplitSeq(string(samples)[4:], "\n=== ") {
		head, code, _ := strings.Cut(sample, "\n")
		language, rule, _ := strings.Cut(head, " ")
		bad, good, _ := strings.Cut(code, "---\n")
		require.Equal(t, audit.Bad, review(t, audit.ReviewTask{Language: language, Code: bad}).Verdict, sample)
		require.Equal(t, rule, fire(newSource("", language, bad))[0].RuleID, sample)
		require.Equal(t, audit.Good, review(t, audit.ReviewTask{Language: language, Code: good}).Verdict, sample)
	}
}

// Another module path, comments and line breaks are the same version; other code is not.
func TestCodeOf(t *testing.T) {
	code := codeOf([]byte("package p\n\nimport \"assay/audit\"\n\n// F is.\nfunc F() { g(1, 2) }\n"))
	require.Equal(t, code, codeOf([]byte("package p\n\nimport (\n\"example.com/assay/audit\"\n)\n\n"+
		"func F() {\n\tg(1,\n\t\t2,\n\t)\n}\n")))
	require.NotEqual(t, code, codeOf([]byte("package p\n\nfunc F() { g(1, 3) }\n")))
}

func review(t *testing.T, task audit.ReviewTask) audit.Review {
	t.Helper()
	r, err := Reviewer{}.Review(context.Background(), task)
	require.NoError(t, err)
	require.Equal(t, audit.Answered, r.Status)
	return r
}

func TestRulesSayWhereTheyAreWrong(t *testing.T) {
	for text, want := range map[string]string{
		"rule a java\nmatch (": "missing closing )", "rule a java\nabout HIGH Injection": "rules.txt:2:",
		"nonsense": "rules.txt:1: \"nonsense\" is no key"} {
		_, err := parseRules(text)
		require.ErrorContains(t, err, want)
	}
}
