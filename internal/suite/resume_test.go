package suite

import (
	"flag"
	"io"
	"os/exec"
	"strings"
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
		{built, []string{"-test.run=Bench/gpt~x/evaluation-prompt/shop", "-test.timeout=10m0s",
			"-model=gpt/x", "-trials=3"},
			"go test -run Bench/gpt~x/evaluation-prompt/shop -model=gpt/x -trials=3"},
		{built, []string{"-test.run=^TestBench$", "-test.skip=a b", "-test.timeout=1h0m0s",
			"-model=it's"},
			`go test -run '^TestBench$' -skip 'a b' -timeout 1h0m0s '-model=it'\''s'`},
		{"./assay.test", []string{"-test.run=Bench", "-test.timeout=0s", "-model=x"},
			"./assay.test -test.run Bench -model=x"},
		{"/usr/bin/dlv-thing", nil, "go test -run Bench"},
	} {
		flags := flag.NewFlagSet("test", flag.ContinueOnError)
		for _, name := range []string{"test.run", "test.skip", "test.timeout", "model", "trials"} {
			flags.String(name, "", "")
		}
		require.NoError(t, flags.Parse(c.args))
		require.Equal(t, c.want, resumeWith(c.binary, flags, "Bench", nil))
	}
}

// What the environment said is said again, but for what a flag overrides and what
// would ask all again; secrets are named, and said by nobody.
func TestResumeKeepsTheEnvironment(t *testing.T) {
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	define(flags)
	require.NoError(t, flags.Parse([]string{"-trials=3"}))
	set := map[string]string{"ASSAY_MODEL": "a model", "ASSAY_TRIALS": "2", "ASSAY_ADD": "1",
		"ASSAY_DB": "postgres://me:hush@db/assay", "ASSAY_API_KEY": "hush", "FILED_KEY": "hush",
		"ASSAY_BASE_URL": "http://localhost:8000/v1"}
	names := []string{"ASSAY_ROOT", "ASSAY_DB", "ASSAY_BASE_URL", "ASSAY_API_KEY", "FILED_KEY"}
	require.Equal(t,
		`ASSAY_MODEL='a model' ASSAY_ADD=1 ASSAY_DB="${ASSAY_DB:?}" ASSAY_BASE_URL=http://localhost:8000/v1 ASSAY_API_KEY="${ASSAY_API_KEY:?}" `,
		settings(flags, names, func(name string) string { return set[name] },
			map[string]bool{"FILED_KEY": true, "ASSAY_BASE_URL": true}))
	require.Equal(t, "go test -run Bench -trials=3", resumeWith("/usr/bin/x", flags, "Bench", nil))
}

// The command that a run keeps asks whom the run asked: a model at the same
// address, an agent with its own variables. A shell finds in it what was in force.
func TestResumeAsksTheSameServer(t *testing.T) {
	h := newHouse(t)
	h.write("fixtures/auditors.md",
		"# Auditors\n\n## teller\n\n| Field | Value |\n|---|---|\n| Kind | agent |\n| Network | yes |\n| Provider | https://llm.example |\n| Base URL variable | LLM_URL |\n| Key variable | LLM_KEY |\n| Environment | LLM_MODEL |\n\n```sh\necho '{\"verdict\":\"good\",\"explanation\":\"x\"}'\n```\n")
	for name, value := range map[string]string{"LLM_URL": "http://127.0.0.1:1/a b",
		"LLM_KEY": "hush-hush", "LLM_MODEL": "big", "ASSAY_BASE_URL": "http://127.0.0.1:1/v1",
		"ASSAY_API_KEY": "hush-too"} {
		t.Setenv(name, value)
	}
	for model, want := range map[string]string{
		"teller":       "LLM_URL=http://127.0.0.1:1/a b LLM_KEY=hush-hush LLM_MODEL=big ASSAY_BASE_URL= ASSAY_API_KEY=hush-too\n",
		"openai:gpt-x": "LLM_URL= LLM_KEY=hush-hush LLM_MODEL= ASSAY_BASE_URL=http://127.0.0.1:1/v1 ASSAY_API_KEY=hush-too\n",
	} {
		s := h.suite("-model", model)
		e, err := s.environment()
		require.NoError(t, err)
		before, command, err := s.resumeCommand(e, "Bench")
		require.NoError(t, err)
		require.NotContains(t, command, "hush-")
		require.Equal(t, before,
			strings.TrimSuffix(command, command[strings.Index(command, "go test "):]))
		// What it does not say is not there: the keys alone come from the shell.
		shell := exec.Command("env", "-i", "LLM_KEY=hush-hush", "ASSAY_API_KEY=hush-too", "/bin/sh",
			"-c", before+
				`sh -c 'echo LLM_URL=$LLM_URL LLM_KEY=$LLM_KEY LLM_MODEL=$LLM_MODEL ASSAY_BASE_URL=$ASSAY_BASE_URL ASSAY_API_KEY=$ASSAY_API_KEY'`)
		out, err := shell.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Equal(t, want, string(out), command)
		out, err = exec.Command("env", "-i", "/bin/sh", "-c", before+"true").CombinedOutput()
		require.Error(t, err, "without the keys it does not begin: %s", out)
	}
}

// A terminal that takes nothing (^S) does not stop the run.
func TestAStoppedTerminal(t *testing.T) {
	reader, writer := io.Pipe() // nobody reads
	defer reader.Close()
	p := &progress{stop: make(chan struct{}), shown: make(chan struct{})}
	go p.show(writer, p.line(time.Now()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 1000 {
			p.event(run.Event{Kind: run.Done})
		}
		p.event(run.Event{Kind: run.Ended})
		p.end()
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("the run waits for its terminal")
	}
}
