package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// A pipeline is what the test reads of a GitHub workflow or a GitLab file.
type pipeline struct {
	Jobs map[string]struct {
		Steps []struct {
			Name, ID, If, Run, Uses string
			Env                     map[string]string
		}
	}
	Change, Live struct{ Script []string }
}

// pipelines reads the pipelines that docs/ci.md offers: GitHub's, then GitLab's.
func pipelines(t *testing.T) []pipeline {
	t.Helper()
	ps := make([]pipeline, 2)
	for i, file := range []string{"github.yml", "gitlab.yml"} {
		b, err := os.ReadFile(filepath.Join("../../deploy/ci", file))
		require.NoError(t, err)
		require.NoError(t, yaml.Unmarshal(b, &ps[i]))
	}
	return ps
}

// A runner is a machine of CI: a clone with one more commit, and a PATH that
// begins with stand-ins.
type runner struct {
	t              *testing.T
	dir, tmp, base string
	log            string // what the stand-ins were asked
	env            []string
}

// newRunner clones the repository and changes a file in it. go test of what needs
// the internet, and sudo, apt-get and npm, are stood in for. Unless ASSAY_LONG is
// set, so are the suites and the building in the clone, which take minutes: assay
// is built once, here.
func newRunner(t *testing.T, changed string) *runner {
	t.Helper()
	r := &runner{t: t, dir: filepath.Join(t.TempDir(), "clone"), tmp: t.TempDir()}
	if _, err := os.Stat("../../.git"); err != nil {
		t.Skip("this is no git repository: there is nothing to clone")
	}
	r.git("", "clone", "-q", "--shared", "../..", r.dir)
	r.base = strings.TrimSpace(r.git(r.dir, "rev-parse", "HEAD"))
	name := filepath.Join(r.dir, filepath.FromSlash(changed))
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	_, err = f.WriteString("\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	r.git(r.dir, "add", changed)
	r.git(r.dir, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "a change")

	bin := filepath.Join(r.tmp, "bin")
	require.NoError(t, os.Mkdir(bin, 0o755))
	r.log = filepath.Join(r.tmp, "asked")
	require.NoError(t, os.WriteFile(r.log, nil, 0o644))
	goBin, err := exec.LookPath("go")
	require.NoError(t, err)
	stub := func(name, script string) {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho "+name+" \"$@\" $ANTHROPIC_API_KEY >> "+r.log+"\n"+script+"\n"), 0o755))
	}
	for _, name := range []string{"sudo", "apt-get", "npm"} {
		stub(name, "")
	}
	for name, script := range map[string]string{"useradd": "", "chown": "", "setpriv": `while [ "$1" != env ]; do shift; done; exec "$@"`} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	assay, err := builtAssay()
	require.NoError(t, err)
	suites := "case \"$1\" in test) exit 0;; build) exec cp " + assay + " \"$3\";; esac\n"
	if os.Getenv("ASSAY_LONG") != "" {
		// A verdict of FAIL is the repository's, not the pipeline's: what counts here
		// is that the suites were run and judged.
		suites = "case \"$1 $*\" in *-auditor*) exit 0;; test*) " + goBin + " \"$@\" > " + r.tmp + "/said 2>&1 && exit 0; grep -qE '^(SMOKE|REGRESSION|BENCH) ' " + r.tmp + "/said && exit 0; cat " + r.tmp + "/said; exit 1;; esac\n"
	}
	stub("go", suites+"exec "+goBin+" \"$@\"")
	r.env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "RUNNER_TEMP="+r.tmp, "GITHUB_OUTPUT="+filepath.Join(r.tmp, "output"),
		"BASE="+r.base, "CI_MERGE_REQUEST_DIFF_BASE_SHA="+r.base, "ASSAY_ROOT=", "ANTHROPIC_API_KEY=")
	return r
}

// builtAssay builds the command once.
var builtAssay = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "assay-ci-")
	built = dir
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "assay")
	out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return bin, nil
})

var built string // its folder, once it is built

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

func (r *runner) git(dir string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(r.t, err, "git %v: %s", args, out)
	return string(out)
}

// bash runs a step as the runners do.
func (r *runner) bash(script string) {
	r.t.Helper()
	cmd := exec.CommandContext(context.Background(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = r.dir, r.env
	out, err := cmd.CombinedOutput()
	require.NoError(r.t, err, "%s\n%s", script, out)
}

// asked gives the calls of go test, sudo, apt-get and npm.
func (r *runner) asked() string {
	b, err := os.ReadFile(r.log)
	require.NoError(r.t, err)
	var calls []string
	for l := range strings.Lines(string(b)) {
		if !strings.HasPrefix(l, "go build") {
			calls = append(calls, strings.TrimSpace(l))
		}
	}
	return strings.Join(calls, "; ")
}

var output = regexp.MustCompile(`steps\.(\w+)\.outputs\.(\w+) (==|!=) '(\w+)'`)

// holds evaluates the conditions that GitHub's uses.
func (r *runner) holds(cond string) bool {
	r.t.Helper()
	if cond == "" {
		return true
	}
	m := output.FindStringSubmatch(cond)
	require.NotNil(r.t, m, "a condition that the test does not know: %s", cond)
	b, err := os.ReadFile(filepath.Join(r.tmp, "output"))
	require.NoError(r.t, err)
	return strings.Contains("\n"+string(b), fmt.Sprintf("\n%s=%s\n", m[2], m[4])) == (m[3] == "==")
}

// TestPipelinesRun runs both pipelines of deploy/ci on three kinds of change, and
// the monthly job.
func TestPipelinesRun(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: assay is not built in clones")
	}
	ps := pipelines(t)
	const smoke, full = "go test -run Smoke -short", "go test -run Regression|Bench"
	for changed, want := range map[string]string{
		"docs/new.md":                             "",
		"internal/report/doc.go":                  smoke,
		"fixtures/prompts/evaluation-prompt.txt":  smoke + "; " + full,
		"a-file/that-nobody-thought-of.surprises": smoke + "; " + full,
	} {
		t.Run(changed, func(t *testing.T) {
			r := newRunner(t, changed)
			for _, s := range ps[0].Jobs["change"].Steps {
				if s.Run != "" && r.holds(s.If) {
					r.bash(s.Run)
				}
			}
			require.Equal(t, want, r.asked(), "GitHub")

			r = newRunner(t, changed)
			r.bash(strings.Join(ps[1].Change.Script, "\n"))
			require.Equal(t, want, r.asked(), "GitLab")
		})
	}
	t.Run("monthly", func(t *testing.T) {
		const live = "go test -run Smoke -auditor claude -strict -timeout 20m; go test -run Regression -auditor claude -strict -trials 3 -budget 105 -concurrency 3 -timeout 0 -change monthly run"
		r := newRunner(t, "docs/new.md")
		for _, s := range ps[0].Jobs["live"].Steps {
			if s.Run != "" && r.holds(s.If) {
				r.bash(s.Run)
			}
		}
		require.Equal(t, "sudo apt-get install -y bubblewrap; sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0; npm install -g @anthropic-ai/claude-code@2.1.197; "+live, r.asked())
		r = newRunner(t, "docs/new.md")
		r.env = append(r.env, "ANTHROPIC_API_KEY=KEY") // GitLab gives it to all lines
		r.bash(strings.Join(ps[1].Live.Script, "\n"))
		require.Equal(t, "apt-get update; apt-get install -y bubblewrap npm; npm install -g --prefix /home/assay @anthropic-ai/claude-code@2.1.197; "+
			strings.ReplaceAll(live, "; ", " KEY; ")+" KEY", r.asked())
		all, err := os.ReadFile(r.log)
		require.NoError(t, err)
		require.Contains(t, string(all), "go build -o /tmp/assay-ci ./cmd/assay\n")
	})
}
