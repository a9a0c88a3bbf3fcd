package suite

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhoIsNamedTwiceIsAMistake: an auditor that is asked twice as one would be judged
// over twice the projects, and a reviewer's trials would be planned twice.
func TestWhoIsNamedTwiceIsAMistake(t *testing.T) {
	for _, name := range []string{"model", "auditor", "prompt"} {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		define(flags)
		require.NoError(t, flags.Parse([]string{"-" + name, "a, b,a,"}))
		_, err := configure(flags, func(string) string { return "" })
		require.EqualError(t, err, "-"+name+` names "a" twice: expected each once; -trials says how often`)
	}
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	define(flags)
	c, err := configure(flags, func(name string) string { return map[string]string{"ASSAY_MODEL": "a,,b "}[name] })
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, c.Models)
}
