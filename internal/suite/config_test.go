package suite

import (
	"flag"
	"os"
	"path/filepath"
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
		require.EqualError(t, err,
			"-"+name+` names "a" twice: expected each once; -trials says how often`)
	}
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	define(flags)
	c, err := configure(flags,
		func(name string) string { return map[string]string{"ASSAY_MODEL": "a,,b "}[name] })
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, c.Models)
}

// TestMistakesInFlags: a plan without an end and a pattern that can match nothing are
// told before anything is read.
func TestMistakesInFlags(t *testing.T) {
	for arg, want := range map[string]string{
		"-trials=10001":                `-trials is "10001": expected a whole number from 1 to 10000`,
		"-model=,":                     `-model is ",": expected names, separated by commas`,
		"-trials=0":                    `-trials is "0": expected a whole number from 1 to 10000`,
		"-seeds=1000000000":            `-seeds is "1000000000": expected a whole number from 1 to 10000`,
		"-seed=-1":                     `-seed is "-1": expected a whole number from 1 to 18446744073709551615`,
		"-concurrency=x":               `-concurrency is "x": expected a whole number from 1 to 2147483647`,
		"-filter=list-[01":             `-filter is "list-[01", a glob that does not close its brackets or braces: expected a part of a name, or a whole glob`,
		"-filter={list,show":           `-filter is "{list,show", a glob that does not close its brackets or braces: expected a part of a name, or a whole glob`,
		"-seed=18446744073709551615":   "",
		"-filter={list,show}-0[1-3]-*": "",
		"-trials=10000":                "",
	} {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		define(flags)
		require.NoError(t, flags.Parse([]string{arg}))
		if _, err := configure(flags, func(string) string { return "" }); want != "" {
			require.EqualError(t, err, want)
		} else {
			require.NoError(t, err, arg)
		}
	}
}

// TestARootThatIsNoFolder is told as one, and not as a bad .env in it.
func TestARootThatIsNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "goals.md")
	require.NoError(t, os.WriteFile(file, []byte("# Goals\n"), 0o644))
	for name, want := range map[string]string{file: "not a directory",
		file + "s": "no such file or directory"} {
		t.Setenv("ASSAY_ROOT", name)
		_, err := New(Options{Flags: flag.NewFlagSet("", flag.ContinueOnError),
			Shipped: os.DirFS("../.."), Out: t.TempDir()}).environment()
		require.EqualError(t, err, "open "+name+": "+want+
			": expected a folder with fixtures/ or tests/")
	}
}

// TestMisspeltVariables are mistakes, and not settings that have no effect.
func TestMisspeltVariables(t *testing.T) {
	for v, want := range map[string]string{
		"ASSAY_TRIAL=5": "ASSAY_TRIAL is no setting: expected ASSAY_TRIALS?",
		"ASSAY_MODLE=x": "ASSAY_MODLE is no setting: expected ASSAY_MODEL?",
		"ASSAYROOT=/x":  "ASSAYROOT is no setting: expected ASSAY_ROOT?",
		"assay_db=x":    "assay_db is no setting: expected ASSAY_DB?", "ASSAY_BUDGET=1": "",
		"ASSAY_OF_MY_OWN=1": "", "TRIALS=1": "",
		"ASSAY_SANDBOX=of":      `ASSAY_SANDBOX is "of": expected off, require or nothing`,
		"ASSAY_SANDBOX=require": "", "ASSAY_SANDBOX=": "",
		"ASSAY_PROOF=al":    `ASSAY_PROOF is "al": expected all, update or nothing`,
		"ASSAY_PROGRESS=no": `ASSAY_PROGRESS is "no": expected 0, 1 or nothing`,
	} {
		if err := checkVariables([]string{"PATH=/bin", v}); want != "" {
			require.EqualError(t, err, want)
		} else {
			require.NoError(t, err, v)
		}
	}
}

// TestAnEnvFileDecidesNothing: a file .env that comes with a foreign folder sets no variable
// that decides which programs run, nor any other before that is found.
func TestAnEnvFileDecidesNothing(t *testing.T) {
	for name, bad := range map[string]bool{"LD_PRELOAD": true, "PATH": true,
		"GIT_SSH_COMMAND": true, "NODE_OPTIONS": true, "GOFLAGS": true, "ASSAY_SANDBOX": true,
		"BASH_ENV":                 true,
		"TEST_ONLY_GOOGLE_API_KEY": false} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, ".env"),
			[]byte("TEST_ONLY_A=1\n"+name+"=x\n"), 0o600))
		t.Setenv(name, "")
		require.NoError(t, os.Unsetenv(name))
		t.Setenv("TEST_ONLY_A", "")
		require.NoError(t, os.Unsetenv("TEST_ONLY_A"))
		_, err := LoadEnv(dir)
		require.Equal(t, bad, err != nil, name)
		require.Equal(t, bad, os.Getenv("TEST_ONLY_A") == "", name)
	}
	for _, name := range []string{"GOOGLE_API_KEY", "GITHUB_TOKEN", "ASSAY_BASE_URL",
		"HTTPS_PROXY"} {
		require.False(t, deciding.MatchString(name), name)
	}
}
