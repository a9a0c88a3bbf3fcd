package suite

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/store"

	"github.com/stretchr/testify/require"
)

// A built binary and the house that it is run on.
type command struct {
	h   *house
	bin string
}

// run gives the exit status and everything that was printed.
func (c command) run(args ...string) (status int, out string) {
	c.h.t.Helper()
	cmd := exec.Command(c.bin, args...)
	cmd.Dir = filepath.Join("..", "..")
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "ASSAY_ROOT=") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(cmd.Env, "ASSAY_ROOT="+c.h.dir)
	b, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		require.NoError(c.h.t, err)
	}
	return cmd.ProcessState.ExitCode(), string(b)
}

// TestExitCodes starts the real commands: what they print as FAIL or INVALID ends
// them with 1, in every suite, in a part of it and over workers; what
// they print as PASS or WARN with 0.
func TestExitCodes(t *testing.T) {
	suites, _ := commands(t)
	expect := func(t *testing.T, c command, verdict string, args ...string) {
		t.Helper()
		want := map[string]int{"PASS": 0, "WARN": 0, "part": 0, "FAIL": 1,
			"INVALID": 1, "MISS": 1}[verdict]
		status, out := c.run(args...)
		require.Equal(t, want, status, "%q:\n%s", args, out)
		require.Contains(t, out, verdict)
		if status == 0 {
			// as a verdict: the plan may warn that a run cannot FAIL
			require.NotRegexp(t, `(?m)^FAIL( {2,}|$)|: FAIL: `, out)
			require.NotContains(t, out, "INVALID")
		}
	}
	// What an auditor prints lies outside of the root, which holds the key.
	report := func(h *house, kind, text string) {
		dir := h.t.TempDir()
		name := filepath.Join(dir, "report")
		require.NoError(h.t, os.WriteFile(name, []byte(text), 0o644))
		h.write("fixtures/auditors.md",
			"# Auditors\n\n## canned\n\n| Field | Value |\n|---|---|\n| Kind | "+kind+
				" |\n| Timeout | 1m |\n| Cost | 0 |\n| Reads | "+dir+" |\n\n```sh\ncat "+name+
				"\n```\n")
	}
	bench := func(t *testing.T, script string) command {
		h := newHouse(t)
		h.corpus(2)
		h.reviewer(script)
		return command{h, suites}
	}
	asked := []string{"-test.run", "Bench", "-model", "canned"}

	t.Run("Bench", func(t *testing.T) {
		for _, tt := range []struct {
			script, verdict string
			args            []string
		}{
			{right, "PASS", nil},
			{always, "FAIL", nil},
			{prose, "INVALID", nil},
			{prose, "INVALID", []string{"-filter", "q00-01"}},
			{always, "part", []string{"-filter", "q00-01"}},
			{always, "MISS", []string{"-filter", "q00-01", "-strict"}},
		} {
			expect(t, bench(t, tt.script), tt.verdict, append(asked, tt.args...)...)
		}
	})
	t.Run("Regression", func(t *testing.T) {
		for _, tt := range []struct {
			kind            string
			base            int
			report, verdict string
			args            []string
		}{
			{"tool", 0, found(33), "PASS", nil},
			{"tool", 0, found(22), "FAIL", nil},
			{"tool", 22, found(22), "WARN", nil},
			{"tool", 33, found(32), "WARN", nil},
			{"tool", 33, found(30), "FAIL", nil},
			{"tool", 33, found(30), "FAIL", []string{"-filter", "demo"}},
			{"tool", 0, "", "INVALID", nil},
			{"agent", 33, found(28), "WARN", nil}, // what one trial does not settle
			{"agent", 33, found(28), "FAIL", []string{"-strict"}},
		} {
			h := newHouse(t)
			h.repository(33)
			if tt.base > 0 {
				h.canned(found(tt.base))
				h.baseline()
			}
			report(h, tt.kind, tt.report)
			expect(t, command{h, suites}, tt.verdict,
				append([]string{"-test.run", "Regression", "-auditor", "canned"}, tt.args...)...)
		}
	})
	t.Run("Smoke", func(t *testing.T) {
		h := newHouse(t)
		report(h, "tool", smokeReport())
		expect(t, command{h, suites}, "PASS", "-test.run", "Smoke", "-auditor", "canned")
		report(h, "tool", "nothing of the kind")
		expect(t, command{h, suites}, "INVALID", "-test.run", "Smoke", "-auditor", "canned")
	})
	t.Run("workers", func(t *testing.T) {
		for script, verdict := range map[string]string{right: "PASS", always: "FAIL",
			prose: "INVALID"} {
			t.Run(verdict, func(t *testing.T) {
				c := bench(t, script)
				dsn := c.h.postgres()
				stop := c.h.worker(0, false)
				expect(t, c, verdict, asked...)
				require.NoError(t, stop())
				st, err := store.OpenReadOnly(t.Context(), dsn)
				require.NoError(t, err)
				defer st.Close()
				for e, err := range st.Evaluations(t.Context(), store.Query{}) {
					require.NoError(t, err)
					require.LessOrEqual(t, e.Tries, 2,
						"a reply of no use is asked about once more: %s", e.Detail)
				}
			})
		}
	})
}
