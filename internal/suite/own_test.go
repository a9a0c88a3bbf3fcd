package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// builtIn gives the folder of what is built for the tests.
var builtIn = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "assay-built-") })

// goBuild runs go with args in the module's folder; %s in them stands for that of what is built.
func goBuild(args ...string) (dir string, err error) {
	if dir, err = builtIn(); err != nil {
		return "", err
	}
	for i, arg := range args {
		args[i] = strings.ReplaceAll(arg, "%s", dir)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", &exec.Error{Name: string(out), Err: err}
	}
	return dir, nil
}

// built builds the suites and the command once for all tests that start them.
var built = sync.OnceValues(func() (dir string, err error) {
	if dir, err = goBuild("test", "-c", "-o", "%s/assay.test", "."); err == nil {
		dir, err = goBuild("build", "-o", "%s/assay", "./cmd/assay")
	}
	return dir, err
})

// fakeAgent builds the agent that the tests' sections run, once.
var fakeAgent = sync.OnceValues(func() (file string, err error) {
	dir, err := goBuild("build", "-o", "%s/fakeagent", "./internal/auditor/testdata/fakeagent")
	return filepath.Join(dir, "fakeagent"), err
})

// commands gives the built suites and the built command.
func commands(t *testing.T) (suites, assay string) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: the commands are not built")
	}
	dir, err := built()
	require.NoError(t, err)
	return filepath.Join(dir, "assay.test"), filepath.Join(dir, "assay")
}

// TestMain removes what was built for the tests.
func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := builtIn(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// A newcomer has an empty folder, the suites and the command.
type newcomer struct {
	t                   *testing.T
	root, suites, assay string
}

func newNewcomer(t *testing.T) *newcomer {
	suites, assay := commands(t)
	t.Setenv("ASSAY_CACHE", t.TempDir())
	return &newcomer{t, filepath.Join(t.TempDir(), "mine"), suites, assay}
}

// says runs a command below the folder and gives its output; status is what it
// must end with.
func (n *newcomer) says(status int, name string, args ...string) string {
	n.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = n.t.TempDir(), append(os.Environ(), "ASSAY_ROOT="+n.root, "ASSAY_DB=")
	out, _ := cmd.CombinedOutput()
	require.Equal(n.t, status, cmd.ProcessState.ExitCode(), "%q: %s", args, out)
	return string(out)
}

func (n *newcomer) write(name, text string) string {
	file := filepath.Join(n.root, filepath.FromSlash(name))
	require.NoError(n.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(n.t, os.WriteFile(file, []byte(text), 0o644))
	return file
}

// TestInitWritesWhatRuns: in every language what init and new write passes lint and
// runs, and a second init changes nothing.
func TestInitWritesWhatRuns(t *testing.T) {
	n := newNewcomer(t)
	first := n.root
	for _, language := range []string{"sql", "go", "java", "javascript", "python"} {
		t.Run(language, func(t *testing.T) {
			n := *n
			n.t, n.root = t, filepath.Join(t.TempDir(), "mine")
			require.NoError(t, os.Mkdir(n.root, 0o755))
			require.Contains(t, n.says(0, n.assay, "init", n.root, "-l", language),
				"      # a checkout of Assay, from where the suites run\n  ASSAY_ROOT="+n.root+
					" go test -run 'Smoke|Bench'")
			lint := n.says(0, n.assay, "lint")
			require.Contains(t, lint, "tests: applications 1, cases 6")
			require.Equal(t, 1, strings.Count(lint, "advice: "),
				"the proof alone is left to do: %s", lint)
			out := n.says(0, n.suites, "-test.run", "Smoke|Regression|Bench")
			require.Regexp(t, `PASS +patterns`, out)
			// whatever the width
			require.Contains(t, strings.Join(strings.Fields(out), " "), "Regression: "+n.root+
				" has no fixtures/projects or fixtures/planted or fixtures/fixes: nothing to measure")
			require.Contains(t, n.says(0, n.assay, "report", "-o", "text"), "patterns")
		})
	}
	require.NoError(t, os.Mkdir(first, 0o755))
	n.says(0, n.assay, "init", first)
	n.says(0, n.suites, "-test.run", "Regression")
	require.Contains(t, n.says(1, n.suites, "-test.run", "Regression", "-auditor", "patterns"),
		"assay: patterns was not run: "+first+" lacks the fixtures named above")
	goals := n.write("fixtures/goals.md", "mine\n")
	require.Contains(t, n.says(1, n.assay, "init", first), goals+" is there already")
	b, err := os.ReadFile(goals)
	require.NoError(t, err)
	require.Equal(t, "mine\n", string(b))
}

// TestInitInAGoModule: there the folder is a package whose tests are the suites.
func TestInitInAGoModule(t *testing.T) {
	if os.Getenv("ASSAY_CHECK") == "" {
		t.Skip("it builds the suites in another module: ./check runs it")
	}
	n := newNewcomer(t)
	house, err := filepath.Abs("../..")
	require.NoError(t, err)
	module := t.TempDir()
	n.root = filepath.Join(module, "audited")
	for _, name := range []string{"go.mod", "go.sum"} { // its dependencies, and this module as one
		b, err := os.ReadFile(filepath.Join(house, name))
		require.NoError(t, err)
		text := strings.Replace(string(b), "module assay\n",
			"module theirs\n\nrequire assay v0.0.0\n\nreplace assay => "+house+"\n", 1)
		require.NoError(t, os.WriteFile(filepath.Join(module, name), []byte(text), 0o644))
	}
	require.Contains(t, n.says(0, n.assay, "init", n.root),
		"go get assay && go get -tool assay/cmd/assay\n  go test -run 'Smoke|Bench'")
	t.Setenv("GOFLAGS", "-mod=mod")
	out := n.says(0, "env", "-u", "ASSAY_ROOT", "go", "-C", n.root, "test", "-run", "Smoke|Bench")
	require.Regexp(t, `PASS +patterns`, out)
	require.DirExists(t, filepath.Join(n.root, "records"))
}

// TestTheFirstTenLines: the last line of what README.md opens with prints what stands
// below it.
func TestTheFirstTenLines(t *testing.T) {
	n := newNewcomer(t)
	dir, err := os.MkdirTemp("", "") // t.TempDir is so long that lines break where nobody else's do
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	n.root = filepath.Join(dir, "a")
	n.says(0, n.assay, "init", n.root, "-l", "python")
	n.says(0, n.assay, "lint")
	printed := strings.NewReplacer(n.root, "/tmp/mine", ": assay ",
		": go run ./cmd/assay ").Replace(n.says(0, n.suites, "-test.run", "Smoke|Bench"))
	holdBlock(t, "../../README.md", "first", "```sh\n"+
		"go run ./cmd/assay init /tmp/mine -l python        # cases, goals, an auditor, a workflow\n"+
		"go run ./cmd/assay lint --root /tmp/mine\n"+
		"ASSAY_ROOT=/tmp/mine go test -run 'Smoke|Bench'\n```\n\n```\n"+printed+"```\n")
}

const ownCode = `import os

from flask import Flask, render_template_string, request

app = Flask(__name__)


def ping(host):
    return os.system("ping -c 1 " + host)


@app.route("/greet")
def greet():
    return render_template_string("Hello " + request.args["name"])
`

// TestAProjectOfOnesOwn: a folder becomes a project with a key by commands alone,
// and is audited; everything of the run lies in the folder, and nothing of ours.
func TestAProjectOfOnesOwn(t *testing.T) {
	n := newNewcomer(t)
	source := filepath.Join(t.TempDir(), "ping")
	require.NoError(t, os.Mkdir(source, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(source, "app.py"), []byte(ownCode), 0o644))
	// with one short file a guess is right by chance
	require.NoError(t, os.WriteFile(filepath.Join(source, "sizes.py"),
		[]byte("SIZES = [\n"+strings.Repeat("    1,\n", 9000)+"]\n"), 0o644))
	require.NoError(t, os.Mkdir(n.root, 0o755))

	out := n.says(0, n.assay, "new", "project", "ping", "--repository", source,
		"--language", "Python")
	require.Contains(t, out, "next: fill in the key")
	require.Contains(t, n.says(1, n.assay, "lint"),
		"fixtures/projects/ping.md:11: the key is empty: expected at least one known vulnerability, a row like | APP-1 |")
	table := n.write("key.csv",
		"name,category,real vulnerability,function\napp,cmdi,true,ping\napp.py,pathtraver,false,\n")
	wrong := n.write("wrong.csv", "path,cwe,true\napp.py,89,perhaps\nelse.py,89,true\n")
	require.Contains(t, n.says(1, n.assay, "import", "ping", wrong),
		wrong+`:2: the label is "perhaps": expected true or false`)
	n.write("wrong.csv", "path,cwe,true\napp.py,89,true\nelse.py,89,true\n")
	require.Contains(t, n.says(1, n.assay, "import", "ping", wrong),
		wrong+`:3: "else.py" is no file of the project`)
	n.write("wrong.csv",
		"path,line,cwe,true,title\napp.py,8,89,true,\"two\nlines\"\n\napp.py,9999,89,true,x\n")
	require.Contains(t, n.says(1, n.assay, "import", "ping", wrong),
		wrong+":5: line 9999 is past the end of app.py")
	n.write("wrong.csv", "path,line,category,true\napp.py,8,injection,true\n")
	require.Contains(t, n.says(1, n.assay, "import", "ping", wrong),
		wrong+`:2: "injection" is not a CWE: expected a number like CWE-89, or one of cmdi, codeinjection, crypto, `)
	n.write("wrong.csv", "path,line,cwe,true,title\napp.py,8,89,true,say \"x\"\n")
	require.Contains(t, n.says(1, n.assay, "import", "ping", wrong),
		wrong+`:2: column 22: bare " in non-quoted-field: expected CSV`)
	require.Contains(t, n.says(0, n.assay, "import", "ping", table),
		"rows: 1 known vulnerabilities, 1 decoys")
	log := n.write("log.sarif", `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[
		{"ruleId":"CWE-1336","message":{"text":"shown | raw"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"app.py"},"region":{"startLine":14}}}]},
		{"ruleId":"CWE-89","kind":"pass","message":{"text":"bound"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"app.py"},"region":{"startLine":2}}}]},
		{"ruleId":"CWE-918","suppressions":[{"kind":"external","justification":"constant"}],"message":{"text":"address"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"app.py"},"region":{"startLine":3}}}]}]}]}`)
	require.Contains(t, n.says(0, n.assay, "import", "ping", log),
		"rows: 1 known vulnerabilities, 2 decoys")
	out = n.says(0, n.assay, "lint", "fixtures/projects/ping.md")
	require.Contains(t, out,
		"PING-D1 names neither lines nor a function: expected one of them, it is matched anywhere in app.py")
	require.Contains(t, out, "ping: 2 known vulnerabilities, 3 decoys, 2 files")

	n.write("fixtures/goals.md",
		"# Goals\n\n| Goal | Threshold |\n|---|---|\n| Recall | >= 50 % |\n\n# Bench\n\n| Goal | Threshold |\n|---|---|\n| Balanced accuracy | >= 70 % |\n")
	out = n.says(0, n.suites, "-test.run", "Regression|Bench|Verify")
	require.Regexp(t, `(PASS|WARN) +patterns +ping +1 +100\.0 %`, out)
	require.NotContains(t, out, "dvja")
	out = strings.Join(strings.Fields(out), " ") // whatever the width
	require.Equal(t, 1, strings.Count(out, "those shipped with Assay are used"), out)
	require.Contains(t, out, "Bench: "+n.root+" has no tests: nothing to measure")
	require.Contains(t, n.says(1, n.assay, "capture", "patterns", "ping"),
		"fixtures/keys.md is not there, and the key of ping is not frozen")
	page := strings.TrimSpace(n.says(0, n.assay, "report"))
	require.True(t, strings.HasPrefix(page, filepath.Join(n.root, "reports")), page)
	require.Contains(t, n.says(0, n.assay, "report", "-o", "text"), "ping")
}

// TestNewFunctionsNeedNoOldOnes: an entry that names a new file is no reason not to
// write the manifest that lacks it.
func TestNewFunctionsNeedNoOldOnes(t *testing.T) {
	n := newNewcomer(t)
	source := t.TempDir()
	for _, name := range []string{"a", "b"} {
		require.NoError(t, os.WriteFile(filepath.Join(source, name+".py"),
			[]byte("def "+name+"():\n    pass\n"), 0o644))
	}
	require.NoError(t, os.Mkdir(n.root, 0o755))
	n.says(0, n.assay, "new", "project", "two", "--repository", source, "--language", "Python")
	n.says(0, n.assay, "import", "two",
		n.write("key.csv", "path,function,cwe,true\na.py,a,78,true\nb.py,b,78,true\n"))
	n.write("fixtures/projects/two.functions.tsv", "path\tfunction\tstart\tend\na.py\ta\t1\t2\n")
	require.Contains(t, n.says(1, n.assay, "lint"),
		`names the function "b", which the manifest of functions does not list for b.py`)
	n.says(0, n.assay, "fetch", "two", "--functions")
	n.says(0, n.assay, "lint")
}

// TestNewAsks: what no flag says is asked for, and what is missing is named.
func TestNewAsks(t *testing.T) {
	n := newNewcomer(t)
	require.NoError(t, os.Mkdir(n.root, 0o755))
	n.says(0, n.assay, "new", "app", "stock", "--language", "go")
	code := n.write("x.js", "eval(q)\n")
	require.Contains(t, n.says(1, n.assay, "new", "case", "stock/run", "--code", code),
		"--label is not given: expected good or bad")
	n.says(0, n.assay, "new", "case", "stock/run", "--code", code, "--label", "bad", "--violates",
		"2", "--description", "Runs it.")
	b, err := os.ReadFile(filepath.Join(n.root, "tests/stock/run-01-bad.md"))
	require.NoError(t, err)
	require.Equal(t,
		"# Description\n\nRuns it.\n\n# Code\n\n```javascript\neval(q)\n```\n\n# Expected\n\nbad\n\n# Violates\n\n2\n", string(b))
	n.write("tools/scan.sh", "echo '{\"findings\":[]}'\n")
	n.says(0, n.assay, "new", "auditor", "scan", "--cost", "0", "--command", "sh tools/scan.sh")
	require.Contains(t, n.says(1, n.assay, "new", "auditor", "more", "--command", "true"),
		"--cost is not given")
	require.Contains(t, n.says(1, n.assay, "new", "auditor", "scan", "--cost", "0",
		"--command", "true"), "stays as it was")
	require.Regexp(t, `WARN +scan +0 of 5 flaws`, n.says(0, n.suites, "-test.run", "Smoke",
		"-auditor", "scan"), "its script can be read, and no goal is stated")
	n.write("fixtures/goals.md",
		"# Goals\n\n| Goal | Threshold |\n|---|---|\n| Recall | >= 1 % |\n\n# Smoke: scan\n\n| Goal | Threshold |\n|---|---|\n| Flaws | >= 1 |\n")
	require.Regexp(t, `FAIL +scan +0 of 5 flaws`, n.says(1, n.suites, "-test.run", "Smoke",
		"-auditor", "scan"))
	n.says(0, n.assay, "lint")
}
