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
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"assay/audit"
	"assay/audit/score"
	"assay/internal/record"
)

// A pipeline is what the test reads of a GitHub workflow or a GitLab file.
type pipeline struct {
	Jobs map[string]struct{ Steps []step }
	Live struct{ Script []string }
}

// A step is one of a job, or of an action.
type step struct {
	Name, ID, If, Run, Uses string
	Env                     map[string]string
}

// An action is what deploy/action/action.yml says.
type action struct {
	Inputs map[string]struct{ Default string }
	Runs   struct{ Steps []step }
}

// parsed reads a YAML file of deploy/.
func parsed[T any](t *testing.T, name string) (v T) {
	t.Helper()
	b, err := os.ReadFile("../../deploy/" + name)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(b, &v))
	return v
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
	stub("gh", "case \"$*\" in *--paginate*) cat "+r.tmp+"/comment-id 2>/dev/null;; esac; true")
	stub("curl", "case \"$*\" in *per_page*) echo '[{\"id\":7,\"body\":\"<!-- assay --> old\"}]';; esac; true")
	stub("go", suites+"exec "+goBin+" \"$@\"")
	r.env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "RUNNER_TEMP="+r.tmp, "GITHUB_OUTPUT="+filepath.Join(r.tmp, "output"), "GITHUB_ENV="+filepath.Join(r.tmp, "env"),
		"GITHUB_STEP_SUMMARY="+filepath.Join(r.tmp, "step-summary"), "GITHUB_SERVER_URL=https://github.example", "GITHUB_REPOSITORY=o/r", "GITHUB_RUN_ID=5", "NUMBER=12", "GH_TOKEN=t",
		"CI_API_V4_URL=https://gitlab.example/api/v4", "CI_PROJECT_ID=3", "CI_MERGE_REQUEST_IID=12", "CI_JOB_URL=https://gitlab.example/job/1", "ASSAY_COMMENT_TOKEN=t",
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

// bash runs a step as the runners do, and gives what it printed.
func (r *runner) bash(script string, env ...string) string {
	r.t.Helper()
	cmd := exec.CommandContext(context.Background(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = r.dir, append(r.env, env...)
	out, err := cmd.CombinedOutput()
	require.NoError(r.t, err, "%s\n%s", script, out)
	return string(out)
}

var input = regexp.MustCompile(`\$\{\{ inputs\.(\w+) \}\}`)

// steps runs those of a job, and in the place of our action its own. It gives what
// they printed.
func (r *runner) steps(list []step) (out string) {
	r.t.Helper()
	a := parsed[action](r.t, "action/action.yml")
	for _, s := range list {
		if s.Uses == "./deploy/action" {
			out += r.steps(a.Runs.Steps)
		}
		if s.Run == "" || !r.holds(s.If) {
			continue
		}
		env := []string{"ACTION=" + filepath.Join(r.dir, "deploy", "action")}
		for name, value := range s.Env {
			value = input.ReplaceAllStringFunc(value, func(in string) string { return a.Inputs[input.FindStringSubmatch(in)[1]].Default })
			if !strings.Contains(value, "${{") {
				env = append(env, name+"="+value)
			}
		}
		out += r.bash(s.Run, env...)
	}
	return out
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
	type job struct {
		Script    []string
		Variables map[string]string
	}
	template := parsed[map[string]job](t, "gitlab/assay.yml")[".assay"]
	var variables []string
	for name, value := range template.Variables {
		variables = append(variables, name+"="+value)
	}
	told := record.Record{Date: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC), Suite: "Smoke", Project: "smoke", Auditor: "canned", Score: score.Version,
		Judgement: score.Judgement{Verdict: audit.Fail, Reasons: []score.Reason{{Verdict: audit.Fail, Text: "2 of 5 flaws were found"}}}}
	for changed, want := range map[string]string{
		"docs/new.md":                            "",
		"internal/report/doc.go":                 smoke,
		"fixtures/prompts/evaluation-prompt.txt": smoke + "; " + full,
	} {
		t.Run(changed, func(t *testing.T) {
			r := newRunner(t, changed)
			_, err := told.Write(filepath.Join(r.dir, "records")) // what the suites, which are stood in for, would leave
			require.NoError(t, err)
			said := r.steps(ps[0].Jobs["change"].Steps)
			suites, gh, _ := strings.Cut(r.asked(), "; gh ")
			require.Equal(t, want, suites, "GitHub")
			if want != "" {
				require.Contains(t, said, "::error file=fixtures/smoke.md,line=1,title=Assay%3A FAIL::canned on the smoke test: 2 of 5 flaws were found\n")
				require.Regexp(t, `^api --paginate repos/o/r/issues/12/comments --jq .*; gh api -X POST repos/o/r/issues/12/comments -F body=@\S+/assay.md$`, gh)
				comment, err := os.ReadFile(filepath.Join(r.tmp, "assay.md"))
				require.NoError(t, err)
				require.Contains(t, string(comment), "<!-- assay -->\n### Assay: FAIL\n\n**FAIL canned on the smoke test**")
				require.Contains(t, string(comment), "[Report](<https://github.example/o/r/actions/runs/5#artifacts>)")
				step, err := os.ReadFile(filepath.Join(r.tmp, "step-summary"))
				require.NoError(t, err)
				require.Contains(t, string(step), "### Assay: FAIL")
				require.FileExists(t, filepath.Join(r.tmp, "assay.sarif"))
				require.FileExists(t, filepath.Join(r.tmp, "assay-report", "index.html"))
				require.NoError(t, os.WriteFile(filepath.Join(r.tmp, "comment-id"), []byte("99\n98\n"), 0o644))
				r.bash("bash deploy/action/comment.sh " + filepath.Join(r.tmp, "assay.md"))
				require.Regexp(t, `gh api -X PATCH repos/o/r/issues/comments/99 -F body=@\S+$`, r.asked(), "one comment is kept up to date")
			}

			r = newRunner(t, changed)
			_, err = told.Write(filepath.Join(r.dir, "records"))
			require.NoError(t, err)
			r.bash(strings.Join(template.Script, "\n"), variables...)
			suites, curl, _ := strings.Cut(r.asked(), "; curl ")
			require.Equal(t, want, suites, "GitLab")
			if want != "" {
				require.FileExists(t, filepath.Join(r.dir, "gl-code-quality-report.json"))
				require.Contains(t, curl, "--request PUT --data-urlencode body@assay.md https://gitlab.example/api/v4/projects/3/merge_requests/12/notes/7")
			}
		})
	}
	t.Run("monthly", func(t *testing.T) {
		const live = "go test -run Smoke -auditor claude -strict -timeout 20m; go test -run Regression -auditor claude -strict -trials 3 -budget 105 -concurrency 3 -timeout 0 -change monthly run"
		r := newRunner(t, "docs/new.md")
		r.steps(ps[0].Jobs["live"].Steps)
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

// TestActionsOfOthersArePinned: to a commit, with the release that it is beside it.
func TestActionsOfOthersArePinned(t *testing.T) {
	pinned, found := regexp.MustCompile(`^[\w-]+/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+\b`), 0
	for _, pattern := range []string{"start/*.yml", "../../deploy/*/*.yml", "../../.github/workflows/*.yml"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			for i, line := range strings.Split(string(b), "\n") {
				if _, action, uses := strings.Cut(line, "uses: "); uses && !strings.HasPrefix(action, "./") {
					found++
					require.Regexp(t, pinned, action, "%s:%d", file, i+1)
				}
			}
		}
	}
	require.NotZero(t, found)
}
