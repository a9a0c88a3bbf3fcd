package suite

import (
	"flag"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is gone says what replaces it, as a flag, a variable, a command or a name.
func TestRemovedSaysWhatReplacesIt(t *testing.T) {
	require.NoError(t, Removed("assay report"))
	require.EqualError(t, Removed("static"),
		"static was removed: patterns is the embedded auditor and reviewer")
	flags := flag.NewFlagSet("t", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	define(flags)
	_, err := configure(flags,
		func(name string) string { return map[string]string{"TEST_TOTAL_SHARDS": "4"}[name] })
	require.ErrorContains(t, err, "TEST_TOTAL_SHARDS was removed: workers do it")
}
