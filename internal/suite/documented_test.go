package suite

import (
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"assay/audit/fixture"
	"assay/internal/run/testdata/mockapi"
)

// parsedOnly are the documented commands that this test cannot run, and why. Their
// flags are held by the tests that parse them.
var parsedOnly = map[string]string{
	"./check":             "it runs all tests",
	"~/shop":              "the workflow test of cmd/assay runs these commands",
	"-fuzz ":              "it takes minutes",
	"export ASSAY_DB":     "it needs a PostgreSQL: the tests of internal/run/river have one",
	"assay work":          "likewise",
	"assay enqueue":       "likewise",
	"go test -run Verify": "a project's proofs take minutes, and the runtimes of its language",
}

// goShim stands in for go: what would be compiled was built once.
const goShim = `#!/bin/sh
case "$1" in
run) shift 2; exec assay "$@" ;;
install) exit 0 ;;
test) shift ;;
*) echo "go $*: not known here" >&2; exit 2 ;;
esac
n=$#
while [ $n -gt 0 ]; do
  a=$1; shift; n=$((n - 1))
  case "$a" in
  . | ./...) continue ;;
  -run | -short | -timeout | -v) a=-test.${a#-} ;;
  esac
  set -- "$@" "$a"
done
exec assay.test "$@"
`

// TestDocumentedCommandsRun runs every block of commands of README.md and docs/, in
// order, in a folder with a family of cases, two projects and a planted one: go is
// what was built, models are a server that knows the answers, other tools stand-ins.
func TestDocumentedCommandsRun(t *testing.T) {
	d := newDocumented(t)
	pages := append(userPages(t), maintainerPages(t)...)
	pages = slices.DeleteFunc(pages, func(page string) bool { // benchmarks take hours
		return path.Base(page) == "bench.md"
	})
	ran := 0
	for _, page := range pages {
		b, err := os.ReadFile(page)
		require.NoError(t, err)
		d.tmp = t.TempDir()
		stored, _ := filepath.Glob(filepath.Join(d.root, "results.db*"))
		for _, file := range stored { // each page has a reader of its own
			require.NoError(t, os.Remove(file))
		}
		for _, block := range shellBlocks(b) {
			for line := range strings.Lines(block) {
				skip := func(part string) bool { return strings.Contains(line, part) }
				if line = strings.TrimSpace(line); line != "" &&
					!slices.ContainsFunc(slices.Collect(maps.Keys(parsedOnly)), skip) {
					d.run(page, line)
					ran++
				}
			}
		}
	}
	require.Greater(t, ran, 30)
}

// A documented is where the documented commands run.
type documented struct {
	t         *testing.T
	root, tmp string
	env       []string
}

func newDocumented(t *testing.T) *documented {
	suites, assay := commands(t)
	d := &documented{t: t, root: filepath.Join(t.TempDir(), "root"), tmp: t.TempDir()}
	bin := t.TempDir()
	require.NoError(t, os.Symlink(suites, filepath.Join(bin, "assay.test")))
	require.NoError(t, os.Symlink(assay, filepath.Join(bin, "assay")))
	d.write(filepath.Join(bin, "go"), goShim)
	d.write(filepath.Join(bin, "gotestsum"),
		"#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done; shift\nexec go test \"$@\"\n")
	server := d.server()
	d.env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "ASSAY_ROOT="+d.root,
		"ASSAY_DB=", "ASSAY_CACHE="+t.TempDir(),
		"ASSAY_BASE_URL="+server, "ASSAY_API_KEY="+canary, "A_KEY="+canary, "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.com")
	d.furnish()
	return d
}

// server is a model that knows the label of each case, and audits without a finding.
func (d *documented) server() string {
	corpus, err := fixture.ReadCorpus(os.DirFS("../.."), "tests", false)
	require.NoError(d.t, err)
	s := mockapi.New(func(r mockapi.Request) mockapi.Reply {
		for _, c := range corpus.Cases() {
			if strings.Contains(r.Prompt, strings.TrimSpace(c.Code)) {
				return mockapi.Reply{Content: `{"verdict":"` + string(c.Label) +
					`","explanation":"x"}`}
			}
		}
		if strings.Contains(r.Prompt, `"violations": [`) {
			return mockapi.Reply{Content: `{"violations": []}`}
		}
		return mockapi.Reply{Content: "=== HEADER START ===\nProject root: .\nCOVERAGE: 0/10\nSTATS: findings=0\n=== HEADER END ===\n\n=== SENTINEL: AUDIT COMPLETE ===\n"}
	})
	d.t.Cleanup(s.Close)
	return s.BaseURL
}

// furnish fills the folder with what the pages speak of.
func (d *documented) furnish() {
	for _, pattern := range []string{"tests/procurement/SPEC.md",
		"tests/procurement/approve-po*.md", "fixtures/planted/marina",
		"fixtures/planted/workshop"} {
		names, err := filepath.Glob("../../" + pattern)
		require.NoError(d.t, err)
		require.NotEmpty(d.t, names, pattern)
		for _, name := range names {
			to := filepath.Join(d.root, strings.TrimPrefix(name, "../../"))
			require.NoError(d.t, os.MkdirAll(filepath.Dir(to), 0o755))
			require.NoError(d.t, exec.Command("cp", "-r", name, to).Run())
		}
	}
	for _, prompt := range []string{"my-prompt", "my-audit"} {
		d.write(filepath.Join(d.root, "fixtures/prompts", prompt+".txt"),
			"Judge it, or audit it.\n")
	}
	// The agent of whom README speaks, a scanner, and the source of projects.
	d.write(filepath.Join(d.root, "agent.sh"), "cat <<'END'\n"+smokeReport()+"END\n")
	d.write(filepath.Join(d.root, "fixtures/auditors.md"),
		"# Auditors\n\n## bandit\n\n| Field | Value |\n|---|---|\n| Kind | tool |\n| Format | json |\n| Timeout | 1m |\n\n```sh\necho '{\"findings\":[{\"file\":\"app.py\",\"line\":5,\"cwe\":\"CWE-78\",\"severity\":\"HIGH\",\"title\":\"a command\"}]}'\n```\n")
	d.write(filepath.Join(filepath.Dir(d.root), "my-agent", "agent/agent.sh"),
		"echo '{\"findings\": []}'\n")
	app, err := os.ReadFile("testdata/outside/app.py")
	require.NoError(d.t, err)
	shop := filepath.Join(filepath.Dir(d.root), "shop")
	d.write(filepath.Join(shop, "app.py"), string(app))
	d.write(filepath.Join(d.root, "known.csv"), "path,cwe,true,function\napp.py,78,true,ping\n")
	for _, line := range []string{"new project dvja --repository ../shop --language Python",
		"import dvja known.csv",
		"new project pygoat --repository ../shop --language Python", "import pygoat known.csv"} {
		d.run("what the pages need", "assay "+line)
	}
	p, err := fixture.ReadProject(os.DirFS(d.root), "fixtures/projects/pygoat.md")
	require.NoError(d.t, err)
	d.write(filepath.Join(d.root, "fixtures/keys.md"),
		"# Frozen Keys\n\n| Project | Date | Known | Decoys | SHA-256 | Reason |\n|---|---|---|---|---|---|\n| pygoat | 2026-11-01 | 1 | 0 | "+fixture.FrozenHash(p)+" | drafted |\n")
	d.run("what the pages need",
		"git init -q -b main && git add -A && git commit -qm all && git update-ref refs/remotes/origin/main HEAD && echo >> agent.sh && git commit -qam changed")
}

func (d *documented) write(file, text string) {
	require.NoError(d.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(d.t, os.WriteFile(file, []byte(text), 0o755))
}

// verdictOf is what a suite prints of whom it asked.
var verdictOf = regexp.MustCompile(`(?m)^ *(SMOKE|REGRESSION|BENCH|PASS|WARN|FAIL|part) +\S+`)

// run runs a line as a reader would, placeholders filled in. A suite may end with 1
// where it prints FAIL: the auditors here are stand-ins that find little.
func (d *documented) run(page, line string) {
	d.t.Helper()
	records, _ := filepath.Glob(filepath.Join(d.root, "records", "*dvja*.json"))
	filled := strings.NewReplacer("/tmp/", d.tmp+"/", "NAME", "my-agent", " DIR", " ${DIR}",
		"records/<record>.json", slices.Max(append(records, "")), "http://localhost:8000/v1",
		"$ASSAY_BASE_URL").Replace(line)
	switch {
	case strings.Contains(line, "ollama:"):
		filled = "export OLLAMA_HOST=${ASSAY_BASE_URL%/v1}; unset ASSAY_BASE_URL; " + filled
	default:
		filled = "DIR=" + d.tmp + "/new; " + filled
	}
	cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", filled)
	cmd.Dir, cmd.Env = d.root, d.env
	out, err := cmd.CombinedOutput()
	if err == nil {
		return
	}
	suite := strings.Contains(line, "go test ") || strings.HasPrefix(line, "gotestsum")
	if cmd.ProcessState.ExitCode() != 1 || !suite || !strings.Contains(string(out), "FAIL ") ||
		strings.Contains(string(out), "INVALID") || !verdictOf.Match(out) {
		d.t.Errorf("%s: %s: %v\n%s", page, line, err, out)
	}
}
