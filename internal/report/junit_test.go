package report_test

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// JUnit comes from gotestsum: a suite's run, converted, has each case by its name
// with its outcome, and the place and reason of each miss. docs/ci.md names the
// command. Without gotestsum it is skipped, and fails where ./check ran.
func TestJUnitThroughGotestsum(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: no suite is run")
	}
	tool, err := exec.LookPath("gotestsum")
	if err != nil {
		if home, herr := os.UserHomeDir(); herr == nil {
			tool, err = exec.LookPath(filepath.Join(home, "go", "bin", "gotestsum"))
		}
	}
	if err != nil {
		const missing = "gotestsum is not installed: go install gotest.tools/gotestsum@v1.13.0"
		if os.Getenv("ASSAY_CHECK") == "1" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "junit.xml")
	cmd := exec.Command(tool, "--junitfile", file, "--format", "dots", "--", "-run", "Bench",
		"-filter", "procurement/approve-po", "-count=1")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "ASSAY_DB="+filepath.Join(dir, "results.db"),
		"ASSAY_MODEL=patterns", "ASSAY_STRICT=", "ASSAY_PROMPT=", "GITHUB_STEP_SUMMARY=")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	var doc struct {
		Cases []struct {
			Name       string `xml:"name,attr"`
			Properties []struct {
				Name  string `xml:"name,attr"`
				Value string `xml:"value,attr"`
			} `xml:"properties>property"`
			Skipped *struct {
				Message string `xml:"message,attr"`
			} `xml:"skipped"`
		} `xml:"testsuite>testcase"`
	}
	require.NoError(t, xml.Unmarshal(b, &doc))
	cases := 0
	for _, c := range doc.Cases {
		const prefix = "TestBench/patterns/evaluation-prompt/procurement/approve-po-"
		if !strings.HasPrefix(c.Name, prefix) {
			continue
		}
		cases++
		require.Len(t, c.Properties, 1, c.Name)
		require.Equal(t, "outcome", c.Properties[0].Name)
		switch c.Properties[0].Value {
		case "correct":
			require.Nil(t, c.Skipped, c.Name)
		case "wrong":
			require.NotNil(t, c.Skipped, c.Name)
			require.Regexp(t,
				`MISS tests/procurement/approve-po-0\d-(good|bad)\.md:\d+: answered (good|bad), expected (good|bad)`, c.Skipped.Message)
		default:
			t.Fatalf("%s: outcome %q", c.Name, c.Properties[0].Value)
		}
	}
	require.Equal(t, 6, cases, "%s", b)
}
