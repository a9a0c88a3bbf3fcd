package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"assay/audit"
	"assay/audit/fixture"
	"assay/fixtures"
	"assay/internal/box"
	"assay/internal/suite"
)

// builtAssay builds the command once.
var builtAssay = sync.OnceValues(func() (string, error) { return goBuilt("assay", "build", ".") })

// builtSuites builds the suites once.
var builtSuites = sync.OnceValues(func() (string,
	error) {
	return goBuilt("assay.test", "test", "../..")
})

var built string // the folder of what is built

func goBuilt(name, how, what string) (file string, err error) {
	if built == "" {
		if built, err = os.MkdirTemp("", "assay-ci-"); err != nil {
			return "", err
		}
	}
	args := []string{how, "-o", filepath.Join(built, name), what}
	if how == "test" {
		args = slices.Insert(args, 1, "-c")
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return filepath.Join(built, name), nil
}

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// A standIn is a provider's server. It answers with what a model finds that was told to be
// careful, to hurry (the first half of each project) or to say nothing.
type standIn struct {
	*httptest.Server
	mu    sync.Mutex
	asked int
	keys  []*audit.Project // of what it may be shown
}

const standInKey = "sk-stand-in-0123456789abcdef"

func newStandIn(t *testing.T) *standIn {
	s := &standIn{}
	fsys := suite.WithPlanted(os.DirFS(t.TempDir()))
	planted, err := suite.PlantedNames(fsys)
	require.NoError(t, err)
	for _, name := range planted {
		text, err := fs.ReadFile(fixtures.Planted, "planted/"+name+"/project.md")
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(
			`(?m)^\| ([a-z]+) \|`).FindAllStringSubmatch(string(text), -1) {
			if drawn, key, err := suite.Project(fsys, name+"."+m[1]); err == nil && drawn != nil {
				s.keys = append(s.keys, key)
			}
		}
	}
	require.NotEmpty(t, s.keys)
	class := audit.Tree{}
	require.NoError(t, fs.WalkDir(os.DirFS("../../smoke-test-fixture"), ".",
		func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				class[name] = audit.TreeFile{Path: name, Lines: 1000}
			}
			return err
		}))
	smoke, err := fixture.ReadSmoke(fixtures.FS, "smoke.md", class)
	require.NoError(t, err)
	s.keys = append(s.keys, smoke.Project)
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Prompt string
		Files  []string
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil ||
		r.Header.Get("Authorization") != "Bearer "+standInKey {
		http.Error(w, "no key", http.StatusUnauthorized)
		return
	}
	s.mu.Lock()
	s.asked++
	s.mu.Unlock()
	type finding struct {
		File, CWE, Severity, Title string
		Line                       int
	}
	found := []finding{}
	for _, key := range s.keys {
		if !slices.Equal(in.Files, treeOf(key)) && !(key.Name == "smoke" && len(in.Files) == 1) {
			continue
		}
		known := key.Vulnerabilities
		switch {
		case strings.Contains(in.Prompt, "hurry") && key.Name != "smoke":
			known = known[:len(known)/2]
		case strings.Contains(in.Prompt, "nothing") && key.Name != "smoke":
			known = nil
		}
		for _, k := range known {
			found = append(found, finding{k.File, k.CWEs[0].String(), "HIGH", k.Title,
				k.Lines.Start})
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"findings": found})
}

func treeOf(p *audit.Project) (names []string) {
	for name := range p.Tree {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (s *standIn) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// The agent's two files.
const (
	agentScript = `#!/bin/sh
exec python3 "$(dirname "$0")/agent.py" "$(dirname "$0")/prompt.txt"
`
	agentProgram = `import json, os, sys, urllib.request
files = sorted(os.path.relpath(os.path.join(d, f), ".") for d, _, fs in os.walk(".") for f in fs)
ask = json.dumps({"Prompt": open(sys.argv[1]).read(), "Files": files}).encode()
request = urllib.request.Request(os.environ["MODEL_URL"], ask, {"Authorization": "Bearer " + os.environ["MODEL_KEY"]})
answer = json.load(urllib.request.urlopen(request))
print(json.dumps({"findings": [{k.lower(): v for k, v in f.items()} for f in answer["findings"]]}))
with open(os.environ["ASSAY_USAGE"], "a") as usage:
    print(json.dumps({"usd": 0.001, "input_tokens": 1000, "output_tokens": 100, "model": "toy-1"}), file=usage)
`
)

// A forge is a repository on GitHub or GitLab with its runners: what they keep between runs, and
// what a pull request is told.
type forge struct {
	t        *testing.T
	dir, tmp string
	standIn  *standIn
	bin      string
	caches   []cache // oldest first
	comment  string
	runs     int
}

// A cache is what a step saved under a key, which is never overwritten.
type cache struct{ key, dir string }

// newForge makes a repository as a team has one: an agent, what assay init wrote, and a baseline
// of three trials that was accepted.
func newForge(t *testing.T) *forge {
	t.Helper()
	if os.Getenv("ASSAY_CHECK") == "" {
		t.Skip("it runs the suites many times, for minutes: ./check runs it")
	}
	if missing := box.Missing(); missing != "" {
		t.Skip(missing)
	}
	assay, err := builtAssay()
	require.NoError(t, err)
	suites, err := builtSuites()
	require.NoError(t, err)
	f := &forge{t: t, dir: filepath.Join(t.TempDir(), "repo"), tmp: t.TempDir(),
		standIn: newStandIn(t)}
	f.bin = filepath.Join(f.tmp, "bin")
	f.write("agent/agent.sh", agentScript)
	f.write("agent/agent.py", agentProgram)
	f.write("agent/prompt.txt", "Be careful.\n")
	f.write("README.md", "Ours.\n")
	f.git("init", "-q", "-b", "main")
	f.commit("An agent")
	other := filepath.Join(f.tmp, "gitlab") // the same agent in a repository on GitLab
	require.NoError(t, os.CopyFS(other, os.DirFS(f.dir)))
	for dir, ci := range map[string]string{f.dir: "github", other: "gitlab"} {
		f.run(0, nil, assay, "init", dir, "--auditor", "sh agent/agent.sh", "--name", "ours",
			"--cost", "0.01", "--budget", "0.21",
			"--reaches", strings.TrimPrefix(f.standIn.URL, "http://"), "--environment",
			"MODEL_URL,MODEL_KEY", "--ci", ci)
	}
	require.NoError(t, os.Rename(filepath.Join(other, ".gitlab-ci.yml"),
		filepath.Join(f.dir, ".gitlab-ci.yml")))
	f.stubs(assay, suites)
	env := []string{"ASSAY_ROOT=" + f.dir, "MODEL_URL=" + f.standIn.URL, "MODEL_KEY=" + standInKey}
	f.run(0, env, suites, "-test.run", "Smoke|Regression", "-test.timeout", "0", "-auditor", "ours",
		"-filter", f.filter(), "-trials", "3", "-concurrency", "2", "-budget", "1")
	records, err := filepath.Glob(filepath.Join(f.dir, "records", "*.json"))
	require.NoError(t, err)
	f.run(0, nil, assay, append([]string{"baseline", "--root", f.dir}, records...)...)
	require.NoError(t, os.RemoveAll(filepath.Join(f.dir, "records")))
	matches, err := filepath.Glob(filepath.Join(f.dir, "results.db*"))
	require.NoError(t, err)
	for _, m := range matches {
		require.NoError(t, os.Remove(m))
	}
	f.commit("Assay")
	return f
}

var filterFlag = regexp.MustCompile(`-filter '?([^' ]+)'?`)

// filter returns the suite that init chose.
func (f *forge) filter() string {
	b, err := os.ReadFile(filepath.Join(f.dir, ".github/workflows/assay.yml"))
	require.NoError(f.t, err)
	return filterFlag.FindStringSubmatch(string(b))[1]
}

// stubs writes programs that stand in for those of a runner: go, which has built and tests what
// is built already, what changes the machine, and gh.
func (f *forge) stubs(assay, suites string) {
	require.NoError(f.t, os.MkdirAll(f.bin, 0o755))
	for name, script := range map[string]string{
		"sudo": "", "apt-get": "", "npm": "",
		"go": `case "$1" in
build) exec cp ` + assay + ` "$3" ;;
test) shift; i=$#; while [ "$i" -gt 0 ]; do a=$1; shift; case "$a" in -run|-timeout) a="-test${a%%[!-]*}$a"; a="-test.${a##*-}" ;; esac; set -- "$@" "$a"; i=$((i-1)); done
  exec ` + suites + ` "$@" ;;
esac
exit 2`,
		"gh": `case "$*" in
*--paginate*) if [ -s ` + f.tmp + `/comment ]; then echo 7; fi ;;
*) for a; do case "$a" in body=@*) cp "${a#body=@}" ` + f.tmp + `/comment ;; esac; done; echo "$3" >> ` + f.tmp + `/methods ;;
esac`,
	} {
		require.NoError(f.t, os.WriteFile(filepath.Join(f.bin, name),
			[]byte("#!/bin/bash\n"+script+"\n"), 0o755))
	}
}

func (f *forge) write(name, text string) {
	file := filepath.Join(f.dir, name)
	require.NoError(f.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(f.t, os.WriteFile(file, []byte(text), 0o644))
}

func (f *forge) git(args ...string) string {
	f.t.Helper()
	cmd := exec.Command("git",
		append([]string{"-C", f.dir, "-c", "user.name=t", "-c", "user.email=t@example.org", "-c",
			"init.defaultBranch=main"}, args...)...)
	require.NoError(f.t, os.MkdirAll(f.dir, 0o755))
	out, err := cmd.CombinedOutput()
	require.NoError(f.t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

func (f *forge) commit(subject string) {
	f.git("add", "-A")
	f.git("commit", "-qm", subject)
}

func (f *forge) run(status int, env []string, name string, args ...string) string {
	f.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = f.tmp, append(os.Environ(), env...)
	out, _ := cmd.CombinedOutput()
	require.Equal(f.t, status, cmd.ProcessState.ExitCode(), "%q: %s", args, out)
	return string(out)
}

// An event is why a workflow runs.
type event struct {
	pull     string // number of the pull request; empty for a schedule
	base     string
	attempt  string
	fork     bool // without the repository's secrets
	happened string
}

// A told is what a run came to.
type told struct {
	red     bool
	comment string
	summary string
	log     string
	asked   int // requests to the provider
}

// A step is one of a workflow.
type step struct {
	Name, ID, If, Run, Uses string
	Env                     map[string]string
	With                    map[string]string
	Dir                     string `yaml:"working-directory"`
}

// github runs the workflow in a clean clone of the checked out commit, step by step: events,
// expressions, caches and conditions as GitHub documents them.
func (f *forge) github(ev event) (out told) {
	f.t.Helper()
	f.runs++
	var w struct {
		Env  map[string]string
		Jobs map[string]struct {
			Env   map[string]string
			Steps []step
		}
	}
	text, err := os.ReadFile(filepath.Join(f.dir, ".github/workflows/assay.yml"))
	require.NoError(f.t, err)
	require.NoError(f.t, yaml.Unmarshal(text, &w))
	work := filepath.Join(f.t.TempDir(), "work")
	temp := f.t.TempDir()
	f.git("clone", "-q", f.dir, work)
	require.NoError(f.t, os.Mkdir(filepath.Join(work, ".assay"), 0o755))
	_ = os.Remove(filepath.Join(f.tmp, "comment"))
	if f.comment != "" {
		require.NoError(f.t, os.WriteFile(filepath.Join(f.tmp, "comment"),
			[]byte(f.comment), 0o644))
	}
	x := &expressions{t: f.t, values: map[string]string{"github.event.pull_request.number": ev.pull,
		"github.event.pull_request.base.sha": ev.base,
		"github.workspace":                   work, "github.run_id": fmt.Sprint(1000 + f.runs),
		"github.run_attempt": ev.attempt, "github.server_url": "https://github.example",
		"github.repository": "o/r", "github.event_name": ev.happened, "github.token": "t",
		"runner.temp": temp, "vars.ASSAY_REPOSITORY": "o/assay",
		"secrets.MODEL_KEY": standInKey, "secrets.MODEL_URL": f.standIn.URL}}
	if ev.fork {
		x.values["secrets.MODEL_KEY"] = ""
	}
	before, failed := f.standIn.count(), false
	for _, s := range w.Jobs["assay"].Steps {
		if !x.holds(s.If, !failed) {
			continue
		}
		switch {
		case strings.HasPrefix(s.Uses, "actions/cache/restore@"):
			f.restore(work, x.fill(s.With["key"]), x.fill(s.With["restore-keys"]))
		case strings.HasPrefix(s.Uses, "actions/cache/save@"):
			f.save(work, x.fill(s.With["key"]), x.fill(s.With["path"]))
		case s.Run != "":
			env := append(os.Environ(), "PATH="+f.bin+":"+os.Getenv("PATH"), "RUNNER_TEMP="+temp,
				"GITHUB_OUTPUT="+filepath.Join(temp, "output"),
				"GITHUB_STEP_SUMMARY="+filepath.Join(temp, "summary"), "GITHUB_REPOSITORY=o/r",
				"GITHUB_RUN_ATTEMPT="+ev.attempt, "MODEL_URL="+f.standIn.URL)
			for _, of := range []map[string]string{w.Env, w.Jobs["assay"].Env, s.Env} {
				for name, value := range of {
					env = append(env, name+"="+x.fill(value))
				}
			}
			cmd := exec.CommandContext(context.Background(), "bash", "--noprofile", "--norc", "-eo",
				"pipefail", "-c", x.fill(s.Run))
			cmd.Dir, cmd.Env = filepath.Join(work, s.Dir), env
			said, err := cmd.CombinedOutput()
			out.log += "--- " + s.Name + "\n" + string(said)
			failed = failed || err != nil
		}
		if s.ID != "" {
			b, _ := os.ReadFile(filepath.Join(temp, "output"))
			for line := range strings.Lines(string(b)) {
				name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
				x.values["steps."+s.ID+".outputs."+name] = value
			}
		}
	}
	if b, err := os.ReadFile(filepath.Join(f.tmp, "comment")); err == nil {
		f.comment = string(b)
	}
	summary, _ := os.ReadFile(filepath.Join(temp, "summary"))
	out.red, out.comment, out.summary, out.asked = failed, f.comment, string(summary), f.standIn.count()-before
	return out
}

// gitlab runs the job in a clean clone of the checked out commit: rules, variables, cache and
// the lines of its script in one shell, as GitLab documents them.
func (f *forge) gitlab(ev event) (out told) {
	f.t.Helper()
	var w struct {
		Assay struct {
			Rules     []struct{ If string }
			Variables map[string]string
			Cache     struct {
				Key, When string
				Paths     []string
			}
			Script    []string
			Artifacts struct {
				When    string
				Paths   []string
				Reports struct{ CodeQuality string }
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(f.dir, ".gitlab-ci.yml"))
	require.NoError(f.t, err)
	require.NoError(f.t, yaml.Unmarshal(text, &w))
	job := w.Assay
	rule := fmt.Sprintf("$CI_PIPELINE_SOURCE == %q", ev.happened)
	if !slices.ContainsFunc(job.Rules, func(r struct{ If string }) bool { return r.If == rule }) {
		return out
	}
	work, temp := filepath.Join(f.t.TempDir(), "work"), f.t.TempDir()
	f.git("clone", "-q", f.dir, work)
	api := httptest.NewServer(http.HandlerFunc(f.notes))
	defer api.Close()
	variables := map[string]string{"CI_PIPELINE_SOURCE": ev.happened, "CI_PROJECT_DIR": work,
		"CI_PROJECT_ID": "12", "CI_API_V4_URL": api.URL, "CI_JOB_URL": "https://gitlab.example/1",
		"ASSAY_REPOSITORY": f.house(), "ASSAY_COMMENT_TOKEN": "glpat-x", "TMPDIR": temp,
		"MODEL_URL": f.standIn.URL, "MODEL_KEY": standInKey,
		"PATH": f.bin + ":" + os.Getenv("PATH")}
	if ev.pull != "" {
		variables["CI_MERGE_REQUEST_IID"] = ev.pull
		variables["CI_MERGE_REQUEST_DIFF_BASE_SHA"] = ev.base
	}
	if ev.fork {
		delete(variables, "MODEL_KEY")
		delete(variables, "ASSAY_COMMENT_TOKEN")
	}
	env := os.Environ()
	for _, of := range []map[string]string{job.Variables, variables} {
		for name, value := range of {
			env = append(env, name+"="+value)
		}
	}
	key := os.Expand(job.Cache.Key, func(name string) string { return variables[name] })
	f.restore(work, key, key)
	cmd := exec.Command("bash", "-c", "set -eo pipefail\n"+strings.Join(job.Script, "\n"))
	cmd.Dir, cmd.Env = work, env
	before := f.standIn.count()
	said, err := cmd.CombinedOutput()
	out.log, out.red, out.asked = string(said), err != nil, f.standIn.count()-before
	require.Equal(f.t, "always", job.Cache.When)
	require.Equal(f.t, "always", job.Artifacts.When)
	f.caches = slices.DeleteFunc(f.caches, func(c cache) bool { return c.key == key })
	f.save(work, key, strings.Join(job.Cache.Paths, " "))
	if out.asked > 0 {
		for _, name := range job.Artifacts.Paths {
			require.DirExists(f.t, filepath.Join(work, name))
		}
		b, err := os.ReadFile(filepath.Join(work, job.Artifacts.Reports.CodeQuality))
		require.NoError(f.t, err)
		var issues []struct{ Fingerprint, Description string }
		require.NoError(f.t, json.Unmarshal(b, &issues), string(b))
		out.summary = fmt.Sprint(issues)
	}
	out.comment = f.comment
	return out
}

// notes stands in for GitLab's API of the notes of a merge request.
func (f *forge) notes(w http.ResponseWriter, r *http.Request) {
	found := []map[string]any{{"id": 3, "body": "a word of a colleague"}}
	if f.comment != "" {
		found = append(found, map[string]any{"id": 7, "body": f.comment})
	}
	id := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	switch {
	case r.Header.Get("PRIVATE-TOKEN") != "glpat-x":
		http.Error(w, "no token", http.StatusUnauthorized)
		return
	case r.Method == http.MethodPost && id == "notes" && f.comment == "",
		r.Method == http.MethodPut && id == "7" && f.comment != "":
		f.comment = r.FormValue("body")
	case r.Method != http.MethodGet:
		http.Error(w, "no such note", http.StatusNotFound)
		return
	}
	_ = json.NewEncoder(w).Encode(found)
}

// house returns a repository to clone in the place of Assay's; go is a stand-in.
func (f *forge) house() string {
	dir := filepath.Join(f.tmp, "assay.git")
	if !box.Exists(dir) {
		f.git("init", "-q", dir)
		f.git("-C", dir, "commit", "-q", "--allow-empty", "-m", "Assay")
	}
	return dir
}

func (f *forge) restore(work, key, prefix string) {
	for _, c := range slices.Backward(f.caches) {
		if c.key == key || strings.HasPrefix(c.key, strings.TrimSpace(prefix)) {
			require.NoError(f.t, os.CopyFS(work, os.DirFS(c.dir)))
			return
		}
	}
}

func (f *forge) save(work, key, paths string) {
	if slices.ContainsFunc(f.caches, func(c cache) bool { return c.key == key }) {
		return
	}
	c := cache{key, f.t.TempDir()}
	for _, pattern := range strings.Fields(paths) {
		matches, err := filepath.Glob(filepath.Join(work, pattern))
		require.NoError(f.t, err)
		for _, m := range matches {
			rel, err := filepath.Rel(work, m)
			require.NoError(f.t, err)
			if info, _ := os.Stat(m); info.IsDir() {
				require.NoError(f.t, os.CopyFS(filepath.Join(c.dir, rel), os.DirFS(m)))
				continue
			}
			b, err := os.ReadFile(m)
			require.NoError(f.t, err)
			require.NoError(f.t, os.WriteFile(filepath.Join(c.dir, rel), b, 0o644))
		}
	}
	f.caches = append(f.caches, c)
}

// expressions evaluates those of GitHub that the workflow uses.
type expressions struct {
	t      *testing.T
	values map[string]string
}

var expression = regexp.MustCompile(`\$\{\{ (.*?) \}\}`)

func (x *expressions) fill(text string) string {
	return expression.ReplaceAllStringFunc(text,
		func(e string) string { return x.or(expression.FindStringSubmatch(e)[1]) })
}

func (x *expressions) or(e string) string {
	value := ""
	for _, part := range strings.Split(e, " || ") {
		if value == "" {
			value = x.value(part)
		}
	}
	return value
}

func (x *expressions) value(name string) string {
	if s, quoted := strings.CutPrefix(name, "'"); quoted {
		return strings.TrimSuffix(s, "'")
	}
	v, known := x.values[name]
	require.True(x.t, known, "an expression that the test does not know: %s", name)
	return v
}

// holds evaluates a condition; a step without always() needs that none has failed.
func (x *expressions) holds(cond string, succeeded bool) bool {
	if !strings.Contains(cond, "always()") && !succeeded {
		return false
	}
	for _, part := range strings.Split(cond, " && ") {
		if part == "" || part == "always()" {
			continue
		}
		op := " == "
		if strings.Contains(part, " != ") {
			op = " != "
		}
		a, b, ok := strings.Cut(part, op)
		require.True(x.t, ok, "a condition that the test does not know: %s", cond)
		if (x.value(a) == x.value(b)) != (op == " == ") {
			return false
		}
	}
	return true
}

// TestWorkflow runs the workflow that init writes on what happens to a repository.
func TestWorkflow(t *testing.T) {
	f := newForge(t)
	main := f.git("rev-parse", "HEAD")
	change := func(branch, file, text string) event {
		f.t.Helper()
		f.git("checkout", "-q", "-B", branch, main)
		f.write(file, text)
		f.commit("A change")
		f.comment = ""
		return event{pull: branch[len("pull"):], base: main, attempt: "1", happened: "pull_request"}
	}
	n := len(strings.Split(f.filter(), ","))
	require.GreaterOrEqual(t, n, 8, "a drop needs eight projects: %s", f.filter())

	// a busy machine makes trials longer, which warns
	const held = "<!-- assay -->\n### Assay: (PASS|WARN)\n"
	t.Run("another file", func(t *testing.T) {
		r := f.github(change("pull1", "README.md", "Theirs.\n"))
		require.False(t, r.red, r.log)
		require.Zero(t, r.asked)
		require.Empty(t, r.comment)
	})
	t.Run("no change", func(t *testing.T) {
		r := f.github(change("pull2", "agent/prompt.txt", "Be careful!\n"))
		require.False(t, r.red, r.log)
		require.Equal(t, 1+2*n, r.asked, "smoke, and both sides of each project: %s", r.log)
		require.Regexp(t, held, r.comment, r.log)
		require.Contains(t, r.summary, r.comment)
	})
	var red event
	t.Run("a collapse", func(t *testing.T) {
		red = change("pull3", "agent/prompt.txt", "Say nothing.\n")
		r := f.github(red)
		require.True(t, r.red, r.log)
		require.Contains(t, r.comment, "### Assay: FAIL", r.log)
		require.Contains(t, r.log, "::error ")
	})
	t.Run("the same once more", func(t *testing.T) { // somebody presses "Re-run jobs"
		red.attempt = "2"
		r := f.github(red)
		require.True(t, r.red, r.log)
		require.Zero(t, r.asked, "what was measured is not paid for again: %s", r.log)
		require.Contains(t, r.comment, "### Assay: FAIL")
	})
	t.Run("a second push", func(t *testing.T) {
		red.attempt = "1"
		f.write("README.md", "Another word.\n")
		f.commit("Prose")
		r := f.github(red)
		require.True(t, r.red)
		require.Zero(t, r.asked, "the auditor is the same: %s", r.log)
		f.write("agent/prompt.txt", "Be careful again.\n")
		f.commit("Mended")
		r = f.github(red)
		require.False(t, r.red, r.log)
		require.Positive(t, r.asked)
		require.Regexp(t, held, r.comment)
	})
	t.Run("a drop", func(t *testing.T) {
		r := f.github(change("pull4", "agent/prompt.txt", "Please hurry.\n"))
		require.True(t, r.red, r.log)
		require.Contains(t, r.comment, "### Assay: FAIL", r.log)
	})
	t.Run("a crash", func(t *testing.T) {
		r := f.github(change("pull5", "agent/agent.sh", "echo lost >&2; exit 3\n"))
		require.True(t, r.red, r.log)
		require.Contains(t, r.comment, "### Assay: INVALID", r.log)
		require.Zero(t, r.asked, "the projects are not tried where smoke fails")
	})
	t.Run("a fork", func(t *testing.T) {
		ev := change("pull6", "agent/prompt.txt", "Say nothing at all.\n")
		ev.fork = true
		r := f.github(ev)
		require.False(t, r.red, r.log)
		require.Zero(t, r.asked)
		require.Contains(t, r.summary,
			"### Assay: not measured\n\nThe secret MODEL_KEY is not there")
		require.Contains(t, r.log, "::warning::Assay has not measured this change")
	})
	t.Run("the schedule", func(t *testing.T) {
		f.git("checkout", "-q", "main")
		f.comment = ""
		monthly := event{attempt: "1", happened: "schedule"}
		r := f.github(monthly)
		require.False(t, r.red, "a red pull request is no matter of the month's run: %s", r.log)
		require.Equal(t, 1+n, r.asked, "one side: %s", r.log)
		require.Empty(t, r.comment)
		require.Regexp(t, held, r.summary)
		r = f.github(monthly)
		require.Zero(t, r.asked, "once a month: %s", r.log)
	})
	t.Run("the limit", func(t *testing.T) {
		ev := change("pull7", ".github/workflows/assay.yml",
			strings.Replace(f.git("show", "main:.github/workflows/assay.yml"), `LIMIT: "0.21"`,
				`LIMIT: "0.0005"`, 1)+"\n")
		f.write("agent/prompt.txt", "Be careful, please.\n")
		f.commit("More")
		r := f.github(ev)
		require.True(t, r.red, r.log)
		require.Contains(t, r.comment, "### Assay: INVALID", r.log)
	})

	// GitLab
	request := func(branch, file, text string) event {
		ev := change(branch, file, text)
		ev.happened = "merge_request_event"
		return ev
	}
	t.Run("gitlab: another file", func(t *testing.T) {
		r := f.gitlab(request("pull21", "README.md", "Theirs.\n"))
		require.False(t, r.red, r.log)
		require.Zero(t, r.asked)
		require.Empty(t, r.comment)
		push := event{happened: "push", pull: "21"}
		require.Empty(t, f.gitlab(push).log, "a push is no reason to run")
	})
	t.Run("gitlab: a drop, and the same again", func(t *testing.T) {
		ev := request("pull22", "agent/prompt.txt", "Do hurry.\n")
		r := f.gitlab(ev)
		require.True(t, r.red, r.log)
		require.Equal(t, 1+2*n, r.asked, r.log)
		require.Contains(t, r.comment, "### Assay: FAIL", r.log)
		require.Contains(t, r.summary, "ours", "the code quality report names it")
		first := r.comment
		r = f.gitlab(ev)
		require.True(t, r.red, r.log)
		require.Zero(t, r.asked, "what was measured is not paid for again: %s", r.log)
		require.Equal(t, first, r.comment)
		f.write("agent/agent.sh", "echo lost >&2; exit 3\n")
		f.commit("Worse")
		r = f.gitlab(ev)
		require.True(t, r.red, r.log)
		require.Contains(t, r.comment, "### Assay: INVALID", r.log)
	})
	t.Run("gitlab: a fork", func(t *testing.T) {
		ev := request("pull23", "agent/prompt.txt", "Say nothing, please.\n")
		ev.fork = true
		r := f.gitlab(ev)
		require.False(t, r.red, r.log)
		require.Zero(t, r.asked)
		require.Contains(t, r.log, "WARNING: Assay has not measured this change")
	})
	t.Run("gitlab: the schedule", func(t *testing.T) {
		f.git("checkout", "-q", "main")
		f.comment = ""
		r := f.gitlab(event{happened: "schedule"})
		require.False(t, r.red, r.log)
		require.Equal(t, 1+n, r.asked, "one side: %s", r.log)
		require.Contains(t, r.log, "PASS")
		require.Zero(t, f.gitlab(event{happened: "schedule"}).asked, "once a month")
	})
}

// TestActionsOfOthersArePinned: to a commit, with the release that it is beside it.
func TestActionsOfOthersArePinned(t *testing.T) {
	pinned, found := regexp.MustCompile(`^[\w-]+/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+\b`), 0
	for _, pattern := range []string{"start/*.yml", "../../deploy/*/*.yml",
		"../../.github/workflows/*.yml"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			for i, line := range strings.Split(string(b), "\n") {
				if _, action, uses := strings.Cut(line, "uses: "); uses &&
					!strings.HasPrefix(action, "./") {
					found++
					require.Regexp(t, pinned, action, "%s:%d", file, i+1)
				}
			}
		}
	}
	require.NotZero(t, found)
}

// TestDeployHoldsTheWorkflows: deploy/ci has what init writes, for a folder agent. With
// ASSAY_UPDATE set they are written.
func TestDeployHoldsTheWorkflows(t *testing.T) {
	p := place{root: "/r", top: "/r", dir: "."}
	w := pipeline{auditor: "my-agent", suites: "Regression", flags: " -filter areas",
		paths: []string{"agent"}, limit: 10, keys: []string{"MODEL_KEY"},
		setup: "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"}
	for _, ci := range []string{"github", "gitlab"} {
		_, text, err := p.pipeline(w, ci)
		require.NoError(t, err)
		file := filepath.Join("../../deploy/ci", ci+".yml")
		if os.Getenv("ASSAY_UPDATE") != "" {
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		}
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, text, string(b), "ASSAY_UPDATE=1 go test ./cmd/assay -run %s writes it",
			t.Name())
		var any map[string]any
		require.NoError(t, yaml.Unmarshal(b, &any))
		require.NotContains(t, text, "{{ }}")
	}
}
