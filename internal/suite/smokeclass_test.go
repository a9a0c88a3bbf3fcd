package suite

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const smokeClass = "../../smoke-test-fixture/SmokeTestVulnApp.java"

// TestPlantedClassCompiles: the class with the planted flaws is Java that the JDK
// alone compiles.
func TestPlantedClassCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: Smoke has the embedded analyser parse it")
	}
	javac, err := exec.LookPath("javac")
	if err != nil {
		if os.Getenv("ASSAY_CHECK") != "" {
			t.Fatal("javac is missing, and ./check installs it")
		}
		t.Skip("javac is missing: ./check installs it")
	}
	out, err := exec.Command(javac, "-d", t.TempDir(), smokeClass).CombinedOutput()
	require.NoError(t, err, string(out))
}

// TestPlantedClassGivesNothingAway: no word of it names a flaw or a cure, and the
// folder holds nothing else.
func TestPlantedClassGivesNothingAway(t *testing.T) {
	files, err := os.ReadDir("../../smoke-test-fixture")
	require.NoError(t, err)
	require.Len(t, files, 1)
	b, err := os.ReadFile(smokeClass)
	require.NoError(t, err)
	text := strings.ReplaceAll(string(b), "SmokeTestVulnApp", "App")
	lines := strings.Count(text, "\n")
	require.GreaterOrEqual(t, lines, 80)
	require.LessOrEqual(t, lines, 150)
	hint := regexp.MustCompile(
		`(?i)vuln|unsafe|insecure|\bsafe|secure|flaw|inject|travers|hardcod|todo|fixme|danger|attack|exploit|CWE|sanit|smoke`)
	require.Empty(t, hint.FindAllString(text, -1))
}
