package assay

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/internal/suite"
)

const foreign = "\n::error::x\n\t::add-mask::y\r::z:: and ##[error]w Foo::bar"

// TestForeignText logs, as a process of its own, what a model could have written.
func TestForeignText(t *testing.T) {
	if os.Getenv("FOREIGN_TEXT") == "" {
		t.Skip("TestNoWorkflowCommands runs it")
	}
	var a suite.T = adapter{t}
	for name, f := range map[string]func(suite.T){
		"logf": func(t suite.T) {
			t.Logf("%s", foreign)
			t.Attr(
				"a", "##[error]v")
		},
		"skip":                 func(t suite.T) { t.Skip(foreign) },
		"skipf":                func(t suite.T) { t.Skipf("%s", foreign) },
		"error":                func(t suite.T) { t.Error(foreign) },
		"errorf":               func(t suite.T) { t.Errorf("%s", foreign) },
		"fatal":                func(t suite.T) { t.Fatal(foreign) },
		"fatalf ##[error]name": func(t suite.T) { t.Fatalf("%s", foreign) },
	} {
		a.Run(name, f)
	}
}

// TestNoWorkflowCommands: whatever is logged, no line of go test's output is a command of a
// CI runner, and each still names the line of the suite that logged it.
func TestNoWorkflowCommands(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestForeignText$", "-test.v")
	cmd.Env = append(os.Environ(), "FOREIGN_TEXT=1", "ASSAY_PROGRESS=0")
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "tests of it fail")
	require.NotContains(t, string(out), "##[")
	for _, line := range strings.FieldsFunc(string(out),
		func(r rune) bool { return r == '\n' || r == '\r' }) {
		require.False(t, strings.HasPrefix(strings.TrimSpace(line), "::"), line)
	}
	require.Equal(t, 7, strings.Count(string(out), "    : :error::x"))
	require.Equal(t, 7, strings.Count(string(out), "w Foo::bar"))
	require.Equal(t, 7, strings.Count(string(out), "adapter_test.go:"))
}
