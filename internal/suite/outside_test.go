package suite

import (
	"archive/zip"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// outsidePath is the module path under which a copy of this repository is served
// to a module outside of it.
const outsidePath = "example.com/assay"

// TestAModuleOutsideRunsTheSuites: another module gets this one from a proxy and
// runs the suites in its own tests, with an auditor, a reviewer, a project and
// cases of its own, offline; what they write lands in its own tree.
func TestAModuleOutsideRunsTheSuites(t *testing.T) {
	if os.Getenv("ASSAY_CHECK") == "" {
		t.Skip("it builds this module twice: ./check runs it")
	}
	here, err := os.Getwd()
	require.NoError(t, err)
	o := &outside{t: t, dir: t.TempDir(), proxy: t.TempDir(), version: fmt.Sprintf("v0.1.0-d%x",
		sha256.Sum256([]byte(here)))}
	o.forget()
	t.Cleanup(o.forget)
	o.serve()
	o.module()
	require.Regexp(t, `grep +4 of 5 flaws`, o.run(o.dir, "go", "test", "-vet=off", "-run", "Smoke"))
	suites := filepath.Join(o.dir, "suites")
	o.run(o.dir, "go", "test", "-c", "-o", suites, ".")
	out := o.run(o.dir, suites, "-test.run", "Bench", "-filter", "notes/")
	require.Regexp(t, `careful +\d+ +100\.0 %`, out)
	out = o.run(o.dir, suites, "-test.run", "Regression", "-test.v")
	require.Contains(t, out, "--- PASS: TestRegression/ping/grep")
	require.Contains(t, out, "TestRegression/dvja/control-paths", "the shipped projects")
	for _, name := range []string{"records", "results.db"} {
		_, err := os.Stat(filepath.Join(o.dir, "testdata", "assay", name))
		require.NoError(t, err, "it lands in the folder of the module outside")
	}
	elsewhere := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(elsewhere, "testdata"),
		os.DirFS(filepath.Join(o.dir, "testdata"))))
	require.Contains(t, o.run(elsewhere, suites, "-test.run", "Smoke"), "grep",
		"one file runs the suites anywhere")
}

// An outside is a module that imports this one from a proxy of files.
type outside struct {
	t          *testing.T
	dir, proxy string
	// of this folder alone, as the module cache is everybody's; always the same, so that only
	// what changed is compiled
	version string
}

// forget removes what the module cache holds of this run.
func (o *outside) forget() {
	_ = os.RemoveAll(filepath.Join(modcache(), outsidePath+"@"+o.version))
	_ = os.RemoveAll(filepath.Join(modcache(), "cache", "download", outsidePath))
}

// serve makes a copy of this repository under another path the only version of a
// module on a proxy.
func (o *outside) serve() {
	copied := o.t.TempDir()
	files := strings.Split(strings.TrimRight(o.run("../..", "git", "ls-files", "-z", "--cached",
		"--others", "--exclude-standard"), "\x00"), "\x00")
	for _, name := range files {
		b, err := os.ReadFile(filepath.Join("../..", name))
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		require.NoError(o.t, err)
		require.NoError(o.t, os.MkdirAll(filepath.Dir(filepath.Join(copied, name)), 0o755))
		require.NoError(o.t, os.WriteFile(filepath.Join(copied, name), b, 0o755))
	}
	o.run(copied, filepath.Join(copied, "deploy", "rename-module"), outsidePath)
	versions := filepath.Join(o.proxy, outsidePath, "@v")
	require.NoError(o.t, os.MkdirAll(versions, 0o755))
	mod, err := os.ReadFile(filepath.Join(copied, "go.mod"))
	require.NoError(o.t, err)
	for name, text := range map[string]string{"list": o.version + "\n",
		o.version + ".info": `{"Version":"` + o.version + `"}`, o.version + ".mod": string(mod)} {
		require.NoError(o.t, os.WriteFile(filepath.Join(versions, name), []byte(text), 0o644))
	}
	o.zip(copied, files, filepath.Join(versions, o.version+".zip"))
}

// zip packs what a module zip holds: no folder that is a module of its own.
func (o *outside) zip(dir string, files []string, name string) {
	f, err := os.Create(name)
	require.NoError(o.t, err)
	w := zip.NewWriter(f)
	for _, file := range files {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if os.IsNotExist(err) || o.nested(dir, file) {
			continue
		}
		require.NoError(o.t, err)
		in, err := w.Create(outsidePath + "@" + o.version + "/" + file)
		require.NoError(o.t, err)
		_, err = in.Write(b)
		require.NoError(o.t, err)
	}
	require.NoError(o.t, w.Close())
	require.NoError(o.t, f.Close())
}

func (o *outside) nested(dir, file string) bool {
	for d := filepath.Dir(file); d != "."; d = filepath.Dir(d) {
		if _, err := os.Stat(filepath.Join(dir, d, "go.mod")); err == nil {
			return true
		}
	}
	return false
}

// module writes the module outside: a test file, fixtures and a project of its own.
func (o *outside) module() {
	o.write("audit_test.go", o.testdata("audit_test.go.txt"))
	o.write("go.mod", "module outside\n\ngo 1.26.0\n")
	for _, name := range []string{"SPEC.md", "read-01-good.md", "read-02-bad.md"} {
		o.write("testdata/assay/tests/notes/"+name, o.testdata("tests/notes/"+name))
	}
	project := filepath.Join(o.proxy, "mirror", "acme", "ping")
	require.NoError(o.t, os.MkdirAll(project, 0o755))
	require.NoError(o.t, os.WriteFile(filepath.Join(project, "app.py"),
		[]byte(o.testdata("app.py")), 0o644))
	o.run(project, "git", "init", "-q")
	o.run(project, "git", "config", "uploadpack.allowAnySHA1InWant", "true")
	o.run(project, "git", "add", "-A")
	o.run(project, "git", "-c", "user.name=x", "-c", "user.email=x@example.com",
		"commit", "-qm", "app")
	commit := strings.TrimSpace(o.run(project, "git", "rev-parse", "HEAD"))
	blob := strings.TrimSpace(o.run(project, "git", "rev-parse", "HEAD:app.py"))
	o.write("testdata/assay/fixtures/projects/ping.md",
		strings.ReplaceAll(o.testdata("fixtures/projects/ping.md"), "COMMIT", commit))
	o.write("testdata/assay/fixtures/projects/ping.tree.tsv", "path\tlines\tblob\napp.py\t5\t"+blob+
		"\n")
	o.run(o.dir, "go", "get", "-t", outsidePath+"@"+o.version)
	o.run(o.dir, "go", "mod", "tidy")
}

func (o *outside) testdata(name string) string {
	b, err := os.ReadFile(filepath.Join("testdata", "outside", name))
	require.NoError(o.t, err)
	return string(b)
}

func (o *outside) write(name, text string) {
	require.NoError(o.t, os.MkdirAll(filepath.Dir(filepath.Join(o.dir, name)), 0o755))
	require.NoError(o.t, os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o644))
}

func (o *outside) run(dir, name string, args ...string) string {
	o.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	before := strings.TrimSpace(proxies())
	cmd.Env = append(os.Environ(), "GOPROXY=file://"+o.proxy+","+before, "GONOSUMDB=example.com/*",
		"GONOSUMCHECK=1", "GOFLAGS=-mod=mod -modcacherw",
		"GOMODCACHE="+modcache(), "ASSAY_ROOT=", "ASSAY_MIRROR="+filepath.Join(o.proxy, "mirror"),
		"ASSAY_CACHE="+filepath.Join(o.proxy, "cache"), "GOTOOLCHAIN=local",
		// the go command takes it for known what is in a version that it has seen before
		"GODEBUG=goindex=0")
	out, err := cmd.CombinedOutput()
	require.NoError(o.t, err, "%s", fmt.Sprintf("%s %v\n%s", name, args, out))
	return string(out)
}

func proxies() string {
	out, _ := exec.Command("go", "env", "GOPROXY").Output()
	return string(out)
}

func modcache() string {
	out, _ := exec.Command("go", "env", "GOMODCACHE").Output()
	return strings.TrimSpace(string(out))
}
