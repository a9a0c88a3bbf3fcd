package suite

import (
	"flag"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"assay/internal/run"
)

// The command carries on with what was started: the same selection, the same
// flags, fit for a shell.
func TestResumeCommand(t *testing.T) {
	const built = "/tmp/go-build123/b001/assay.test"
	for _, c := range []struct {
		binary string
		args   []string
		want   string
	}{
		{built, nil, "go test -run Bench"},
		{built, []string{"-test.run=Bench/gpt~x/evaluation-prompt/shop", "-test.timeout=10m0s", "-model=gpt/x", "-trials=3"},
			"go test -run Bench/gpt~x/evaluation-prompt/shop -model=gpt/x -trials=3"},
		{built, []string{"-test.run=^TestBench$", "-test.skip=a b", "-test.timeout=1h0m0s", "-model=it's"},
			`go test -run '^TestBench$' -skip 'a b' -timeout 1h0m0s '-model=it'\''s'`},
		{"./assay.test", []string{"-test.run=Bench", "-test.timeout=0s", "-model=x"}, "./assay.test -test.run Bench -model=x"},
		{"/usr/bin/dlv-thing", nil, "go test -run Bench"},
	} {
		flags := flag.NewFlagSet("test", flag.ContinueOnError)
		for _, name := range []string{"test.run", "test.skip", "test.timeout", "model", "trials"} {
			flags.String(name, "", "")
		}
		require.NoError(t, flags.Parse(c.args))
		require.Equal(t, c.want, resumeWith(c.binary, flags, "Bench"))
	}
}

// What the environment said is said again, but for what a flag overrides, what
// would ask all again, and passwords.
func TestResumeKeepsTheEnvironment(t *testing.T) {
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	define(flags)
	require.NoError(t, flags.Parse([]string{"-trials=3", "-force"}))
	set := map[string]string{"ASSAY_MODEL": "a model", "ASSAY_TRIALS": "2", "ASSAY_FORCE": "1", "ASSAY_TWINS": "1",
		"ASSAY_DB": "postgres://me:hush@db/assay", "ASSAY_API_KEY": "hush"}
	require.Equal(t, "ASSAY_MODEL='a model' ASSAY_TWINS=1 ASSAY_DB=postgres://me:xxxxx@db/assay ",
		settings(flags, func(name string) string { return set[name] }))
	require.Equal(t, "go test -run Bench -trials=3", resumeWith("/usr/bin/x", flags, "Bench"))
}

// A terminal that takes nothing (^S) does not stop the run.
func TestAStoppedTerminal(t *testing.T) {
	reader, writer := io.Pipe() // nobody reads
	defer reader.Close()
	p := &progress{}
	p.show(writer)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 1000 {
			p.last = time.Time{}
			p.event(run.Event{Kind: run.Done})
		}
		p.event(run.Event{Kind: run.Ended})
		p.event(run.Event{Kind: run.Done}) // nothing is shown any more
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("the run waits for its terminal")
	}
}
