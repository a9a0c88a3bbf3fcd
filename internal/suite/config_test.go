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

// TestEverySeedOfANameIsOneOfAFlag: "NAME@SEED" names the draw that -seed makes.
func TestEverySeedOfANameIsOneOfAFlag(t *testing.T) {
	for text, want := range map[string]uint64{"": 0, "7": 7, "18446744073709551615": 1<<64 - 1} {
		c, err := configure(flag.NewFlagSet("", flag.ContinueOnError), func(name string) string { return map[string]string{"ASSAY_SEED": text}[name] })
		require.NoError(t, err)
		require.Equal(t, want, c.Seed)
	}
	for _, text := range []string{"0", "-1", "x", "18446744073709551616"} {
		_, err := configure(flag.NewFlagSet("", flag.ContinueOnError), func(name string) string { return map[string]string{"ASSAY_SEED": text}[name] })
		require.EqualError(t, err, `-seed is "`+text+`": expected a whole number above 0`)
	}
}
