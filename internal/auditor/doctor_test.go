package auditor

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit"
	"assay/audit/fixture"
	"assay/internal/box"
)

// TestOllamaHost: what OLLAMA_HOST may look like.
func TestOllamaHost(t *testing.T) {
	for host, want := range map[string]string{"gpu": "http://gpu:11434/v1",
		"gpu:1": "http://gpu:1/v1", "http://gpu:1/": "http://gpu:1/v1",
		"https://gpu": "https://gpu/v1", "http://gpu:1/v1": "http://gpu:1/v1",
		"gpu:1/v1/": "http://gpu:1/v1"} {
		require.Equal(t, want, ollama(host), host)
	}
}

// TestCommandWords reads the programs out of command lines, ours among them.
func TestCommandWords(t *testing.T) {
	words := func(line string) []string {
		names, err := commandWords(line)
		require.Equal(t, line == `it's not closed`, err != nil, line)
		return names
	}
	for line, want := range map[string]string{
		`claude -p "Run; this (now) $(cat "$ASSAY_FORMAT")"`: "claude cat",
		`if [ -n "$X" ]; then cp -r "$X/." "$HOME/"; fi` + "\n" +
			`A=1 B="x y" codex exec 'a;b'`: "cp codex",
		`case "$HOME/" in */tmp/*) echo no >&2; exit 2;; esac; horusec start 2>&1 | tee log`: "horusec tee",
		"node - <<'SCRIPT'\nfoo(bar); baz\nSCRIPT\ncat x":                                    "node cat",
		"cat > \"$TMPDIR/c.cjs\" <<'CONFIG' &&\nconst a = 1;\nCONFIG\neslint -c x .":         "cat eslint",
		// the one here is in the project
		`~/bin/scan . && ./here || /opt/there --x=$(date +%s)`:                               "~/bin/scan /opt/there date",
		`cd sub && ./gradlew check; tools/lint .; ../x`:                                      "",
		`X=$(which java) exec java -jar x`:                                                   "which java",
		"scan() { cppcheck .; }; scan # it's ours; no program\ncase $X in a|b) tee x;; esac": "cppcheck tee",
		`grype --depth $((1+2)) $(jq .x y); 2>/dev/null sort x`:                              "grype jq sort",
		`it's not closed`: "",
		``:                "",
	} {
		require.Equal(t, want, strings.Join(words(line), " "), line)
	}
	entries, err := fixture.ReadAuditors(os.DirFS("../.."), "fixtures/auditors.md")
	require.NoError(t, err)
	for _, e := range entries {
		require.Equal(t, e.Command != "", len(words(e.Command)) > 0, e.Name)
	}
}

// examine gives what an auditor of this section misses.
func examine(t *testing.T, e audit.AuditorEntry) string {
	e.Name, e.Kind, e.Pos = "x", "tool", audit.Pos{File: "auditors.md", Line: 3}
	d := Registry{Auditors: []audit.AuditorEntry{e}, Getenv: os.Getenv}
	var missing []string
	for _, c := range d.Examine(context.Background(), "x") {
		if c.Missing {
			missing = append(missing, c.What+": "+c.Text)
		}
	}
	return strings.Join(missing, "\n")
}

// TestExamineACommandLine: one that no shell can read is missing what it needs, and one
// that needs no program says so.
func TestExamineACommandLine(t *testing.T) {
	require.Contains(t, examine(t, audit.AuditorEntry{Command: `echo "unclosed`}),
		"programs: /bin/sh cannot read its command line: ")
	e := audit.AuditorEntry{Name: "x", Kind: "tool", Command: "echo []"}
	checks := Registry{Auditors: []audit.AuditorEntry{e}}.Examine(context.Background(), "x")
	require.Contains(t, checks,
		Check{"programs", false, "none: it names what the shell knows by itself"})
}

// script writes a program.
func script(t *testing.T, name, text string) string {
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o755))
	return name
}

// TestDoctorOfACommand: what is not there is named, with what to do.
func TestDoctorOfACommand(t *testing.T) {
	if missing := box.Missing(); missing != "" {
		t.Skip(missing)
	}
	dir := t.TempDir()
	hidden := script(t, filepath.Join(dir, "scan"), "#!/bin/sh\necho v1\n")
	t.Setenv("HOME", dir)
	t.Setenv("SKILLS", dir)
	t.Setenv("NO_KEY", "")
	require.Empty(t, examine(t, audit.AuditorEntry{Command: "cat x", Version: "cat --version"}))
	require.Empty(t, examine(t, audit.AuditorEntry{Command: hidden + " .", Reads: []string{hidden},
		Version: hidden}))
	require.Contains(t, examine(t, audit.AuditorEntry{Command: "no-such-scanner ."}),
		"programs: no-such-scanner is not installed")
	require.Contains(t, examine(t, audit.AuditorEntry{Command: hidden + " ."}),
		"sandbox: auditors.md:3: x: its command names "+hidden+
			", which it may not see: add the file, or a folder that holds it and no answers, to its Reads")
	require.Contains(t, examine(t, audit.AuditorEntry{Command: "~/scan ."}),
		"an auditor has one of its own: write "+hidden)
	through := script(t, filepath.Join(dir, "through"), "#!"+hidden+"\n")
	require.Contains(t, examine(t, audit.AuditorEntry{Command: through, Reads: []string{through}}),
		"is a script for "+hidden+", which the sandbox hides")
	t.Setenv("SOME_TOKEN", "hunter2-aB3dE6gH9jK2mN5pQ8")
	require.Contains(t, examine(t, audit.AuditorEntry{Command: "cat", Env: []string{"SOME_TOKEN"},
		Version: `echo "refused: $SOME_TOKEN" >&2; exit 3`}), "status 3: refused: [key]")
	require.Contains(t,
		examine(t, audit.AuditorEntry{Command: "cat", Version: "echo broken >&2; exit 3"}),
		"version: echo broken >&2; exit 3 ended with status 3: broken")
	require.Contains(t, examine(t, audit.AuditorEntry{Command: "cat", Needs: []string{"NO_KEY"}}),
		"needs: auditors.md:3: x: NO_KEY is not set: put what it needs into the environment or into .env")
	require.Contains(t,
		examine(t, audit.AuditorEntry{Command: "cat", Needs: []string{"$SKILLS/.claude/*/audit*"}}),
		"holds no .claude/*/audit*")
	script(t, filepath.Join(dir, ".claude/commands/audit.md"), "Audit.")
	require.Empty(t,
		examine(t, audit.AuditorEntry{Command: "cat", Needs: []string{"$SKILLS/.claude/*/audit*",
			"NO_KEY or SKILLS"}}))
	t.Setenv("X_BASE_URL", "http://127.0.0.1:1")
	require.Contains(t,
		examine(t, audit.AuditorEntry{Command: "cat", Network: audit.Network{BaseURL: "X_BASE_URL",
			Provider: "https://llm.example", Key: "X_KEY"}}),
		"network: X_BASE_URL: 127.0.0.1:1 cannot be reached")
}

// TestNotFoundIsExplained: a run whose shell says "not found" says why, and one that
// lacks what its section needs is not started.
func TestNotFoundIsExplained(t *testing.T) {
	if missing := box.Missing(); missing != "" {
		t.Skip(missing)
	}
	dir, export := t.TempDir(), t.TempDir()
	helper := script(t, filepath.Join(dir, "helper"), "#!/bin/sh\n")
	caller := script(t, filepath.Join(dir, "caller"), "#!/bin/sh\n"+helper+"\n")
	run := func(e audit.AuditorEntry) (string, error) {
		e.Name, e.Timeout = "x", examineTimeout
		r, err := Command(e).Audit(context.Background(), audit.AuditTask{Dir: export})
		return r.Invalid, err
	}
	invalid, err := run(audit.AuditorEntry{Command: caller, Reads: []string{caller}})
	require.NoError(t, err)
	require.Contains(t, invalid, helper+" is here ("+helper+"), and the sandbox hides it")
	invalid, err = run(audit.AuditorEntry{Command: "no-such-scanner ."})
	require.NoError(t, err)
	require.Contains(t, invalid, "no-such-scanner is not installed")
	_, err = run(audit.AuditorEntry{Command: "cat", Needs: []string{"NO_SUCH_KEY"}})
	require.ErrorContains(t, err, "NO_SUCH_KEY is not set")
}

// TestDoctorOfAModel: key and network are tried, and nothing is asked.
func TestDoctorOfAModel(t *testing.T) {
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		if r.Header.Get("Authorization") != "Bearer right" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(s.Close)
	missing := func(base, key string, budget float64) string {
		d := Registry{Budget: budget, Prompt: func(name string) (string, error) {
			if name != AuditPrompt {
				return "", errors.New("no such prompt")
			}
			return "Audit.", nil
		}, Getenv: func(name string) string {
			return map[string]string{"ASSAY_BASE_URL": base,
				"ASSAY_API_KEY": key}[name]
		}}
		var all []string
		for _, c := range d.Examine(context.Background(), "m") {
			if c.Missing {
				all = append(all, c.What+": "+c.Text)
			}
		}
		return strings.Join(all, "\n")
	}
	require.Empty(t, missing(s.URL, "right", math.Inf(1)))
	require.Equal(t, "price: none is known: add it to fixtures/models.md, or run with -budget none",
		missing(s.URL, "right", 5))
	require.Equal(t, "key: the key in ASSAY_API_KEY was refused: it may be mistyped or revoked",
		missing(s.URL, "wrong", math.Inf(1)))
	require.Contains(t, missing("http://nowhere.invalid", "", math.Inf(1)),
		"network: nowhere.invalid cannot be reached")
	require.Equal(t, []string{"GET /models", "GET /models", "GET /models"}, asked)
}
